package match

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// makeFiles creates files, and directories for names that end with a slash.
func makeFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte("line\n"), 0o600))
	}
}

func within(dir string, names ...string) []string {
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

// found returns the names to read, relative to dir.
func found(t *testing.T, dir string, result Result) []string {
	t.Helper()
	found := []string{}
	for _, path := range result.Paths {
		name, err := filepath.Rel(dir, path.Name)
		require.NoError(t, err)
		found = append(found, filepath.ToSlash(name))
	}
	return found
}

func relisted(t *testing.T, dir string, result Result) []string {
	t.Helper()
	result.Paths = slices.DeleteFunc(slices.Clone(result.Paths), func(p Path) bool { return !p.Relisted })
	return found(t, dir, result)
}

func newMatcher(t *testing.T, c Config) *Matcher {
	t.Helper()
	matcher, err := New(c)
	require.NoError(t, err)
	return matcher
}

// later is a time at which everything that a test made is old enough to be trusted.
func later() time.Time { return time.Now().Add(time.Minute) }

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		name             string
		include, exclude []string
		files, expected  []string
	}{
		{"a star matches hidden files", []string{"*.log"}, nil, []string{".hidden.log", "a.log", "b.txt"}, []string{".hidden.log", "a.log"}},
		{"excludes are whole paths", []string{"*"}, []string{"a*.log", "*2.log"}, []string{"a1.log", "a2.log", "b1.log", "b2.log"}, []string{"b1.log"}},
		{"a file that several patterns match comes once", []string{"*1*", "a*", "*.log", "a1.log"}, nil, []string{"a1.log", "b1.log"}, []string{"a1.log", "b1.log"}},
		{"overlapping bases give a file once", []string{"*/b/*.log", "a/b/*", "a/*/c.log"}, nil, []string{"a/b/c.log"}, []string{"a/b/c.log"}},
		{"two stars reach every depth", []string{"**/*.log"}, nil, []string{"a.log", "b/a.log", "b/c/d/a.log", "b/c/a.txt"}, []string{"a.log", "b/a.log", "b/c/d/a.log"}},
		{"two stars in an exclude", []string{"**/*.log"}, []string{"**/b/**/1.log"}, []string{"1.log", "b/1.log", "b/c/1.log", "c/1.log"}, []string{"1.log", "c/1.log"}},
		{"directories never match", []string{"**/*"}, nil, []string{"a/", "b/c.log/", "b/d"}, []string{"b/d"}},
		{"case matters", []string{"*.log"}, nil, []string{"a.log", "B.LOG"}, []string{"a.log"}},
		{"paths are cleaned", []string{"x//../sub/*.log"}, nil, []string{"sub/a.log"}, []string{"sub/a.log"}},
		{"the order is that of the whole path", []string{"**"}, nil, []string{"a/x", "a-b", "a.log", "a/b/c", "ab"}, []string{"a-b", "a.log", "a/b/c", "a/x", "ab"}},
		{"a pattern may name one file", []string{"a.log", "missing.log"}, nil, []string{"a.log", "b.log"}, []string{"a.log"}},
		{"a pattern may name one directory, which is no file", []string{"a"}, nil, []string{"a/b.log"}, []string{}},
		{"escapes are resolved", []string{`\[a\].log`, `b\*/*`}, nil, []string{"[a].log", "a.log", "b*/c.log", "bx/c.log"}, []string{"[a].log", "b*/c.log"}},
		{"braces may hold a comma in a class", []string{"{a[,]b,c}.log"}, nil, []string{"a,b.log", "c.log"}, []string{"a,b.log", "c.log"}},
		{"braces may hold directories", []string{"{a,b/{c,d}}/*.log"}, nil, []string{"a/1.log", "b/1.log", "b/c/1.log", "b/d/1.log"}, []string{"a/1.log", "b/c/1.log", "b/d/1.log"}},
		{"a directory that does not exist is no problem", []string{"missing/*.log", "a.log"}, nil, []string{"a.log"}, []string{"a.log"}},
		{"a file where a directory should be is no problem", []string{"a.log/*.log"}, nil, []string{"a.log"}, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			makeFiles(t, dir, test.files...)
			c := Config{}
			for _, pattern := range test.include {
				c.Include = append(c.Include, dir+"/"+pattern)
			}
			for _, pattern := range test.exclude {
				c.Exclude = append(c.Exclude, dir+"/"+pattern)
			}
			result := newMatcher(t, c).Poll(later())
			assert.Equal(t, test.expected, found(t, dir, result))
			assert.Empty(t, result.Problems)
			assert.Equal(t, len(test.expected) > 0, result.Changed)
		})
	}
}

func TestRelativePatternsGiveRelativePaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	makeFiles(t, dir, "a.log", "logs/b.log", "logs/c.log")
	matcher := newMatcher(t, Config{
		Include: []string{"*.log", "./logs//*.log", "../" + filepath.Base(dir) + "/a.log"},
		// Neither an absolute pattern nor ./ before it fits a relative path.
		Exclude: []string{filepath.Join(dir, "*.log"), "./a.log", "logs/c.log"},
	})
	assert.Equal(t, []string{"../" + filepath.Base(dir) + "/a.log", "a.log", "logs/b.log"}, names(matcher.Poll(later())))
}

func TestCaseCanBeIgnored(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a.LOG", "B.log", "Sub/c.Log", "SKIP.log")
	matcher := newMatcher(t, Config{
		Include: []string{dir + "/*.Log", dir + "/s*/*.log"}, Exclude: []string{dir + "/skip*"}, CaseInsensitive: true,
	})
	assert.Equal(t, []string{"B.log", "Sub/c.Log", "a.LOG"}, found(t, dir, matcher.Poll(later())))
}

func TestAnInterruptedPollEndsAtTheNextDirectory(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a/a/1.log", "b/1.log", "c/1.log")
	matcher := newMatcher(t, Config{Include: []string{dir + "/**/*.log"}})
	listed := 0
	matcher.tree.readDirectory = func(path string) ([]fs.DirEntry, error) {
		if listed++; listed == 2 {
			matcher.Interrupt()
		}
		return os.ReadDir(path)
	}
	assert.Empty(t, matcher.Poll(later()).Paths)
	assert.True(t, matcher.Interrupted())
	assert.Equal(t, 2, listed)
}

func TestNothingIsListedWhileNothingChanges(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a/1.log", "a/2.log", "b/1.log")
	matcher := newMatcher(t, Config{Include: []string{dir + "/*/*.log"}})
	var listed []string
	matcher.tree.readDirectory = func(path string) ([]fs.DirEntry, error) {
		listed = append(listed, path)
		return os.ReadDir(path)
	}
	now := later()
	first := matcher.Poll(now)
	assert.True(t, first.Changed)
	assert.Equal(t, []string{"a/1.log", "a/2.log", "b/1.log"}, relisted(t, dir, first))
	assert.Equal(t, append([]string{dir}, within(dir, "a", "b")...), listed)

	listed = nil
	second := matcher.Poll(now.Add(time.Second))
	assert.False(t, second.Changed)
	assert.Empty(t, relisted(t, dir, second))
	assert.Empty(t, listed)

	// A file that replaces another changes no name.
	makeFiles(t, dir, "new")
	require.NoError(t, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a/1.log")))
	third := matcher.Poll(now.Add(2 * time.Second))
	assert.False(t, third.Changed)
	assert.Equal(t, []string{"a/1.log", "a/2.log"}, relisted(t, dir, third))
	assert.NotContains(t, listed, filepath.Join(dir, "b"))

	listed = nil
	fourth := matcher.Poll(now.Add(2*time.Second + reconcileInterval))
	assert.False(t, fourth.Changed)
	assert.Equal(t, []string{"a/1.log", "a/2.log", "b/1.log"}, relisted(t, dir, fourth))
	assert.Equal(t, append([]string{dir}, within(dir, "a", "b")...), listed)
}

func TestAFreshListingIsNotTrusted(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a.log")
	matcher := newMatcher(t, Config{Include: []string{dir + "/*.log"}})
	listings := 0
	matcher.tree.readDirectory = func(path string) ([]fs.DirEntry, error) {
		listings++
		return os.ReadDir(path)
	}
	var st fileStat
	require.NoError(t, statPath(newPathName(dir), &st))
	changed := time.Unix(0, max(st.changed, st.modified))
	matcher.Poll(changed)
	matcher.Poll(changed.Add(settleTime - time.Millisecond))
	matcher.Poll(changed.Add(coarseSettleTime))
	assert.Equal(t, 3, listings, "a change could have followed within the clock's tick")
	matcher.Poll(changed.Add(coarseSettleTime + time.Second))
	assert.Equal(t, 3, listings)
}

func TestWholeSecondsSettleLater(t *testing.T) {
	at := time.Unix(1000, 0)
	assert.False(t, isSettled(&fileStat{modified: at.UnixNano()}, at.Add(time.Second)))
	assert.True(t, isSettled(&fileStat{modified: at.UnixNano()}, at.Add(coarseSettleTime)))
	assert.True(t, isSettled(&fileStat{modified: at.UnixNano() + 1}, at.Add(time.Second)))
	assert.False(t, isSettled(&fileStat{modified: at.UnixNano(), changed: at.UnixNano() + 1}, at), "from the future")
}

func TestDirectoriesComeAndGo(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "not/yet")
	matcher := newMatcher(t, Config{Include: []string{base + "/**/*.log"}})
	now := later()
	assert.Empty(t, matcher.Poll(now).Paths)

	makeFiles(t, base, "a.log", "sub/b.log")
	result := matcher.Poll(now)
	assert.Equal(t, []string{"a.log", "sub/b.log"}, found(t, base, result))
	assert.True(t, result.Changed)

	require.NoError(t, os.Rename(filepath.Join(base, "sub"), filepath.Join(base, "bus")))
	assert.Equal(t, []string{"a.log", "bus/b.log"}, found(t, base, matcher.Poll(now)))

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "not")))
	result = matcher.Poll(now)
	assert.Empty(t, result.Paths)
	assert.True(t, result.Changed)
	assert.Empty(t, result.Problems)
	assert.False(t, matcher.Hides(filepath.Join(base, "a.log")))

	makeFiles(t, base, "a.log")
	assert.Equal(t, []string{"a.log"}, found(t, base, matcher.Poll(now)))
}

