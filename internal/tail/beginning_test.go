package tail

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheBeginningOfAFileIsReadUpToTheLimitHoweverLongItWasSeenToBe(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 5000)
	for _, size := range []int{0, 1, 15, 16, 17, 999, 1000, 1001, 40000, len(content)} {
		for _, seen := range []int64{-1, 0, 1, int64(size) - 1, int64(size), int64(size) + 1, 1 << 20} {
			for _, limit := range []int{0, 16, 1000, 40000, 1 << 20} {
				what := fmt.Sprintf("%d bytes, seen %d, limit %d", size, seen, limit)
				want := content[:min(size, limit)]
				head, err := readBeginning(bytes.NewReader(content[:size]), limit, seen)
				require.NoError(t, err, what)
				require.Equal(t, string(want), string(head), what)
				head, err = readStreamBeginning(bytes.NewReader(content[:size]), limit)
				require.Equal(t, string(want), string(head), what)
				if size < limit {
					require.ErrorIs(t, err, io.EOF, what)
				} else {
					require.NoError(t, err, what)
				}
			}
		}
	}
}

func TestABeginningThatCannotBeReadTellsWhy(t *testing.T) {
	fault := errors.New("no such luck")
	_, err := readBeginning(failingReader{fault}, 1000, 10)
	require.ErrorIs(t, err, fault)
	head, err := readStreamBeginning(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(fault)), 1000)
	require.ErrorIs(t, err, fault)
	require.Equal(t, "abc", string(head))
}

type failingReader struct{ err error }

func (f failingReader) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestAVeryLongFingerprintCostsOnlyWhatTheFilesHave(t *testing.T) {
	const files = 100
	text, _ := manyLines("a line of a file that has ten kilobytes or so", 180)
	run := func(fingerprint int) (allocated uint64) {
		r := newRig(t)
		r.conf.FingerprintSize = fingerprint
		r.conf.Compression = CompressionAuto
		for i := range files {
			content := []byte(fmt.Sprintf("file %d\n%s", i, text))
			if i%10 == 0 {
				var zipped bytes.Buffer
				z := gzip.NewWriter(&zipped)
				_, err := z.Write(content)
				require.NoError(t, err)
				require.NoError(t, z.Close())
				content = zipped.Bytes()
			}
			require.NoError(t, os.WriteFile(r.path(fmt.Sprintf("in/%d", i)), content, 0o644))
		}
		r.changed("in/0")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r.start().polls(3)
		r.write("in/1", "one more\n").polls(3) // its fingerprint grows
		r.stop()
		runtime.ReadMemStats(&after)
		require.Len(t, r.sink.delivered(), files*181+1)
		return after.TotalAlloc - before.TotalAlloc
	}
	usual := run(1000)
	// Each file's beginning is held ten times, at most: read, known, saved.
	assert.Less(t, run(16<<20), usual+10*files*10_000, "%d bytes with the default", usual)
}
