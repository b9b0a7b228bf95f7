package tail

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/match"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// entry is one name of the pattern and the file it leads to.
type entry struct {
	name string
	body *body // nil: not identified yet, unreadable, or empty
	// before is the file that had this name before, while the present one is
	// not identified: it is to be read first.
	before *body
	// initial: the name was there at the very first poll, nothing was saved, and
	// its file was not looked at yet. That is what start_at is about.
	initial bool
	// relisted: its directory was listed anew, and the name could not be looked at
	// then or was left out by FilesPerPoll.
	relisted bool
	watched  bool // its directory is watched
	hinted   bool // and its file was written to, or is to be looked at all the same
}

// stranger is a name that leads to a file that is not followed yet.
type stranger struct {
	entry int
	info  source.Info
}

// poll looks once at everything: which names exist, which files are behind
// them, what has changed. Then it hands out turns and saves.
func (l *Loop) poll() {
	now := l.Now()
	l.polls++
	result := l.Matcher.Poll(now)
	if l.Matcher.Interrupted() {
		return
	}
	if result.ProblemsChanged {
		l.Observer.directories(result.Problems)
	}
	all := l.takeHints(now) // before names change: it marks entries by their index
	if result.Changed || l.polls == 1 {
		l.takeNames(result.Paths)
		l.watchEntries()
	}
	l.lookAtNames(result.Paths, all, now)
	l.lookAtLeft(now) // before their successors are identified, which wait for them
	l.identifyStrangers(now)
	l.lookAtTwins(now)
	l.settleAll()
	l.dispatch()
	l.retain()
	l.fresh = false
	l.save()
	l.observe(now)
	l.restHeadroom(now)
}

// takeNames replaces the entries by those of paths, in their order.
func (l *Loop) takeNames(paths []match.Path) {
	old := l.entries
	entries := make([]entry, len(paths))
	byName := make(map[string]int, len(paths))
	for i, p := range paths {
		entries[i].name = p.Name
		byName[p.Name] = i
		if j, ok := l.byName[p.Name]; ok {
			entries[i] = old[j]
		} else {
			entries[i].initial = l.fresh
		}
	}
	l.entries, l.byName = entries, byName
	for _, e := range old {
		if _, stays := byName[e.name]; !stays {
			l.unbind(e.body, e.name)
			l.endTrouble(e.name)
		}
	}
}

// lookAtNames finds the file behind each name. A name is only followed (stat)
// when its directory has changed, when it leads through a link, or when no
// handle tells about its file; otherwise the handle does, for half the cost.
func (l *Loop) lookAtNames(paths []match.Path, all bool, now time.Time) {
	l.strangers = l.strangers[:0]
	relisted := "" // the directory of the latest name that was listed anew
	n := len(l.entries)
	first := 0
	l.rounded = true
	if l.FilesPerPoll > 0 && l.FilesPerPoll < n {
		first, n = l.cursor%n, l.FilesPerPoll
		l.cursor = first + n
		l.rounded = l.cursor >= len(l.entries)
		for i := range paths {
			e := &l.entries[i]
			e.relisted = e.relisted || paths[i].Relisted
			e.hinted = e.hinted || all
		}
	}
	if l.rounded {
		l.rounds++
	}
	for k := range n {
		i := (first + k) % len(l.entries)
		e, p := &l.entries[i], &paths[i]
		b := e.body
		anew := p.Relisted || e.relisted
		e.relisted = false
		if anew && e.watched {
			if dir, _ := directoryOf(e.name); dir != relisted {
				relisted = dir
				l.watchAgain(dir)
			}
		}
		if b != nil && !anew && !p.Symlink && e.watched && !e.hinted && !all && b.shrunk == 0 && b.info.Links < 2 {
			l.rest(b, now)
			continue
		}
		e.hinted = false
		if b != nil && b.handle != nil && !anew && !p.Symlink {
			l.lookThroughHandle(b, now)
			continue
		}
		info, err := l.Layer.Stat(e.name)
		if err != nil {
			l.vanished(e, err)
			if e.body != nil && e.body.handle != nil {
				l.lookThroughHandle(e.body, now) // all that can be told of it for now
			}
			continue
		}
		if !info.Regular() {
			l.trouble(e.name, source.ErrNotRegular)
			l.leaveName(e)
			continue
		}
		known := l.bodies[info.Locator]
		if known != nil && known != e.body && l.replaced(known, e.name, info) {
			known = nil
		}
		if known == nil {
			l.leaveName(e)
			l.strangers = append(l.strangers, stranger{i, info})
			continue
		}
		l.bind(e, known)
		l.see(known, info, now)
	}
}

// replaced tells whether b, which is not open, is gone, and another file that
// stands at name has got its inode. It is forgotten then.
func (l *Loop) replaced(b *body, name string, info source.Info) bool {
	if b.handle != nil || b.rec == nil || b.inFlight || l.hasContentOf(b.rec.State, name, info) {
		return false
	}
	for i := range l.entries {
		if e := &l.entries[i]; e.body == b {
			e.body, e.before = nil, b
		}
	}
	b.refs, b.left = 0, false
	l.lost(b, "not open")
	l.discard(b)
	return true
}