func TestAFileThatTakesThePlaceOfADirectoryIsSeen(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "x/y.log")
	matcher := newMatcher(t, Config{Include: []string{dir + "/**"}})
	assert.Equal(t, []string{"x/y.log"}, found(t, dir, matcher.Poll(later())))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "x")))
	makeFiles(t, dir, "x")
	assert.Equal(t, []string{"x"}, found(t, dir, matcher.Poll(later())))
}

func TestANamedFileThatIsReplacedIsReported(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a.log")
	matcher := newMatcher(t, Config{Include: []string{dir + "/a.log"}})
	assert.Equal(t, []string{"a.log"}, relisted(t, dir, matcher.Poll(later())))
	assert.Empty(t, relisted(t, dir, matcher.Poll(later())))

	makeFiles(t, dir, "new")
	require.NoError(t, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a.log")))
	result := matcher.Poll(later())
	assert.False(t, result.Changed)
	assert.Equal(t, []string{"a.log"}, relisted(t, dir, result))

	require.NoError(t, os.Remove(filepath.Join(dir, "a.log")))
	assert.Empty(t, matcher.Poll(later()).Paths)
}

// The rest of the tree is found when one directory cannot be listed, and what was
// found in that one is not taken for gone.
func TestADirectoryThatCannotBeListedHidesOnlyItself(t *testing.T) {
	for _, test := range []struct {
		name     string
		err      error
		expected []string // while the fault lasts
	}{
		{"no permission: it is left out", syscall.EACCES, []string{"a/app.log"}},
		{"any other fault: what was known still holds", syscall.EMFILE, []string{"a/app.log", "b/app.log", "b/c/app.log"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			makeFiles(t, dir, "a/app.log", "b/app.log", "b/c/app.log")
			matcher := newMatcher(t, Config{Include: []string{dir + "/**/app.log"}})
			now := later()
			require.Len(t, matcher.Poll(now).Paths, 3)

			closed := filepath.Join(dir, "b")
			matcher.tree.readDirectory = func(path string) ([]fs.DirEntry, error) {
				if path == closed {
					return nil, &fs.PathError{Op: "open", Path: path, Err: test.err}
				}
				return os.ReadDir(path)
			}
			now = now.Add(reconcileInterval)
			result := matcher.Poll(now)
			assert.Equal(t, test.expected, found(t, dir, result))
			require.Len(t, result.Problems, 1)
			assert.Equal(t, closed, result.Problems[0].Path)
			require.ErrorIs(t, result.Problems[0].Err, test.err)
			assert.NotContains(t, result.Problems[0].Err.Error(), dir)
			assert.True(t, result.ProblemsChanged)
			if errors.Is(test.err, fs.ErrPermission) {
				assert.True(t, matcher.Hides(filepath.Join(closed, "app.log")))
				assert.True(t, matcher.Hides(filepath.Join(closed, "c/app.log")))
			}
			assert.False(t, matcher.Hides(filepath.Join(dir, "bb/app.log")))

			result = matcher.Poll(now.Add(2 * retryInterval))
			assert.Len(t, result.Problems, 1)
			assert.False(t, result.ProblemsChanged, "a lasting problem is not news")

			matcher.tree.readDirectory = os.ReadDir
			result = matcher.Poll(now.Add(4 * retryInterval))
			assert.Equal(t, []string{"a/app.log", "b/app.log", "b/c/app.log"}, found(t, dir, result))
			assert.Empty(t, result.Problems)
			assert.True(t, result.ProblemsChanged)
			assert.False(t, matcher.Hides(filepath.Join(closed, "gone.log")))
		})
	}
}

func TestADirectoryThatIsExcludedWithAllBelowIsNotLookedInto(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a/app.log", "b/c/app.log", "b/app.log", "d/b/app.log", "e/app.log")
	matcher := newMatcher(t, Config{
		Include: []string{dir + "/**/app.log"}, Exclude: []string{dir + "/b/**", dir + "/**/b/*", dir + "/e"},
	})
	var listed []string
	matcher.tree.readDirectory = func(path string) ([]fs.DirEntry, error) {
		listed = append(listed, path)
		return os.ReadDir(path)
	}
	assert.Equal(t, []string{"a/app.log", "e/app.log"}, found(t, dir, matcher.Poll(later())))
	assert.Equal(t, append([]string{dir}, within(dir, "a", "d", "d/b", "e")...), listed)
}

func TestAProblemGoesWithItsDirectory(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a/app.log", "b/app.log")
	matcher := newMatcher(t, Config{Include: []string{dir + "/*/app.log"}})
	matcher.tree.readDirectory = func(path string) ([]fs.DirEntry, error) {
		if path == filepath.Join(dir, "b") {
			return nil, fs.ErrPermission
		}
		return os.ReadDir(path)
	}
	require.Len(t, matcher.Poll(later()).Problems, 1)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "b")))
	result := matcher.Poll(later())
	assert.Empty(t, result.Problems)
	assert.True(t, result.ProblemsChanged)
}

