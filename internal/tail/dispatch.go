package tail

import (
	"maps"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/batch"
)

// queue is the bodies that wait for a worker. Small ones go first, several in
// one turn, so that a backlog delays nobody; every fourth turn is for a
// backlog, so that small ones do not starve it either.
type queue struct {
	small   []*body
	backlog []*body
	turns   int
	drain   bool // operators have let go of records on their own
	errands []errand
}

// waiting tells whether bodies wait for a worker.
func (q *queue) waiting() bool { return len(q.small)+len(q.backlog) > 0 }

// enqueue puts b in line if it has something to do and may do it now.
func (l *Loop) enqueue(b *body, now time.Time) {
	if !b.pending || b.queued || b.inFlight || b.rec == nil || b.ignoring || now.Before(b.retryAt) {
		return
	}
	if l.holds() {
		l.Pipeline.Expect(b.id)
	}
	for b.after != nil {
		if !b.after.drained() {
			return
		}
		b.after = b.after.after // a held one has nothing to read while it waits itself
	}
	b.queued = true
	if b.unreadBytes() <= smallUnread && !l.headerOpen(b) {
		l.queue.small = append(l.queue.small, b)
	} else {
		l.queue.backlog = append(l.queue.backlog, b)
	}
}

// dispatch hands out turns while workers are free.
func (l *Loop) dispatch() {
	l.tryAgain()
	for l.idle > 0 {
		t := l.nextTurn()
		if t == nil {
			return
		}
		l.idle--
		l.busy++
		l.turns <- t // a free worker is waiting: this does not block
	}
}

// nextTurn makes a turn of what waits longest; nil if nothing waits.
func (l *Loop) nextTurn() *turn {
	q := &l.queue
	if q.drain {
		q.drain = false
		t := l.newTurn()
		t.drain = true
		return t
	}
	if len(q.errands) > 0 {
		t := l.newTurn()
		t.errand = l.ready(q.errands[0])
		q.errands[0] = errand{}
		q.errands = q.errands[1:]
		return t
	}
	for {
		q.turns++
		var t *turn
		switch {
		case len(q.small) == 0 && len(q.backlog) == 0:
			return nil
		case len(q.small) == 0 || len(q.backlog) > 0 && q.turns%4 == 0:
			t = l.newTurn()
			l.needHeadroom(l.Now())
			l.addTask(t, takeFirst(&q.backlog))
		default:
			t = l.pack()
		}
		if len(t.tasks) > 0 {
			return t
		}
		l.recycle(t)
	}
}

// pack makes a turn of small files: as many as together are worth one turn,
// shared out over the free workers, and few enough that the handles of all
// turns together stay within the limit.
func (l *Loop) pack() *turn {
	q := &l.queue
	t := l.newTurn()
	share := max(len(q.small)/max(l.idle, 1), 16)
	most := min(packFiles, share, max(l.handleCap/(2*l.Workers), 1))
	for bytes := int64(0); len(q.small) > 0 && len(t.tasks) < most && bytes < turnBytes; {
		b := takeFirst(&q.small)
		bytes += b.unreadBytes()
		l.addTask(t, b)
	}
	return t
}

func takeFirst(s *[]*body) *body {
	b := (*s)[0]
	(*s)[0] = nil
	*s = (*s)[1:]
	return b
}

// addTask puts b into t with all that a worker needs to know.
func (l *Loop) addTask(t *turn, b *body) {
	b.queued = false
	if b.rec == nil || b.inFlight {
		return
	}
	if b.stuck {
		l.freshen(b)
	}
	if err := l.ensureOpen(b); err != nil {
		l.cannotOpen(b, err)
		return
	}
	if err := l.prepareAttributes(b); err != nil {
		l.trouble(b.path, err)
		return
	}
	if l.troubles[b.path] == unreadableFile {
		l.untrouble(b.path)
	}
	l.settleNumbers(b)
	s := b.rec.State
	start, newest := l.startOfTurn(b)
	b.inFlight, b.pending = true, false
	base, baseAt := b.baseFor(start.Offset)
	if b.compressed && start.Offset > 0 && base == b.info.Size && s.ModTime != b.info.ModTime {
		base, baseAt = 0, 0 // written to, and as long as it was: compressed anew, perhaps
	}
	t.tasks = append(t.tasks, task{
		body:       b,
		path:       b.path,
		handle:     b.handle,
		id:         b.id,
		start:      start,
		newest:     newest,
		verify:     start.Offset > 0 && newest.Offset == start.Offset,
		head:       s.Fingerprint.Head(),
		headKnown:  s.Fingerprint.Len(),
		flush:      b.flush,
		partialWas: s.PartialLength,
		attributes: b.attrs,
		header:     l.headerOpen(b),
		headerHad:  s.Attributes,
		compressed: b.compressed,
		base:       base,
		baseAt:     baseAt,
		size:       b.info.Size,
		gz:         b.gz,
	})
	b.gz = nil
	b.flush = false
}

