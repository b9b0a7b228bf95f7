package tail

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/registry"
)

// leave notes that no name of the pattern leads to b any more. It is read
// through its handle for as long as there is something to read.
func (l *Loop) leave(b *body) {
	if b.left {
		return
	}
	b.left, b.leftAt, b.leftIn = true, l.Now(), l.rounds
	if !slices.Contains(l.left, b) {
		l.left = append(l.left, b)
	}
}

// lookAtLeft looks at the files that left the pattern and lets go of those
// that are read and quiet.
func (l *Loop) lookAtLeft(now time.Time) {
	if len(l.left) == 0 {
		return
	}
	still := l.left[:0]
	for _, b := range l.left {
		if !b.left {
			continue // it has a name again
		}
		if l.letGo(b, now) {
			continue
		}
		still = append(still, b)
	}
	clear(l.left[len(still):])
	l.left = still
}

// letGo looks at b, which left the pattern, and tells whether it was let go.
func (l *Loop) letGo(b *body, now time.Time) bool {
	if b.inFlight {
		if b.handle != nil {
			if info, err := b.handle.Stat(); err == nil {
				l.see(b, info, now)
			}
		}
		return false
	}
	if b.twin != nil && b.handle != nil {
		return l.letTwinGo(b, now)
	}
	if l.mayTurnUp(b) {
		return false
	}
	if b.handle == nil || b.rec == nil {
		l.lost(b, "not open")
		l.discard(b)
		return true
	}
	info, err := b.handle.Stat()
	if err != nil {
		return l.letUnreadableGo(b, now)
	}
	l.see(b, info, now)
	b.info.Links = info.Links
	if !b.stuck {
		b.failedAt = time.Time{}
	}
	if b.read.valid && !b.pending {
		return false // operators hold records of it
	}
	if b.pending || b.queued || !b.eof {
		return b.stuck && l.letUnreadableGo(b, now)
	}
	if !b.quiet(now, l.FlushPeriod) {
		return false
	}
	if n := b.unreadBytes(); n > 0 && info.Links == 0 {
		l.lost(b, "deleted")
	}
	l.discard(b)
	return true
}

// mayTurnUp tells whether b may have a new name that was not looked at yet since it
// left, which takes a whole round over the names.
func (l *Loop) mayTurnUp(b *body) bool {
	return b.astray() && l.FilesPerPoll > 0 && l.rounds < b.leftIn+2
}

// letUnreadableGo lets go of b, of which the handle is all there is and gives an
// error, when it has done so for a while: a fault of a moment costs nothing.
func (l *Loop) letUnreadableGo(b *body, now time.Time) bool {
	if b.failedAt.IsZero() {
		b.failedAt = now
	}
	if now.Sub(b.failedAt) < leftQuiet {
		return false
	}
	l.lost(b, "unreadable")
	l.discard(b)
	return true
}

// letTwinGo looks at a held file that left the pattern. It is let go of when it
// has nothing that its original has not: that may be its only copy by now.
func (l *Loop) letTwinGo(b *body, now time.Time) bool {
	info, err := b.handle.Stat()
	if err != nil {
		return l.letUnreadableGo(b, now)
	}
	l.see(b, info, now)
	b.info.Links = info.Links
	original := l.owners[b.twin.of]
	if original == nil || original.inFlight || !b.quiet(now, 0) || b.twin.busy || b.twin.compared != versionOf(info) && !b.twin.failed {
		return false // lookAtTwin finds out
	}
	if b.twin.doubtful(original) {
		return false // nor is it known to have been read
	}
	if s := b.twin.of.State; s.Offset+s.PartialLength < b.twin.shared {
		return false // not read yet, and the original may be overwritten before it is
	}
	defer b.pin()()
	if l.ensureOpen(original) != nil || !intact(original) {
		return false
	}
	l.discard(b)
	return true
}

