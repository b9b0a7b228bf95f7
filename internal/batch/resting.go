package batch

import (
	"errors"
	"runtime"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// A recombine operator lets go of a group some time after its first record,
// whatever becomes of the file. While a consumer is slow or refuses, the file's
// next lines wait for us, not for whoever writes them, and the timer would cut
// in two what stands whole in the file. So a group whose file is not read to its
// end is kept from the timer - from nothing else: the next first record, the last
// one, the limits of the operator and its stop let it go at all times.

// Rest says that a file was read to its end, or cannot be read on for now: what
// operators hold of it may go when its time is over. It lasts until Expect or
// Resume of that file.
func (p *Pipeline) Rest(file uint64) {
	if p.ledger != nil {
		p.ledger.rest(file, true)
	}
}

// Expect says that more of a file is there and will be read.
func (p *Pipeline) Expect(file uint64) {
	if p.ledger != nil {
		p.ledger.rest(file, false)
	}
}

func (l *ledger) rest(file uint64, rested bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.files[file]; f != nil {
		f.rested = rested
	}
}

// GiveBack says that what operators hold of a file is to be read again, by another
// pipeline as a rule: none of it comes out any more, and Held stays before it. It
// is for a file that was not read to its end when reading stops, before Stop. What
// shares a group with records of a file that is not given back comes out all the
// same.
func (p *Pipeline) GiveBack(file uint64) {
	if p.ledger != nil {
		p.ledger.giveBack(file)
	}
}

func (l *ledger) giveBack(file uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.files[file]; f != nil && !f.refused && len(f.runs) > 0 {
		l.rewound.Store(true)
		l.rewindFileLocked(f)
	}
}

// expects tells whether more is to be read of a file of which one of these
// records is. Those that will be read again do not count.
func (l *ledger) expects(tags []int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, tag := range tags {
		if r, _ := l.find(tag); r != nil && !r.void && !r.file.rested {
			return true
		}
	}
	return false
}

// errExpected keeps the operator from letting a group go: it stays as it is, and
// the timer comes again.
var errExpected = errors.New("the rest of the group is still to be read")

// keeps tells whether a group that is about to be let go has to stay.
func (h *heldRecombine) keeps(g *heldGroup) bool {
	if g == nil || len(g.members) == 0 {
		return false
	}
	now := time.Now()
	if now.Sub(time.Unix(0, g.members[0])) < h.period {
		return false // too young for the timer
	}
	expected := h.ledger.expects(g.members)
	if !expected && now.Sub(g.expected) >= h.period || h.isFeeding() {
		return false
	}
	if expected {
		g.expected = now
	}
	return true
}

// feeding are the methods in which the operator lets groups go for another
// reason than its timer, as they are called in a stack.
var feeding = [...]string{".(*heldRecombine).ProcessBatch", ".(*heldRecombine).Process", ".(*heldRecombine).Stop"}

// isFeeding tells whether the caller was called by one of them. The stack is the
// only thing that tells: the operator's lock is taken by the timer and by calls
// alike, and nothing of ours runs when a call gives it back. It is asked about
// groups only that are older than their time.
func (h *heldRecombine) isFeeding() bool {
	var buffer [64]uintptr
	frames := runtime.CallersFrames(buffer[:runtime.Callers(2, buffer[:])])
	for {
		frame, more := frames.Next()
		for _, name := range feeding {
			if strings.HasSuffix(frame.Function, name) {
				return true
			}
		}
		if !more {
			return false
		}
	}
}

// withoutExpected is a logger that leaves out the operator's complaints about
// errExpected.
func withoutExpected(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core { return expectedFilter{core} }))
}

type expectedFilter struct{ zapcore.Core }

// With keeps the filter in loggers that are derived.
func (f expectedFilter) With(fields []zapcore.Field) zapcore.Core {
	return expectedFilter{f.Core.With(fields)}
}

// Check lets the decision wait for Write, which gets the fields.
func (f expectedFilter) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if f.Enabled(e.Level) {
		return checked.AddCore(e, f)
	}
	return checked
}

// Write asks the core that is behind the filter, and writes if it is to.
func (f expectedFilter) Write(e zapcore.Entry, fields []zapcore.Field) error {
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && errors.Is(err, errExpected) {
			return nil
		}
	}
	if checked := f.Core.Check(e, nil); checked != nil {
		checked.Write(fields...)
	}
	return nil
}
