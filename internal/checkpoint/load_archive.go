package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// archived is what load finds of the archive. Its memory follows what is stored,
// not the length of the ring.
type archived struct {
	size    int                     // slots of the ring; 0: there is none
	slots   map[int][]*fileid.State // those that hold something
	next    int                     // the slot to be written next
	last    int                     // the slot that was written last, -1 if none was
	surplus []int                   // stored slots beyond the ring, whose states have to move, oldest first
	moved   []*fileid.State
	rewrite []int // slots that were damaged

	damagedIndex bool // the stored number of the slot written last is of no use
}

// maxSurplus bounds how many slots beyond the ring are looked for.
const maxSurplus = 1 << 12

// loadArchive reads the slots of the ring, and when the ring was longer before,
// those beyond it as far as the stored index tells.
func (f *found) loadArchive(ctx context.Context, src source, d *entryDecoder) error {
	a := &f.archive
	a.last = -1
	if src.slots <= 0 && !src.allSlots {
		return nil
	}
	last, err := f.loadArchiveIndex(ctx, src)
	if err != nil {
		return err
	}
	a.last = last
	if src.allSlots {
		src.slots = max(src.slots, min(last+1, src.slots+maxSurplus))
	}
	if src.slots == 0 {
		return nil
	}
	a.size, a.slots = src.slots, make(map[int][]*fileid.State)
	if last < src.slots {
		a.next = (last + 1) % src.slots
	} else if err = f.loadSurplus(ctx, src, d); err != nil {
		return err
	}
	if last < 0 && !a.damagedIndex && !src.allSlots {
		// Nobody has written a slot, except early versions of upstream, which kept no
		// index. They began with the first slot, too.
		first, err := src.client.Get(ctx, src.prefix+slotKey(0))
		if err != nil || len(first) == 0 {
			return err
		}
	}
	if err = f.loadSlots(ctx, src, 0, src.slots, d, f.keepSlot); err != nil || !a.damagedIndex {
		return err
	}
	for slot := range a.slots {
		a.last = max(a.last, slot)
	}
	a.next = (a.last + 1) % src.slots
	return nil
}

// loadSurplus reads the slots between the ring and the one that was written last.
func (f *found) loadSurplus(ctx context.Context, src source, d *entryDecoder) error {
	last := f.archive.last
	return f.loadSlots(ctx, src, max(src.slots, last-maxSurplus), last+1, d, func(slot int, l *list) {
		f.archive.moved = append(f.archive.moved, l.states...)
		f.archive.surplus = append(f.archive.surplus, slot)
	})
}

// keepSlot keeps what a slot of the ring holds.
func (f *found) keepSlot(slot int, l *list) {
	if len(l.states) > 0 {
		f.archive.slots[slot] = l.states
	}
	if l.err != nil {
		f.archive.rewrite = append(f.archive.rewrite, slot)
	}
}

// loadArchiveIndex returns the slot that was written last, -1 if none was.
func (f *found) loadArchiveIndex(ctx context.Context, src source) (int, error) {
	key := src.prefix + keyArchiveIndex
	value, err := src.client.Get(ctx, key)
	if err != nil || len(value) == 0 {
		return -1, err
	}
	var index int
	err = json.Unmarshal(value, &index)
	if err == nil && (index < 0 || index > 1<<30) {
		err = errors.New("out of range")
	}
	if err != nil {
		f.damage = append(f.damage, damage{
			DamagedError: &DamagedError{Key: key, Err: fmt.Errorf("%w archive index: %w", ErrMalformed, err)},
			value:        value,
			client:       src.client,
		})
		f.archive.damagedIndex = true
		return -1, nil
	}
	return index, nil
}

const (
	// minFetch and maxFetch are how many slots are asked for at once: the more of
	// them are empty, the more.
	minFetch = 16
	maxFetch = 1 << 10
	// fetchBytes is how much they should hold together.
	fetchBytes = 1 << 20
)

// loadSlots reads the slots from first on, before end, and calls use with each of them.
func (f *found) loadSlots(ctx context.Context, src source, first, end int, d *entryDecoder, use func(slot int, l *list)) error {
	operations := make([]*storage.Operation, 0, minFetch)
	for fetch := minFetch; first < end; first += len(operations) {
		operations = operations[:0]
		for slot := first; slot < min(first+fetch, end); slot++ {
			operations = append(operations, storage.GetOperation(src.prefix+slotKey(slot)))
		}
		if err := src.client.Batch(ctx, operations...); err != nil {
			return err
		}
		size := 0
		for i, o := range operations {
			size += len(o.Value)
			l := decodeList(o.Value, d)
			f.noteDamage(src.client, o.Key, o.Value, &l)
			use(first+i, &l)
		}
		if size < fetchBytes {
			fetch = min(2*fetch, maxFetch)
		} else {
			fetch = max(fetch/2, minFetch)
		}
	}
	return nil
}
