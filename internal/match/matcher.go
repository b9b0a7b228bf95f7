package match

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Path is one file to read.
type Path struct {
	// Name is the path as the pattern gives it: relative if the pattern is.
	Name string
	// Relisted: since the last poll another file may have come to stand behind the
	// name. The directory was listed anew, or what a symlink leads to was replaced.
	// If it is false there was no such change, except within the ten seconds that
	// a file system may take which does not keep its directories' times.
	Relisted bool
	// Symlink: the path goes, or may go, through a symlink. A stat of the name
	// follows it.
	Symlink bool
}

// A Problem is a place that could not be looked at. It stays in the results as
// long as it lasts; report it when it appears.
type Problem struct {
	Path string
	Err  error // does not contain the path
}

// A Result says what a poll found. Its slices belong to the Matcher and hold until
// the next poll.
type Result struct {
	// Paths are the files to read, in the order to read them.
	Paths []Path
	// Changed: the names or their order differ from the last poll.
	Changed bool
	// Problems are all that exist now, sorted by path.
	Problems []Problem
	// ProblemsChanged: they differ from the last poll.
	ProblemsChanged bool
}

// A Matcher finds the files that a Config describes. It belongs to one goroutine,
// but for Interrupt.
type Matcher struct {
	tree   *tree
	filter *filter

	files    []*file // all that the globs match, sorted by path, without repeats
	selected []*file // to be read, in order; parallel to paths
	spare    []*file // the memory of the selection before
	paths    []Path
	marked   bool // some paths carry Relisted
	problems []Problem
	// closed holds the paths that could not be looked at, and for directories
	// also below.
	closed map[string]struct{}
}

// New makes a Matcher, or reports everything that is wrong with the configuration.
// It does not touch the file system.
func New(c Config) (*Matcher, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t, err := newTree(c)
	if err != nil {
		return nil, err
	}
	f, err := newFilter(c)
	if err != nil {
		return nil, err
	}
	return &Matcher{tree: t, filter: f, closed: make(map[string]struct{})}, nil
}

// Poll looks at what changed since the last poll. It has no error of its own:
// whatever cannot be looked at is among the problems and hinders nothing else.
func (m *Matcher) Poll(now time.Time) Result {
	m.unmark()
	m.tree.update(now)
	if m.Interrupted() {
		return Result{}
	}
	rearrange, failuresChanged := m.tree.changed, m.tree.failuresChanged
	if rearrange {
		failuresChanged = true // a failure may have gone together with its place
		m.files = unique(m.tree.collect(m.files[:0]))
	}
	if m.filter.watches() {
		changed, failed := m.filter.observe(m.files, now)
		rearrange, failuresChanged = rearrange || changed, failuresChanged || failed
	}
	changed := rearrange && m.arrange()
	m.mark()
	problemsChanged := failuresChanged && m.gatherProblems()
	return Result{Paths: m.paths, Changed: changed, Problems: m.problems, ProblemsChanged: problemsChanged}
}

// Interrupt ends a poll under way at the next directory, and makes all others
// end at once: a pattern may lead through a whole disk. What they find says
// nothing any more. Any goroutine may call it.
func (m *Matcher) Interrupt() { m.tree.interrupted.Store(true) }

// Interrupted tells whether Interrupt was called.
func (m *Matcher) Interrupted() bool { return m.tree.interrupted.Load() }

// unique drops all but the first of files with the same path.
func unique(files []*file) []*file {
	kept := files[:0]
	for _, f := range files {
		if len(kept) == 0 || kept[len(kept)-1].path != f.path {
			kept = append(kept, f)
		}
	}
	clear(files[len(kept):])
	return kept
}

// arrange determines anew what is read, and reports whether that is different from
// before.
func (m *Matcher) arrange() bool {
	previous := m.selected
	m.selected = m.filter.selectInto(m.spare[:0], m.files)
	m.paths, m.marked = m.paths[:0], false
	for _, f := range m.selected {
		// What happened to a file while it was hidden was not reported.
		appeared := f.index == notRead
		m.marked = m.marked || appeared
		m.paths = append(m.paths, Path{Name: f.name(), Relisted: appeared, Symlink: f.symlink})
	}
	for _, f := range previous {
		f.index = notRead
	}
	for i, f := range m.selected {
		f.index = i
	}
	same := slices.EqualFunc(previous, m.selected, func(a, b *file) bool { return a.path == b.path })
	clear(previous)
	m.spare = previous
	return !same
}

// unmark takes Relisted back.
func (m *Matcher) unmark() {
	if !m.marked {
		return
	}
	for i := range m.paths {
		m.paths[i].Relisted = false
	}
	m.marked = false
}

// mark sets Relisted where the tree found reason to.
func (m *Matcher) mark() {
	for _, d := range m.tree.relisted {
		for _, f := range d.files {
			m.markFile(f)
		}
	}
	for _, f := range m.tree.replaced {
		m.markFile(f)
	}
}

func (m *Matcher) markFile(f *file) {
	if f.index != notRead {
		m.paths[f.index].Relisted = true
		m.marked = true
	}
}

// gatherProblems collects the failures that are noted at directories and files,
// and reports whether they are others than before.
func (m *Matcher) gatherProblems() bool {
	previous := m.problems
	m.problems = nil
	clear(m.closed)
	report := func(path string, err error) {
		m.problems = append(m.problems, Problem{Path: path, Err: err})
		if !errors.Is(err, errDangling) {
			m.closed[path] = struct{}{}
		}
	}
	m.tree.failures(report)
	for _, f := range m.files {
		if f.failure != nil {
			report(f.name(), f.failure)
		}
	}
	slices.SortStableFunc(m.problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	m.problems = slices.CompactFunc(m.problems, func(a, b Problem) bool { return a.Path == b.Path })
	return !slices.EqualFunc(previous, m.problems, func(a, b Problem) bool {
		return a.Path == b.Path && a.Err.Error() == b.Err.Error()
	})
}

// Hides reports whether a path that is not among the paths of the last poll may
// still exist: it is held back by its age or by the ordering, or it lies where
// nothing could be looked at. What is known of such a file must not be forgotten.
func (m *Matcher) Hides(path string) bool {
	i, found := slices.BinarySearchFunc(m.files, path, func(f *file, path string) int {
		return strings.Compare(f.name(), path)
	})
	if found {
		f := m.files[i]
		return f.index == notRead && !(f.asked && f.kind == kindMissing)
	}
	return m.isClosed(path)
}

// isClosed reports whether a path or a directory above it could not be looked at.
func (m *Matcher) isClosed(path string) bool {
	if len(m.closed) == 0 {
		return false
	}
	if _, closed := m.closed[path]; closed {
		return true
	}
	for end := len(path) - 1; end >= 0; end-- {
		if !os.IsPathSeparator(path[end]) {
			continue
		}
		_, closed := m.closed[path[:end]]
		if !closed {
			_, closed = m.closed[path[:end+1]] // a root, which has its separator
		}
		if closed {
			return true
		}
	}
	_, closed := m.closed["."]
	return closed && !filepath.IsAbs(path)
}
