package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// report is what a file of file_storage holds of file log receivers.
type report struct {
	Path      string     `json:"path"`
	Copied    bool       `json:"read_from_a_copy,omitempty"`
	Operators []operator `json:"operators"`
}

// operator is what is stored under the keys of one operator id.
type operator struct {
	ID          string    `json:"id"`
	Format      string    `json:"format"`
	Generation  uint64    `json:"generation,omitempty"`
	Parts       int       `json:"parts"`
	HasDelta    bool      `json:"has_progress"`
	FromDelta   int       `json:"files_from_progress"`
	Files       []file    `json:"files"`
	Archive     []archive `json:"archive,omitempty"`
	Next        int       `json:"next_archive_slot"`
	Damaged     []damage  `json:"damaged,omitempty"`
	Quarantined []string  `json:"quarantined,omitempty"`
}

type archive struct {
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
	Path         string         `json:"path,omitempty"`
	Offset       int64          `json:"offset"`
	RecordNumber int64          `json:"record_number"`
	Size         int64          `json:"size,omitempty"`
	Lag          *int64         `json:"lag,omitempty"` // bytes behind offset, if the file is there
	Seen         *time.Time     `json:"modified,omitempty"`
	Fingerprint  fingerprint    `json:"fingerprint"`
	Device       uint64         `json:"device,omitempty"`
	Inode        uint64         `json:"inode,omitempty"`
	Frontiers    []frontier     `json:"frontiers,omitempty"`
	Compressed   bool           `json:"compressed,omitempty"`
	Base         int64          `json:"base,omitempty"`
	BaseAt       int64          `json:"base_at,omitempty"`
	Attributes   map[string]any `json:"attributes,omitempty"`
	HeaderDone   bool           `json:"header_done,omitempty"`
	Skipping     bool           `json:"skipping,omitempty"`
	Partial      int64          `json:"partial_length,omitempty"`
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

// progressSuffix is what file_storage adds to a file's name for the client that
// holds the deltas.
const progressSuffix = "_progress"

var (
	knownKey = regexp.MustCompile(`^(.*\.)knownFiles(\d*|\.[ab]\d+)$`)
	deltaKey = regexp.MustCompile(`^(.*\.)progress$`)
)

// look reads everything there is beside each other: the file, and the one with
// the deltas if it exists.
func look(ctx context.Context, path string) (*report, error) {
	client, err := readDatabase(path)
	if err != nil {
		return nil, err
	}
	r := &report{Path: path, Copied: client.copied}
	progress, err := readDatabase(path + progressSuffix)
	switch {
	case errors.Is(err, os.ErrNotExist):
		progress = &database{}
	case err != nil:
		return nil, err
	}
	r.Copied = r.Copied || progress.copied

	slots := map[string]int{} // archive slots by prefix
	for key := range client.values {
		if m := knownKey.FindStringSubmatch(key); m != nil {
			slot, err := strconv.Atoi(m[2])
			if err != nil || slot > 1<<20 {
				slot = -1
			}
			slots[m[1]] = max(slots[m[1]], slot+1)
		}
	}
	for key := range progress.values {
		if m := deltaKey.FindStringSubmatch(key); m != nil {
			slots[m[1]] = max(slots[m[1]], 0)
		}
	}
	for prefix, n := range slots {
		found, err := checkpoint.Inspect(ctx, client, progress, prefix, n)
		if err != nil {
			return nil, err
		}
		o := newOperator(strings.TrimSuffix(prefix, "."), found)
		for _, d := range []*database{client, progress} {
			for key := range d.values {
				if strings.HasPrefix(key, prefix) && strings.HasSuffix(key, checkpoint.QuarantineSuffix) {
					o.Quarantined = append(o.Quarantined, key)
				}
			}
		}
		slices.Sort(o.Quarantined)
		r.Operators = append(r.Operators, o)
	}
	slices.SortFunc(r.Operators, func(a, b operator) int { return cmp.Compare(a.ID, b.ID) })
	return r, nil
}

func newOperator(id string, found checkpoint.Inspection) operator {
	o := operator{
		ID: id, Format: found.Format, Generation: found.Generation, Parts: found.Parts,
		HasDelta: found.HasDelta, FromDelta: found.FromDelta, Files: newFiles(found.Known), Next: found.Next,
	}
	for slot, states := range found.Archive {
		if len(states) > 0 {
			o.Archive = append(o.Archive, archive{Slot: slot, Files: newFiles(states)})
		}
	}
	for _, d := range found.Damaged {
		o.Damaged = append(o.Damaged, damage{Key: d.Key, Offset: d.Offset, Cause: d.Err.Error(), Salvaged: d.Salvaged})
	}
	return o
}

func newFiles(states []*fileid.State) []file {
	files := make([]file, len(states))
	for i, s := range states {
		f := file{
			Path: s.Path, Offset: s.Offset, RecordNumber: s.RecordNumber, Size: s.Size,
			Fingerprint: fingerprint{Length: s.Fingerprint.Len(), Hashed: s.Fingerprint.IsHashed()},
			Device:      s.Locator.Device, Inode: s.Locator.Inode,
			Compressed: s.Compressed, Base: s.Base, BaseAt: s.BaseAt, Attributes: s.Attributes,
			HeaderDone: s.HeaderDone, Skipping: s.Skipping, Partial: s.PartialLength,
		}
		if f.Fingerprint.Length > 0 {
			digest := s.Fingerprint.Digest()
			f.Fingerprint.Digest = hex.EncodeToString(digest[:])
		}
		if s.ModTime != 0 {
			at := time.Unix(0, s.ModTime).UTC()
			f.Seen = &at
		}
		for n := range s.Ladder.Len() {
			rung := s.Ladder.At(n)
			f.Frontiers = append(f.Frontiers, frontier{Offset: rung.Offset, Sum: fmt.Sprintf("%016x", rung.Sum)})
		}
		if s.Path != "" && !s.Compressed {
			if info, err := os.Stat(s.Path); err == nil {
				lag := info.Size() - s.Offset
				f.Lag = &lag
			}
		}
		files[i] = f
	}
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Compare(a.Path, b.Path) })
	return files
}

