package match

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"
)

// expand is what the globs mean by the letter: every pattern is expanded from
// nothing, excludes are compared with the whole path.
func expand(t *testing.T, include, exclude []string) []string {
	t.Helper()
	var paths []string
	for _, pattern := range include {
		matches, err := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
		require.NoError(t, err, pattern)
	matches:
		for _, path := range matches {
			for _, pattern := range exclude {
				if doublestar.PathMatchUnvalidated(pattern, path) {
					continue matches
				}
			}
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func names(result Result) []string {
	var names []string
	for _, path := range result.Paths {
		names = append(names, path.Name)
	}
	return names
}

// Whatever happens in a tree of directories, a matcher that lives through it sees
// at every poll what an expansion from nothing sees.
func TestEveryPollSeesWhatAnExpansionFromNothingSees(t *testing.T) {
	dir := t.TempDir()
	exclude := []string{filepath.Join(dir, "**/no*"), filepath.Join(dir, "c/**")}
	matchers := map[string]*Matcher{}
	for _, pattern := range []string{
		"*", "*.log", "?.log", "**/*.log", "**", "**/a/*", "a/**/b.log", "*/*.log", "**/b/**/*.log",
		"{a,b}/*.log", "{a,b/c}/*.{log,txt}", "**/{a,b}.log", "[ab].log", "[!a]*/*", "a.log", "a/b/c.log",
		"{a.log,b/a.log}", "**.log", "a*/**/*", "./a//*.log", "a/../b/*.log", "**/**/c.log", "{a,{b,c}}/**", "x{,a}/*", "\\a.log",
		"*/a/../*.log", "**/.h*", "a/", "a/**/", "*/b/*.log", "a/b/../**/*.txt", "[a-c]*/**/[^b]*",
	} {
		matcher, err := New(Config{Include: []string{dir + "/" + pattern, dir + "/b/*.txt"}, Exclude: exclude})
		require.NoError(t, err)
		matchers[dir+"/"+pattern] = matcher
	}
	random := rand.New(rand.NewPCG(1, 2))
	for step := range 80 {
		did := changeSomething(t, dir, random) + ", " + changeSomething(t, dir, random)
		if random.IntN(10) == 0 {
			// Old enough for listings to be trusted from here on.
			time.Sleep(settleTime + 10*time.Millisecond)
		}
		for pattern, matcher := range matchers {
			expected := expand(t, []string{pattern, dir + "/b/*.txt"}, exclude)
			require.Equal(t, expected, names(matcher.Poll(time.Now())), "%s, step %d: %s", pattern, step, did)
		}
	}
}

// changeSomething creates, moves or removes a file or directory somewhere.
func changeSomething(t *testing.T, dir string, random *rand.Rand) string {
	t.Helper()
	parts := []string{"a", "b", "c", "xa", "a.log", "b.log", "c.log", "a.txt", "no.log", ".hidden"}
	somewhere := func() string {
		path := dir
		for range 1 + random.IntN(3) {
			path = filepath.Join(path, parts[random.IntN(len(parts))])
		}
		return path
	}
	path, target := somewhere(), somewhere()
	switch random.IntN(5) {
	case 0:
		_ = os.RemoveAll(path)
		return "removed " + path
	case 1:
		if !strings.HasPrefix(target, path) {
			_ = os.MkdirAll(filepath.Dir(target), 0o700)
			_ = os.Rename(path, target)
		}
		return fmt.Sprintf("moved %s to %s", path, target)
	case 2:
		_ = os.MkdirAll(path, 0o700)
		return "made directory " + path
	default:
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		_ = os.WriteFile(path, []byte("line\n"), 0o600)
		return "wrote " + path
	}
}
