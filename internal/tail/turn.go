package tail

import (
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/batch"
	"github.com/otelfilelog/filelogreceiver/internal/deliver"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/framing"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// turn is what a worker does before it asks for more: a bounded part of one
// file, or several small files that go into one batch.
type turn struct {
	tasks []task
	drain bool // deliver what operators have let go of on their own

	errand func() func(time.Time) // nil: none; else this, and nothing else
	done   func(time.Time)        // what the errand left for the loop

	settled []uint64 // files of which the operators may hold less now
	refused []uint64 // files of which something that came out late was refused
}

// task is one file of a turn: copies of all that the worker needs, and what
// came of it. body is a name only; the worker must not look inside.
type task struct {
	body       *body
	id         uint64 // of the body
	path       string
	handle     source.Handle
	start      framing.Position
	newest     fileid.Frontier
	verify     bool   // newest stands at start and has to be the same still
	head       []byte // the fingerprint, nil if only its digest is known
	headKnown  int    // its length
	flush      bool   // emit the partial record unless the file has grown
	partialWas int64  // how long that was when it was seen last
	attributes *batch.FileAttributes
	header     bool           // read the header, which is not finished, and nothing else
	headerHad  map[string]any // the attributes that it has given so far
	compressed bool
	base       int64 // of a compressed file, as in fileid.State
	baseAt     int64
	size       int64 // bytes on disk when the turn began
	gz         *gunzip

	result
}

// result is what came of a task.
type result struct {
	// committed is the position before which everything was accepted, with the
	// frontier there. Valid if advanced.
	advanced  bool
	committed framing.Position
	frontier  fileid.Frontier
	// baseMoved: a compressed file was read to its end, where the next member
	// will begin; base and baseAt are to be what they are in the task now.
	baseMoved bool

	outcome  deliver.Outcome
	diverged bool // what stands before start is not what was there: rewritten
	short    bool // the file ends before start
	locked   bool // its writer holds a lock
	eof      bool // read to the end as it was then
	partial  int64
	newHead  []byte // a longer fingerprint, nil: none
	err      error  // reading failed

	headerDone  bool
	headerAttrs map[string]any // nil: not changed

	bytes   int64
	records int64
}

// report is what a worker tells the loop: that a turn is over, or how far a
// long one has come.
type report struct {
	turn    *turn
	done    bool
	advance []advance // not done: what was accepted since the last report
}

// advance is a step of one file's committed position.
type advance struct {
	body     *body
	position framing.Position
	frontier fileid.Frontier
}

// turnClock tells when a turn has taken long enough.
type turnClock struct {
	began    time.Time
	reported time.Time
}
