package filelogreceiver

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/metadata"
)

// G1 to G3, G5
func TestEachSwitchOfAttributesAddsItsAttribute(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and owners are not for Windows")
	}
	t.Parallel()
	l := newLab(t, nil)
	real, err := filepath.EvalSymlinks(l.t.TempDir())
	require.NoError(t, err)
	target := filepath.Join(real, "real.log")
	require.NoError(t, os.WriteFile(target, []byte("line\n"), 0o600))
	require.NoError(t, os.Chmod(target, 0o640))
	require.NoError(t, os.Symlink(target, l.path("link.log")))
	me, err := user.Current()
	require.NoError(t, err)
	group, err := user.LookupGroupId(me.Gid)
	require.NoError(t, err)

	switches := []struct {
		key, attribute string
		value          any
	}{
		{"include_file_name", "log.file.name", "link.log"},
		{"include_file_path", "log.file.path", l.path("link.log")},
		{"include_file_name_resolved", "log.file.name_resolved", "real.log"},
		{"include_file_path_resolved", "log.file.path_resolved", target},
		{"include_file_owner_name", "log.file.owner.name", me.Username},
		{"include_file_owner_group_name", "log.file.owner.group.name", group.Name},
		{"include_file_permissions", "log.file.permissions", "640"},
	}
	for set := range 1 << len(switches) {
		want := map[string]any{}
		for i, s := range switches {
			l.keys[s.key] = set>>i&1 == 1
			if set>>i&1 == 1 {
				want[s.attribute] = s.value
			}
		}
		l.forget().start().await(1)
		require.Equal(t, want, l.find("line").attributes)
		l.stop()
	}
}

// G4
func TestARelativePatternGivesACleanRelativePath(t *testing.T) {
	l := newLab(t, map[string]any{"include_file_path": true, "include": []any{"./logs//*.log"}})
	t.Chdir(l.dir)
	l.write("logs/a.log", "line\n").start().await(1)
	require.Equal(t, filepath.Join("logs", "a.log"), l.find("line").attributes["log.file.path"])
}

// numbered is what the records say about their place.
func (l *lab) numbered() (numbers, offsets []any) {
	for _, r := range l.sink.all() {
		numbers = append(numbers, r.attributes["log.file.record_number"])
		offsets = append(offsets, r.attributes["log.file.record_offset"])
	}
	return numbers, offsets
}

// G6 to G11
func TestRecordsAreNumberedAndPlaced(t *testing.T) {
	keys := map[string]any{"include_file_record_number": true, "include_file_record_offset": true}
	t.Run("over polls and over a restart", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, keys).stored()
		l.write("a.log", "l1\nl2\nl3\n").start().await(3)
		l.write("a.log", "l4\n").await(4)
		l.stop().write("a.log", "l5\n").start().expectInOrder("l1", "l2", "l3", "l4", "l5")
		numbers, offsets := l.numbered()
		require.Equal(t, []any{int64(1), int64(2), int64(3), int64(4), int64(5)}, numbers)
		require.Equal(t, []any{int64(0), int64(3), int64(6), int64(9), int64(12)}, offsets)
	})
	t.Run("with empty lines, which take a number", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, keys)
		l.write("a.log", "   01234567   \n\n01234567 \n   \nlast\n").start().expect("01234567", "01234567", "last")
		numbers, offsets := l.numbered()
		require.Equal(t, []any{int64(1), int64(3), int64(5)}, numbers)
		require.Equal(t, []any{int64(0), int64(16), int64(30)}, offsets)
	})
	t.Run("over batches", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, keys)
		l.keys["max_batch_size"] = 10
		var text string
		for range 101 {
			text += "X\n"
		}
		l.write("a.log", text).start().await(101)
		_, offsets := l.numbered()
		for i, offset := range offsets {
			require.Equal(t, int64(2*i), offset)
		}
	})
	t.Run("only if that is wanted", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		l.write("a.log", "l1\n").start().await(1)
		require.Equal(t, map[string]any{"log.file.name": "a.log"}, l.find("l1").attributes)
	})
}

