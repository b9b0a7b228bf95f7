//go:build unix && !solaris && !illumos && !aix

package match

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func linkTo(t *testing.T, target, path string) {
	t.Helper()
	temporary := path + ".new"
	require.NoError(t, os.Symlink(target, temporary))
	require.NoError(t, os.Rename(temporary, path))
}

func TestSymlinksAreFollowed(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "real/sub/a.log", "in/b.log")
	linkTo(t, filepath.Join(dir, "real"), filepath.Join(dir, "in/dir"))
	linkTo(t, "../real/sub/a.log", filepath.Join(dir, "in/file.log"))
	result := newMatcher(t, Config{Include: []string{dir + "/in/**/*.log"}}).Poll(later())
	assert.Equal(t, []string{"in/b.log", "in/dir/sub/a.log", "in/file.log"}, found(t, dir, result))
	assert.False(t, result.Paths[0].Symlink)
	assert.True(t, result.Paths[1].Symlink, "through a directory")
	assert.True(t, result.Paths[2].Symlink)
}

func TestARetargetedSymlinkIsSeenAtTheNextPoll(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "1/a.log", "2/a.log", "2/b.log", "in/", "last/a.log")
	linkTo(t, filepath.Join(dir, "1"), filepath.Join(dir, "current"))
	linkTo(t, filepath.Join(dir, "current"), filepath.Join(dir, "in/dir"))
	linkTo(t, filepath.Join(dir, "current/a.log"), filepath.Join(dir, "in/file.log"))
	matcher := newMatcher(t, Config{Include: []string{dir + "/in/**/*.log", dir + "/current/a.log"}})
	assert.Equal(t, []string{"current/a.log", "in/dir/a.log", "in/file.log"}, found(t, dir, matcher.Poll(later())))
	assert.Empty(t, relisted(t, dir, matcher.Poll(later())))

	// Nothing in the directory of the links changes by this.
	linkTo(t, filepath.Join(dir, "2"), filepath.Join(dir, "current"))
	result := matcher.Poll(later())
	assert.Equal(t, []string{"current/a.log", "in/dir/a.log", "in/dir/b.log", "in/file.log"}, found(t, dir, result))
	assert.Equal(t, []string{"current/a.log", "in/dir/a.log", "in/dir/b.log", "in/file.log"}, relisted(t, dir, result))

	linkTo(t, filepath.Join(dir, "last"), filepath.Join(dir, "current"))
	assert.Equal(t, []string{"current/a.log", "in/dir/a.log", "in/file.log"}, found(t, dir, matcher.Poll(later())))
}

func TestASymlinkToNothingIsAProblemAndNoFile(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "in/a.log")
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "in/link.log")
	linkTo(t, target, path)
	matcher := newMatcher(t, Config{Include: []string{dir + "/in/**"}})
	result := matcher.Poll(later())
	assert.Equal(t, []string{"in/a.log"}, found(t, dir, result))
	require.Len(t, result.Problems, 1)
	assert.Equal(t, path, result.Problems[0].Path)
	require.ErrorIs(t, result.Problems[0].Err, fs.ErrNotExist)
	assert.False(t, matcher.Hides(path), "what it led to is gone")
	assert.False(t, matcher.Poll(later()).ProblemsChanged)

	makeFiles(t, dir, "target")
	result = matcher.Poll(later())
	assert.Equal(t, []string{"in/a.log", "in/link.log"}, found(t, dir, result))
	assert.Empty(t, result.Problems)
	assert.True(t, result.ProblemsChanged)

	require.NoError(t, os.Remove(target))
	makeFiles(t, dir, "target/b.log")
	assert.Equal(t, []string{"in/a.log", "in/link.log/b.log"}, found(t, dir, matcher.Poll(later())))
}

