package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// vault is the storage as saves see it. It is used by one goroutine at a time:
// the saver, and after its end whoever closes the Store.
type vault struct {
	client   storage.Client
	progress storage.Client
	prefix   string

	// How the stored snapshot lies there.
	parts int // 0: in one value
	side  int
	// hasDelta tells that a delta may be stored.
	hasDelta bool

	// limit is what the store turned out to take in one value, 0: no limit is
	// known. trial is the next size to try after a refusal.
	limit int
	trial int
}

const (
	// maxTrial and minTrial are the sizes between which a limit is looked for.
	maxTrial = 512 << 10
	minTrial = 16 << 10
)

// saveSnapshot writes a snapshot. If the store refuses it as a whole, it is tried
// in smaller parts; a store that refuses those too is not refusing for size. It
// returns how many bytes were taken.
func (v *vault) saveSnapshot(ctx context.Context, value []byte, generation uint64) (int, error) {
	var whole error
	if v.limit == 0 || len(value) <= v.limit {
		if whole = v.client.Set(ctx, v.prefix+keyKnownFiles, value); whole == nil {
			v.dropParts(ctx, v.side, v.parts)
			v.parts, v.side = 0, sideNone
			return len(value), nil
		}
		if len(value) <= minTrial || ctx.Err() != nil || errors.Is(whole, storage.ErrStorageFull) {
			return 0, fmt.Errorf("save known files: %w", whole)
		}
	}
	limit := v.limit
	if limit == 0 || limit >= len(value) {
		if v.trial < minTrial || v.trial > maxTrial {
			v.trial = maxTrial
		}
		for v.trial >= len(value) {
			v.trial /= 2
		}
		limit = v.trial
	}
	n, err := v.saveParts(ctx, value, generation, limit)
	if err != nil {
		v.limit, v.trial = 0, limit/2
		return n, fmt.Errorf("save known files: %w", errors.Join(whole, err))
	}
	v.limit = limit
	return n, nil
}

// saveParts writes a snapshot in parts of at most limit bytes: the further parts
// at the side that the stored snapshot does not use, then the one that refers to
// them, then it takes away the old ones.
func (v *vault) saveParts(ctx context.Context, value []byte, generation uint64, limit int) (int, error) {
	side := sideA
	if v.side == sideA {
		side = sideB
	}
	parts, err := splitSnapshot(value, generation, side, limit)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := len(parts) - 1; i >= 0; i-- {
		key := keyKnownFiles
		if i > 0 {
			key = partKey(side, i)
		}
		if err := v.client.Set(ctx, v.prefix+key, parts[i]); err != nil {
			return n, fmt.Errorf("in %d parts of at most %d bytes: %w", len(parts), limit, err)
		}
		n += len(parts[i])
	}
	v.dropParts(ctx, v.side, v.parts)
	v.parts, v.side = len(parts), side
	return n, nil
}

// dropParts deletes the further parts of a former snapshot. What cannot be
// deleted does no harm: nothing refers to it.
func (v *vault) dropParts(ctx context.Context, side, parts int) {
	for part := 1; part < parts; part++ {
		if err := v.client.Delete(ctx, v.prefix+partKey(side, part)); err != nil {
			return
		}
	}
}

// saveDelta writes the delta.
func (v *vault) saveDelta(ctx context.Context, value []byte) error {
	v.hasDelta = true
	if err := v.progress.Set(ctx, v.prefix+keyProgress, value); err != nil {
		return fmt.Errorf("save progress: %w", err)
	}
	return nil
}

// dropDelta deletes a delta that a snapshot has made useless. If that fails, its
// generation keeps it from being used.
func (v *vault) dropDelta(ctx context.Context) error {
	if !v.hasDelta || v.progress == nil {
		return nil
	}
	if err := v.progress.Delete(ctx, v.prefix+keyProgress); err != nil {
		return fmt.Errorf("delete old progress: %w", err)
	}
	v.hasDelta = false
	return nil
}

// saveSlot writes or deletes one slot of the archive, then the index if it moves.
func (v *vault) saveSlot(ctx context.Context, w *slotWrite) error {
	key := slotKey(w.slot)
	var err error
	if len(w.value) == 0 {
		err = v.client.Delete(ctx, v.prefix+key)
	} else {
		err = v.client.Set(ctx, v.prefix+key, w.value)
	}
	if err == nil && w.advance {
		key = keyArchiveIndex
		err = v.client.Set(ctx, v.prefix+key, indexValue(w.slot))
	}
	if err != nil {
		return fmt.Errorf("save archive %q: %w", key, err)
	}
	w.done = true
	return nil
}
