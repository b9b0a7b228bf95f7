package tail

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// twin is what is known of a held file: one that has the same content as
// another file that lives on, as far as either goes. It may be a copy in the
// making, whose original is about to be truncated or removed; then the copy
// takes over the original's State. Or it is a file of its own; then it shows
// by growing apart, or by outliving the grace time.
type twin struct {
	of     *registry.Record
	owner  *body              // whose content it was compared with
	apart  []*registry.Record // of which it is none, as was found out while it was held as theirs
	shared int64              // so many bytes are known to be the same
	seen   version            // what the file was like then
	since  time.Time          // when it changed last
	size   int64              // its size then
	// start is where it begins should it be a file of its own: what is before was read
	// as part of another file, or start_at leaves it out. Zero: at its beginning.
	start fileid.Frontier
	// header is the State of the file that what is before start was read of; nil: of none.
	header *fileid.State
	// compared is what the file was like when all of it was found to be the same.
	compared version
	busy     bool // a worker is looking at it
	failed   bool // the latest look at it, by a worker
	// original is what the original was like when all was found to be the same, and
	// readTo how far it was read. If that is not all of it, and the original has
	// changed since, what was read may be something else.
	original source.Info
	readTo   int64
}

// same notes that all of b, as it was seen, is the beginning of original, as
// that was.
func (t *twin) same(seen version, original source.Info) {
	t.compared, t.original, t.readTo = seen, original, t.of.State.Offset
}

// doubtful tells whether original, which had all of the twin, may have been
// overwritten before that was read.
func (t *twin) doubtful(original *body) bool {
	return t.readTo < t.shared && original.info != t.original
}

// version is what a file was like at some time: while it is like that, its
// content is taken to be what it was. The zero value is that of no file: empty
// ones are not held.
type version struct{ size, modTime int64 }

func versionOf(i source.Info) version { return version{i.Size, i.ModTime} }

// hold lets b wait as a twin of rec. Should it be a file of its own, it begins at start.
func (l *Loop) hold(b *body, rec *registry.Record, shared int64, apart []*registry.Record, start int64, now time.Time) {
	b.twin = &twin{of: rec, owner: l.owners[rec], apart: apart, shared: shared, seen: versionOf(b.info), since: now, size: b.info.Size}
	if start > 0 && !b.compressed && l.ensureOpen(b) == nil {
		if answers, err := frontiersAt(b.handle, []int64{start}); err == nil && len(answers) == 1 {
			b.twin.start = answers[0]
		}
	}
	b.rec, b.pending, b.gz = nil, false, nil
	l.twins = append(l.twins, b)
	rec.Copied = true
	l.Observer.decided(registry.Decision{Kind: registry.Hold})
	l.Logger.Info("File has the same content as another one; it is held until they part, as a copy would be",
		zap.String("path", b.path), zap.String("same_as", rec.State.Path))
}

// lookAtTwins looks whether held files have to be held any longer.
func (l *Loop) lookAtTwins(now time.Time) {
	if len(l.twins) == 0 {
		return
	}
	held := slices.Clone(l.twins)
	l.twins = l.twins[:0]
	for _, b := range held {
		if b.twin == nil {
			continue
		}
		if !l.lookAtTwin(b, now) {
			l.twins = append(l.twins, b)
		}
	}
}

