package checkpoint

import (
	"slices"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// layout is what a stored snapshot looks like: which State stands where, and
// what a delta on top of it may take for granted.
type layout struct {
	generation uint64
	bytes      int           // of the snapshot
	positions  []int32       // by slot: where in the snapshot; -1: it is not in there
	entries    []snapshotted // by position
	removed    []int32       // positions of States that are not known any more
}

// snapshotted is what a delta needs to know of an entry of the snapshot.
type snapshotted struct {
	ladder   fileid.Ladder
	revision uint32
}

// position returns where the State of a slot stands, -1 if nowhere.
func (l *layout) position(slot int32) int32 {
	if int(slot) >= len(l.positions) {
		return -1
	}
	return l.positions[slot]
}

// vacate notes that the State of a slot is not known any more.
func (l *layout) vacate(slot int32) {
	if p := l.position(slot); p >= 0 {
		l.removed = append(l.removed, p)
		l.positions[slot] = -1
	}
}

// reset empties the layout, for slots many slots.
func (l *layout) reset(slots int) {
	l.generation, l.bytes = 0, 0
	l.positions = slices.Grow(l.positions[:0], slots)[:slots]
	for slot := range l.positions {
		l.positions[slot] = -1
	}
	l.entries = slices.Grow(l.entries[:0], slots)
	l.removed = l.removed[:0]
}

// place notes that the State of a slot is the next entry.
func (l *layout) place(slot int32, s *fileid.State) {
	l.positions[slot] = int32(len(l.entries))
	l.entries = append(l.entries, snapshotted{ladder: s.Ladder, revision: s.StaticRevision})
}
