package tail

import (
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/deliver"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/framing"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
)

// Operators may hold records (recombine, container). Then a file has two
// positions: up to body.read it went into the operators, up to the State's
// Offset everything has come out again and was accepted. The first is where the
// next turn begins, the second is what is saved.

// holds tells whether the operators may hold records.
func (l *Loop) holds() bool { return l.Pipeline != nil && l.Pipeline.Holds() }

// startOfTurn is where the next turn of b begins, with the frontier there.
func (l *Loop) startOfTurn(b *body) (framing.Position, fileid.Frontier) {
	s := b.rec.State
	committed := framing.Position{Offset: s.Offset, RecordNumber: s.RecordNumber, Skipping: s.Skipping}
	newest, _ := s.Ladder.Newest()
	if !l.holds() {
		return committed, newest
	}
	if at, again := l.Pipeline.Resume(b.id); again {
		b.read = readPosition{Position: framing.Position(at), valid: at.Offset != s.Offset}
	}
	if b.read.valid {
		return b.read.Position, b.read.frontier
	}
	return committed, newest
}

// rests tells the operators that nothing of b is to be read for now.
func (l *Loop) rests(b *body) {
	if l.holds() {
		l.Pipeline.Rest(b.id)
	}
}

// readPosition is how far a file went into operators that hold some of it.
type readPosition struct {
	framing.Position
	frontier fileid.Frontier
	valid    bool // else it is the committed position
}

// reached is how far b was read, be it only into operators that hold some of it,
// with the frontier there if it is known.
func (b *body) reached() (int64, fileid.Frontier) {
	if b.read.valid {
		return b.read.Offset, b.read.frontier
	}
	newest, _ := b.rec.State.Ladder.Newest()
	return b.rec.State.Offset, newest
}

// settle moves the committed position of b up to what is held, or to where it
// was read when nothing is.
func (l *Loop) settle(b *body) {
	if b.rec == nil || !b.read.valid {
		return
	}
	oldest, held := l.Pipeline.Held(b.id)
	if !held {
		l.commit(b, b.read.Position, b.read.frontier)
		b.read = readPosition{}
		if b.eof && !b.pending && !b.inFlight {
			b.unread = time.Time{}
			l.readToEnd(b, l.Now())
		}
		return
	}
	if oldest.Offset <= b.rec.State.Offset {
		return
	}
	var frontier fileid.Frontier
	if b.handle != nil && !b.compressed {
		if answers, err := frontiersAt(b.handle, []int64{oldest.Offset}); err == nil && len(answers) == 1 {
			frontier = answers[0]
		}
	}
	l.commit(b, framing.Position(oldest), frontier)
	if b.eof && !b.pending && !b.inFlight {
		b.unread = l.Now() // what is held still was not known earlier, as a rule
	}
}

// bequeath keeps what is known of the records of old that operators hold, when
// the file b, of which they are, was rewritten: they still come out and settle,
// and a copy that adopts old goes on where b was read.
func (l *Loop) bequeath(b *body, old *registry.Record) {
	delete(l.byID, b.id)
	if b.read.valid {
		l.rests(b)
		ghost := &body{id: b.id, path: b.path, rec: old, read: b.read, compressed: b.compressed, members: b.members}
		l.byID[ghost.id], l.ghosts[old] = ghost, ghost
		old.Held = true
	}
	l.lastID++
	b.id, b.read = l.lastID, readPosition{}
}

// inherit lets b, which takes over rec, go on where the file was read that rec
// was of before.
func (l *Loop) inherit(b *body, rec *registry.Record) {
	ghost := l.ghosts[rec]
	if ghost == nil {
		return
	}
	delete(l.ghosts, rec)
	rec.Held = false
	b.id, b.read = ghost.id, ghost.read
	if b.compressed == ghost.compressed {
		b.members = ghost.members
	}
}

// bury ends what is kept for rec, which is forgotten.
func (l *Loop) bury(rec *registry.Record) {
	if ghost := l.ghosts[rec]; ghost != nil {
		delete(l.ghosts, rec)
		rec.Held = false
		delete(l.byID, ghost.id)
		l.Pipeline.Forget(ghost.id)
	}
}

// settleAll looks at all files of which records may be held.
func (l *Loop) settleAll() {
	if !l.holds() {
		return
	}
	for _, b := range l.byID {
		l.settle(b)
	}
}

// stopPipeline stops the operators at shutdown and lets a worker deliver what
// they held. All workers are idle.
func (l *Loop) stopPipeline() {
	l.giveBack()
	if err := l.Pipeline.Stop(); err != nil {
		l.Logger.Error("Failed to stop operators", zap.Error(err))
	}
	t := l.newTurn()
	t.drain = true
	l.idle--
	l.busy++
	l.turns <- t
}

// giveBack keeps the operators from letting go, at their stop, of groups whose
// rest stands unread in the file: they are read again at the next start, whole.
// Without a storage there is no reading again, and a part is better than nothing.
func (l *Loop) giveBack() {
	if l.Store == nil || !l.holds() {
		return
	}
	for _, b := range l.bodies {
		if b.rec != nil && b.read.valid && b.readsOn() {
			l.Pipeline.GiveBack(b.id)
		}
	}
}

// readsOn tells whether b was not read to its end, and can be read from its
// committed position on at the next start for all that is known.
func (b *body) readsOn() bool {
	if b.left || b.ignoring || b.shrunk > 0 {
		return false
	}
	info := b.info
	if b.handle != nil {
		if now, err := b.handle.Stat(); err == nil {
			info = now
		}
	}
	if !b.compressed && info.Size < b.read.Offset {
		return false // cut meanwhile
	}
	return !b.eof || b.pending || info.Size > b.info.Size
}

// drain delivers what operators let go of on their own.
func (w *worker) drain() deliver.Outcome { return w.out.drain(w) }
