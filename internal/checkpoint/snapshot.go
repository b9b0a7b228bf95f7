package checkpoint

import (
	"fmt"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// appendList appends a sealed list of states: a snapshot of that generation, or
// an archive slot, whose generation is 0. No states make an empty value, as
// upstream writes it.
func appendList(b []byte, states []*fileid.State, generation uint64, hashFingerprints bool) []byte {
	if len(states) == 0 {
		return b
	}
	var (
		w      entryWriter
		static encodedStatic
		checks uint32
	)
	w.begin(hashFingerprints)
	for _, s := range states {
		static.build(s, hashFingerprints)
		var check uint32
		b, check = w.append(b, listEntry, &static, s)
		checks = sumCheck(checks, check)
	}
	return appendSeal(b, seal{generation: generation, count: len(states)}, checks)
}

// sealRoom is more than a seal takes.
const sealRoom = 64

// splitSnapshot cuts an encoded snapshot into parts of at most limit bytes, one
// entry at least in each, for a store that refuses larger values. The parts are
// lists of their own; part 0 belongs under the snapshot's key.
func splitSnapshot(value []byte, generation uint64, side, limit int) ([][]byte, error) {
	type piece struct {
		start, end, count int
		checks            uint32
	}
	var pieces []piece
	var p piece
	for at := 0; at < len(value); {
		f, ok := nextField(value, at)
		if !ok {
			return nil, fmt.Errorf("split snapshot at byte %d: %w", at, ErrMalformed)
		}
		if !f.isEntryTag() {
			break
		}
		if p.count > 0 && f.end-p.start > limit-sealRoom {
			pieces = append(pieces, p)
			p = piece{start: at}
		}
		check, _ := checkOf(f.bytes)
		p.checks = sumCheck(p.checks, check)
		p.end = f.end
		p.count++
		at = f.end
	}
	if p.count > 0 {
		pieces = append(pieces, p)
	}
	if len(pieces) > maxParts {
		return nil, fmt.Errorf("snapshot needs %d values of %d bytes, more than %d", len(pieces), limit, maxParts)
	}
	parts := make([][]byte, len(pieces))
	for i, p := range pieces {
		part := make([]byte, 0, p.end-p.start+sealRoom)
		part = append(part, value[p.start:p.end]...)
		parts[i] = appendSeal(part, seal{
			generation: generation, count: p.count, part: i, parts: len(pieces), side: side,
		}, p.checks)
	}
	return parts, nil
}
