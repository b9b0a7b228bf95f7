package match

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// maxDirectories bounds the memory and time that globs with `**` can take, for
// example among directories that are full of symlinks to each other.
const maxDirectories = 1 << 18

var errTooManyDirectories = errors.New("too many directories, those below are not looked into; make the 'include' patterns more specific")

const separator = string(filepath.Separator)

// A state says how far a glob got on its way down: segment is the next one to
// match with a name.
type state struct {
	glob, segment int
}

func (s state) compare(other state) int {
	return cmp.Or(cmp.Compare(s.glob, other.glob), cmp.Compare(s.segment, other.segment))
}

// A tree holds every directory that the include globs look into, and what they
// found there.
type tree struct {
	globs    []glob
	exclude  exclusion
	foldCase bool

	roots []*directory
	fixed []*fixedFile // of the globs that name one path

	// readDirectory lists a directory, sorted by name.
	readDirectory func(path string) ([]fs.DirEntry, error)

	interrupted atomic.Bool // nothing is looked at any more

	visited int // directories that the current poll has come to
	known   int // directories below the roots, at most limit
	limit   int

	// What the current poll found out; the owner resets it.
	changed         bool         // the set of matched files
	failuresChanged bool         // the failures that are noted in the tree
	relisted        []*directory // listed anew
	replaced        []*file      // another file stands behind the same name
}

// A fixedFile is one path that a glob without wildcards names. It is asked for at
// every poll, its directory is not listed.
type fixedFile struct {
	path    pathName
	stat    fileStat
	failure error
	files   []*file // the file if it exists, else nothing
}

func newTree(c Config) (*tree, error) {
	t := &tree{
		exclude:       newExclusion(c.Exclude, c.CaseInsensitive),
		foldCase:      c.CaseInsensitive,
		readDirectory: os.ReadDir,
		limit:         maxDirectories,
	}
	fixed := make(map[string]bool)
	entering := make(map[string][]state)
	var bases []string
	for _, pattern := range c.Include {
		globs, err := compileGlob(pattern, c.CaseInsensitive)
		if err != nil {
			return nil, fmt.Errorf("include: parse glob: %w: %q", err, pattern)
		}
		for _, g := range globs {
			if len(g.segments) == 0 {
				if !fixed[g.base] && !t.exclude.covers(g.base) {
					t.fixed = append(t.fixed, &fixedFile{path: newPathName(g.base)})
				}
				fixed[g.base] = true
				continue
			}
			if _, known := entering[g.base]; !known {
				bases = append(bases, g.base)
			}
			entering[g.base] = append(entering[g.base], state{glob: len(t.globs)})
			t.globs = append(t.globs, g)
		}
	}
	slices.Sort(bases)
	for _, base := range bases {
		prefix := base
		if base == "." {
			prefix = ""
		} else if !strings.HasSuffix(base, separator) {
			prefix += separator
		}
		t.roots = append(t.roots, newDirectory(base, prefix, nil, entering[base]))
	}
	return t, nil
}

// update brings the whole tree up to date.
func (t *tree) update(now time.Time) {
	t.changed, t.failuresChanged = false, false
	clear(t.relisted)
	clear(t.replaced)
	t.relisted, t.replaced = t.relisted[:0], t.replaced[:0]
	t.visited = 0
	for _, root := range t.roots {
		t.refresh(root, now)
	}
	t.known = t.visited - len(t.roots)
	for _, f := range t.fixed {
		t.askFixed(f)
	}
}

func (t *tree) askFixed(f *fixedFile) {
	before := f.stat
	err := statPath(f.path, &f.stat)
	if !sameFailure(f.failure, err) {
		f.failure = wrapFailure("cannot look for file", err)
		t.failuresChanged = true
	}
	exists := f.stat.kind == kindFile
	switch {
	case exists != (len(f.files) > 0):
		f.files = f.files[:0]
		if exists {
			// A symlink may be on the way; the path is asked for anyway.
			f.files = append(f.files, &file{path: f.path, symlink: true, index: notRead})
		}
		t.changed = true
	case exists && (f.stat.id != before.id || !statHasIdentity):
		t.replaced = append(t.replaced, f.files[0])
	}
}

// collect appends all files that the globs match, sorted by path. Files that
// several globs reach from different bases appear as often.
func (t *tree) collect(out []*file) []*file {
	for _, root := range t.roots {
		out = root.collect(out)
	}
	for _, f := range t.fixed {
		out = append(out, f.files...)
	}
	byPath := func(a, b *file) int { return strings.Compare(string(a.path), string(b.path)) }
	if !slices.IsSortedFunc(out, byPath) {
		slices.SortStableFunc(out, byPath)
	}
	return out
}

// failures calls report for every failure that is noted in the tree.
func (t *tree) failures(report func(path string, err error)) {
	for _, root := range t.roots {
		root.failures(report)
	}
	for _, f := range t.fixed {
		if f.failure != nil {
			report(f.path.String(), f.failure)
		}
	}
}

func (d *directory) failures(report func(path string, err error)) {
	if d.failure != nil {
		report(d.path.String(), d.failure)
	}
	for _, l := range d.links {
		if l.failure != nil {
			report(l.path.String(), l.failure)
		}
	}
	for _, child := range d.children {
		child.failures(report)
	}
}

// closure adds to states those that a `**` leads to by standing for no directory
// at all.
func (t *tree) closure(states []state) []state {
	all := slices.Clone(states)
	for i := 0; i < len(all); i++ {
		s := all[i]
		segments := t.globs[s.glob].segments
		if segments[s.segment].deep && s.segment+1 < len(segments) {
			all = append(all, state{s.glob, s.segment + 1})
		}
	}
	return sortedUnique(all)
}

// enter returns the states in which the globs reach a subdirectory.
func (t *tree) enter(looking []state, name string) []state {
	var states []state
	for _, s := range looking {
		segments := t.globs[s.glob].segments
		switch {
		case segments[s.segment].deep:
			states = append(states, s)
		case s.segment+1 < len(segments) && segments[s.segment].matches(name, t.foldCase):
			states = append(states, state{s.glob, s.segment + 1})
		}
	}
	return sortedUnique(states)
}

// wantsFile reports whether a glob ends with this name.
func (t *tree) wantsFile(looking []state, name string) bool {
	for _, s := range looking {
		segments := t.globs[s.glob].segments
		if s.segment+1 == len(segments) && segments[s.segment].matches(name, t.foldCase) {
			return true
		}
	}
	return false
}

func sortedUnique(states []state) []state {
	slices.SortFunc(states, state.compare)
	return slices.Compact(states)
}
