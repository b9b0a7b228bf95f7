// Package checkpoint keeps the States of log files in a Collector storage.
//
// What is stored, under which keys and in which bytes, is written down in
// docs/checkpoint-format.md. In short: a snapshot of all States that upstream's
// receiver (v0.148 and later) can read, a small delta of what changed since,
// in a storage client of its own, and a ring of slots for States whose files
// are gone. A save writes what changed; nothing changed, nothing is written.
package checkpoint

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// Options say where and how a Store keeps States.
type Options struct {
	// Client is the receiver's storage client (storage name ""). It holds the
	// snapshot and the archive. Required. The Store does not close it.
	Client storage.Client
	// Progress is a client of its own for the delta (storage name "progress"),
	// since many stores rewrite what lies beside a value that is set. Nil: there
	// is no delta, and every save is a snapshot. The Store does not close it.
	Progress storage.Client
	// Prefix stands before every key: the operator id and a dot, "file_input.".
	Prefix string
	// HashFingerprints stores length and digest of a fingerprint in place of its
	// bytes: no beginning of a log file at rest, and about a seventh of the size, but
	// upstream's receiver cannot go on from it.
	HashFingerprints bool
	// ArchiveSlots is the length of the archive ring (polls_to_archive). 0: there
	// is no archive, and what is in the storage of one is left alone.
	ArchiveSlots int
	// Logger gets one error per start if stored values were damaged. Nil: none.
	Logger *zap.Logger
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// Loaded is what Open found.
type Loaded struct {
	// States are known to the Store already: they are changed and removed like
	// added ones, not added again. Those of the archive are not among them.
	States []*fileid.State
	// Resumed tells that at least one State was loaded. When it is false and
	// Damaged is not empty, a memory was lost: files are not new, and have to be
	// read from their beginning.
	Resumed bool
	// Damaged are the values that could not be used, or not wholly.
	Damaged []*DamagedError
}

// Kind says what a save wrote of the known States.
type Kind int

const (
	// KindDelta is a save of what changed since the snapshot.
	KindDelta Kind = iota + 1
	// KindSnapshot is a save of all known States.
	KindSnapshot
	// KindArchive is a save of archive slots only.
	KindArchive
)

// String is the kind's name as metrics show it.
func (k Kind) String() string {
	switch k {
	case KindDelta:
		return "delta"
	case KindSnapshot:
		return "snapshot"
	case KindArchive:
		return "archive"
	default:
		return "none"
	}
}

// SaveResult tells how a save went. It has to be given to Applied.
type SaveResult struct {
	Kind     Kind
	Bytes    int           // of values that the storage took
	Duration time.Duration // in the storage
	// Err is the failure of the save as a whole or in part; nil if everything was
	// saved. What failed is saved again: the caller only counts and reports.
	Err error
}

// Open loads what the storage holds and returns a Store that goes on from it.
// It fails only if the storage cannot be read; damaged values never fail it.
// The Store owns a goroutine until Close.
func Open(ctx context.Context, o Options) (*Store, Loaded, error) {
	if o.Client == nil {
		return nil, Loaded{}, errors.New("open checkpoint: a storage client is needed")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	found, err := load(ctx, source{
		client: o.Client, progress: o.Progress, prefix: o.Prefix, slots: o.ArchiveSlots,
	})
	if err != nil {
		return nil, Loaded{}, err
	}
	quarantine(ctx, o, found.damage)
	if found.archive.damagedIndex {
		// So that it is not reported again; if this fails, it is.
		if last := found.archive.last; last >= 0 {
			_ = o.Client.Set(ctx, o.Prefix+keyArchiveIndex, indexValue(last))
		} else {
			_ = o.Client.Delete(ctx, o.Prefix+keyArchiveIndex)
		}
	}
	s := newStore(o, found)
	return s, Loaded{
		States:  found.states,
		Resumed: len(found.states) > 0,
		Damaged: damagedErrors(found.damage),
	}, nil
}