// quiet tells whether b, which left the pattern, has not grown for the time
// after which its handle is given up, and has no partial record that a flush
// after the period flush is still to bring out.
func (b *body) quiet(now time.Time, flush time.Duration) bool {
	limit := leftQuiet
	if b.info.Links == 0 {
		limit = deletedQuiet
	}
	since := b.grewAt
	if b.leftAt.After(since) {
		since = b.leftAt
	}
	if b.rec != nil && b.rec.State.PartialLength > 0 && flush > 0 {
		// The flush is due a period after the partial record was read, which may be
		// long after the file was left when the destination was blocked.
		if read := time.Unix(0, b.rec.State.PartialSince).Add(flush); read.After(since) {
			since = read
		}
	}
	return now.Sub(since) >= limit
}

// lost counts what of b can not be read any more.
func (l *Loop) lost(b *body, reason string) {
	if n := b.unreadBytes(); n > 0 {
		l.lostBytes(b.path, n, reason)
	}
}

func (l *Loop) lostBytes(path string, n int64, reason string) {
	l.Observer.lost(n, reason)
	l.Logger.Warn("Bytes are lost that were not read before they went away", zap.String("path", path),
		zap.Int64("bytes", n), zap.String("reason", reason))
}

// discard forgets b; its State stays known for a while.
func (l *Loop) discard(b *body) {
	l.closeHandle(b)
	if l.bodies[b.info.Locator] == b {
		delete(l.bodies, b.info.Locator)
	}
	b.pending, b.twin = false, nil
	if b.troubledAs != "" {
		l.Observer.recovered(b.troubledAs)
		b.troubledAs = ""
	}
	delete(l.attempts.files, b)
	if l.holds() {
		l.Pipeline.Forget(b.id)
		delete(l.byID, b.id)
	}
	if b.rec != nil {
		delete(l.owners, b.rec)
		l.Registry.Release(b.rec)
		b.rec = nil
	}
}

// retain forgets the States whose file is gone for good: into the archive, if
// there is one. A file that is only hidden is not forgotten. Nothing is while
// names are left that were not looked at since the last time.
func (l *Loop) retain() {
	if !l.rounded {
		return
	}
	var overLimit int
	l.overdue, overLimit = l.Registry.EndPoll(l.overdue[:0])
	if len(l.overdue) == 0 {
		return
	}
	for i, rec := range l.overdue {
		limited := i >= len(l.overdue)-overLimit
		if !limited && l.stillExists(rec) {
			l.Registry.Keep(rec, keepPolls)
			continue
		}
		if !limited && l.awaited(rec) {
			l.Registry.Keep(rec, 0)
			continue
		}
		l.bury(rec)
		if s := rec.State; rec.Orphan() && !rec.Copied && !s.Compressed && s.Size > s.Offset {
			l.lostBytes(s.Path, s.Size-s.Offset, "truncated")
		}
		l.Registry.Forget(rec)
		if l.Store != nil {
			if l.Archiving && rec.State.Fingerprint.Len() > 0 {
				l.archive = append(l.archive, rec.State)
			} else {
				l.Store.Remove(rec.State)
			}
		}
		if limited {
			l.Observer.Forgotten++
		}
	}
	if len(l.archive) > 0 {
		l.Store.Archive(l.archive)
		l.archive = l.archive[:0]
	}
}

// stillExists tells whether the file of rec stands where it was seen last, or
// may stand there for all that can be told.
func (l *Loop) stillExists(rec *registry.Record) bool {
	s := rec.State
	if s.Path == "" || s.Locator.IsZero() || rec.Orphan() {
		return false
	}
	info, err := l.Layer.Stat(s.Path)
	if err != nil {
		return !isGone(err)
	}
	return standsIn(s, info)
}

// awaited tells whether a file may turn out to have the content of rec: one that
// is held as its twin; a compressed one that is held as the twin of another and
// was not compared yet; one that waits for a worker to look at it, which takes as
// long as the destination blocks all of them.
func (l *Loop) awaited(rec *registry.Record) bool {
	return l.investigated > 0 || slices.ContainsFunc(l.twins, func(b *body) bool {
		t := b.twin
		return t != nil && (t.of == rec || b.compressed && t.compared == version{} && !t.failed)
	})
}
