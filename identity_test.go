package filelogreceiver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// J12
func TestEqualFilesAreToldApartOrHeldAsCopies(t *testing.T) {
	t.Run("a copy is held while the original lives", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, map[string]any{"fingerprint_size": 18})
		l.write("a.log", "the same line in both\n").start().expect("the same line in both")
		l.write("b.log", "the same line in both\n").expect("the same line in both")
		require.Len(t, l.messagesAbout("File has the same content as another one"), 1)
	})
	t.Run("files that part are both read, the short common part twice (J13)", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, map[string]any{"fingerprint_size": 18})
		l.write("a.log", "the same line in both\n").write("b.log", "the same line in both\n").start().expect("the same line in both")
		l.write("a.log", "of a\n").write("b.log", "of b\n").await(4)
		l.still()
		require.Equal(t, []string{"the same line in both", "of a"}, l.fromFile("a.log"))
		require.Equal(t, []string{"the same line in both", "of b"}, l.fromFile("b.log"))
	})
	t.Run("the one that grows is read (J14)", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, map[string]any{"fingerprint_size": 18})
		l.write("a.log", "the same line in both\n").write("b.log", "the same line in both\n").start().expect("the same line in both")
		l.write("b.log", "of b\n").await(3)
		l.still()
		require.Equal(t, []string{"the same line in both", "of b"}, l.fromFile("b.log"))
		require.Equal(t, []string{"the same line in both"}, l.fromFile("a.log"))
	})
	t.Run("files that are alike beyond the fingerprint are read (J15)", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		same := strings.Repeat("alike\n", 200)
		l.write("a.log", same).start().await(200)
		l.write("b.log", same).polls().write("b.log", "of b\n").await(401)
		require.Equal(t, "of b", l.fromFile("b.log")[200])
	})
	t.Run("two services that begin alike are both read", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil).stored()
		banner := strings.Repeat("banner line\n", 100)
		l.write("a.log", banner+"a1\n").write("b.log", banner+"b1\n").start().await(202)
		require.Len(t, l.fromFile("a.log"), 101)
		require.Len(t, l.fromFile("b.log"), 101)
		l.forget().restart()
		l.write("a.log", "a2\n").write("b.log", "b2\n").expect("a2", "b2")
		require.Equal(t, []string{"a2"}, l.fromFile("a.log"))
	})
}

// U14, J16
func TestATinyFileDoesNotGiveItsPlaceToOneThatBeginsLikeIt(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.write("m.log", "x\n").start().expect("x")
	l.write("a.log", "x\ny\n").await(3)
	l.still()
	require.Equal(t, []string{"x"}, l.fromFile("m.log"))
	require.Equal(t, []string{"x", "y"}, l.fromFile("a.log"))
}

// J18, J19
func TestAFileThatIsAwayForManyPollsIsNotReadAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	elsewhere := filepath.Join(t.TempDir(), "hidden.log")
	text, bodies := lines(1, 50)
	l.write("a.log", text).start().expectInOrder(bodies...)
	require.NoError(t, os.Rename(l.path("a.log"), elsewhere))
	l.still()
	require.NoError(t, os.Rename(elsewhere, l.path("a.log")))
	l.write("a.log", "more\n").expectInOrder(append(bodies, "more")...)
}

// J26
func TestAFingerprintGrowsWithItsFile(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"fingerprint_size": 360}).stored()
	l.start()
	var want []string
	for size := 3; size <= 27; size++ {
		want = append(want, strings.Repeat(string(rune('a'+size%26)), size))
		l.write("a.log", want[len(want)-1]+"\n").await(len(want))
		if size%8 == 0 {
			l.restart()
		}
	}
	l.rename("a.log", "b.log")
	l.expectInOrder(want...)
}

// J27
func TestTheFingerprintSizeMayChange(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil).stored()
	var want []string
	for i, size := range []int{1000, 2000, 500, 16, 1000} {
		l.keys["fingerprint_size"] = size
		for _, name := range []string{"a.log", "b.log", "c.log"} {
			for j := range 30 {
				body := fmt.Sprintf("%s run %d line %d", name, i, j)
				want = append(want, body)
				l.write(name, body+"\n")
			}
		}
		l.start().await(len(want))
		l.stop()
	}
	l.start().expect(want...)
}

// J28
func TestAFingerprintMayBeLargerThanTheBuffer(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"fingerprint_size": "18KiB"}).stored()
	text, bodies := lines(1, 1400) // 16.8 kB
	l.write("a.log", text).start().expectInOrder(bodies...)
	more, moreBodies := lines(1401, 1700)
	l.write("a.log", more).expectInOrder(append(bodies, moreBodies...)...)
	l.restart().expectInOrder(append(bodies, moreBodies...)...)
}

// J31
func TestLinesBeforeDuringAndBetweenRuns(t *testing.T) {
	for _, start := range []string{"beginning", "end"} {
		for _, size := range []int{20, 2000} {
			t.Run(fmt.Sprintf("start at %s, lines of %d", start, size), func(t *testing.T) {
				t.Parallel()
				line := func(name string) string { return name + strings.Repeat("x", size-len(name)) }
				l := newLab(t, map[string]any{"start_at": start}).stored()
				want := []string{line("during run 1"), line("while stopped"), line("during run 2")}
				l.write("a.log", line("before run 1")+"\n").start().watched(1)
				if start == "beginning" {
					want = append([]string{line("before run 1")}, want...)
				}
				l.write("a.log", line("during run 1")+"\n").await(len(want) - 2)
				l.stop().write("a.log", line("while stopped")+"\n").start().await(len(want) - 1)
				l.write("a.log", line("during run 2")+"\n").expectInOrder(want...)
			})
		}
	}
}

// messagesAbout is the messages that begin with that text.
func (l *lab) messagesAbout(text string) []string {
	var out []string
	for _, m := range l.messages() {
		if _, rest, ok := strings.Cut(m, ": "); ok && strings.HasPrefix(rest, text) {
			out = append(out, m)
		}
	}
	return out
}

// longLines makes numbered lines of a kilobyte each.
func longLines(n int) (text string, bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprintf("%01023d", i))
	}
	return strings.Join(bodies, "\n") + "\n", bodies
}

// A fingerprint may be longer than what a turn reads at once.
func TestAFileWithALongFingerprintIsRead(t *testing.T) {
	for _, size := range []string{"100KiB", "200KiB", "1MiB"} {
		for _, compression := range []string{"", "gzip"} {
			t.Run(size+" "+compression, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, map[string]any{"fingerprint_size": size, "compression": compression}).stored()
				text, bodies := longLines(700)
				whole, more := text, "more\n"
				if compression != "" {
					whole, more = gzipped(t, text), gzipped(t, more)
				}
				l.write("a.log", whole).start().expectInOrder(bodies...)
				l.restart().write("a.log", more).expectInOrder(append(bodies, "more")...)
				require.Zero(t, l.logged("File was rewritten"))
			})
		}
	}
}

func TestAFileWithALongFingerprintThatIsCutGoesOn(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"fingerprint_size": "1MiB"}).stored()
	text, bodies := longLines(700)
	l.write("a.log", text).start().expectInOrder(bodies...)
	l.polls().truncate("a.log", int64(len(text))/2).polls()
	l.write("a.log", "more\n").await(len(bodies) + 1)
	l.still()
	require.Equal(t, "more", l.sink.bodies()[l.sink.count()-1])
}
