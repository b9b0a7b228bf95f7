package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// Store keeps States in a storage. All its methods are called by one goroutine,
// the owner of the States, and none of them but Close waits for the storage:
//
//	store, loaded, err := Open(ctx, options)
//	loop:
//	    store.Add(s), store.Changed(s), store.Remove(s) ...
//	    store.Save()
//	    case r := <-store.Results(): store.Applied(r)
//	store.Close(ctx)
//
// A save holds every change that was told before it, and nothing of the States'
// later life. What a save could not store is part of the next. After a crash the
// last save that was completed is found again, or a newer one.
type Store struct {
	o     Options
	saver *saver

	// records are the known States by slot. Slot 0 is not used: it is the slot of
	// States that are not known.
	records []record
	free    []int32
	known   int

	changed []int32 // slots with changes since the stored snapshot; see record.listed
	base    layout  // of the stored snapshot
	next    layout  // of the snapshot that is being saved
	ring    *ring   // nil: no archive

	turn         int    // the number of the next save
	dirty        bool   // something changed since the last save was encoded
	fresh        bool   // something changed since the stored snapshot, or it has to be rewritten
	needSnapshot bool   // a delta is not possible
	hashed       bool   // fingerprints are stored as hashes
	generation   uint64 // of the newest snapshot that was encoded

	// surplus counts bytes of deltas that a snapshot would have made unnecessary.
	surplus int
	// lastCheck and lastBytes tell a delta that is the same as the stored one.
	lastCheck uint32
	lastBytes int

	inFlight bool
	job      job
	failures int       // saves that failed, one after the other
	retryAt  time.Time // no save before

	entries entryWriter
	steps   stepWriter
	removed []int32 // scratch
	closed  bool
}

// record is a known State and what is kept of its encoding.
type record struct {
	state    *fileid.State
	static   encodedStatic
	revision uint32 // of the State when static was made
	made     bool   // static was made
	turn     int    // of the save that holds the last change
	listed   bool   // the slot is in Store.changed
}

func newStore(o Options, f found) *Store {
	s := &Store{
		o:            o,
		records:      make([]record, 1, len(f.states)+1),
		ring:         newRing(f.archive),
		turn:         1,
		needSnapshot: true,
		hashed:       o.HashFingerprints,
		generation:   f.newest,
		saver: newSaver(vault{
			client: o.Client, progress: o.Progress, prefix: o.Prefix,
			parts: f.parts, side: f.side, hasDelta: f.hasDelta,
		}, o.Now),
	}
	s.base.reset(0)
	for _, state := range f.states {
		s.admit(state)
	}
	// What is stored in an old format, or is damaged, is written anew soon.
	s.dirty = f.json || len(f.damage) > 0
	s.fresh = s.dirty || f.hasDelta
	return s
}

// Add makes a State known. It must not be known yet; if it is, it counts as
// changed.
func (s *Store) Add(state *fileid.State) {
	if s.recordOf(state) != nil {
		s.Changed(state)
		return
	}
	s.admit(state)
	s.touch(state.Slot)
}

// Changed tells that a known State is not what it was.
func (s *Store) Changed(state *fileid.State) {
	if s.recordOf(state) == nil {
		s.Add(state)
		return
	}
	s.touch(state.Slot)
}

// Remove makes a State unknown. It does nothing if it is not known.
func (s *Store) Remove(state *fileid.State) {
	rec := s.recordOf(state)
	if rec == nil {
		return
	}
	slot := state.Slot
	state.Slot = 0
	s.base.vacate(slot)
	if s.inFlight && s.job.kind == KindSnapshot {
		s.next.vacate(slot)
	}
	*rec = record{listed: rec.listed, static: encodedStatic{rest: rec.static.rest[:0]}}
	s.free = append(s.free, slot)
	s.known--
	s.dirty, s.fresh = true, true
}

// Archive moves States out of the known ones into the next slot of the archive,
// at the next save. Until the slot is stored they are kept among the known ones
// too. Without an archive, or without a fingerprint, they are removed.
func (s *Store) Archive(states []*fileid.State) {
	for _, state := range states {
		if s.ring == nil {
			s.Remove(state)
			continue
		}
		if s.ring.byState[state] != nil {
			continue
		}
		a := s.ring.admit(state, -1)
		if a == nil {
			s.Remove(state)
			continue
		}
		if dropped := s.ring.enqueue(a); dropped != nil {
			s.Remove(dropped)
		}
	}
}

