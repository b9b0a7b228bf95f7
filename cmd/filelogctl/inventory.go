package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
)

// progressSuffix is what file_storage adds to a file's name for the client that
// holds the deltas.
const progressSuffix = "_progress"

// inventory is what a file of file_storage holds of file log receivers, together
// with the file of the deltas beside it.
type inventory struct {
	client    *database
	progress  *database // without values if there is no such file
	operators []*stored
}

// stored is what is stored under the keys of one operator id.
type stored struct {
	id     string
	prefix string
	slots  int // of the archive, stored
	checkpoint.Inspection
	quarantined []string
}

// look reads everything.
func look(ctx context.Context, l *call) (*inventory, error) {
	// The delta first: a snapshot that is newer than it makes it useless, while a
	// delta on a snapshot that was not read yet would look like damage.
	progress, err := readDatabase(l.store + progressSuffix)
	if errors.Is(err, os.ErrNotExist) {
		progress, err = &database{}, nil
	}
	if err != nil {
		return nil, err
	}
	client, err := readDatabase(l.store)
	if err != nil {
		return nil, err
	}
	return take(ctx, client, progress, l.id)
}

// take makes the inventory of two files, only of the operator id if one is given.
func take(ctx context.Context, client, progress *database, only string) (*inventory, error) {
	v := &inventory{client: client, progress: progress}
	for prefix, slots := range checkpoint.Prefixes(client.keys(), progress.keys()) {
		o := &stored{id: strings.TrimSuffix(prefix, "."), prefix: prefix, slots: slots}
		if only != "" && o.id != only {
			continue
		}
		var err error
		if o.Inspection, err = checkpoint.Inspect(ctx, client, progress, prefix, slots); err != nil {
			return nil, err
		}
		for _, d := range []*database{client, progress} {
			for _, key := range d.keys() {
				if strings.HasPrefix(key, prefix) && strings.HasSuffix(key, checkpoint.QuarantineSuffix) {
					o.quarantined = append(o.quarantined, key)
				}
			}
		}
		v.operators = append(v.operators, o)
	}
	slices.SortFunc(v.operators, func(a, b *stored) int { return cmp.Compare(a.id, b.id) })
	return v, nil
}

// operator returns what is stored for an id, nil if nothing is.
func (v *inventory) operator(id string) *stored {
	for _, o := range v.operators {
		if o.id == id {
			return o
		}
	}
	return nil
}

// copied tells whether what was read is a copy of files in use.
func (v *inventory) copied() bool { return v.client.copied || v.progress.copied }

// damaged tells whether anything stored is not whole.
func (v *inventory) damaged() bool {
	return len(v.client.faults)+len(v.progress.faults) > 0 ||
		slices.ContainsFunc(v.operators, func(o *stored) bool { return len(o.Damaged) > 0 })
}
