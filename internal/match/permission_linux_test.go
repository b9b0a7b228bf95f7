package match

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// withoutPrivileges runs do with the rights that everybody has, also if the test
// is run by root.
func withoutPrivileges(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	require.NoError(t, unix.Setfsuid(nobody))
	defer func() { require.NoError(t, unix.Setfsuid(0)) }()
	do()
}

func TestAClosedDirectoryHidesItsFilesUntilItIsOpened(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a/app.log", "b/app.log", "c/app.log")
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	closed := filepath.Join(dir, "b")
	matcher := newMatcher(t, Config{Include: []string{dir + "/*/app.log", dir + "/b/app.log"}})
	poll := func() (result Result) {
		withoutPrivileges(t, func() { result = matcher.Poll(later()) })
		return result
	}
	require.Len(t, poll().Paths, 3)

	require.NoError(t, os.Chmod(closed, 0))
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	result := poll()
	assert.Equal(t, []string{"a/app.log", "c/app.log"}, found(t, dir, result))
	require.Len(t, result.Problems, 2, "the directory, and the file that a pattern names")
	assert.Equal(t, closed, result.Problems[0].Path)
	assert.Equal(t, "cannot list directory: permission denied", result.Problems[0].Err.Error())
	assert.Equal(t, "cannot look for file: permission denied", result.Problems[1].Err.Error())
	assert.True(t, matcher.Hides(filepath.Join(closed, "app.log")))
	assert.False(t, matcher.Hides(filepath.Join(dir, "a/gone.log")))
	assert.False(t, poll().ProblemsChanged)

	require.NoError(t, os.Chmod(closed, 0o755))
	result = poll()
	assert.Equal(t, []string{"a/app.log", "b/app.log", "c/app.log"}, found(t, dir, result))
	assert.Empty(t, result.Problems)
}

func TestAFileWhoseAgeCannotBeAskedIsHidden(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a/app.log")
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	// To be listed, but not to be passed.
	require.NoError(t, os.Chmod(filepath.Join(dir, "a"), 0o644))
	matcher := newMatcher(t, Config{Include: []string{dir + "/a/*.log"}, ExcludeOlderThan: time.Hour})
	withoutPrivileges(t, func() {
		result := matcher.Poll(time.Now())
		assert.Empty(t, result.Paths)
		require.Len(t, result.Problems, 1)
		assert.Equal(t, "cannot ask for modification time: permission denied", result.Problems[0].Err.Error())
		assert.True(t, matcher.Hides(filepath.Join(dir, "a/app.log")))
	})
}
