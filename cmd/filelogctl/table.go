package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

func newTable(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 8, 2, ' ', 0) }

// printTable prints one line a file.
func (r *report) printTable(out io.Writer, withArchive bool) error {
	w := newTable(out)
	r.printHead(w)
	for _, o := range r.Operators {
		fmt.Fprintf(w, "%s: %s\n", o.ID, o.describe())
		o.printDamage(w)
		files := slices.Clone(o.Files)
		if withArchive {
			for _, a := range o.Archive {
				files = append(files, a.Files...)
			}
		}
		printFiles(w, files)
	}
	return w.Flush()
}

// printVerdict prints what is damaged, or that nothing is.
func (r *report) printVerdict(out io.Writer) error {
	w := newTable(out)
	r.printHead(w)
	for _, fault := range r.Faults {
		fmt.Fprintf(w, "damaged: %s\n", fault)
	}
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
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Compare(a.Path, b.Path) })
	fmt.Fprintf(w, "  ID\tOFFSET\tSIZE\tLAG\tRECORDS\tSTATUS\tFROM\tPATH\n")
	for _, f := range files {
		fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t%d\t%s\t%s\t%s\n",
			f.ID, f.Offset, numberOr(f.Size), numberOr(f.Lag), f.RecordNumber, f.Status, f.From, pathText(f.Path))
	}
}

// numberOr is a number as text, or a dash if there is none.
func numberOr(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// pathText is a path as text on one line: a path may hold any byte.
func pathText(path string) string {
	if path == "" {
		return "-"
	}
	if quoted := strconv.QuoteToGraphic(path); quoted[1:len(quoted)-1] != path {
		return quoted
	}
	return path
}

// print prints all that is known of a file, one line each.
func (f *file) print(out io.Writer, operator string) error {
	w := newTable(out)
	line := func(name, format string, arguments ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, arguments...))
	}
	line("path", "%s", pathText(f.Path))
	line("operator", "%s", operator)
	line("id", "%s", f.ID)
	line("stored in", "%s", f.From)
	line("status", "%s", f.Status)
	line("offset", "%d", f.Offset)
	line("size", "%s", numberOr(f.Size))
	line("lag", "%s", numberOr(f.Lag))
	line("records", "%d", f.RecordNumber)
	mark := f.Fingerprint
	switch {
	case mark.Length == 0:
		line("fingerprint", "none")
	case mark.Hashed:
		line("fingerprint", "%d bytes, stored as the hash %s", mark.Length, mark.Digest)
	default:
		line("fingerprint", "%d bytes, hash %s", mark.Length, mark.Digest)
	}
	if f.Inode != 0 || f.Device != 0 {
		line("device, inode", "%d, %d", f.Device, f.Inode)
	}
	for _, rung := range f.Frontiers {
		line("frontier", "%d, hash %s", rung.Offset, rung.Sum)
	}
	if f.SeenModified != nil {
		line("last seen", "%d bytes, modified %s", f.SeenSize, f.SeenModified.Format(time.RFC3339Nano))
	}
	if f.Compressed {
		line("compressed", "read from byte %d of the file, which is byte %d of its content", f.Base, f.BaseAt)
	}
	if f.HeaderDone {
		line("header", "read")
	}
	if len(f.Attributes) > 0 {
		line("attributes", "%s", f.Attributes)
	}
	if f.Skipping {
		line("skipping", "the rest of an oversized record")
	}
	if f.Partial > 0 {
		line("unfinished", "%d bytes of a record", f.Partial)
	}
	return w.Flush()
}
