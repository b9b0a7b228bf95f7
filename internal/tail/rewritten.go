package tail

import (
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// shrank looks whether b is shorter than the position that was reached in it,
// and acts when that is sure: the size was seen twice, or the beginning has
// changed (a network file system may tell an old size for a while). It tells
// whether b is not to be read now.
func (l *Loop) shrank(b *body, now time.Time) bool {
	if b.rec == nil || b.inFlight {
		return false
	}
	position, _ := b.reached()
	if b.compressed {
		position = b.rec.State.Base
	}
	if b.info.Size >= position {
		b.shrunk = 0
		return b.ignoring && l.ignoredTillNow(b, now)
	}
	if b.ignoring {
		if l.beginsAnew(b) {
			b.ignoring = false
			l.truncated(b, now)
		}
		return true
	}
	b.shrunk++
	if b.shrunk < 2 && !l.beginsAnew(b) {
		return true
	}
	b.shrunk = 0
	l.truncated(b, now)
	return true
}

// ignoredTillNow ends the time for which the truncation of b was ignored: it has
// outgrown the position. What is before that was not there when the file became
// shorter, so the fingerprint decides whether it goes on. It tells whether b is
// not to be read now.
func (l *Loop) ignoredTillNow(b *body, now time.Time) bool {
	if l.ensureOpen(b) != nil {
		b.shrunk = 1 // the next poll looks again
		return true
	}
	b.ignoring = false
	if !l.beginsAnew(b) {
		return false
	}
	l.rewrite(b, now, -1)
	return true
}

// beginsAnew tells whether the content of b does not begin with its
// fingerprint any more.
func (l *Loop) beginsAnew(b *body) bool {
	if b.info.Size == 0 || b.compressed || l.ensureOpen(b) != nil {
		return false
	}
	f := b.rec.State.Fingerprint
	head := make([]byte, f.Len())
	n, err := source.ReadFull(b.handle, head, 0)
	if err != nil {
		return false
	}
	if n < f.Len() {
		return !f.IsHashed() && !f.StartsWith(head[:n])
	}
	return !f.IsPrefixOf(head)
}

// truncated decides where reading goes on in a file that became shorter.
func (l *Loop) truncated(b *body, now time.Time) {
	l.Observer.Truncations++
	size, offset := b.info.Size, b.rec.State.Offset
	l.Logger.Info("File is shorter than the position that was reached in it", zap.String("path", b.path),
		zap.Int64("size", size), zap.Int64("offset", offset), zap.String("on_truncate", string(l.OnTruncate)))
	anew := l.beginsAnew(b)
	switch {
	case anew || b.compressed:
		// Another content, which on_truncate does not speak of.
		l.rewrite(b, now, -1)
	case l.OnTruncate == TruncateIgnore:
		// Nothing is verified when the file has outgrown the position again.
		b.rec.State.Ladder = fileid.Ladder{}
		b.ignoring, b.pending = true, false
		l.changed(b)
	case l.OnTruncate == TruncateReadWhole:
		l.rewrite(b, now, 0)
	case l.OnTruncate == TruncateReadNew:
		l.rewrite(b, now, size)
	default:
		l.rewrite(b, now, -1)
	}
}

// rewrite orphans the State of b, whose content has changed, and lets b go on
// with a State of its own at offset; -1: at the deepest position before which
// nothing has changed.
func (l *Loop) rewrite(b *body, now time.Time, offset int64) {
	old := b.rec
	b.gz = nil
	b.eof = false
	b.pending, b.retryAt = true, now.Add(l.PollInterval) // until it succeeds
	if err := l.ensureOpen(b); err != nil {
		l.openFailed(b.path, err)
		return
	}
	info, err := b.handle.Stat()
	if err != nil {
		l.handleFailed(b, err)
		return
	}
	b.note(info)
	b.compressed = false
	sighting, answers, err := l.inspect(b)
	if err != nil {
		l.trouble(b.path, err)
		return
	}
	if offset < 0 {
		offset = registry.Deepest(old.State, answers)
	}
	l.goOn(b, old, sighting, answers, offset)
	b.pending, b.retryAt = false, time.Time{}
	if b.unreadBytes() > 0 || len(sighting.Head) > 0 {
		b.pending = true
		b.unread = now
		l.enqueue(b, now)
	} else {
		b.eof = true // it was emptied
	}
}

// beginsAs tells whether a file that begins with head goes with f as far as both
// are known.
func beginsAs(f fileid.Fingerprint, head []byte) bool {
	return f.StartsWith(head) || f.IsPrefixOf(head)
}

// settleNumbers decides whether the record numbers of b, which was emptied, go on.
func (l *Loop) settleNumbers(b *body) {
	f := b.numberedFor
	if f.Len() == 0 || b.rec.State.Offset > 0 || b.compressed {
		return
	}
	head := make([]byte, f.Len())
	n, err := source.ReadFull(b.handle, head, 0)
	if err != nil || n == 0 {
		return
	}
	if !beginsAs(f, head[:n]) {
		b.rec.State.RecordNumber = 0
	}
	b.numberedFor = fileid.Fingerprint{}
}

// goOn gives b, whose content is no longer that of old, a State of its own at
// offset. Record numbers go on if it still begins as old did, as upstream's do.
func (l *Loop) goOn(b *body, old *registry.Record, s registry.Sighting, answers []fileid.Frontier, offset int64) {
	state := &fileid.State{
		Fingerprint:  l.fingerprint(s.Head),
		Locator:      b.info.Locator,
		Path:         b.path,
		Offset:       offset,
		RecordNumber: old.State.RecordNumber,
		Compressed:   b.compressed,
	}
	switch {
	case offset > 0:
	case len(s.Head) == 0:
		b.numberedFor = old.State.Fingerprint // its first bytes will decide
	case !beginsAs(old.State.Fingerprint, s.Head):
		state.RecordNumber = 0
	}
	if offset > 0 {
		state.Attributes, state.HeaderDone = old.State.Attributes, old.State.HeaderDone
		state.Ladder = old.State.Ladder
		state.Ladder.TruncateTo(offset)
		if newest, ok := state.Ladder.Newest(); !ok || newest.Offset != offset {
			l.ladderAt(b, state)
		}
	}
	// What was cut off unread is lost unless a copy of the file has it: see retain.
	old.State.Size, b.cutFrom = b.cutFrom, 0
	delete(l.owners, old)
	if l.holds() {
		l.bequeath(b, old)
	}
	b.members = memberBase{}
	l.Registry.Orphaned(old)
	if l.Store != nil {
		l.Store.Changed(old.State)
		l.Store.Add(state)
	}
	l.adoptRecord(b, l.Registry.Add(state))
	b.attrs = nil
}
