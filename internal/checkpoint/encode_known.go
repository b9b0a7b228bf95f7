package checkpoint

import "slices"

// minDeltaLimit is the size up to which a delta is never too large.
const minDeltaLimit = 4 << 10

// encodeKnown encodes what changed into j, as a delta if possible. It is false if
// the storage holds it already.
func (s *Store) encodeKnown(j *job) bool {
	if !s.needSnapshot && s.o.Progress != nil && s.encodeDelta(j) {
		return j.kind != 0
	}
	s.encodeSnapshot(j)
	return true
}

// encodeSnapshot encodes all known States into j, as a new generation.
func (s *Store) encodeSnapshot(j *job) {
	s.generation = max(s.generation+1, uint64(max(0, s.o.Now().UnixNano())))
	s.next.reset(len(s.records))
	size := sealRoom
	for slot := range s.records {
		if rec := &s.records[slot]; rec.state != nil {
			s.refresh(rec)
			size += rec.static.size + expectedDynamicSize
		}
	}
	// Growing on the way would leave several times the size as garbage.
	b := grow(j.known, size)
	s.entries.begin(s.hashed)
	var checks, check uint32
	for slot := range s.records {
		rec := &s.records[slot]
		if rec.state == nil {
			continue
		}
		b, check = s.entries.append(b, listEntry, &rec.static, rec.state)
		checks = sumCheck(checks, check)
		s.next.place(int32(slot), rec.state)
	}
	j.kind = KindSnapshot
	j.generation = s.generation
	if count := len(s.next.entries); count > 0 {
		b = appendSeal(b, seal{generation: s.generation, count: count}, checks)
		s.next.generation = s.generation
	}
	s.next.bytes = len(b)
	if b == nil {
		b = []byte{} // upstream's form of no files: a value without bytes
	}
	j.known = b
}

// encodeDelta encodes into j what changed since the stored snapshot. It is false
// if a new snapshot is the better choice: the delta is too large a share of it,
// or deltas have carried along as much as a snapshot would have cost.
//
// j.kind stays 0 if the delta is the one that is stored.
func (s *Store) encodeDelta(j *job) bool {
	limit := max(minDeltaLimit, s.base.bytes/2)
	if s.surplus > max(16*minDeltaLimit, s.base.bytes) {
		return false
	}
	removed := append(s.removed[:0], s.base.removed...)
	b := appendProgressHead(j.known[:0], s.base.generation)
	s.entries.begin(false)
	surplus := 0
	for _, slot := range s.changed {
		rec := &s.records[slot]
		if rec.state == nil {
			continue
		}
		before := len(b)
		position := s.base.position(slot)
		switch {
		case position >= 0 && s.base.entries[position].revision == rec.state.StaticRevision:
			b = s.steps.append(b, position, &s.base.entries[position].ladder, rec.state)
			if rec.turn < s.turn {
				surplus += len(b) - before
			}
		default:
			if position >= 0 {
				removed = append(removed, position)
			}
			s.refresh(rec)
			b, _ = s.entries.append(b, progressAdded, &rec.static, rec.state)
			surplus += len(b) - before
		}
		if len(b) > limit {
			s.removed, j.known = removed, b
			return false
		}
	}
	slices.Sort(removed)
	b = appendProgressTail(b, removed)
	s.removed, j.known = removed, b
	if len(b) > limit {
		return false
	}
	if len(b) == s.lastBytes && checksumOf(b) == s.lastCheck {
		return true
	}
	s.surplus += surplus
	j.kind = KindDelta
	return true
}

// refresh makes the kept encoding of a record anew if its State changed.
func (s *Store) refresh(rec *record) {
	if rec.made && rec.revision == rec.state.StaticRevision {
		return
	}
	rec.static.build(rec.state, s.hashed)
	rec.revision = rec.state.StaticRevision
	rec.made = true
}
