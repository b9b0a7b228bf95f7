package filelogreceiver

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// H1 to H11 are tested in internal/match, H12 and H20 are in config_test.go and
// below; what is tested here is what reading makes of them.
func TestPatternsFindWhatIsRead(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.keys["include"] = []any{l.path("*1*"), l.path("a*"), l.path("deep/**/*.log"), l.path("missing/*.log"), l.path("*.hidden")}
	l.keys["exclude"] = []any{l.path("a2*"), l.path("deep/**/b/**")}
	for _, name := range []string{"a1.log", "a2.log", "b1.log", "b2.log", "deep/c.log", "deep/x/y/d.log", "deep/b/e.log", ".f.hidden"} { // H14
		l.write(name, name+"\n")
	}
	l.start().expect("a1.log", "b1.log", "deep/c.log", "deep/x/y/d.log", ".f.hidden")
	l.write("missing/late.log", "late\n").expect("a1.log", "b1.log", "deep/c.log", "deep/x/y/d.log", ".f.hidden", "late") // H20
}

// H12
func TestIncludeMayBeText(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.keys["include"] = l.path("a.log") + "," + l.path("b.log")
	l.write("a.log", "a\n").write("b.log", "b\n").write("c.log", "c\n").start().expect("a", "b")
}

// H13
func TestALinkThatLeadsToOneFileAfterTheOther(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	t.Parallel()
	l := newLab(t, nil)
	targets := t.TempDir()
	var want []string
	for i := range 10 {
		target := filepath.Join(targets, fmt.Sprintf("%d.log", i))
		var text strings.Builder
		for j := range 100 {
			want = append(want, fmt.Sprintf("file %d line %d", i, j))
			fmt.Fprintln(&text, want[len(want)-1])
		}
		require.NoError(t, os.WriteFile(target, []byte(text.String()), 0o644))
		link := filepath.Join(targets, "link")
		require.NoError(t, os.Symlink(target, link))
		require.NoError(t, os.Rename(link, l.path("link.log")))
		if i == 0 {
			l.start()
		}
		l.await(len(want))
	}
	l.expectInOrder(want...)
}

// H15
func TestAFileWithTwoPathsIsReadOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	t.Parallel()
	l := newLab(t, map[string]any{"include_file_path": true})
	l.keys["include"] = []any{l.path("**/*.log")}
	l.write("sub/a.log", "a1\n")
	require.NoError(t, os.Symlink(l.path("sub"), l.path("dirlink")))
	require.NoError(t, os.Link(l.path("sub/a.log"), l.path("hard.log")))
	l.start().expect("a1")
	l.write("sub/a.log", "a2\n").expect("a1", "a2")
	require.Contains(t, []any{l.path("sub/a.log"), l.path("dirlink/a.log"), l.path("hard.log")}, l.find("a1").attributes["log.file.path"])
}

// U18
func TestALinkThatLeadsNowhereIsToldOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	t.Parallel()
	l := newLab(t, nil)
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.Symlink(target, l.path("a.log")))
	l.write("b.log", "b\n").start().expect("b")
	l.polls()
	require.Len(t, l.complaints(), 1)
	require.NoError(t, os.WriteFile(target, []byte("a\n"), 0o644))
	l.expect("a", "b")
	require.Len(t, l.complaints(), 1)
}

// H19
func TestPathsAreCleaned(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"include_file_path": true})
	l.keys["include"] = []any{l.dir + "//sub/../*.log"}
	l.write("sub/x", "").write("a.log", "line\n").start().await(1)
	require.Equal(t, l.path("a.log"), l.find("line").attributes["log.file.path"])
}

// I1: which files are chosen is tested in internal/match.
func TestWhatIsOutOfTheTopIsReadOnceWhenItComesIn(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"ordering_criteria": map[string]any{
		"regex": `(?P<value>\d)\.log$`, "top_n": 2, "sort_by": []any{map[string]any{"sort_type": "numeric", "regex_key": "value"}},
	}}).stored()
	l.write("1.log", "one\n").write("2.log", "two\n").write("3.log", "three\n").start().expect("two", "three")
	l.write("4.log", "four\n").await(3)
	l.restart().polls().write("2.log", "hidden two\n").expect("two", "three", "four")
	l.remove("4.log").expect("two", "three", "four", "hidden two")
	l.remove("3.log").write("2.log", "more\n").expect("two", "three", "four", "hidden two", "more", "one")
}

// I14
func TestOrderChangesWhileFilesAreWritten(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"ordering_criteria": map[string]any{"top_n": 0, "sort_by": []any{map[string]any{"sort_type": "mtime"}}}})
	l.start()
	var want []string
	for i := range 50 {
		name := fmt.Sprintf("%d.log", i%10)
		want = append(want, fmt.Sprintf("line %d", i))
		l.write(name, want[i]+"\n")
		at := time.Now().Add(-time.Duration(i*7%11) * time.Minute)
		require.NoError(t, os.Chtimes(l.path(name), at, at))
	}
	l.expect(want...)
}

// I20
func TestAFileThatWasTooOldGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"exclude_older_than": "400ms"})
	l.write("a.log", "first\n").start().expect("first")
	time.Sleep(500 * time.Millisecond) // it grows too old
	l.write("a.log", "second\n").expectInOrder("first", "second")
}

// I21, U6
func TestAGroupWithoutFilesDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"exclude_older_than": "1h", "ordering_criteria": map[string]any{"group_by": `/([a-z])\d\.log$`}})
	l.write("a1.log", "a1\n").write("a2.log", "a2\n").write("b1.log", "b1\n").write("c1.log", "c1\n")
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(l.path("b1.log"), old, old))
	l.start().expect("a1", "a2", "c1")
}

// complaints is the warnings and errors in the receiver's log.
func (l *lab) complaints() []string {
	var out []string
	for _, m := range l.messages() {
		if strings.HasPrefix(m, "warn") || strings.HasPrefix(m, "error") {
			out = append(out, m)
		}
	}
	return out
}
