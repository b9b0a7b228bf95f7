package match

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// Listings are made anew after this time even if nothing seems to have changed:
// not every file system keeps its directories' times.
const reconcileInterval = 10 * time.Second

// A directory that could not be listed is tried again after this time, or sooner
// if its times moved.
const retryInterval = time.Second

// A listing made within this time of the directory's last change is not trusted:
// another change could carry the same time stamp. Kernels stamp in ticks of up to
// 10 ms; some file systems keep whole seconds, FAT pairs of them.
const (
	settleTime       = 50 * time.Millisecond
	coarseSettleTime = 2 * time.Second
)

// A directory is one that some glob looks into.
type directory struct {
	path   pathName
	prefix string // what stands before the names in it: "" or a path with a separator at its end
	parent *directory
	// aliased: a symlink was followed on the way from the glob's base.
	aliased bool

	// entering are the states in which the globs reach this directory, looking
	// those in which they look at its names. Both sorted, without repeats.
	entering, looking []state

	stat     fileStat // before the last listing
	id       identity
	listed   bool
	settled  bool // the listing is to be trusted as long as stat stays
	listedAt time.Time
	failure  error // why it could not be asked or listed, nil if it could
	// incomplete: subdirectories were left out because there are too many.
	incomplete bool

	entries []entry // sorted by name
	// Made of the entries that some glob wants:
	files    []*file      // sorted by path
	children []*directory // sorted by prefix
	links    []*link
}

// An entry is one name in a directory, and what became of it.
type entry struct {
	name  string
	kind  kind // as listed
	link  *link
	file  *file
	child *directory
}

func newDirectory(path, prefix string, parent *directory, entering []state) *directory {
	return &directory{path: newPathName(path), prefix: prefix, parent: parent, entering: entering}
}

// refresh brings a directory and everything below it up to date.
func (t *tree) refresh(d *directory, now time.Time) {
	if t.interrupted.Load() {
		return
	}
	t.visited++
	var st fileStat
	if err := statPath(d.path, &st); err != nil {
		t.fail(d, "cannot list directory", err)
		d.stat = st
		t.empty(d)
		return
	}
	if st.kind != kindDirectory {
		t.heal(d)
		d.stat = st
		t.empty(d)
		return
	}
	if d.needsListing(&st, now) {
		t.list(d, st, now)
	}
	t.follow(d)
	for _, child := range d.children {
		t.refresh(child, now)
	}
}

func (d *directory) needsListing(st *fileStat, now time.Time) bool {
	if *st != d.stat {
		return true
	}
	age := now.Sub(d.listedAt)
	if age < 0 || age >= reconcileInterval { // the clock may have been set back
		return true
	}
	if d.failure != nil {
		return age >= retryInterval
	}
	return !d.listed || !d.settled
}

// list reads the names in a directory and settles what each of them is for the
// globs, taking over what was known of names that stayed.
func (t *tree) list(d *directory, st fileStat, now time.Time) {
	replaced := st.id != d.stat.id || d.stat.kind != kindDirectory
	d.stat, d.listedAt = st, now
	d.settled = isSettled(&st, now)
	if replaced || d.aliased || !statHasIdentity {
		t.lookAgain(d)
	}
	if len(d.looking) == 0 {
		t.heal(d)
		t.forget(d)
		d.listed = true
		return
	}
	listing, err := t.readDirectory(d.path.String())
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		t.heal(d)
		t.empty(d)
		return
	case errors.Is(err, fs.ErrPermission):
		t.fail(d, "cannot list directory", err)
		t.empty(d)
		return
	default:
		// Such as no free file descriptors: what was there is most likely still
		// there.
		t.fail(d, "cannot list directory", err)
		if d.listed && !replaced {
			return
		}
	}
	d.listed = true
	t.relisted = append(t.relisted, d)
	t.merge(d, listing)
	if err == nil && !d.incomplete {
		t.heal(d)
	}
}

// isSettled reports whether a later change must show in other time stamps than
// these.
func isSettled(st *fileStat, now time.Time) bool {
	newest := max(st.modified, st.changed)
	settle := settleTime
	if newest%int64(time.Second) == 0 {
		settle = coarseSettleTime
	}
	return now.UnixNano()-newest >= int64(settle)
}

// lookAgain determines which globs look into a directory that is new, or another
// one than before.
func (t *tree) lookAgain(d *directory) {
	d.id = d.stat.id
	looking := t.closure(t.withoutLoops(d))
	if !slices.Equal(looking, d.looking) {
		// The names have to be matched anew.
		d.looking = looking
		t.forget(d)
	}
}

// withoutLoops returns the states to enter a directory with, leaving out those
// which the same physical directory is already looked at with further up: they
// could only find the same files again, under longer names.
func (t *tree) withoutLoops(d *directory) []state {
	if !d.aliased {
		return d.entering // without a symlink no directory is below itself
	}
	if d.identity() == (identity{}) {
		return d.entering
	}
	remaining := slices.Clone(d.entering)
	for a := d.parent; a != nil; a = a.parent {
		if a.identity() == d.id {
			remaining = slices.DeleteFunc(remaining, func(s state) bool {
				_, found := slices.BinarySearchFunc(a.looking, s, state.compare)
				return found
			})
		}
	}
	return remaining
}