// damaged tells whether anything stored is not whole.
func (r *report) damaged() bool {
	return slices.ContainsFunc(r.Operators, func(o operator) bool { return len(o.Damaged) > 0 })
}

func (r *report) printJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// printTable prints one line a file.
func (r *report) printTable(out io.Writer, withArchive bool) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	r.printHead(w)
	for _, o := range r.Operators {
		fmt.Fprintf(w, "%s: %s\n", o.ID, o.describe())
		o.printDamage(w)
		printFiles(w, o.Files)
		if !withArchive {
			continue
		}
		for _, a := range o.Archive {
			fmt.Fprintf(w, "%s: archive slot %d\n", o.ID, a.Slot)
			printFiles(w, a.Files)
		}
	}
	return w.Flush()
}

// printCheck prints what is damaged, or that nothing is.
func (r *report) printCheck(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	r.printHead(w)
	for _, o := range r.Operators {
		verdict := "whole"
		if len(o.Damaged) > 0 {
			verdict = "damaged"
		}
		fmt.Fprintf(w, "%s: %s: %s\n", o.ID, verdict, o.describe())
		o.printDamage(w)
	}
	return w.Flush()
}

func (r *report) printHead(w io.Writer) {
	if r.Copied {
		fmt.Fprintf(w, "the file is in use; this is from a copy of it\n")
	}
	if len(r.Operators) == 0 {
		fmt.Fprintf(w, "no state of a file log receiver is stored here\n")
	}
}

// describe says in one line what is stored.
func (o *operator) describe() string {
	text := fmt.Sprintf("%d files, %s", len(o.Files), o.Format)
	if o.Parts > 1 {
		text += fmt.Sprintf(" in %d parts", o.Parts)
	}
	if o.HasDelta {
		text += fmt.Sprintf(" and progress of %d files", o.FromDelta)
	}
	archived := 0
	for _, a := range o.Archive {
		archived += len(a.Files)
	}
	if archived > 0 {
		text += fmt.Sprintf(", %d files in %d archive slots", archived, len(o.Archive))
	}
	return text
}

func (o *operator) printDamage(w io.Writer) {
	for _, d := range o.Damaged {
		fmt.Fprintf(w, "  damaged: %s at byte %d: %s (%d files salvaged)\n", d.Key, d.Offset, d.Cause, d.Salvaged)
	}
	for _, key := range o.Quarantined {
		fmt.Fprintf(w, "  kept from earlier damage: %s\n", key)
	}
}

func printFiles(w io.Writer, files []file) {
	if len(files) == 0 {
		return
	}
	fmt.Fprintf(w, "  OFFSET\tLAG\tRECORDS\tFINGERPRINT\tFRONTIERS\tPATH\n")
	for _, f := range files {
		lag, path := "-", f.Path
		if f.Lag != nil {
			lag = strconv.FormatInt(*f.Lag, 10)
		}
		if path == "" {
			path = "-"
		}
		mark := strconv.Itoa(f.Fingerprint.Length)
		if f.Fingerprint.Digest != "" {
			mark += ":" + f.Fingerprint.Digest[:12]
		}
		if f.Fingerprint.Hashed {
			mark += " (hash)"
		}
		rungs := make([]string, len(f.Frontiers))
		for i, rung := range f.Frontiers {
			rungs[i] = strconv.FormatInt(rung.Offset, 10)
		}
		if len(rungs) == 0 {
			rungs = []string{"-"}
		}
		fmt.Fprintf(w, "  %d\t%s\t%d\t%s\t%s\t%s\n", f.Offset, lag, f.RecordNumber, mark, strings.Join(rungs, ","), path)
	}
}
