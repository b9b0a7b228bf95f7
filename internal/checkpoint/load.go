package checkpoint

import (
	"context"
	"fmt"
	"slices"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// source says where to load from.
type source struct {
	client   storage.Client
	progress storage.Client // nil: there is no delta
	prefix   string
	slots    int // of the archive
	// allSlots reads as many slots more as the stored index tells of, in place of
	// taking those beyond the ring for the rest of a longer one.
	allSlots bool
}

// found is what load finds in a storage.
type found struct {
	states     []*fileid.State
	generation uint64 // of the snapshot; 0 if it is not ours or not whole
	newest     uint64 // the highest generation that was seen
	ours       bool   // the snapshot is ours, whole or not
	upstream   bool   // the snapshot is in upstream's protobuf, without our evidence
	json       bool   // the snapshot is JSON
	parts      int    // in which the snapshot lies, 0: in one value
	side       int
	hasDelta   bool            // a delta is stored, whether it could be used or not
	fromDelta  []*fileid.State // that the delta changed or added

	archive archived
	damage  []damage
}

// load reads everything. It fails only if the storage does.
func load(ctx context.Context, src source) (found, error) {
	f := found{}
	var d entryDecoder
	if err := f.loadSnapshot(ctx, src, &d); err != nil {
		return found{}, fmt.Errorf("read known files from database: %w", err)
	}
	if err := f.loadArchive(ctx, src, &d); err != nil {
		return found{}, fmt.Errorf("read archived files from database: %w", err)
	}
	return f, nil
}

// loadSnapshot reads the snapshot and what the delta changed in it.
func (f *found) loadSnapshot(ctx context.Context, src source, d *entryDecoder) error {
	key := src.prefix + keyKnownFiles
	value, err := src.client.Get(ctx, key)
	if err != nil {
		return err
	}
	l := decodeList(value, d)
	f.states = l.states
	f.json = l.json
	f.ours = l.ours
	f.upstream = !l.ours && !l.json && len(l.states) > 0
	whole := l.sealed
	f.noteDamage(src.client, key, value, &l)
	if l.sealed && l.seal.parts > 1 {
		f.parts, f.side = l.seal.parts, l.seal.side
		if whole, err = f.loadParts(ctx, src, l.seal, d); err != nil {
			return err
		}
	}
	if whole {
		f.generation = l.seal.generation
	}
	f.newest = l.seal.generation
	if src.progress == nil {
		return nil
	}
	return f.loadDelta(ctx, src, value, l.err != nil && !l.unharmed || l.sealed && !whole, d)
}

// loadParts reads the further parts of a snapshot and tells whether all are whole.
func (f *found) loadParts(ctx context.Context, src source, head seal, d *entryDecoder) (whole bool, err error) {
	whole = true
	for part := 1; part < head.parts; part++ {
		key := src.prefix + partKey(head.side, part)
		value, err := src.client.Get(ctx, key)
		if err != nil {
			return false, err
		}
		l := decodeList(value, d)
		switch {
		case len(value) == 0:
			l.complain(0, ErrMissing, 0)
		case l.sealed && (l.seal.generation != head.generation || l.seal.part != part):
			// Of another snapshot: its states are older or newer than the others.
			l.states = nil
			l.complain(0, ErrOutdated, l.seal.count)
			l.sealed = false
		}
		whole = whole && l.sealed
		f.states = append(f.states, l.states...)
		f.noteDamage(src.client, key, value, &l)
	}
	return whole, nil
}

// loadDelta reads the delta and applies it if it belongs to the snapshot.
func (f *found) loadDelta(ctx context.Context, src source, snapshot []byte, snapshotDamaged bool, d *entryDecoder) error {
	key := src.prefix + keyProgress
	value, err := src.progress.Get(ctx, key)
	if err != nil || len(value) == 0 {
		return err
	}
	f.hasDelta = true
	p, err := decodeDelta(value, d)
	f.newest = max(f.newest, p.generation)
	if err == nil && f.generation != 0 && p.generation == f.generation {
		if f.states, f.fromDelta, err = p.apply(f.states); err == nil {
			return nil
		}
	}
	switch {
	case err != nil:
		f.damage = append(f.damage, damage{
			DamagedError: &DamagedError{Key: key, Err: err}, value: value, client: src.progress,
		})
	case f.generation > p.generation:
		// The usual trace of a crash between a snapshot and the end of its old delta.
	case f.generation != 0:
		f.damage = append(f.damage, damage{
			DamagedError: &DamagedError{Key: src.prefix + keyKnownFiles, Err: ErrOutdated, Salvaged: len(f.states)},
		})
	case snapshotDamaged || len(snapshot) == 0:
		// Positions in a snapshot that is not whole mean nothing, but whole states do.
		f.states = addNewer(f.states, p.added)
		f.fromDelta = p.added
		if len(snapshot) == 0 {
			f.damage = append(f.damage, damage{
				DamagedError: &DamagedError{
					Key: src.prefix + keyKnownFiles, Err: ErrMissing, Salvaged: len(p.added), Lost: len(p.steps),
				},
			})
		}
	default:
		// Upstream's receiver wrote the snapshot after us: the delta is of the past.
	}
	return nil
}

// addNewer adds states that are newer than all of the old ones, in place of those
// that are of the same files.
func addNewer(old, newer []*fileid.State) []*fileid.State {
	kept := slices.DeleteFunc(old, func(o *fileid.State) bool {
		return slices.ContainsFunc(newer, func(n *fileid.State) bool {
			if !o.Locator.IsZero() && !n.Locator.IsZero() {
				return o.Locator == n.Locator
			}
			return o.Fingerprint.Equal(n.Fingerprint)
		})
	})
	return append(kept, newer...)
}

// noteDamage keeps the damage of a decoded value.
func (f *found) noteDamage(client storage.Client, key string, value []byte, l *list) {
	if l.err == nil {
		return
	}
	f.damage = append(f.damage, damage{
		DamagedError: &DamagedError{Key: key, Offset: l.offset, Err: l.err, Salvaged: len(l.states), Lost: l.lost},
		value:        value,
		client:       client,
	})
}
