package match

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives bounds what the braces of one glob may multiply to.
const maxAlternatives = 4096

var errTooManyAlternatives = errors.New("too many combinations of alternatives, split the pattern")

// A glob is one include pattern without alternatives: braces were multiplied
// out. Its parts are in the form of the operating system.
type glob struct {
	// base is the directory that the segments start from, or the path itself if
	// there are no segments: then the pattern names one file.
	base     string
	segments []segment
}

// A segment is what a glob says about one component of a path.
type segment struct {
	text string // in lower case if case does not matter
	deep bool   // `**`: any number of directories, none included
}

// compileGlob makes the globs of a pattern. An empty pattern has none.
func compileGlob(pattern string, foldCase bool) ([]glob, error) {
	if pattern == "" {
		return nil, nil
	}
	alternatives, err := expandBraces(filepath.ToSlash(filepath.Clean(pattern)), nil)
	if err != nil {
		return nil, err
	}
	globs := make([]glob, 0, len(alternatives))
	for _, alternative := range alternatives {
		if !hasMeta(alternative) {
			// Splitting before a component that is a pattern gives the whole
			// path with its escapes resolved.
			path, _ := doublestar.SplitPattern(alternative + "/*")
			globs = append(globs, glob{base: cleanBase(path)})
			continue
		}
		base, rest := doublestar.SplitPattern(alternative)
		g := glob{base: cleanBase(base)}
		for text := range strings.SplitSeq(rest, "/") {
			if text == "" || text == "." {
				continue // left over from an empty alternative
			}
			if foldCase {
				text = strings.ToLower(text)
			}
			g.segments = append(g.segments, segment{text: text, deep: text == "**"})
		}
		globs = append(globs, g)
	}
	return globs, nil
}

func cleanBase(base string) string {
	base = filepath.FromSlash(base)
	if volume := filepath.VolumeName(base); volume != "" && volume == base {
		// "C:" alone would mean the working directory of that drive.
		return base + string(filepath.Separator)
	}
	return filepath.Clean(base)
}

// matches reports whether a name is what the segment describes.
func (s segment) matches(name string, foldCase bool) bool {
	if s.deep {
		return true
	}
	if foldCase {
		name = strings.ToLower(name)
	}
	return doublestar.MatchUnvalidated(s.text, name)
}

// expandBraces appends every combination of the alternatives in pattern to out.
func expandBraces(pattern string, out []string) ([]string, error) {
	open, closing, commas := firstBraces(pattern)
	if open < 0 {
		if len(out) >= maxAlternatives {
			return nil, errTooManyAlternatives
		}
		return append(out, pattern), nil
	}
	var err error
	start := open + 1
	for _, end := range append(commas, closing) {
		out, err = expandBraces(pattern[:open]+pattern[start:end]+pattern[closing+1:], out)
		if err != nil {
			return nil, err
		}
		start = end + 1
	}
	return out, nil
}

// firstBraces finds the first alternatives of a pattern: the outermost braces and
// the commas between them. open is -1 if there are none.
func firstBraces(pattern string) (open, closing int, commas []int) {
	open = -1
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(pattern, i)
		case '{':
			if depth == 0 {
				open = i
			}
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth == 1 {
				return open, i, commas
			}
			depth = max(depth-1, 0)
		}
	}
	return -1, -1, nil
}

// classEnd returns the position of the bracket that ends the class that begins at
// start.
func classEnd(pattern string, start int) int {
	for i := start + 1; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return len(pattern)
}

func hasMeta(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*', '?', '[':
			return true
		case '\\':
			i++
		}
	}
	return false
}