// FindArchived returns the archived States whose fingerprint is a beginning of
// head, the longest first, of equally long ones the newest first. It looks in
// memory only. The States remain the archive's until Revive.
func (s *Store) FindArchived(head []byte) []*fileid.State {
	if s.ring == nil {
		return nil
	}
	return s.ring.find(head)
}

// Revive makes an archived State known again. In the storage it stays in the
// archive until it is saved among the known ones.
func (s *Store) Revive(state *fileid.State) {
	if s.ring == nil || !s.ring.revive(state, s.turn) {
		return
	}
	s.Add(state)
}

// Archived tells how many States the archive holds, and how many fell out of it
// because it held too many.
func (s *Store) Archived() (states, forgotten int) {
	if s.ring == nil {
		return 0, 0
	}
	return len(s.ring.byState), s.ring.forgotten
}

// Known tells how many States are known.
func (s *Store) Known() int { return s.known }

// Save starts a save of what changed and tells whether it did. It does not if
// nothing changed, if a save is under way, or shortly after failures: then the
// next call saves all that will have changed by then.
func (s *Store) Save() bool {
	if s.closed || s.inFlight || (s.failures > 1 && s.o.Now().Before(s.retryAt)) {
		return false
	}
	j := &s.job
	j.kind = 0
	j.archive = j.archive[:0]
	if s.dirty && !s.encodeKnown(j) {
		s.dirty = false
	}
	if s.ring != nil && s.ring.dirty() {
		j.archive = s.ring.encode(j.archive, s.hashed)
		if j.kind == 0 {
			j.kind = KindArchive
		}
	}
	if j.kind == 0 {
		return false
	}
	s.begin(j)
	s.saver.jobs <- j
	return true
}

// begin notes that a job is on its way.
func (s *Store) begin(j *job) {
	j.turn = s.turn
	s.turn++
	s.inFlight = true
	if j.kind != KindArchive {
		s.dirty = false
	}
}

// manyFiles is from how many files on a snapshot counts as large.
const manyFiles = 4096

// LargeSnapshotDue tells that the next save cannot be a delta, and stores so many
// files that it is worth to choose its moment.
func (s *Store) LargeSnapshotDue() bool { return s.needSnapshot && s.dirty && s.known >= manyFiles }

// Saving tells whether a save is under way, whose result is still to come.
func (s *Store) Saving() bool { return s.inFlight }

// Results delivers the result of each save that Save started.
func (s *Store) Results() <-chan SaveResult { return s.saver.results }

// Applied takes note of a result received from Results. Only then the next save
// can start.
func (s *Store) Applied(SaveResult) {
	if !s.inFlight {
		return
	}
	s.inFlight = false
	j := &s.job
	switch {
	case j.kind == KindArchive:
	case j.knownErr != nil:
		s.knownFailed(j)
	default:
		s.knownSaved(j)
	}
	for _, w := range j.archive {
		if w.done {
			s.ring.written(w, s.Remove)
		} else {
			s.ring.refused(w)
		}
	}
	if s.ring != nil && j.kind != KindArchive && j.knownErr == nil {
		s.ring.knownSaved(j.turn)
	}
	if j.result.Err == nil {
		s.failures = 0
		return
	}
	s.failures++
	s.retryAt = s.o.Now().Add(backOff(s.failures))
	if j.full {
		// Positions are worth more than the way back to upstream: without the
		// fingerprints' bytes a snapshot takes about a tenth of the room.
		s.useHashes()
	}
}

// backOff is how long to wait after a number of failures in a row.
func backOff(failures int) time.Duration {
	const first, most = 200 * time.Millisecond, 5 * time.Second
	return min(first<<min(failures, 10), most)
}

