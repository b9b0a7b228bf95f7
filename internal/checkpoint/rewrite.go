package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// Rewrite replaces everything that is stored under the operator id prefix by c, in
// the format of today: a snapshot of a new generation, the slots of the archive,
// and no delta. It is for tools; no Store may be open on the storage.
//
// progress may be nil. slots is how many archive slots are stored, as Prefixes
// tells: those beyond c.Archive are deleted. Fingerprints are stored as they are in
// the states, by their bytes or as hashes. Damaged values are kept under their
// quarantine keys first. When a write fails, what was stored before it is whole and
// a receiver can start with it.
func Rewrite(ctx context.Context, client, progress storage.Client, prefix string, slots int, c Contents) error {
	if client == nil {
		return errors.New("rewrite checkpoint: a storage client is needed")
	}
	if c.Last < -1 || c.Last >= len(c.Archive) {
		return fmt.Errorf("rewrite checkpoint: archive slot %d was written last, but there are %d", c.Last, len(c.Archive))
	}
	old, err := load(ctx, source{client: client, progress: progress, prefix: prefix, slots: slots, allSlots: true})
	if err != nil {
		return err
	}
	quarantine(ctx, Options{Logger: zap.NewNop()}, old.damage)
	v := vault{
		client: client, progress: progress, prefix: prefix,
		parts: old.parts, side: old.side, hasDelta: old.hasDelta,
	}
	generation := max(old.newest+1, uint64(max(0, time.Now().UnixNano())))
	value := appendList([]byte{}, c.Known, generation, false)
	if _, err := v.saveSnapshot(ctx, value, generation); err != nil {
		return err
	}
	if err := v.dropDelta(ctx); err != nil {
		return err
	}
	for slot := range max(len(c.Archive), old.archive.size) {
		w := slotWrite{slot: slot}
		if slot < len(c.Archive) {
			w.value = appendList(nil, c.Archive[slot], 0, false)
		}
		if err := v.saveSlot(ctx, &w); err != nil {
			return err
		}
	}
	last := c.Last
	if last < 0 {
		// Without an index a receiver takes the archive for empty.
		for slot, states := range c.Archive {
			if len(states) > 0 {
				last = slot
			}
		}
	}
	if last < 0 {
		err = client.Delete(ctx, prefix+keyArchiveIndex)
	} else {
		err = client.Set(ctx, prefix+keyArchiveIndex, indexValue(last))
	}
	if err != nil {
		return fmt.Errorf("save archive %q: %w", keyArchiveIndex, err)
	}
	return nil
}
