package tail

import (
	"time"

	"go.uber.org/zap"
)

// attempts is what failed with files that nothing else would bring up again:
// to delete a file that was read, to have a handle of a file whose handle gave an
// error. Its zero value is empty.
type attempts struct {
	files map[*body]time.Time // when to try again
	next  time.Time           // the earliest of these
}

// later has b tried again at a time.
func (a *attempts) later(b *body, at time.Time) {
	if a.files == nil {
		a.files = map[*body]time.Time{}
	}
	if len(a.files) == 0 || at.Before(a.next) {
		a.next = at
	}
	a.files[b] = at
}

// tryAgain does what has failed and is due.
func (l *Loop) tryAgain() {
	a := &l.attempts
	if len(a.files) == 0 {
		return
	}
	now := l.Now()
	if now.Before(a.next) {
		return
	}
	due := a.files
	a.files = nil
	for b, at := range due {
		switch {
		case now.Before(at):
			a.later(b, at)
		case b.rec == nil || b.inFlight || b.pending:
			// It is looked at when it has been read.
		case b.left:
			a.later(b, now.Add(deleteAgain)) // its name may come back
		case l.ensureOpen(b) != nil:
			a.later(b, now.Add(l.PollInterval))
		case b.eof:
			l.readToEnd(b, now)
		}
	}
}

// readToEnd does what is to be done with a file that was accepted wholly: with
// delete_after_read it goes, if it is still as it was read and has its name.
func (l *Loop) readToEnd(b *body, now time.Time) {
	s := b.rec.State
	if !l.DeleteAfterRead || s.PartialLength > 0 || s.Skipping || b.read.valid {
		return
	}
	if !l.deleteRead(b) {
		l.attempts.later(b, now.Add(deleteAgain))
	}
}

// deleteRead deletes b if it is still as it was read and has its name. It is
// false if that could not be found out or done.
func (l *Loop) deleteRead(b *body) bool {
	if b.left || l.ensureOpen(b) != nil {
		return false
	}
	info, err := b.handle.Stat()
	if err != nil {
		return false
	}
	s := b.rec.State
	if (!b.compressed && info.Size != s.Offset) || (b.compressed && info.Size != s.Base) {
		return true // it has grown: the next poll reads on
	}
	named, err := l.Layer.Stat(b.path)
	if err != nil {
		return false
	}
	if named.Locator != info.Locator {
		return true // the name belongs to another file now
	}
	if err := l.Layer.Remove(b.path); err != nil {
		if l.troubles[b.path] != "could not delete" {
			l.troubles[b.path] = "could not delete"
			l.Logger.Error("could not delete", zap.String("path", b.path), zap.Error(err))
		}
		return false
	}
	l.Logger.Debug("File deleted after it was read", zap.String("path", b.path))
	if i, ok := l.byName[b.path]; ok && l.entries[i].body == b {
		l.entries[i].body = nil
		l.unbind(b, b.path)
	}
	return true
}