// hasContentOf tells whether the file at name begins as s says, as far as both go,
// and has what stands before the position; if that cannot be read, it may have.
func (l *Loop) hasContentOf(s *fileid.State, name string, info source.Info) bool {
	if s.Compressed {
		return true // its content is told in its turn
	}
	h, err := l.Layer.Open(name)
	if err != nil {
		return true
	}
	defer h.Close()
	head := make([]byte, min(int64(s.Fingerprint.Len()), info.Size))
	n, err := source.ReadFull(h, head, 0)
	if err != nil {
		return true
	}
	if f := s.Fingerprint; !f.IsPrefixOf(head[:n]) && (f.IsHashed() || !f.StartsWith(head[:n])) {
		return false
	}
	newest, ok := s.Ladder.Newest()
	if !ok || newest.Offset != s.Offset {
		return true
	}
	answers, err := frontiersAt(h, []int64{newest.Offset})
	return err != nil || slices.Contains(answers, newest)
}

// lookThroughHandle looks at b, whose handle is open.
func (l *Loop) lookThroughHandle(b *body, now time.Time) {
	info, err := b.handle.Stat()
	if err != nil {
		l.handleFailed(b, err)
		return
	}
	l.see(b, info, now)
}

// bind makes e lead to b.
func (l *Loop) bind(e *entry, b *body) {
	if e.body == b {
		return
	}
	l.leaveName(e)
	e.body = b
	b.refs++
	if e.before != nil {
		l.follow(b, e.before)
		e.before = nil
	}
	if b.refs == 1 || b.left {
		l.rename(b, e.name)
	}
}

// leaveName notes that e does not lead to its file any more.
func (l *Loop) leaveName(e *entry) {
	b := e.body
	if b == nil {
		return
	}
	e.body, e.before = nil, b
	l.Observer.Rotations++
	l.unbind(b, e.name)
}

// rename gives b its latest name, which records read from now on carry.
func (l *Loop) rename(b *body, name string) {
	b.left = false
	if b.path == name {
		return
	}
	if b.path != "" {
		l.Logger.Debug("File has a new name", zap.String("path", name), zap.String("old_path", b.path))
	}
	b.path = name
	l.followLinks(b) // while the name leads to it
	if b.rec != nil {
		l.Registry.Locate(b.rec, name, b.info.Locator)
		l.changed(b)
	}
}

// follow makes b wait until old, the file that had its name before, is read:
// old lines come before new ones.
func (l *Loop) follow(b, old *body) {
	for old != nil && old.rec == nil && old.twin == nil {
		old = old.after // it was let go of, and may have waited itself
	}
	if old != nil && !waitsFor(old, b) && !waitsFor(b, old) {
		b.after = old
	}
}

// waitsFor tells whether a waits for b, directly or through others.
func waitsFor(a, b *body) bool {
	for steps := 0; a != nil && steps < 1000; a, steps = a.after, steps+1 {
		if a == b {
			return true
		}
	}
	return false
}

// unbind takes a name from b. If b has others and was known by that one, it is
// known by another from now on: a closed handle is opened again by name.
func (l *Loop) unbind(b *body, name string) {
	if b == nil {
		return
	}
	b.refs--
	if b.refs == 0 {
		l.leave(b)
		return
	}
	if b.path != name {
		return
	}
	for i := range l.entries {
		if e := &l.entries[i]; e.body == b && e.name != name {
			l.rename(b, e.name)
			return
		}
	}
}

// see notes what the file system tells about b.
func (l *Loop) see(b *body, info source.Info, now time.Time) {
	if b.looked && info.Size == b.info.Size && info.ModTime == b.info.ModTime {
		b.info.Links = info.Links
		if b.shrunk > 0 {
			b.note(info)
			l.shrank(b, now)
		}
		l.rest(b, now)
		return
	}
	if !b.looked || info.Size != b.info.Size {
		b.grewAt = now
	}
	b.looked = true
	b.note(info)
	if b.gz != nil && b.gz.fresh {
		b.gz = nil // of another content, for all that is known
	}
	if b.twin != nil || b.rec == nil {
		return
	}
	if again := now.Add(retryRead); b.stuck && b.retryAt.After(again) {
		b.retryAt = again // corrupt, as it was
	}
	b.stuck = false
	if l.shrank(b, now) {
		return
	}
	b.pending = true
	if b.unread.IsZero() && b.unreadBytes() > 0 {
		b.unread = now
	}
	l.enqueue(b, now)
}

// rest does what is due for b without a change of its file.
func (l *Loop) rest(b *body, now time.Time) {
	l.flushIfDue(b, now)
	if b.pending {
		l.enqueue(b, now)
	}
}

// flushIfDue asks for the partial record of a file that has not grown for the
// flush period.
func (l *Loop) flushIfDue(b *body, now time.Time) {
	if b.flush || b.rec == nil || l.FlushPeriod <= 0 {
		return
	}
	s := b.rec.State
	if s.PartialLength > 0 && b.eof && !b.inFlight && now.Sub(time.Unix(0, s.PartialSince)) > l.FlushPeriod {
		b.flush, b.pending = true, true
	}
}

// vanished notes that the name e leads to no file any more, or to one that
// cannot be looked at.
func (l *Loop) vanished(e *entry, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		l.trouble(e.name, err)
		e.relisted = true // what stands there now is still to be found out
		return
	}
	l.leaveName(e)
}

// handleFailed opens the path anew when its handle has become unusable (a stale
// handle of a network file system).
func (l *Loop) handleFailed(b *body, err error) {
	if !b.stuck {
		b.stuck = true
		l.Logger.Error("Failed to stat an open file, it will be opened again", zap.String("path", b.path), zap.Error(err))
	}
	if !b.inFlight {
		l.freshen(b)
	}
}

// isTooManyFiles tells whether the process has run out of descriptors.
func isTooManyFiles(err error) bool {
	return errors.Is(err, errTooManyProcess) || errors.Is(err, errTooManySystem)
}
