package match

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// An exclusion holds the exclude patterns in the form in which they are compared.
type exclusion struct {
	patterns []string
	// subtrees are those of the patterns that end with `/**`: if they cover a
	// directory, they cover everything below it.
	subtrees []string
	foldCase bool
}

func newExclusion(patterns []string, foldCase bool) exclusion {
	e := exclusion{foldCase: foldCase}
	for _, pattern := range patterns {
		pattern = e.normalize(pattern)
		e.patterns = append(e.patterns, pattern)
		if strings.HasSuffix(pattern, "/**") && !strings.HasSuffix(pattern, `\/**`) {
			e.subtrees = append(e.subtrees, pattern)
		}
	}
	return e
}

// normalize gives both kinds of separators of Windows one form. Elsewhere a
// backslash is an escape and stays.
func (e *exclusion) normalize(s string) string {
	s = filepath.ToSlash(s)
	if e.foldCase {
		s = strings.ToLower(s)
	}
	return s
}

// covers reports whether a path is excluded.
func (e *exclusion) covers(path string) bool { return e.match(e.patterns, path) }

// coversBelow reports whether everything below a directory is excluded, so that it
// need not be looked into.
func (e *exclusion) coversBelow(directory string) bool { return e.match(e.subtrees, directory) }

func (e *exclusion) match(patterns []string, path string) bool {
	if len(patterns) == 0 {
		return false
	}
	path = e.normalize(path)
	for _, pattern := range patterns {
		if doublestar.MatchUnvalidated(pattern, path) {
			return true
		}
	}
	return false
}
