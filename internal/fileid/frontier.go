package fileid

import "github.com/cespare/xxhash/v2"

// Window is how many bytes before a position a frontier covers at most.
const Window = 256

// Frontier is evidence of what stood before a position: the XXH64 of the at
// most Window bytes before Offset (all bytes, if Offset is smaller).
type Frontier struct {
	Offset int64
	Sum    uint64
}

// WindowLen is how many bytes the frontier at offset covers.
func WindowLen(offset int64) int { return int(min(offset, Window)) }

// NewFrontier makes the frontier at offset; window is the WindowLen(offset)
// bytes before it.
func NewFrontier(offset int64, window []byte) Frontier {
	return Frontier{Offset: offset, Sum: xxhash.Sum64(window)}
}

// Verifies tells whether window, the bytes before the frontier's offset in
// some file, are those that the frontier was made of.
func (f Frontier) Verifies(window []byte) bool {
	return len(window) == WindowLen(f.Offset) && xxhash.Sum64(window) == f.Sum
}

// Rungs is how many frontiers a Ladder holds at most.
const Rungs = 5

// Ladder is a few frontiers of one file, newest (deepest) first: the one at
// the committed position and older ones at growing distance, about 4 KiB,
// 64 KiB, 1 MiB and 16 MiB behind it. The zero value is empty.
type Ladder struct {
	rungs [Rungs]Frontier
	n     int
}

// Len is the number of frontiers.
func (l *Ladder) Len() int { return l.n }

// At returns the i-th frontier; 0 is the newest.
func (l *Ladder) At(i int) Frontier { return l.rungs[i] }

// Newest returns the deepest frontier, ok false when the ladder is empty.
func (l *Ladder) Newest() (f Frontier, ok bool) { return l.rungs[0], l.n > 0 }

// LadderOf makes a ladder of frontiers that stand in descending order of
// offset; what is out of order or too much is left out.
func LadderOf(frontiers ...Frontier) Ladder {
	var l Ladder
	for _, f := range frontiers {
		if l.n == Rungs || f.Offset <= 0 || (l.n > 0 && f.Offset >= l.rungs[l.n-1].Offset) {
			continue
		}
		l.rungs[l.n] = f
		l.n++
	}
	return l
}

// Advance makes f the newest frontier. Of the older ones it keeps the oldest
// in each range of distance, so that there is always one on its way into the
// next range.
func (l *Ladder) Advance(f Frontier) {
	if f.Offset <= 0 {
		*l = Ladder{}
		return
	}
	next := Ladder{n: 1}
	next.rungs[0] = f
	for i := range l.n {
		old := l.rungs[i]
		if old.Offset >= f.Offset {
			continue
		}
		// l is newest first: a later rung of the same range is older and takes its place.
		if next.n > 1 && distanceRange(f.Offset-next.rungs[next.n-1].Offset) == distanceRange(f.Offset-old.Offset) {
			next.rungs[next.n-1] = old
			continue
		}
		if next.n < Rungs {
			next.rungs[next.n] = old
			next.n++
		}
	}
	*l = next
}

// TruncateTo drops the frontiers deeper than offset.
func (l *Ladder) TruncateTo(offset int64) {
	var kept Ladder
	for i := range l.n {
		if l.rungs[i].Offset <= offset {
			kept.rungs[kept.n] = l.rungs[i]
			kept.n++
		}
	}
	*l = kept
}

// distanceRange sorts a distance into the ranges below 64 KiB, 1 MiB, 16 MiB
// and beyond: four ranges for the Rungs-1 older frontiers.
func distanceRange(distance int64) int {
	switch {
	case distance < 64<<10:
		return 0
	case distance < 1<<20:
		return 1
	case distance < 16<<20:
		return 2
	default:
		return 3
	}
}
