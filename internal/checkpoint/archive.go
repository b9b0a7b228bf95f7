package checkpoint

import (
	"maps"
	"slices"
	"strconv"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// ring is the archive: slots that are written in turn, each with the States that
// left at one time. What a slot held before is forgotten when it is written.
//
// States waiting for their slot are still known ones in the storage, and a State
// that was found again stays in its slot until it is saved as a known one: at
// every moment, each State is stored at least once.
type ring struct {
	size  int                      // how many slots there are
	slots map[int][]*archivedState // those that hold something
	next  int                      // the slot to be written next
	empty int                      // so many slots from next on are known to hold nothing
	queue []*archivedState         // waiting to be written to it
	stale map[int]struct{}         // slots that hold States which have left
	// surplus are slots beyond the ring, of a longer one before. Their States are
	// in the queue; they are emptied when it is written.
	surplus []int

	byState map[*fileid.State]*archivedState
	index   archiveIndex
	leaving []*archivedState // found again, still in their slots
	count   int              // States in slots

	slotLimit int // bytes that the store is trusted to take in a slot; 0: any number
	forgotten int // States that fell out because there were too many
}

// archivedState is a State in the archive.
type archivedState struct {
	state   *fileid.State
	digest  fileid.Digest
	length  int
	slot    int // where it is stored; -1 while it waits in the queue
	revived int // the save that stores it as known again; 0: it is not
}

// maxArchived bounds the States in memory; a State takes about 1.3 KiB.
const maxArchived = 1 << 17

// newRing makes a ring of what was loaded.
func newRing(loaded archived) *ring {
	if loaded.size == 0 {
		return nil
	}
	r := &ring{
		size:    loaded.size,
		slots:   make(map[int][]*archivedState, len(loaded.slots)),
		next:    loaded.next,
		stale:   make(map[int]struct{}),
		byState: make(map[*fileid.State]*archivedState),
		surplus: loaded.surplus,
	}
	// From the oldest to the newest, so that the newest is found first.
	age := func(slot int) int { return (slot - loaded.next + loaded.size) % loaded.size }
	filled := slices.SortedFunc(maps.Keys(loaded.slots), func(a, b int) int { return age(a) - age(b) })
	for _, slot := range filled {
		for _, s := range loaded.slots[slot] {
			if a := r.admit(s, slot); a != nil {
				r.slots[slot] = append(r.slots[slot], a)
				r.count++
			}
		}
	}
	for _, slot := range loaded.rewrite {
		r.stale[slot] = struct{}{}
	}
	for _, s := range loaded.moved {
		if a := r.admit(s, -1); a != nil {
			r.queue = append(r.queue, a)
		}
	}
	return r
}

// admit makes an entry that can be found; nil for a State without a fingerprint,
// which would be found for every file.
func (r *ring) admit(s *fileid.State, slot int) *archivedState {
	if s.Fingerprint.Len() == 0 {
		return nil
	}
	a := &archivedState{state: s, digest: s.Fingerprint.Digest(), length: s.Fingerprint.Len(), slot: slot}
	r.byState[s] = a
	r.index.add(a)
	return a
}

// find returns the States whose fingerprint begins head, the longest first, of
// equal ones the newest first.
func (r *ring) find(head []byte) []*fileid.State {
	return r.index.find(head)
}

// revive takes s out of what can be found; save is the number of the save that
// will store it as known. It tells whether s was there.
func (r *ring) revive(s *fileid.State, save int) bool {
	a := r.byState[s]
	if a == nil {
		return false
	}
	delete(r.byState, s)
	r.index.remove(a)
	a.revived = save
	if a.slot >= 0 {
		r.leaving = append(r.leaving, a)
	} else {
		r.queue = slices.DeleteFunc(r.queue, func(q *archivedState) bool { return q == a })
	}
	return true
}

// enqueue puts a into the queue. If the storage has not taken any of it for so
// long that it is full, the oldest State falls out and is returned.
func (r *ring) enqueue(a *archivedState) (dropped *fileid.State) {
	if len(r.queue) >= maxArchived {
		oldest := r.queue[0]
		r.queue = slices.Delete(r.queue, 0, 1)
		delete(r.byState, oldest.state)
		r.index.remove(oldest)
		r.forgotten++
		dropped = oldest.state
	}
	r.queue = append(r.queue, a)
	return dropped
}

// dirty tells whether there is something to write.
func (r *ring) dirty() bool { return len(r.queue) > 0 || len(r.stale) > 0 }

// slotWrite is the new value of a slot.
type slotWrite struct {
	slot    int
	value   []byte           // empty: the slot is deleted
	entries []*archivedState // that were in the queue; nil if the slot is only cleaned
	advance bool             // the index follows
	done    bool
}

// encode makes the writes of what is to be written.
func (r *ring) encode(writes []slotWrite, hashFingerprints bool) []slotWrite {
	if len(r.queue) > 0 {
		entries, value := r.fill(hashFingerprints)
		writes = append(writes, slotWrite{slot: r.next, value: value, entries: entries, advance: true})
	}
	for slot := range r.stale {
		if slot == r.next && len(r.queue) > 0 {
			continue
		}
		w := slotWrite{slot: slot}
		if slot < r.size {
			w.value = appendList(nil, statesOf(r.slots[slot]), 0, hashFingerprints)
		}
		writes = append(writes, w)
	}
	return writes
}

// fill encodes as much of the queue as the store is trusted to take in one slot.
func (r *ring) fill(hashFingerprints bool) ([]*archivedState, []byte) {
	entries := slices.Clone(r.queue)
	value := appendList(nil, statesOf(entries), 0, hashFingerprints)
	for r.slotLimit > 0 && len(value) > r.slotLimit && len(entries) > 1 {
		entries = entries[:max(1, len(entries)*r.slotLimit/len(value))]
		value = appendList(value[:0], statesOf(entries), 0, hashFingerprints)
	}
	return entries, value
}

func statesOf(entries []*archivedState) []*fileid.State {
	states := make([]*fileid.State, len(entries))
	for i, a := range entries {
		states[i] = a.state
	}
	return states
}

// written notes that w is stored. stored is called with each State that is no
// longer needed among the known ones.
func (r *ring) written(w slotWrite, stored func(*fileid.State)) {
	delete(r.stale, w.slot)
	if w.entries == nil {
		return
	}
	r.forget(r.slots[w.slot])
	kept := w.entries[:0:len(w.entries)]
	for _, a := range w.entries {
		a.slot = w.slot
		if a.revived != 0 {
			// It came back meanwhile, and never ceased to be known.
			r.stale[w.slot] = struct{}{}
			continue
		}
		kept = append(kept, a)
		stored(a.state)
	}
	r.put(w.slot, kept)
	r.count += len(kept)
	r.queue = slices.DeleteFunc(r.queue, func(a *archivedState) bool { return a.slot == w.slot })
	r.next, r.empty = (w.slot+1)%r.size, max(r.empty-1, 0)
	if len(r.queue) == 0 {
		r.slotLimit = 0
		for _, slot := range r.surplus {
			r.stale[slot] = struct{}{}
		}
		r.surplus = nil
	} else if r.slotLimit > 0 {
		r.slotLimit *= 2
	}
	for ; r.count > maxArchived && r.empty < r.size-1; r.empty++ {
		oldest := (r.next + r.empty) % r.size
		if entries := r.slots[oldest]; len(entries) > 0 {
			r.forgotten += len(entries)
			r.forget(entries)
			delete(r.slots, oldest)
			r.stale[oldest] = struct{}{}
		}
	}
}

// put makes entries what slot holds.
func (r *ring) put(slot int, entries []*archivedState) {
	if len(entries) == 0 {
		delete(r.slots, slot)
		return
	}
	r.slots[slot] = entries
}

// minSlot is the least that a slot is limited to, in bytes.
const minSlot = 16 << 10

// refused notes that w could not be stored, maybe because it is too large.
func (r *ring) refused(w slotWrite) {
	if w.entries != nil {
		r.slotLimit = max(len(w.value)/2, minSlot)
	}
}

// knownSaved notes that all saves of known States up to number save are stored:
// what was found again by then has a new home, and leaves its slot.
func (r *ring) knownSaved(save int) {
	r.leaving = slices.DeleteFunc(r.leaving, func(a *archivedState) bool {
		if a.revived > save {
			return false
		}
		entries := r.slots[a.slot]
		if at := slices.Index(entries, a); at >= 0 {
			r.put(a.slot, slices.Delete(entries, at, at+1))
			r.count--
			r.stale[a.slot] = struct{}{}
		}
		return true
	})
}

// forget takes entries whose slot is overwritten out of what can be found.
func (r *ring) forget(entries []*archivedState) {
	r.count -= len(entries)
	for _, a := range entries {
		if a.revived == 0 {
			delete(r.byState, a.state)
			r.index.remove(a)
		}
	}
}

// indexValue is the stored form of the number of the slot that was written last.
func indexValue(slot int) []byte { return append(strconv.AppendInt(nil, int64(slot), 10), '\n') }