// knownSaved takes note that a delta or a snapshot is stored.
func (s *Store) knownSaved(j *job) {
	if j.kind == KindDelta {
		s.lastBytes = len(j.known)
		s.lastCheck = checksumOf(j.known)
		return
	}
	s.base, s.next = s.next, s.base
	s.lastBytes, s.surplus = 0, 0
	s.needSnapshot = s.base.generation == 0
	kept := s.changed[:0]
	for _, slot := range s.changed {
		rec := &s.records[slot]
		if rec.state != nil && rec.turn > j.turn {
			kept = append(kept, slot)
		} else {
			rec.listed = false
		}
	}
	s.changed = kept
	s.fresh = s.dirty
}

// knownFailed takes note that a delta or a snapshot could not be stored. The
// storage may hold it all the same: after a snapshot of unknown fate a delta would
// belong to nothing, so the next save is a snapshot again.
func (s *Store) knownFailed(j *job) {
	s.dirty = true
	s.lastBytes = 0
	if j.kind == KindSnapshot || len(j.known) > minTrial {
		s.needSnapshot = true
	}
}

// useHashes goes over to hashes for the rest of this Store's life.
func (s *Store) useHashes() {
	if s.hashed {
		return
	}
	s.hashed = true
	s.needSnapshot = true
	for i := range s.records {
		s.records[i].made = false
	}
}

// Close waits for the save under way, writes a full snapshot if anything changed
// since the last or a delta is there, and takes the delta away. It does not close
// the clients. When ctx ends first, what is stored stays as the last save left it.
func (s *Store) Close(ctx context.Context) error {
	if s.closed {
		return nil
	}
	s.closed = true
	defer s.saver.cancel()
	if s.inFlight {
		select {
		case r := <-s.saver.results:
			s.Applied(r)
		case <-ctx.Done():
			close(s.saver.jobs)
			return fmt.Errorf("close checkpoint: a save is still under way: %w", ctx.Err())
		}
	}
	close(s.saver.jobs)
	<-s.saver.done
	return s.finish(ctx)
}

// finish does the last saves: the archive first, since what it takes need not be
// in the snapshot.
func (s *Store) finish(ctx context.Context) error {
	var failures error
	for s.ring != nil && len(s.ring.queue) > 0 {
		if err := s.performNow(ctx, &job{kind: KindArchive, archive: s.ring.encode(nil, s.hashed)}); err != nil {
			failures = errors.Join(failures, err)
			break
		}
	}
	for s.fresh || s.dirty || s.saver.vault.hasDelta {
		hashed := s.hashed
		s.job.archive = s.job.archive[:0]
		s.encodeSnapshot(&s.job)
		err := s.performNow(ctx, &s.job)
		if err != nil && s.hashed != hashed {
			continue // the storage is full; once more without the fingerprints
		}
		if err == nil {
			err = s.saver.vault.dropDelta(ctx)
		}
		failures = errors.Join(failures, err)
		break
	}
	if s.ring != nil && s.ring.dirty() && failures == nil {
		failures = s.performNow(ctx, &job{kind: KindArchive, archive: s.ring.encode(nil, s.hashed)})
	}
	return failures
}

// performNow writes a job on the caller's goroutine; the saver has ended.
func (s *Store) performNow(ctx context.Context, j *job) error {
	s.begin(j)
	s.saver.perform(ctx, j)
	s.job = *j
	s.Applied(j.result)
	return j.result.Err
}

// recordOf returns the record of a known State, nil if it is not known.
func (s *Store) recordOf(state *fileid.State) *record {
	if state.Slot <= 0 || int(state.Slot) >= len(s.records) {
		return nil
	}
	if rec := &s.records[state.Slot]; rec.state == state {
		return rec
	}
	return nil
}

// admit gives a State a slot.
func (s *Store) admit(state *fileid.State) {
	if n := len(s.free); n > 0 {
		state.Slot = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		state.Slot = int32(len(s.records))
		s.records = append(s.records, record{})
	}
	rec := &s.records[state.Slot]
	rec.state = state
	rec.made = false
	s.known++
}

// touch notes a change of the State in a slot.
func (s *Store) touch(slot int32) {
	rec := &s.records[slot]
	rec.turn = s.turn
	if !rec.listed {
		rec.listed = true
		s.changed = append(s.changed, slot)
	}
	s.dirty, s.fresh = true, true
}

// checksumOf is the CRC-32C of a value.
func checksumOf(value []byte) uint32 { return crc32.Checksum(value, castagnoli) }