func TestLoopsOfSymlinksEnd(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		expected []string
	}{
		{"**/*.log", []string{"a.log", "sub/b.log"}},
		{"**", []string{"a.log", "sub/b.log"}},
		// One that names the link means it.
		{"*/*.log", []string{"loop/a.log", "sub/b.log"}},
		{"loop/loop/*.log", []string{"loop/loop/a.log"}},
		{"**/loop/*.log", []string{"loop/a.log"}},
		{"sub/**/*.log", []string{"sub/b.log", "sub/up/a.log", "sub/up/loop/sub/b.log"}},
	} {
		t.Run(test.pattern, func(t *testing.T) {
			dir := t.TempDir()
			makeFiles(t, dir, "a.log", "sub/b.log")
			linkTo(t, ".", filepath.Join(dir, "loop"))
			linkTo(t, "..", filepath.Join(dir, "sub/up"))
			result := newMatcher(t, Config{Include: []string{dir + "/" + test.pattern}}).Poll(later())
			if test.pattern == "sub/**/*.log" {
				// How many longer names there are is of no interest.
				assert.Subset(t, found(t, dir, result), test.expected[:2])
				assert.Less(t, len(result.Paths), 10)
				return
			}
			assert.Equal(t, test.expected, found(t, dir, result))
			assert.Empty(t, result.Problems)
		})
	}
}

func TestASymlinkCanBecomeALoopAndStopBeingOne(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "in/a.log", "other/b.log")
	linkTo(t, "../other", filepath.Join(dir, "in/x"))
	matcher := newMatcher(t, Config{Include: []string{dir + "/in/**"}})
	assert.Equal(t, []string{"in/a.log", "in/x/b.log"}, found(t, dir, matcher.Poll(later())))
	linkTo(t, ".", filepath.Join(dir, "in/x"))
	assert.Equal(t, []string{"in/a.log"}, found(t, dir, matcher.Poll(later())))
	linkTo(t, "../other", filepath.Join(dir, "in/x"))
	assert.Equal(t, []string{"in/a.log", "in/x/b.log"}, found(t, dir, matcher.Poll(later())))
}

func TestASymlinkToItselfIsAProblem(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a.log")
	linkTo(t, "self.log", filepath.Join(dir, "self.log"))
	result := newMatcher(t, Config{Include: []string{dir + "/*.log"}}).Poll(later())
	assert.Equal(t, []string{"a.log"}, found(t, dir, result))
	require.Len(t, result.Problems, 1)
	assert.Equal(t, filepath.Join(dir, "self.log"), result.Problems[0].Path)
}

// Every physical file that an expansion finds through symlinks is found, though
// under fewer names if there are loops.
func TestEveryFileBehindSymlinksIsFound(t *testing.T) {
	dir := t.TempDir()
	patterns := []string{"**/*.log", "*/*.log", "**/b/*", "a/**", "{a,b}/*/*.log", "a/b.log"}
	matchers := make([]*Matcher, len(patterns))
	for i, pattern := range patterns {
		matchers[i] = newMatcher(t, Config{Include: []string{dir + "/" + pattern}})
	}
	physical := func(paths []string) []string {
		var files []string
		for _, path := range paths {
			file, err := filepath.EvalSymlinks(path)
			if err != nil {
				continue // leads nowhere
			}
			// An expansion takes the 41st round of a loop for a file.
			if info, err := os.Stat(file); err == nil && !info.IsDir() {
				files = append(files, file)
			}
		}
		slices.Sort(files)
		return slices.Compact(files)
	}
	random := rand.New(rand.NewPCG(3, 4))
	var linked string
	for step := range 60 {
		did := changeSomething(t, dir, random)
		if step%3 == 0 {
			// One at a time: the names that an expansion finds multiply.
			_ = os.Remove(linked)
			linked = filepath.Join(dir, []string{"b", "a/b", "a/c", "c.log", "a/b.log"}[random.IntN(5)])
			_ = os.MkdirAll(filepath.Dir(linked), 0o700)
			if err := os.Symlink([]string{"..", "a", "b", "c", dir + "/a/b", dir + "/a.log"}[random.IntN(6)], linked); err != nil {
				linked = ""
			}
		}
		for i, pattern := range patterns {
			expected := expand(t, []string{dir + "/" + pattern}, nil)
			got := names(matchers[i].Poll(time.Now()))
			require.Subset(t, expected, got, "%s, step %d: %s", pattern, step, did)
			require.Equal(t, physical(expected), physical(got), "%s, step %d: %s", pattern, step, did)
		}
	}
}

// A FIFO behind a name must not block anything here.
func TestSpecialFilesAreFiles(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "z")
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "a"), 0o600))
	result := newMatcher(t, Config{Include: []string{dir + "/*"}, ExcludeOlderThan: time.Hour}).Poll(time.Now())
	assert.Equal(t, []string{"a", "z"}, found(t, dir, result))
}
