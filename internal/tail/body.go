package tail

import (
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/batch"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// body is one physical file that is being followed, whatever its names. The
// loop owns it; a worker never looks inside.
type body struct {
	id   uint64 // of its own, for the operators
	path string // the name its records carry: the latest one that matched
	// resolved is where that name led to without links, when it led to this file; kept
	// only if attributes tell it.
	resolved string
	refs     int // entries (names of the pattern) that lead to it
	info     source.Info

	handle       source.Handle    // nil: closed
	older, newer *body            // neighbours in the list of open handles
	rec          *registry.Record // nil: not identified, or held as a twin
	twin         *twin            // not nil: held

	read       readPosition // if operators hold records
	compressed bool
	gz         *gunzip // decompressor between two turns, nil: none
	members    memberBase

	looked   bool // info was taken at least once
	pending  bool // there is something to read or to verify
	queued   bool // stands in a queue
	inFlight bool // a worker has it
	pinned   bool // the handle must not be closed just now
	flush    bool // the next turn is to flush the partial record
	eof      bool // read to the end at the last turn
	grewAt   time.Time
	unread   time.Time // since when there is unread data; zero: there is none
	retryAt  time.Time // not before; zero: at once
	cutFrom  int64     // how long it was before it became shorter; 0: it did not
	shrunk   int       // how often it was seen shorter than the position
	ignoring bool      // on_truncate: ignore, until it outgrows the position
	// numberedFor is the fingerprint that b had before it was emptied; empty: whether
	// its record numbers go on is settled.
	numberedFor fileid.Fingerprint
	stuck       bool      // it could not be read, and has not changed since
	troubledAs  string    // the path under which a read error was told of that has not gone away; empty: there is none
	failedAt    time.Time // since when it cannot be read, after it left; zero: it can

	after *body // the file that had this name before and is to be read first

	left   bool // no name of the pattern leads to it any more
	leftAt time.Time
	leftIn uint64 // the round over the names in which it left

	attrs       *batch.FileAttributes
	attrsPath   string
	headerFresh bool   // the header was read in the latest turn
	attrsHeader uint32 // the State's StaticRevision when attrs was made
}

// note takes down what the file system tells.
func (b *body) note(info source.Info) {
	if info.Size < b.info.Size {
		b.cutFrom = max(b.cutFrom, b.info.Size)
	}
	b.info = info
}

// unreadBytes is how many bytes are behind the committed position.
func (b *body) unreadBytes() int64 {
	if b.rec == nil || b.ignoring {
		return 0
	}
	s := b.rec.State
	if b.compressed {
		return max(b.info.Size-s.Base, 0)
	}
	return max(b.info.Size-s.Offset, 0)
}

// astray tells whether b left the pattern while it was not open: nothing but a new
// name leads to it.
func (b *body) astray() bool {
	return b.left && b.handle == nil && (b.rec != nil || b.twin != nil)
}

// drained tells whether nothing whole is left to read, so that the file that
// took its name may be read.
func (b *body) drained() bool {
	if b.astray() {
		return false // it may have grown, and its new name is still to be looked at
	}
	if b.twin != nil {
		return b.compressed || b.info.Size == 0 || b.info.Size <= b.twin.shared && b.twin.seen == versionOf(b.info)
	}
	if b.rec != nil && b.shrunk > 0 {
		return false // the next poll knows whether it was truncated and what it has now
	}
	return b.rec == nil || b.handle == nil && !b.pending || b.eof && !b.pending && !b.inFlight || b.stuck
}
