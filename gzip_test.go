package filelogreceiver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// gzipped is one gzip member of text.
func gzipped(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return buf.String()
}

// L1, L5
func TestAGzipFileIsReadToItsLastLine(t *testing.T) {
	for _, compression := range []string{"gzip", "auto"} {
		t.Run(compression, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"compression": compression})
			l.write("a.gz", gzipped(t, "l1\nl2\nno newline")).start().expectInOrder("l1", "l2", "no newline")
		})
	}
}

// L2
func TestMembersThatAreAppendedAreRead(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"compression": "gzip", "start_at": "end"})
	l.write("a.gz", gzipped(t, "old1\nold2\n")).start().watched(1)
	l.write("a.gz", gzipped(t, "l3\nl4\n")).await(2)
	l.write("a.gz", gzipped(t, "l5\n")).expectInOrder("l3", "l4", "l5")
}

func TestAGzipFileReadFromTheMiddleIsKnownAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"compression": "auto", "start_at": "end", "include_file_record_offset": true}).stored()
	l.write("a.gz", gzipped(t, "old1\nold2\n")).start().watched(1)
	l.polls().restart()
	l.write("a.gz", gzipped(t, "l3\nl4\n")).await(2)
	l.restart().write("a.gz", gzipped(t, "l5\n")).expectInOrder("l3", "l4", "l5")
	l.restart().rename("a.gz", "b.gz").expectInOrder("l3", "l4", "l5")
	_, offsets := l.numbered()
	require.Equal(t, []any{int64(10), int64(13), int64(16)}, offsets)
}

// L3, L4
func TestCompressionIsSeenByTheContent(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"compression": "auto"})
	l.write("x.log", gzipped(t, "in gzip\n")).write("y.gz", "plain\n").start().expect("in gzip", "plain")
	l.write("x.log", gzipped(t, "more in gzip\n")).write("y.gz", "more plain\n")
	l.expect("in gzip", "plain", "more in gzip", "more plain")
}

// L6
func TestAPlainFileThatBecomesAGzipFileGoesOn(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %t", restart), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"compression": "auto"}).stored()
			text, bodies := lines(1, 200)
			more, moreBodies := lines(201, 300)
			l.write("t.log", text).start().expectInOrder(bodies...)
			if restart {
				l.stop()
			}
			// It must be gone first: a gzip file that has more than the living file is another one.
			l.remove("t.log").write("t.log.gz", gzipped(t, text+more)).write("t.log", "new\n")
			if restart {
				l.start()
			}
			l.expect(append(append(bodies, moreBodies...), "new")...)
		})
	}
}

// L7
func TestAPlainFileAndItsGzipAreReadOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"compression": "auto"})
	text, bodies := lines(1, 200)
	l.write("a.log", text).start().expectInOrder(bodies...)
	l.write("a.log.gz", gzipped(t, text)).expectInOrder(bodies...)
	l.remove("a.log").expectInOrder(bodies...)
}

// L8 to L10
func TestAStopWithinAGzipFileLosesNothing(t *testing.T) {
	for _, remove := range []bool{false, true} {
		t.Run(fmt.Sprintf("deleting %t", remove), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"compression": "gzip", "max_batch_size": 100, "delete_after_read": remove}).stored()
			text, bodies := lines(1, 500)
			batches := 0
			l.sink.setAnswer(func(plog.Logs) error {
				if batches++; batches > 1 {
					return errRefused
				}
				return nil
			})
			l.write("a.gz", gzipped(t, text)).start().await(100)
			l.stop()
			require.FileExists(t, l.path("a.gz"))
			l.sink.setAnswer(nil)
			l.start().await(500)
			l.still()
			missing, _ := difference(bodies, l.sink.bodies())
			require.Empty(t, missing)
			require.LessOrEqual(t, l.sink.count(), 600)
			if remove {
				require.NoFileExists(t, l.path("a.gz"))
			}
			count := l.sink.count()
			l.restart().still()
			require.Equal(t, count, l.sink.count())
		})
	}
}

// L11, U11
func TestAGzipFileThatIsHalfWrittenIsWaitedFor(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"compression": "auto"})
	random := rand.New(rand.NewSource(1))
	var text strings.Builder
	var bodies []string
	for i := range 4000 {
		bodies = append(bodies, fmt.Sprintf("row %d %x", i, random.Uint64()))
		fmt.Fprintln(&text, bodies[i])
	}
	z := gzipped(t, text.String())
	l.write("a.gz", z[:len(z)/2]).start().polls()
	require.Less(t, l.sink.count(), 4000)
	l.write("a.gz", z[len(z)/2:len(z)-3]).polls().write("a.gz", z[len(z)-3:])
	l.expectInOrder(bodies...)
}

// L12. Upstream adds the compressed size of earlier members to positions of later
// ones; here all positions are those of the decompressed content.
func TestNumbersAndOffsetsOfGzipFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"compression": "auto", "include_file_record_number": true, "include_file_record_offset": true})
	l.write("a.gz", gzipped(t, "one\ntwo\n")).start().await(2)
	l.write("a.gz", gzipped(t, "three\nfour\n")).expectInOrder("one", "two", "three", "four")
	numbers, offsets := l.numbered()
	require.Equal(t, []any{int64(1), int64(2), int64(3), int64(4)}, numbers)
	require.Equal(t, []any{int64(0), int64(4), int64(8), int64(14)}, offsets)
}

// U18
func TestAPlainFileAmongGzipFilesIsToldOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"compression": "gzip"})
	l.write("plain.log", "plain\n").write("a.gz", gzipped(t, "l1\n")).start().expect("l1")
	require.Len(t, l.complaints(), 1)
}
