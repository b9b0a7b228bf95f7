package checkpoint

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// Inspection is what a storage holds, for people and tools that look into it.
type Inspection struct {
	// Format is the form of the snapshot: "snapshot" for ours, "upstream protobuf",
	// "upstream json", or "none".
	Format string
	// Generation is the snapshot's, 0 if it is not ours or not whole.
	Generation uint64
	// Parts is in how many values the snapshot lies.
	Parts int
	// HasDelta tells that a delta is stored, FromDelta how many files are as it
	// has them: 0 if it could not be used.
	HasDelta  bool
	FromDelta int
	// Known are the states that a receiver would start with.
	Known []*fileid.State
	// Archive are the slots of the archive, Next is the one to be written next.
	Archive [][]*fileid.State
	Next    int
	// Damaged are the values that could not be used, or not wholly.
	Damaged []*DamagedError
}

// Inspect reads what a receiver with the operator id prefix would read, and
// writes nothing. progress may be nil; slots is how many archive slots are read.
func Inspect(ctx context.Context, client, progress storage.Client, prefix string, slots int) (Inspection, error) {
	if client == nil {
		return Inspection{}, errors.New("inspect checkpoint: a storage client is needed")
	}
	f, err := load(ctx, source{client: client, progress: progress, prefix: prefix, slots: slots})
	if err != nil {
		return Inspection{}, err
	}
	i := Inspection{
		Format: "none", Generation: f.generation, Parts: max(f.parts, 1), HasDelta: f.hasDelta, FromDelta: f.fromDelta,
		Known: f.states, Archive: f.archive.slots, Next: f.archive.next, Damaged: damagedErrors(f.damage),
	}
	switch {
	case f.json:
		i.Format = "upstream json"
	case f.upstream:
		i.Format = "upstream protobuf"
	case f.ours:
		i.Format = "snapshot"
	}
	return i, nil
}

// QuarantineSuffix ends the keys under which damaged bytes are kept.
const QuarantineSuffix = quarantineSuffix
