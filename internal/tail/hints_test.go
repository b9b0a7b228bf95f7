package tail

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/watch"
)

// hinted makes a loop that knows the names, with directories watched.
func hinted(t *testing.T, names ...string) *Loop {
	l := &Loop{Config: Config{WatchFrom: 1}, Rooms: Rooms{Logger: zap.NewNop()}}
	for _, name := range names {
		require.NoError(t, os.WriteFile(name, []byte("x\n"), 0o644))
		l.entries = append(l.entries, entry{name: name})
	}
	now := time.Now()
	require.True(t, l.takeHints(now), "the first time everything is looked at")
	t.Cleanup(l.stopHints)
	if l.hints.watcher == nil || !l.entries[0].watched {
		t.Skip("the folder for temporary files is on a file system that is not watched")
	}
	require.True(t, l.takeHints(now), "and once more, since files may have changed before they were watched")
	require.False(t, l.takeHints(now))
	return l
}

func TestAHintMarksTheFileThatWasWrittenTo(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	l := hinted(t, a, b)
	require.NoError(t, os.WriteFile(b, []byte("more\n"), 0o644))
	require.False(t, l.takeHints(time.Now()))
	require.False(t, l.entries[0].hinted)
	require.True(t, l.entries[1].hinted)
}

func TestEverythingIsLookedAtNowAndThenWithoutAHint(t *testing.T) {
	l := hinted(t, filepath.Join(t.TempDir(), "a"))
	require.True(t, l.takeHints(time.Now().Add(lookAtAll)))
	require.False(t, l.takeHints(time.Now().Add(lookAtAll)))
}

func TestAWriteOfWhichNothingWasToldIsSeenAlsoWhenAPollLooksAtFewFiles(t *testing.T) {
	r := newRig(t)
	r.conf.WatchFrom, r.conf.FilesPerPoll = 1, 1
	names := make([]string, 10) // lookAtAll is twenty polls: always the same name would have its turn then
	for i := range names {
		names[i] = "in/" + strconv.Itoa(i)
		r.write(names[i], "first "+names[i]+"\n")
	}
	r.start().polls(12)
	if r.loop.hints.watcher == nil || !r.loop.entries[0].watched {
		t.Skip("the folder for temporary files is on a file system that is not watched")
	}
	require.Len(t, r.sink.delivered(), len(names))
	for _, name := range names {
		f, err := os.OpenFile(r.path(name), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString("second\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	_, err := r.loop.hints.watcher.Drain(func(watch.Place, []byte) {}) // the events are lost
	require.NoError(t, err)
	r.pass(2*lookAtAll + time.Second) // the next listing of the directory would tell
	require.Len(t, r.sink.delivered(), 2*len(names))
}

// An event is told for the name that was used.
func TestAWriteThroughAnotherLinkIsSeenAtTheNextPoll(t *testing.T) {
	r := newRig(t)
	r.conf.WatchFrom = 1
	r.write("in/a", "first\n")
	require.NoError(t, os.Link(r.path("in/a"), r.path("out/link")))
	r.start().polls(12) // the directory was just changed: it is listed anew for a while
	r.pass(2 * lookAtAll)
	require.Equal(t, []string{"first"}, r.sink.delivered())
	r.write("out/link", "second\n").poll()
	require.Equal(t, []string{"first", "second"}, r.sink.delivered())
}

func TestADirectoryThatWasReplacedIsWatchedAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, os.Mkdir(dir, 0o755))
	name := filepath.Join(dir, "a")
	l := hinted(t, name)
	require.NoError(t, os.Rename(dir, dir+".old"))
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(name, nil, 0o644))
	directory, _ := directoryOf(name)
	l.watchAgain(directory)
	l.takeHints(time.Now())
	l.entries[0].hinted = false
	require.NoError(t, os.WriteFile(name, []byte("new\n"), 0o644))
	require.False(t, l.takeHints(time.Now()))
	require.True(t, l.entries[0].hinted)
}

// writeInTurn writes so many lines to the files in turn: the kernel folds the
// repeats of an event, not these.
func writeInTurn(t *testing.T, lines int, names ...string) {
	t.Helper()
	for i := range lines {
		f, err := os.OpenFile(names[i%len(names)], os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString("x\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
}

// namesIn are n names in a folder of its own.
func namesIn(t *testing.T, n int) (names []string) {
	dir := t.TempDir()
	for i := range n {
		names = append(names, filepath.Join(dir, strconv.Itoa(i)))
	}
	return names
}

func TestFewFilesThatAreWrittenToWithoutAPauseEndTheWatching(t *testing.T) {
	names := namesIn(t, 100)
	l := hinted(t, names...)
	now := time.Now()
	for range 5 {
		writeInTurn(t, 600, names[:20]...) // each poll; the other 80 rest
		l.takeHints(now)
	}
	require.Nil(t, l.hints.watcher, "it costs more than the 80 looks that it spares")
}

func TestWatchingGoesOnWhileItSparesMoreThanItCosts(t *testing.T) {
	names := namesIn(t, 1000)
	l := hinted(t, names...)
	now := time.Now()
	for range 10 {
		writeInTurn(t, 200, names[:200]...) // a thousand files that get a line a second each
		require.False(t, l.takeHints(now))
		clearHints(l)
	}
	writeInTurn(t, 4000, names[:2]...)
	require.False(t, l.takeHints(now), "and after a burst")
}

func clearHints(l *Loop) {
	for i := range l.entries {
		l.entries[i].hinted = false
	}
}

func TestMoreHintsThanFilesEndTheWatching(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	l := hinted(t, a, b)
	writeInTurn(t, 4000, a, b)
	now := time.Now()
	require.True(t, l.takeHints(now))
	require.Nil(t, l.hints.watcher)
	require.True(t, l.takeHints(now), "and it stays off for a while")
	require.Nil(t, l.hints.watcher)
	require.True(t, l.takeHints(now.Add(hintsPause)))
	require.NotNil(t, l.hints.watcher)
}
