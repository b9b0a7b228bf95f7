package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
)

// outcome is what a writing command tells.
type outcome struct {
	Changed []change `json:"changed"`
	Backups []string `json:"backups"`
}

// change is what became of one file, or with no ID of one operator id.
type change struct {
	Operator string `json:"operator"`
	ID       string `json:"file_id,omitempty"`
	Path     string `json:"path,omitempty"`
	What     string `json:"what"`
	From     *int64 `json:"from,omitempty"`
	To       *int64 `json:"to,omitempty"`
}

// alter changes what is stored: edit changes the inventory, keeps the operators
// that it changed in the map and tells what it did. Nothing is written before edit
// has succeeded and backups are kept; then every operator in the map is written
// anew, as checkpoint.Rewrite does, the store of the snapshot before the one of the delta.
func alter(ctx context.Context, l *call, edit func(*inventory, map[*stored]struct{}) ([]change, error)) (outcome, error) {
	client, err := writeDatabase(l.store)
	if err != nil {
		return outcome{}, err
	}
	defer client.Close(ctx)
	progress, err := writeDatabase(l.store + progressSuffix)
	if errors.Is(err, os.ErrNotExist) {
		progress, err = &database{}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	defer progress.Close(ctx)
	v, err := take(ctx, client, progress, l.id)
	if err != nil {
		return outcome{}, err
	}
	touched := map[*stored]struct{}{}
	o := outcome{Backups: []string{}}
	if o.Changed, err = edit(v, touched); err != nil || len(touched) == 0 {
		return o, err
	}
	for operator := range touched {
		if err := checkpoint.Rewrite(ctx, client, progress, operator.prefix, operator.slots, operator.Contents); err != nil {
			return outcome{}, err
		}
	}
	now := time.Now()
	for _, d := range []*database{client, progress} {
		if d.db == nil {
			continue
		}
		kept, err := d.backup(now)
		if err != nil {
			return outcome{}, err
		}
		o.Backups = append(o.Backups, kept)
	}
	for _, d := range []*database{client, progress} {
		if err := d.commit(); err != nil {
			return outcome{}, fmt.Errorf("%w; the backups are %q", err, o.Backups)
		}
	}
	return o, nil
}

// tell prints what was done.
func (l *call) tell(o outcome) error {
	if l.asJSON {
		encoder := json.NewEncoder(l.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(o)
	}
	for _, c := range o.Changed {
		text := c.Operator
		if c.ID != "" {
			text += " " + c.ID
		}
		if c.Path != "" {
			text += " " + c.Path
		}
		text += ": " + c.What
		if c.From != nil && c.To != nil {
			text += fmt.Sprintf(" %d -> %d", *c.From, *c.To)
		}
		if _, err := fmt.Fprintln(l.out, text); err != nil {
			return err
		}
	}
	for _, b := range o.Backups {
		if _, err := fmt.Fprintf(l.out, "backup: %s\n", b); err != nil {
			return err
		}
	}
	return nil
}