func (d *directory) identity() identity {
	if !statHasIdentity && d.id == (identity{}) {
		d.id = identify(d.path)
	}
	return d.id
}

// merge replaces the entries of a directory by a new listing, both sorted by name.
func (t *tree) merge(d *directory, listing []fs.DirEntry) {
	old := d.entries
	retry := d.incomplete
	if !retry && slices.EqualFunc(old, listing, entry.isFor) {
		return
	}
	d.incomplete = false
	entries := make([]entry, len(listing))
	for i, found := range listing {
		e := &entries[i]
		e.name, e.kind = found.Name(), kindOf(found.Type())
		for len(old) > 0 && old[0].name < e.name {
			old = old[1:]
		}
		if len(old) == 0 || !old[0].isFor(found) || retry && old[0].child == nil && e.kind != kindFile {
			t.resolve(d, i, e)
			continue
		}
		*e = old[0]
		if e.link != nil {
			e.link.entry = i
		}
	}
	d.entries = entries
	t.gather(d)
}

// isFor reports whether what was known of a name holds for a newly listed one.
func (e entry) isFor(found fs.DirEntry) bool {
	return e.name == found.Name() && e.kind == kindOf(found.Type())
}

func kindOf(mode fs.FileMode) kind {
	switch {
	case mode.IsDir():
		return kindDirectory
	case mode&(fs.ModeSymlink|fs.ModeIrregular) != 0: // a junction of Windows is irregular
		return kindSymlink
	default:
		return kindFile
	}
}

// resolve determines what a new name is for the globs.
func (t *tree) resolve(d *directory, index int, e *entry) {
	isFile := e.kind != kindDirectory && t.wantsFile(d.looking, e.name)
	var entering []state
	if e.kind != kindFile {
		entering = t.enter(d.looking, e.name)
	}
	if !isFile && len(entering) == 0 {
		return
	}
	path := d.prefix + e.name
	isFile = isFile && !t.exclude.covers(path)
	if len(entering) > 0 && t.exclude.coversBelow(path) {
		entering = nil
	}
	if !isFile && len(entering) == 0 {
		return
	}
	target := e.kind
	if e.kind == kindSymlink {
		if e.link == nil {
			e.link = &link{path: newPathName(path), entry: index}
			t.ask(e.link)
		}
		target = e.link.stat.kind
	}
	switch {
	case target == kindFile && isFile:
		e.file = &file{path: newPathName(path), symlink: d.aliased || e.link != nil, index: notRead}
	case target == kindDirectory && len(entering) > 0 && t.admit(d):
		e.child = newDirectory(path, path+separator, d, entering)
		e.child.aliased = d.aliased || e.link != nil
	}
}

// admit reports whether there is room for one more directory, and notes at its
// parent if there is none.
func (t *tree) admit(parent *directory) bool {
	if t.known >= t.limit {
		parent.incomplete = true
		t.fail(parent, "cannot look into its directories", errTooManyDirectories)
		return false
	}
	t.known++
	return true
}

// gather rebuilds what is made of the entries.
func (t *tree) gather(d *directory) {
	d.files, d.children, d.links = d.files[:0], d.children[:0], d.links[:0]
	for i := range d.entries {
		e := &d.entries[i]
		if e.link != nil {
			d.links = append(d.links, e.link)
		}
		if e.file != nil {
			d.files = append(d.files, e.file)
		}
		if e.child != nil {
			d.children = append(d.children, e.child)
		}
	}
	slices.SortFunc(d.children, func(a, b *directory) int { return strings.Compare(a.prefix, b.prefix) })
	t.changed = true
}

// collect appends the files of a directory and of all below it, sorted by path.
func (d *directory) collect(out []*file) []*file {
	files := d.files
	for _, child := range d.children {
		for len(files) > 0 && files[0].name() < child.prefix {
			out, files = append(out, files[0]), files[1:]
		}
		out = child.collect(out)
	}
	return append(out, files...)
}

// empty drops what was known of the content of a directory that is gone or closed
// to us.
func (t *tree) empty(d *directory) {
	d.listed = false
	t.forget(d)
}

// forget drops the entries of a directory.
func (t *tree) forget(d *directory) {
	if len(d.entries) > 0 {
		d.entries = nil
		t.gather(d)
	}
}

// fail notes what could not be done with a directory.
func (t *tree) fail(d *directory, what string, err error) {
	if !sameFailure(d.failure, err) {
		d.failure = wrapFailure(what, err)
		t.failuresChanged = true
	}
}

// heal notes that a directory has no fault any more.
func (t *tree) heal(d *directory) {
	if d.failure != nil {
		d.failure = nil
		t.failuresChanged = true
	}
}
