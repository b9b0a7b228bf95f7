package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func watcher(t *testing.T, dir string) (*Watcher, Place) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing can be watched on this system")
	}
	w, err := New()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	place := w.Add(dir)
	if place == 0 {
		t.Skip("the folder for temporary files is on a file system that is not watched")
	}
	return w, place
}

func names(t *testing.T, w *Watcher) (map[string]Place, Events) {
	found := map[string]Place{}
	events, err := w.Drain(func(in Place, name []byte) { found[string(name)] = in })
	require.NoError(t, err)
	return found, events
}

func TestWrittenNamesAreTold(t *testing.T) {
	dir := t.TempDir()
	quiet, busy := filepath.Join(dir, "quiet"), filepath.Join(dir, "busy")
	require.NoError(t, os.WriteFile(quiet, []byte("x"), 0o644))
	require.NoError(t, os.WriteFile(busy, []byte("x"), 0o644))
	w, place := watcher(t, dir)
	require.Equal(t, place, w.Add(dir), "adding again gives the same place")

	found, events := names(t, w)
	require.Empty(t, found)
	require.Zero(t, events)

	require.NoError(t, os.WriteFile(busy, []byte("more"), 0o644))
	found, events = names(t, w)
	require.Equal(t, map[string]Place{"busy": place}, found)
	require.False(t, events.Lost)

	require.NoError(t, os.Truncate(quiet, 0))
	found, _ = names(t, w)
	require.Contains(t, found, "quiet")
}

func TestAWriteThroughAHandleIsToldUnderTheNameOfItsFileNow(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "before"))
	require.NoError(t, err)
	defer f.Close()
	w, place := watcher(t, dir)
	require.NoError(t, os.Rename(filepath.Join(dir, "before"), filepath.Join(dir, "after")))
	_, err = f.WriteString("late")
	require.NoError(t, err)
	found, _ := names(t, w)
	require.Equal(t, map[string]Place{"after": place}, found)
}

func TestARemovedDirectoryIsToldAsLost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sub")
	require.NoError(t, os.Mkdir(dir, 0o755))
	w, _ := watcher(t, dir)
	require.NoError(t, os.Remove(dir))
	_, events := names(t, w)
	require.True(t, events.Lost)
}

func TestWhatIsNoDirectoryIsNotWatched(t *testing.T) {
	dir := t.TempDir()
	w, _ := watcher(t, dir)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	require.Zero(t, w.Add(file))
	require.Zero(t, w.Add(filepath.Join(dir, "missing")))
	require.Zero(t, w.Add("/proc"))
}
