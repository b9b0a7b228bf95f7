package checkpoint

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// job is one save: encoded by the loop, written by the saver, and given back. It
// belongs to one of them at a time, and its buffers are used again and again.
type job struct {
	kind       Kind
	known      []byte // the delta or the snapshot; not used by KindArchive
	generation uint64 // of the snapshot
	turn       int    // the number of the save
	archive    []slotWrite

	// What became of it.
	knownErr error
	full     bool // the storage has no room
	result   SaveResult
}

// saver writes jobs on a goroutine of its own, so that a slow storage delays
// nobody.
type saver struct {
	vault   vault
	jobs    chan *job // one at a time
	results chan SaveResult
	done    chan struct{} // closed when the goroutine has ended
	ctx     context.Context
	cancel  context.CancelFunc
	now     func() time.Time
}

func newSaver(v vault, now func() time.Time) *saver {
	ctx, cancel := context.WithCancel(context.Background())
	w := &saver{
		vault: v, now: now, ctx: ctx, cancel: cancel,
		jobs:    make(chan *job, 1),
		results: make(chan SaveResult, 1),
		done:    make(chan struct{}),
	}
	go w.run()
	return w
}

func (w *saver) run() {
	defer close(w.done)
	for j := range w.jobs {
		w.perform(w.ctx, j)
		w.results <- j.result
	}
}

// perform writes a job, the known States first: an archived State leaves them
// only in a later save, when its slot is known to be stored.
func (w *saver) perform(ctx context.Context, j *job) {
	start := w.now()
	j.result = SaveResult{Kind: j.kind}
	j.knownErr = nil
	switch j.kind {
	case KindSnapshot:
		j.result.Bytes, j.knownErr = w.vault.saveSnapshot(ctx, j.known, j.generation)
		if j.knownErr == nil {
			// The old delta is of no use, and harmless if it stays.
			_ = w.vault.dropDelta(ctx)
			if len(j.known) >= largeSnapshot && w.vault.progress != nil { // else the next save is a snapshot, too
				j.known = nil
				giveBack()
			}
		}
	case KindDelta:
		if j.knownErr = w.vault.saveDelta(ctx, j.known); j.knownErr == nil {
			j.result.Bytes = len(j.known)
		}
	}
	failures := j.knownErr
	for i := range j.archive {
		if err := w.vault.saveSlot(ctx, &j.archive[i]); err != nil {
			failures = errors.Join(failures, err)
			continue
		}
		j.result.Bytes += len(j.archive[i].value)
	}
	j.full = errors.Is(failures, storage.ErrStorageFull)
	j.result.Err = failures
	j.result.Duration = w.now().Sub(start)
}