func TestTheNumberOfDirectoriesIsLimited(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a/1.log", "b/1.log", "c/1.log", "d/1.log")
	matcher := newMatcher(t, Config{Include: []string{dir + "/*/*.log"}})
	matcher.tree.limit = 3 // and the root
	now := later()
	result := matcher.Poll(now)
	assert.Equal(t, []string{"a/1.log", "b/1.log", "c/1.log"}, found(t, dir, result))
	require.Len(t, result.Problems, 1)
	require.ErrorIs(t, result.Problems[0].Err, errTooManyDirectories)
	assert.True(t, matcher.Hides(filepath.Join(dir, "d/1.log")))

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "a")))
	matcher.Poll(now.Add(retryInterval)) // sees the free place
	now = now.Add(3 * retryInterval)
	matcher.Poll(now)
	result = matcher.Poll(now.Add(retryInterval))
	assert.Equal(t, []string{"b/1.log", "c/1.log", "d/1.log"}, found(t, dir, result))
	assert.Empty(t, result.Problems)
}

func TestAPollWithoutChangeAllocatesNothing(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a/1.log", "a/2.log", "b/1.log", "named.log")
	for name, c := range map[string]Config{
		"plain":            {},
		"with an age":      {ExcludeOlderThan: time.Second},
		"with an ordering": {AllowMtimeSort: true, Ordering: OrderingCriteria{SortBy: []SortRule{{SortType: "mtime"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Include = []string{dir + "/*/*.log", dir + "/named.log", dir + "/missing/*"}
			matcher := newMatcher(t, c)
			now := later()
			matcher.Poll(now)
			matcher.Poll(now)
			assert.Zero(t, testing.AllocsPerRun(100, func() { matcher.Poll(now) }))
		})
	}
}
