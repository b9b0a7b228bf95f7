package tail

import (
	"errors"
	"io/fs"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/deliver"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/framing"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// apply takes in what a worker reports.
func (l *Loop) apply(r report) {
	now := l.Now()
	for _, a := range r.advance {
		l.advanced(a.body, a.position, a.frontier)
	}
	if !r.done {
		return
	}
	l.busy--
	l.idle++
	if r.turn.done != nil {
		r.turn.done(now)
	}
	for i := range r.turn.tasks {
		l.applyTask(&r.turn.tasks[i], now)
	}
	for _, id := range r.turn.settled {
		if b := l.byID[id]; b != nil {
			l.settle(b)
			if !b.inFlight && b.rec != nil {
				l.enqueue(b, now)
			}
		}
	}
	for _, id := range r.turn.refused {
		if b := l.byID[id]; b != nil && b.rec != nil {
			if l.ghosts[b.rec] == b {
				l.bury(b.rec) // whoever adopts its State reads from what is committed
				continue
			}
			b.pending, b.retryAt = true, now.Add(l.Target.Retry.Again(l.PollInterval))
		}
	}
	l.recycle(r.turn)
}

// advanced notes how far b was read and delivered. That is committed, unless
// operators hold records of it.
func (l *Loop) advanced(b *body, p framing.Position, f fileid.Frontier) {
	if !l.holds() {
		l.commit(b, p, f)
		return
	}
	b.read = readPosition{p, f, true}
	l.settle(b)
}

// commit moves the committed position of b.
func (l *Loop) commit(b *body, p framing.Position, f fileid.Frontier) {
	if b.rec == nil {
		return
	}
	s := b.rec.State
	s.Offset, s.RecordNumber, s.Skipping = p.Offset, p.RecordNumber, p.Skipping
	if f.Offset == p.Offset {
		s.Ladder.Advance(f)
	}
	l.moveBase(b)
	l.changed(b)
}

// applyTask takes in what became of one file.
func (l *Loop) applyTask(t *task, now time.Time) {
	b := t.body
	b.inFlight = false
	b.gz = t.gz
	l.Observer.ReadBytes += t.bytes
	l.Observer.Records += t.records
	s := b.rec.State
	before := s.Offset
	if t.headerDone || t.headerAttrs != nil {
		s.HeaderDone = t.headerDone
		b.headerFresh = t.headerDone
		if t.headerAttrs != nil {
			s.Attributes = t.headerAttrs
		}
		s.StaticRevision++
		l.changed(b)
	}
	if t.advanced {
		l.advanced(b, t.committed, t.frontier)
	}
	if t.baseMoved && t.advanced && t.outcome == deliver.Accepted {
		b.members = memberBase{t.base, t.baseAt, true}
		l.moveBase(b)
	}
	if t.newHead != nil {
		l.Registry.Rehead(b.rec, fileid.NewFingerprint(t.newHead))
		l.changed(b)
	}
	s.Size, s.ModTime = b.info.Size, b.info.ModTime
	b.eof = t.eof
	switch {
	case t.err != nil:
		l.taskFailed(b, t.err, now)
		return
	case t.locked:
		l.rests(b)
		b.pending, b.retryAt = true, now.Add(l.PollInterval)
		return
	case t.outcome == deliver.LetGo:
		b.pending, b.retryAt = true, now.Add(l.Target.Retry.Again(l.PollInterval))
		return
	case t.outcome == deliver.Cancelled:
		b.pending = true
		return
	case t.outcome == deliver.Rebuild:
		b.pending, b.retryAt = true, time.Time{}
		l.enqueue(b, now)
		return
	case t.diverged:
		l.diverged(b, now)
		return
	case t.short:
		l.ended(b, now)
		return
	}
	b.retryAt = time.Time{}
	l.readAgain(b)
	l.notePartial(b, t, now)
	if len(l.bodies) > keepAttributes && !l.Attributes.changes() && !b.headerFresh {
		b.attrs = nil // cheap to make again, and a kilobyte for each of thousands of files
	}
	if !t.eof {
		b.pending = true
	}
	if t.eof && !b.pending {
		if !b.read.valid {
			b.unread = time.Time{}
		} else if s.Offset != before || b.unread.IsZero() {
			b.unread = now // what operators hold is of this turn
		}
		l.rests(b)
		l.readToEnd(b, now)
	}
	l.enqueue(b, now)
}

// notePartial remembers how long the unfinished record at the end of b is, and
// since when.
func (l *Loop) notePartial(b *body, t *task, now time.Time) {
	s := b.rec.State
	if !t.eof || s.PartialLength == t.result.partial && !t.advanced {
		return // the same record, and it has not grown
	}
	s.PartialLength = t.result.partial
	if s.PartialLength > 0 {
		s.PartialSince = now.UnixNano()
	}
	l.changed(b)
}

// diverged goes on in a file of which a turn found that it was rewritten.
func (l *Loop) diverged(b *body, now time.Time) {
	l.Observer.Truncations++
	if b.rec.State.Offset == 0 {
		b.cutFrom = 0 // a copy of what was not read is a new file to all that is known: it is not counted as lost
	}
	l.Logger.Info("File was rewritten", zap.String("path", b.path), zap.Int64("offset", b.rec.State.Offset))
	l.rewrite(b, now, -1)
}

// ended looks at a file that was found shorter than its position.
func (l *Loop) ended(b *body, now time.Time) {
	if b.compressed {
		l.diverged(b, now)
		return
	}
	info, err := b.handle.Stat()
	if err != nil {
		l.handleFailed(b, err)
		return
	}
	b.note(info)
	if !l.shrank(b, now) {
		b.pending = true // the size is larger again: a cache of a network file system
		b.retryAt = now.Add(l.PollInterval)
	}
}

// taskFailed notes an error of reading: said once, tried again at later polls,
// with a fresh handle if there is one (freshen).
func (l *Loop) taskFailed(b *body, err error, now time.Time) {
	b.eof = false
	l.rests(b)
	b.pending, b.retryAt = true, now.Add(max(l.PollInterval, retryRead))
	if errors.Is(err, source.ErrCorrupt) {
		b.retryAt = now.Add(retryCorrupt) // or when it has changed
	}
	l.readFailed(b, err)
}

// isGone tells whether err says that there is no such file.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDirectory) }
