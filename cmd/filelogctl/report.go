package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// report is the JSON form of an inventory. docs/filelogctl.md describes it.
type report struct {
	Path      string     `json:"path"`
	Copied    bool       `json:"read_from_a_copy,omitempty"`
	Faults    []string   `json:"file_damaged,omitempty"`
	Operators []operator `json:"operators"`
}

// operator is what is stored under the keys of one operator id.
type operator struct {
	ID          string   `json:"id"`
	Format      string   `json:"format"`
	Generation  uint64   `json:"generation,omitempty,string"`
	Parts       int      `json:"parts"`
	HasDelta    bool     `json:"has_progress"`
	FromDelta   int      `json:"files_from_progress"`
	Files       []file   `json:"files"`
	Archive     []slot   `json:"archive,omitempty"`
	Last        int      `json:"last_archive_slot"` // -1: none
	Damaged     []damage `json:"damaged,omitempty"`
	Quarantined []string `json:"quarantined,omitempty"`
}

type slot struct {
	Slot  int    `json:"slot"`
	Files []file `json:"files"`
}

type damage struct {
	Key      string `json:"key"`
	Offset   int    `json:"offset"`
	Cause    string `json:"cause"`
	Salvaged int    `json:"files_salvaged"`
}

type file struct {
	ID           string          `json:"id"`
	From         string          `json:"from"`
	Path         string          `json:"path,omitempty"`
	Offset       int64           `json:"offset"`
	RecordNumber int64           `json:"record_number"`
	Status       string          `json:"status"`
	Size         *int64          `json:"size,omitempty"` // now, on disk
	Lag          *int64          `json:"lag,omitempty"`  // bytes behind offset, if the file is there
	SeenSize     int64           `json:"seen_size,omitempty"`
	SeenModified *time.Time      `json:"seen_modified,omitempty"`
	Fingerprint  fingerprint     `json:"fingerprint"`
	Device       uint64          `json:"device,omitempty,string"`
	Inode        uint64          `json:"inode,omitempty,string"`
	Frontiers    []frontier      `json:"frontiers,omitempty"`
	Compressed   bool            `json:"compressed,omitempty"`
	Base         int64           `json:"base,omitempty"`
	BaseAt       int64           `json:"base_at,omitempty"`
	Attributes   json.RawMessage `json:"attributes,omitempty"`
	HeaderDone   bool            `json:"header_done,omitempty"`
	Skipping     bool            `json:"skipping,omitempty"`
	Partial      int64           `json:"partial_length,omitempty"`
}

type fingerprint struct {
	Length int    `json:"length"`
	Digest string `json:"digest,omitempty"`
	Hashed bool   `json:"only_hashed,omitempty"`
}

type frontier struct {
	Offset int64  `json:"offset"`
	Sum    string `json:"sum"`
}

func newReport(v *inventory) report {
	r := report{Path: v.client.path, Copied: v.copied(), Operators: []operator{}}
	for _, d := range []*database{v.client, v.progress} {
		for _, fault := range d.faults {
			r.Faults = append(r.Faults, d.path+": "+fault.Error())
		}
	}
	for _, o := range v.operators {
		r.Operators = append(r.Operators, newOperator(o))
	}
	return r
}

func newOperator(s *stored) operator {
	o := operator{
		ID: s.id, Format: s.Format, Generation: s.Generation, Parts: s.Parts,
		HasDelta: s.HasDelta, FromDelta: len(s.FromDelta), Files: []file{}, Last: s.Last, Quarantined: s.quarantined,
	}
	for _, p := range s.places() {
		f := newFile(p)
		switch n := len(o.Archive); {
		case p.slot < 0:
			o.Files = append(o.Files, f)
		case n > 0 && o.Archive[n-1].Slot == p.slot:
			o.Archive[n-1].Files = append(o.Archive[n-1].Files, f)
		default:
			o.Archive = append(o.Archive, slot{Slot: p.slot, Files: []file{f}})
		}
	}
	for _, d := range s.Damaged {
		o.Damaged = append(o.Damaged, damage{Key: d.Key, Offset: d.Offset, Cause: d.Err.Error(), Salvaged: d.Salvaged})
	}
	return o
}

func newFile(p place) file {
	s := p.state
	f := file{
		ID: p.id(), From: p.origin(),
		Path: p.path(), Offset: s.Offset, RecordNumber: s.RecordNumber, SeenSize: s.Size,
		Fingerprint: fingerprint{Length: s.Fingerprint.Len(), Hashed: s.Fingerprint.IsHashed()},
		Device:      s.Locator.Device, Inode: s.Locator.Inode,
		Compressed: s.Compressed, Base: s.Base, BaseAt: s.BaseAt, Attributes: attributesText(s),
		HeaderDone: s.HeaderDone, Skipping: s.Skipping, Partial: s.PartialLength,
	}
	if f.Fingerprint.Length > 0 {
		digest := s.Fingerprint.Digest()
		f.Fingerprint.Digest = hex.EncodeToString(digest[:])
	}
	f.SeenModified = timeOf(s.ModTime)
	for n := range s.Ladder.Len() {
		rung := s.Ladder.At(n)
		f.Frontiers = append(f.Frontiers, frontier{Offset: rung.Offset, Sum: sumText(rung)})
	}
	seen := lookAt(f.Path, s)
	f.Status = seen.status
	switch seen.status {
	case logThere:
		lag := seen.size - s.Offset
		f.Size, f.Lag = &seen.size, &lag
	case logChanged, logCompressed:
		f.Size = &seen.size
	}
	return f
}

// attributesText is the JSON of a State's attributes, nil if it has none.
func attributesText(s *fileid.State) json.RawMessage {
	if len(s.Attributes) == 0 {
		return nil
	}
	return checkpoint.AttributesText(s.Attributes)
}

func sumText(f fileid.Frontier) string { return fmt.Sprintf("%016x", f.Sum) }

// timeOf is a time of Unix nanoseconds, nil for 0, which says that none is known.
func timeOf(nanoseconds int64) *time.Time {
	if nanoseconds == 0 {
		return nil
	}
	at := time.Unix(0, nanoseconds).UTC()
	return &at
}

func (l *call) printJSON(value any) error {
	encoder := json.NewEncoder(l.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// list is the command list.
func list(ctx context.Context, l *call) (int, error) {
	v, err := look(ctx, l)
	if err != nil {
		return exitFailed, err
	}
	r := newReport(v)
	if l.asJSON {
		return exitWhole, l.printJSON(r)
	}
	return exitWhole, r.printTable(l.out, l.archive)
}

// show is the command show.
func show(ctx context.Context, l *call) (int, error) {
	v, err := look(ctx, l)
	if err != nil {
		return exitFailed, err
	}
	type shown struct {
		Operator string `json:"operator"`
		file
	}
	all := make([]shown, len(l.rest))
	for i, name := range l.rest {
		p, err := v.choose(name)
		if err != nil {
			return exitFailed, err
		}
		all[i] = shown{p.operator.id, newFile(p)}
	}
	if l.asJSON {
		return exitWhole, l.printJSON(all)
	}
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(l.out)
		}
		if err := s.file.print(l.out, s.Operator); err != nil {
			return exitFailed, err
		}
	}
	return exitWhole, nil
}

// verify is the command verify.
func verify(ctx context.Context, l *call) (int, error) {
	v, err := look(ctx, l)
	if err != nil {
		return exitFailed, err
	}
	r := newReport(v)
	if l.asJSON {
		err = l.printJSON(r)
	} else {
		err = r.printVerdict(l.out)
	}
	if v.damaged() {
		return exitDamaged, err
	}
	return exitWhole, err
}
