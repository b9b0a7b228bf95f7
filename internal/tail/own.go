package tail

import (
	"cmp"
	"slices"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
)

// begin makes a State for b, of which nothing is known, with its first position
// at offset.
func (l *Loop) begin(b *body, s registry.Sighting, offset int64) {
	state := &fileid.State{
		Fingerprint: l.fingerprint(s.Head),
		Compressed:  b.compressed,
		Path:        b.path,
		Locator:     b.info.Locator,
	}
	if b.compressed {
		state.Base = offset
	} else {
		state.Offset = offset
		l.ladderAt(b, state)
	}
	rec := l.Registry.Add(state)
	l.adoptRecord(b, rec)
	if l.Store != nil {
		l.Store.Add(state)
	}
}

// ladderAt gives state the frontier at its position, read from the file.
func (l *Loop) ladderAt(b *body, state *fileid.State) {
	answers, err := frontiersAt(b.handle, []int64{state.Offset})
	state.Ladder = fileid.Ladder{}
	if err == nil && len(answers) == 1 {
		state.Ladder.Advance(answers[0])
	}
}

// fingerprint takes as much of the head of a sighting as the configuration says.
// It keeps the sighting's bytes unless that would waste memory.
func (l *Loop) fingerprint(head []byte) fileid.Fingerprint {
	n := min(len(head), l.FingerprintSize)
	if cap(head) > n+n/8 {
		head = slices.Clone(head[:n])
	}
	return fileid.NewFingerprint(head[:n:n])
}

// own lets b go on with the State of rec.
func (l *Loop) own(b *body, rec *registry.Record, s registry.Sighting) {
	state := rec.State
	if f := state.Fingerprint; f.IsHashed() || f.Len() != min(len(s.Head), l.FingerprintSize) {
		l.Registry.Rehead(rec, l.fingerprint(s.Head))
	}
	// Where a member begins is known of that very file only: another one may have been
	// compressed to other bytes, or go on behind what both have.
	// What contrib's receiver has stored tells no locator; there the base is all there is.
	foreign := state.Locator.IsZero() && state.Ladder.Len() == 0 && !rec.Orphan()
	moved := b.compressed && state.Base > 0 && state.Locator != b.info.Locator && !foreign && (state.Offset > 0 || state.Base != b.info.Size)
	if moved || b.compressed != state.Compressed {
		state.Compressed, state.Base, state.BaseAt = b.compressed, 0, 0
		state.StaticRevision++
	}
	l.Registry.Locate(rec, b.path, b.info.Locator)
	l.adoptRecord(b, rec)
	if state.Ladder.Len() == 0 && state.Offset > 0 && !b.compressed {
		l.ladderAt(b, state) // an older version kept none: the fingerprint had to do
	}
	l.changed(b)
}

// adoptRecord makes b the file that is read for rec.
func (l *Loop) adoptRecord(b *body, rec *registry.Record) {
	b.rec, b.twin = rec, nil
	l.owners[rec] = b
	if l.holds() {
		l.inherit(b, rec)
		l.byID[b.id] = b
	}
	l.Registry.Own(rec)
}

// fromArchive looks for the State of b among the archived ones: of those that b
// continues the one for which most speaks. What is before start is known to be read
// or not wanted, so one that has less is passed over.
func (l *Loop) fromArchive(b *body, s registry.Sighting, start int64) *registry.Record {
	if l.Store == nil {
		return nil
	}
	archived := l.Store.FindArchived(s.Head)
	slices.SortStableFunc(archived, func(x, y *fileid.State) int { return cmp.Compare(registry.Evidence(y), registry.Evidence(x)) })
	for _, state := range archived {
		if state.Offset < start {
			continue // of a file that only begins alike
		}
		var questions []int64
		if newest, ok := state.Ladder.Newest(); ok {
			questions = append(questions, newest.Offset)
		}
		answers, err := frontiersOf(b, questions)
		if err != nil || !registry.Continues(state, s, answers) {
			continue
		}
		l.Store.Revive(state)
		return l.Registry.Add(state)
	}
	return nil
}

// changed tells the checkpoint that the State of b is not what was saved.
func (l *Loop) changed(b *body) {
	if l.Store != nil && b.rec != nil {
		l.Store.Changed(b.rec.State)
	}
}

// startOf is where a file begins of which nothing is known.
func (l *Loop) startOf(b *body, initial bool) int64 {
	if initial && l.StartAtEnd {
		return b.info.Size
	}
	return 0
}
