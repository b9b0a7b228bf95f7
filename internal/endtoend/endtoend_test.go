package endtoend

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// contentOf is all that the files of a folder hold, decompressed.
func contentOf(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	var all strings.Builder
	for _, path := range paths {
		f, err := os.Open(path)
		require.NoError(t, err)
		var r io.Reader = f
		if strings.HasSuffix(path, ".gz") {
			r, err = gzip.NewReader(f)
			require.NoError(t, err)
		}
		_, err = io.Copy(&all, r)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	return all.String()
}

func TestRotationsKeepEveryLineThatWasWritten(t *testing.T) {
	dir := t.TempDir()
	logs := NewLogs(dir, 3, Plain, 7)
	for range 40 {
		require.NoError(t, logs.Write(20))
		require.NoError(t, logs.Rotate(0))
	}
	content := contentOf(t, dir)
	bodies, bytes, rotations := logs.Written()
	assert.Len(t, bodies, 800)
	assert.Positive(t, rotations)
	assert.EqualValues(t, len(content), bytes)
	for _, body := range bodies {
		assert.Equal(t, 1, strings.Count(content, body+"\n"), body)
	}
	require.NoError(t, logs.RemoveRotated())
	left, err := filepath.Glob(filepath.Join(dir, "*.log.*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestPartsOfAContainerLineMakeUpItsBody(t *testing.T) {
	logs := NewLogs(t.TempDir(), 1, CRI, 7)
	for i := range 200 {
		entry := CRI(logs.random, 1, i)
		body := ""
		for line := range strings.Lines(entry.Text) {
			fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
			require.Len(t, fields, 4)
			assert.Equal(t, strings.TrimSpace(fields[3]), fields[3], "a blank at its end would be trimmed")
			body += fields[3]
		}
		assert.Equal(t, entry.Body, body)
	}
}

func TestMetricsAreSummedOverTheirLabels(t *testing.T) {
	metrics, err := parseMetrics(strings.NewReader("# TYPE a counter\na_total{x=\"1 2\"} 3\na_total{x=\"3\"} 4.5\nb 1e3\n\n"))
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"a": 7.5, "b": 1000}, metrics)
	for _, text := range []string{"a", "a b"} {
		_, err := parseMetrics(strings.NewReader(text))
		assert.Error(t, err)
	}
}

func TestWhatWasSentBeforeTheSenderEndedIsTakenAtItsEnd(t *testing.T) {
	sink, err := NewSink()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, sink.Close()) })
	logs := plog.NewLogs()
	logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("last words")
	body, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
	require.NoError(t, err)
	address := strings.TrimPrefix(sink.URL(), "http://")
	for sent := range 100 { // one alone may be taken in time by chance
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = fmt.Fprintf(c, "POST /v1/logs HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", address, len(body), body)
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.NoError(t, sink.AwaitEnd())
		records, _, _ := sink.Counts()
		require.Equal(t, sent+1, records)
	}
}