// cannotOpen notes that b could not be opened for its turn.
func (l *Loop) cannotOpen(b *body, err error) {
	l.rests(b)
	if isTooManyFiles(err) {
		l.handlesExhausted(err)
		b.retryAt = l.Now().Add(l.PollInterval)
		return
	}
	l.openFailed(b.path, err)
}

// headerOpen tells whether the header of b is still to be read, which takes a
// turn of its own.
func (l *Loop) headerOpen(b *body) bool { return l.Header != nil && !b.rec.State.HeaderDone }

// prepareAttributes makes the attributes of b's records, if they are not made
// yet or may have changed.
func (l *Loop) prepareAttributes(b *body) error {
	revision := b.rec.State.StaticRevision
	if b.attrs != nil && b.attrsPath == b.path && b.attrsHeader == revision && !l.Attributes.changes() && !b.headerFresh {
		return nil
	}
	header := b.rec.State.Attributes
	l.followLinks(b)
	own, err := l.Attributes.attributes(b.path, b.resolved, b.info, header)
	if err != nil && !b.left {
		return err
	}
	if b.headerFresh && !l.headerOpen(b) {
		// In the pass that read the header its attributes win, later the file's do.
		maps.Copy(own, header)
		b.headerFresh = false
		revision--
	}
	b.attrs, b.attrsPath, b.attrsHeader = l.newAttributes(own), b.path, revision
	return nil
}

// followLinks finds out where b is without links, if attributes tell that and its
// name leads to it. Else it stays where it was: late lines of a file whose name
// leads to another one carry what the earlier ones did.
func (l *Loop) followLinks(b *body) {
	if !l.Attributes.resolves() {
		return
	}
	if info, err := l.Layer.Stat(b.path); err == nil && info.Locator == b.info.Locator {
		if resolved, err := withoutLinks(b.path); err == nil {
			b.resolved = resolved
		}
	}
	if b.resolved == "" { // its name was gone at once
		b.resolved, _ = filepath.Abs(b.path)
	}
}

func (l *Loop) newAttributes(own map[string]any) *batch.FileAttributes {
	if l.Pipeline != nil {
		return l.Pipeline.NewFileAttributes(own)
	}
	return l.Batches.NewFileAttributes(own)
}

// recycle keeps the memory of a turn for the next one.
func (l *Loop) recycle(t *turn) {
	clear(t.tasks)
	t.errand, t.done = nil, nil
	t.tasks, t.drain, t.settled, t.refused = t.tasks[:0], false, t.settled[:0], t.refused[:0]
	l.spare = append(l.spare, t)
}

func (l *Loop) newTurn() *turn {
	if n := len(l.spare); n > 0 {
		t := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return t
	}
	return &turn{}
}

// readFailed tells once about a file that cannot be read on.
func (l *Loop) readFailed(b *body, err error) {
	b.stuck = true
	if b.troubledAs != "" {
		return
	}
	b.troubledAs = b.path
	l.Logger.Error("Failed to read file", zap.String("path", b.path), zap.Error(err))
	l.Observer.troubled(b.path, err)
}

// readAgain tells that a file can be read on.
func (l *Loop) readAgain(b *body) {
	b.stuck = false
	if b.troubledAs == "" {
		return
	}
	l.Observer.recovered(b.troubledAs)
	b.troubledAs = ""
	l.Logger.Info("Previously unreadable file is now readable", zap.String("path", b.path))
}