// lookAtTwin tells whether b is not held any more, or anew.
func (l *Loop) lookAtTwin(b *body, now time.Time) bool {
	t := b.twin
	original := l.owners[t.of]
	if b.info.Size != t.size {
		t.size, t.since = b.info.Size, now
	}
	if original != nil && original != t.owner {
		// Another one has taken over the State: a copy, too, that may have less.
		t.owner, t.compared, t.shared = original, version{}, 0
	}
	switch {
	case t.busy:
		return false // a worker is looking at it
	case original == nil:
		// Rewritten, gone or forgotten: b may be what is left of it.
		return l.outlive(b)
	case original.inFlight && original.pending:
		return false // its end is not known just now
	case t.compared != versionOf(b.info) && (b.compressed || original.compressed):
		if original.left && original.info.Links == 0 && b.info.Links > 0 {
			return false // it is let go soon, and then b is asked whether it has all that was read of it
		}
		l.compareLater(b, original)
		return false
	case t.compared != versionOf(b.info):
		shared, parted := l.compareWith(b, t.of, t.shared)
		t.shared, t.seen = shared, versionOf(b.info)
		if parted {
			return l.release(b, now)
		}
		if shared >= b.info.Size {
			t.same(t.seen, original.info)
		}
	case t.doubtful(original) && !original.inFlight:
		if b.compressed || original.compressed {
			l.compareLater(b, original)
			return false
		}
		if _, parted := l.compareWith(b, t.of, 0); parted {
			return l.release(b, now)
		}
		t.same(t.compared, original.info)
	}
	grace := now.Sub(t.since) >= twinGrace
	if grace && !b.compressed && t.shared >= b.info.Size && t.of.State.Offset >= t.shared {
		if l.ensureOpen(original) == nil && !intact(original) {
			l.noteRewritten(original)
			return false
		}
		return l.release(b, now)
	}
	return false
}

// noteRewritten goes on in b, which is not intact, as its next turn would. That
// may be far away: it may wait for the very copy that is asked about here, or its
// name may not be accessible for now.
func (l *Loop) noteRewritten(b *body) {
	reached, _ := b.reached()
	switch {
	case b.inFlight:
	case b.info.Size >= reached:
		l.diverged(b, l.Now())
	case b.shrunk == 0:
		l.shrank(b, l.Now()) // else polls look at it already
	}
}

// again sights b, which is held, and goes on with then if it is still held
// when that is done. It tells whether b is not held any more now.
func (l *Loop) again(b *body, then func(s registry.Sighting, answers []fileid.Frontier, now time.Time)) bool {
	defer b.pin()()
	if err := l.ensureOpen(b); err != nil {
		l.openFailed(b.path, err)
		return false
	}
	b.compressed = false
	sighting, err := l.sight(b)
	if err != nil || len(sighting.Head) == 0 {
		return false
	}
	t := b.twin
	t.busy = true
	l.investigate(b, sighting, func(answers []fileid.Frontier, err error, now time.Time) {
		t.busy = false
		if err == nil && b.twin == t {
			then(sighting, answers, now)
		}
	})
	return b.twin != t
}

// outlive takes b, whose original was rewritten or went away, for a file that is
// seen for the first time. If it does not have all that was read of the
// original, since that grew after the copy was made, it goes on behind what it has.
func (l *Loop) outlive(b *body) bool {
	return l.again(b, func(s registry.Sighting, answers []fileid.Frontier, now time.Time) {
		start, header := l.startOfTwin(b, l.readOf(b, b.twin.of.State, b.twin.shared, b.twin.readTo, s.Head))
		b.twin = nil
		l.takeBehind(b, s, answers, l.lessThan(start, s, answers), start, header, now)
	})
}

// startOfTwin is where b, which is held, begins when it is a file of its own, and
// the State whose header it has then: at read, as far as it was read as part of
// its original, or at its start if that is further and b still has what is before.
func (l *Loop) startOfTwin(b *body, read int64) (int64, *fileid.State) {
	t := b.twin
	if at := t.start; at.Offset > read && !b.compressed && b.handle != nil {
		if answers, err := frontiersAt(b.handle, []int64{at.Offset}); err == nil && len(answers) == 1 && answers[0] == at {
			return at.Offset, t.header
		}
	}
	return read, t.of.State
}

// takeBehind is take for b of which what is before start was read under the
// State header, or is not wanted.
func (l *Loop) takeBehind(b *body, s registry.Sighting, answers []fileid.Frontier, apart []*registry.Record, start int64, header *fileid.State, now time.Time) {
	l.take(b, s, answers, apart, start, now)
	switch {
	case start == 0 || header == nil:
	case b.twin != nil:
		b.twin.header = header
	case b.rec != nil && b.rec.State.Offset == start && b.rec.State.Attributes == nil:
		goOnAs(b.rec.State, header)
	}
}

