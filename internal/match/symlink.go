package match

// A link is a symlink that some glob wants. It is followed at every poll, because
// what it leads to can change without a trace in its own directory.
type link struct {
	path    pathName
	entry   int // in its directory's entries
	stat    fileStat
	failure error
}

// follow looks behind the symlinks of a directory.
func (t *tree) follow(d *directory) {
	changed := false
	for _, l := range d.links {
		before := l.stat
		t.ask(l)
		e := &d.entries[l.entry]
		switch {
		case l.stat.kind != before.kind:
			e.file, e.child = nil, nil
			t.resolve(d, l.entry, e)
			changed = true
		case e.file != nil && (l.stat.id != before.id || !statHasIdentity):
			t.replaced = append(t.replaced, e.file)
		}
	}
	if changed {
		t.gather(d)
	}
}

// ask follows a symlink.
func (t *tree) ask(l *link) {
	before := l.stat.kind
	err := statPath(l.path, &l.stat)
	if l.stat.kind == kindMissing {
		err = errDangling
	}
	if l.stat.kind != before || !sameFailure(l.failure, err) {
		l.failure = wrapFailure("cannot follow symlink", err)
		t.failuresChanged = true
	}
}