// G13. Whether a file is emptied first, or has its new content at once, plays no part.
func TestNumbersGoOnBehindATruncationIfTheFileBeginsAsBefore(t *testing.T) {
	for _, c := range []struct {
		name, line string
		number     int64
	}{
		{"it does", "old1\n", 4},
		{"it does not", "new\n", 1},
	} {
		for _, emptied := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, seen empty %t", c.name, emptied), func(t *testing.T) {
				t.Parallel()
				l := newLab(t, map[string]any{"on_truncate": "read_whole_file", "include_file_record_number": true, "include_file_record_offset": true})
				l.write("a.log", "old1\nold2\nold3\n").start().await(3)
				l.forget().truncate("a.log", 0)
				if emptied {
					l.polls()
				}
				l.write("a.log", c.line).await(1)
				record := l.find(strings.TrimSpace(c.line))
				require.Equal(t, c.number, record.attributes["log.file.record_number"])
				require.Equal(t, int64(0), record.attributes["log.file.record_offset"])
			})
		}
	}
}

// G12
func TestAttributesAndResourceAreComputedPerRecord(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{
		"attributes": map[string]any{"site": "north", "tag": `EXPR("x" + body[:3])`},
		"resource":   map[string]any{"svc": "EXPR(body)"},
	})
	l.write("a.log", "0123\n4567\n").start().expect("0123", "4567")
	require.Equal(t, map[string]any{"log.file.name": "a.log", "site": "north", "tag": "x456"}, l.find("4567").attributes)
	require.Equal(t, map[string]any{"svc": "0123"}, l.find("0123").resource)
}

// P19
func TestARecordWithoutOperatorsSaysNoMoreThanIsKnown(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.write("a.log", "line\n").start().await(1)
	r := l.find("line")
	require.Zero(t, r.record.Timestamp())
	require.NotZero(t, r.record.ObservedTimestamp())
	require.Zero(t, r.record.SeverityNumber())
	require.Empty(t, r.record.SeverityText())
	require.True(t, r.record.TraceID().IsEmpty())
	require.Empty(t, r.resource)
	require.Equal(t, metadata.ScopeName, r.scope)
}

// What a name led to is told also when it is gone, or leads to another file, before
// the file was read.
func TestResolvedNamesAreThoseOfTheFileThatIsRead(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, l *lab){
		"its link is gone":                 func(t *testing.T, l *lab) { require.NoError(t, os.Remove(l.path("app.log"))) },
		"the link and the file are gone":   func(_ *testing.T, l *lab) { l.remove("app.log").remove("files/gen1") },
		"the link has left the pattern":    func(_ *testing.T, l *lab) { l.rename("app.log", "files/app.log") },
		"the link leads to another file":   func(t *testing.T, l *lab) { l.write("files/gen2", "new\n").link("files/gen2", "app.log") },
		"another file has the link's name": func(_ *testing.T, l *lab) { l.replace("app.log", "new\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := make(chan struct{})
			l := newLab(t, map[string]any{"include_file_path_resolved": true, "include_file_name_resolved": true, "workers": 1})
			l.keys["include"] = []any{l.path("*.log")}
			l.sink.setAnswer(waitFor(gate))
			l.write("before.log", "before\n").start().waitLogged("Started watching file")
			l.write("files/gen1", "late\n").link("files/gen1", "app.log")
			require.Eventually(t, func() bool { return l.logged("Started watching file") == 2 }, waitLimit, time.Millisecond)
			leave(t, l)
			l.polls()
			close(gate)
			require.Eventually(t, func() bool { return slices.Contains(l.sink.bodies(), "late") }, waitLimit, time.Millisecond)
			late := l.find("late")
			dir, err := filepath.EvalSymlinks(l.dir)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(dir, "files", "gen1"), late.attributes["log.file.path_resolved"])
			require.Equal(t, "gen1", late.attributes["log.file.name_resolved"])
		})
	}
}

// link makes a link of that name in one step.
func (l *lab) link(to, name string) *lab {
	l.t.Helper()
	temp := filepath.Join(l.t.TempDir(), "new")
	require.NoError(l.t, os.Symlink(l.path(to), temp))
	require.NoError(l.t, os.Rename(temp, l.path(name)))
	return l
}
