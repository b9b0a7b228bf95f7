package tail

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelfilelog/filelogreceiver/internal/deliver"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/framing"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// worker does turns. What it owns is reused from turn to turn.
type worker struct {
	l      *Loop // only what never changes: configuration and rooms
	framer *framing.Framer
	out    output
	sender *deliver.Sender
	window window
	source content

	turn     *turn
	clock    turnClock
	observed pcommon.Timestamp
	marks    []mark // positions that the batch under way will commit
	advances []advance
	scratch  []byte
	failed   deliver.Outcome // of the turn: Accepted while nothing was refused
}

// mark is a position that is committed when the batch under way is accepted.
type mark struct {
	task     int
	position framing.Position
	frontier fileid.Frontier
}

// startWorkers starts the workers; done is closed when all have ended.
func (l *Loop) startWorkers() (done <-chan struct{}) {
	var wg sync.WaitGroup
	for range l.Workers {
		w := &worker{
			l:       l,
			framer:  l.Framing.NewFramer(),
			out:     l.newOutput(),
			sender:  l.Target.NewSender(),
			scratch: make([]byte, 16<<10),
		}
		l.idle++
		wg.Go(func() {
			for t := range l.turns {
				w.do(t)
				l.reports <- report{turn: t, done: true}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		wg.Wait()
		close(ended)
	}()
	return ended
}

// do does a turn.
func (w *worker) do(t *turn) {
	now := time.Now()
	w.turn, w.failed = t, deliver.Accepted
	w.clock = turnClock{began: now, reported: now}
	w.observed = pcommon.NewTimestampFromTime(now)
	w.marks, w.advances = w.marks[:0], w.advances[:0]
	if t.errand != nil {
		t.done = t.errand()
		return
	}
	if t.drain {
		w.failed = w.drain()
		return
	}
	last := 0
	for i := range t.tasks {
		last = i
		w.read(i)
		if w.failed != deliver.Accepted {
			break
		}
	}
	if w.failed == deliver.Accepted {
		w.flush(framing.Position{}, -1)
	}
	if w.failed != deliver.Accepted {
		// What was read and not accepted is read again from where it is committed,
		// or from where the operators say.
		for _, m := range w.marks {
			t.tasks[m.task].outcome = w.failed
		}
		for i := last; i < len(t.tasks); i++ {
			t.tasks[i].outcome = w.failed
		}
	}
	for i := range t.tasks {
		r := &t.tasks[i]
		if r.outcome != deliver.Accepted {
			r.eof, r.gz = false, nil
		}
	}
	w.window.trim()
}

// read reads one file of the turn: from its position to its end, or as much as
// one turn may.
func (w *worker) read(i int) {
	t := &w.turn.tasks[i]
	if w.l.LockFiles || w.l.DropCache {
		unlock, ok, err := lockAndAdvise(t.handle, w.l.LockFiles, w.l.DropCache)
		if err != nil {
			t.err = err
		}
		if !ok {
			t.locked = true
			return
		}
		if unlock != nil {
			defer func() { _ = unlock() }()
		}
	}
	short, err := w.source.open(t, &w.window, w.scratch)
	switch {
	case errors.Is(err, source.ErrCorrupt) && t.base > 0 && t.start.Offset > 0:
		t.diverged = true // no member begins where one did: compressed anew
		return
	case err != nil:
		t.err = err
		return
	}
	if short {
		t.short, t.eof = true, true
		return
	}
	position := t.start
	have := w.window.end() > w.window.start
	eof := false
	if !have {
		history := int(position.Offset - w.window.start)
		if eof, t.err = w.source.read(&w.window, position.Offset, history+chunkBytes); t.err != nil {
			return
		}
		if w.window.end() < position.Offset {
			t.short, t.eof = true, true
			return
		}
	}
	if t.verify && w.window.frontier(position.Offset) != t.newest {
		t.diverged = true
		return
	}
	head := t.head
	if position.Offset == 0 {
		head = w.window.from(0)
		known := t.head
		if !eof {
			known = known[:min(len(known), len(head))] // a fingerprint may be longer than what is read at once
		}
		if len(head) > 0 && !bytes.HasPrefix(head, known) {
			// It was rewritten before anything of it was accepted: a copy may still have that.
			t.diverged = true
			return
		}
	}
	if t.header {
		w.finish(i, w.readHeader(t, eof))
		return
	}
	w.framer.Reset(position, head)
	w.frame(i, position, eof)
}

// frame makes records of what the window holds and of what follows.
func (w *worker) frame(i int, position framing.Position, eof bool) {
	t := &w.turn.tasks[i]
	begin := position.Offset
	for t.err == nil {
		rest := w.window.from(position.Offset)
		flush := eof && w.flushesRest(t, int64(len(rest)))
		w.framer.Feed(rest, flush)
		for w.framer.Next() {
			body := w.framer.Body()
			if w.out.full(len(body)) && !w.flush(position, i) {
				t.bytes += position.Offset - begin
				w.suspend(t, position)
				return
			}
			w.out.add(t, body, w.observed, w.framer, position)
			position = w.framer.After()
			t.records++
		}
		position = w.framer.Position()
		if eof || position.Offset-begin >= turnBytes || w.clock.over() {
			break
		}
		eof, t.err = w.source.read(&w.window, position.Offset, chunkBytes)
	}
	t.bytes += position.Offset - begin
	t.eof = eof
	t.result.partial = w.window.end() - position.Offset
	w.finish(i, position)
}

// flushesRest tells whether what is left at the end of the file becomes a record.
func (w *worker) flushesRest(t *task, rest int64) bool {
	switch {
	case w.l.Framing.Bytes():
		return true // without lines, what is there is a record
	case t.compressed:
		return w.source.clean
	default:
		return t.flush && rest <= t.partialWas // else it has grown meanwhile
	}
}

// finish notes how far the file was read.
func (w *worker) finish(i int, position framing.Position) {
	t := &w.turn.tasks[i]
	if t.compressed {
		w.endOfMembers(t, position)
		w.suspend(t, position)
	} else if t.headKnown < w.l.FingerprintSize && w.window.end() > int64(t.headKnown) {
		t.newHead = w.longerHead(t)
	}
	if position == t.start && !t.baseMoved {
		return
	}
	m := mark{i, position, w.window.frontier(position.Offset)}
	if w.out.len() == 0 {
		w.commit(m)
		return
	}
	w.marks = append(w.marks, m)
}

// endOfMembers moves the base of a compressed file that was read to its end:
// the next member will begin there.
func (w *worker) endOfMembers(t *task, position framing.Position) {
	if w.source.cut && w.source.stream.Limit() < t.size {
		t.eof = false // the member has grown since the decompressor was made
	}
	if !w.source.clean || w.source.stream == nil || !t.eof || position.Offset != w.window.end() {
		return
	}
	t.base, t.baseAt, t.baseMoved = w.source.stream.Limit(), position.Offset, true
	t.eof = t.base >= t.size
}

// suspend keeps the decompressor of a compressed file for its next turn. One that
// had an error has it for good.
func (w *worker) suspend(t *task, position framing.Position) {
	if t.compressed && t.err == nil {
		t.gz = w.source.keep(&w.window, position.Offset)
	}
}

// longerHead reads the fingerprint of a file that has grown.
func (w *worker) longerHead(t *task) []byte {
	head, err := readBeginning(t.handle, w.l.FingerprintSize, w.window.end())
	if err != nil || len(head) <= t.headKnown || t.head != nil && string(head[:t.headKnown]) != string(t.head) {
		return nil
	}
	return head
}

// flush delivers the batch under way. position is where the record that stands
// behind the batch begins, in the file of task i; i < 0: all files of the batch
// are finished. It is false when the turn has to end.
func (w *worker) flush(position framing.Position, i int) bool {
	if w.out.len() == 0 {
		return true
	}
	if i >= 0 {
		w.marks = append(w.marks, mark{i, position, w.window.frontier(position.Offset)})
	}
	outcome := w.out.deliver(w)
	refused := outcome > deliver.Dropped
	if !refused || w.l.holds() {
		// Operators that hold records have taken all of them. What has to be read
		// again of the refused ones they tell (Pipeline.Resume); a file of which
		// they only hold something must not go in twice.
		for _, m := range w.marks {
			w.commit(m)
		}
	}
	if refused {
		w.failed = outcome
		return false
	}
	w.marks = w.marks[:0]
	if i < 0 {
		return true
	}
	w.progress()
	return !w.clock.over()
}

// commit notes that everything before m was accepted.
func (w *worker) commit(m mark) {
	t := &w.turn.tasks[m.task]
	t.advanced, t.committed, t.frontier = true, m.position, m.frontier
	w.advances = append(w.advances, advance{t.body, m.position, m.frontier})
}

// progress tells the loop how far a long turn has come, if it listens just now.
func (w *worker) progress() {
	now := time.Now()
	if now.Sub(w.clock.reported) < progressEvery || len(w.advances) == 0 {
		w.advances = w.advances[:0]
		return
	}
	w.clock.reported = now
	select {
	case w.l.reports <- report{turn: w.turn, advance: w.advances}:
		w.advances = nil // the loop has it now
	default:
	}
}

// over tells whether the turn has taken long enough.
func (c *turnClock) over() bool { return time.Since(c.began) > turnTime }
