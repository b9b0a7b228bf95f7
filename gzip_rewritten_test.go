package filelogreceiver

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A log that is compressed anew as often as it has grown: the content goes on, the
// compressed bytes are other ones.
func TestACompressedFileThatIsCompressedAnewGoesOn(t *testing.T) {
	first, bodies := lines(1, 400)
	second, more := lines(401, 900)
	for _, down := range []bool{false, true} {
		for _, inPlace := range []bool{false, true} {
			t.Run(fmt.Sprintf("in place %t, while the receiver is down %t", inPlace, down), func(t *testing.T) {
				t.Parallel()
				l := newLab(t, map[string]any{"compression": "auto"}).stored()
				l.write("a.gz", gzipped(t, first)).start().expectInOrder(bodies...)
				l.polls()
				if down {
					l.stop()
				}
				if inPlace {
					require.NoError(t, os.WriteFile(l.path("a.gz"), []byte(gzipped(t, first+second)), 0o644))
				} else {
					l.replace("a.gz", gzipped(t, first+second))
				}
				if down {
					l.start()
				}
				l.expectInOrder(append(append([]string{}, bodies...), more...)...)
			})
		}
	}
}
