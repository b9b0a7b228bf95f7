package filelogreceiver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gzippedTo is one gzip member of text that takes that many bytes.
func gzippedTo(t *testing.T, text string, size int) string {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Extra = make([]byte, size-len(gzipped(t, text))-2) // and two bytes for its length
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.Equal(t, size, buf.Len())
	return buf.String()
}

// A log that is compressed anew as often as it has grown: the content goes on, the
// compressed bytes are other ones.
func TestACompressedFileThatIsCompressedAnewGoesOn(t *testing.T) {
	first, bodies := lines(1, 400)
	second, more := lines(401, 900)
	want := append(append([]string{}, bodies...), more...)
	whole := first + second
	size := len(gzipped(t, whole)) + 50
	for name, before := range map[string]string{
		"and takes more":                gzipped(t, first),
		"and takes as much":             gzippedTo(t, first, size),
		"and takes a few bytes more":    gzippedTo(t, first, size-3),
		"and takes a whole header more": gzippedTo(t, first, size-10),
		"and takes less":                gzippedTo(t, first, size+100),
	} {
		for _, down := range []bool{false, true} {
			for _, inPlace := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, in place %t, while the receiver is down %t", name, inPlace, down), func(t *testing.T) {
					t.Parallel()
					l := newLab(t, map[string]any{"compression": "auto"}).stored()
					l.write("a.gz", before)
					past := time.Now().Add(-time.Hour) // a file system's clock is coarse
					require.NoError(t, os.Chtimes(l.path("a.gz"), past, past))
					l.start().expectInOrder(bodies...)
					l.polls()
					if down {
						l.stop()
					}
					if inPlace {
						require.NoError(t, os.WriteFile(l.path("a.gz"), []byte(gzippedTo(t, whole, size)), 0o644))
					} else {
						l.replace("a.gz", gzippedTo(t, whole, size))
					}
					if down {
						l.start()
					}
					l.expectInOrder(want...)
				})
			}
		}
	}
}