// goOnAs gives s, which begins behind what was read under the State before, the
// header and, if that is known there, the number of records.
func goOnAs(s, before *fileid.State) {
	s.Attributes, s.HeaderDone = before.Attributes, before.HeaderDone
	if s.Offset == before.Offset {
		s.RecordNumber = before.RecordNumber
	}
}

// lessThan are the records that a file with that sighting could have the content
// of and that have less than start, which is known to be read of it: they are of
// files that only begin alike.
func (l *Loop) lessThan(start int64, s registry.Sighting, answers []fileid.Frontier) (apart []*registry.Record) {
	for start > 0 {
		d := l.Registry.Resolve(s, answers, apart)
		switch d.Kind {
		case registry.Adopt:
			if d.Record.State.Offset >= start {
				return apart
			}
		case registry.Hold:
			if owner := l.owners[d.Record]; owner == nil || owner.compressed || owner.info.Size >= start {
				return apart
			}
		default:
			return apart
		}
		if slices.Contains(apart, d.Record) {
			return apart
		}
		apart = append(apart, d.Record)
	}
	return apart
}

// readOf is how much of b, which begins with head, was read as part of the file of
// state: whole lines up to shared, where both were found to be the same when that
// was read up to readThen.
func (l *Loop) readOf(b *body, state *fileid.State, shared, readThen int64, head []byte) int64 {
	end := min(shared, state.Offset)
	if b.compressed || end == 0 || b.handle == nil {
		return 0
	}
	same := head[:min(int64(len(head)), end)] // b may have grown apart behind it
	f := state.Fingerprint
	if !f.IsHashed() && !f.IsPrefixOf(head) && !f.StartsWith(same) {
		return 0 // b was rewritten, too
	}
	verified := readThen >= end || int64(f.Len()) >= end && (f.IsPrefixOf(head) || f.StartsWith(same))
	for i := range state.Ladder.Len() {
		if f := state.Ladder.At(i); f.Offset <= end {
			if answers, err := frontiersAt(b.handle, []int64{f.Offset}); err != nil || len(answers) == 0 || answers[0] != f {
				return 0
			}
			verified = true
			break
		}
	}
	if !verified {
		return 0 // a digest says nothing of a beginning that is shorter, nor a beginning of what is behind
	}
	return l.lineStart(b, head, end)
}

// release makes b a file of its own. What it shares with its original is read
// once more if it is short (many files begin alike), else left out (a copy). What
// is before its start is left out in any case.
func (l *Loop) release(b *body, now time.Time) bool {
	t := b.twin
	return l.again(b, func(s registry.Sighting, answers []fileid.Frontier, now time.Time) {
		apart := append(slices.Clone(t.apart), t.of)
		offset := int64(0)
		if t.shared > sharedShort {
			offset = l.readOf(b, b.twin.of.State, b.twin.shared, b.twin.readTo, s.Head)
		}
		offset, header := l.startOfTwin(b, offset)
		b.twin = nil
		switch l.Registry.Resolve(s, answers, apart).Kind {
		case registry.Hold, registry.Adopt, registry.Continue:
			// It is also the content of a third one, for which it does not wait as long again.
			l.takeBehind(b, s, answers, apart, offset, header, now)
			if b.twin != nil {
				b.twin.since = t.since
			}
			return
		}
		l.begin(b, s, offset)
		if offset > 0 && header != nil {
			goOnAs(b.rec.State, header)
		}
		l.Logger.Info("Started watching file", zap.String("path", b.path), zap.Int64("offset", offset))
		l.Observer.decided(registry.Decision{Kind: registry.Alike})
		b.pending, b.unread = true, now
		l.enqueue(b, now)
	})
}

// lineStart is the start of the line that offset stands in, as far back as 64
// KiB; else offset. b begins with head.
func (l *Loop) lineStart(b *body, head []byte, offset int64) int64 {
	buf := make([]byte, min(offset, 64<<10))
	n, err := source.ReadFull(b.handle, buf, offset-int64(len(buf)))
	if err != nil || n < len(buf) {
		return offset
	}
	if i := l.Framing.LineStart(head, buf, offset-int64(len(buf))); i >= 0 {
		return offset - int64(len(buf)) + int64(i)
	}
	return offset
}
