package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// documentVersion goes up when an older filelogctl would misread an export.
const documentVersion = 1

// document is an export: everything stored that a receiver uses, and nothing that
// depends on the form in which it is stored. docs/filelogctl.md describes it.
type document struct {
	Version   int           `json:"filelogctl_export"`
	Operators []contentsDoc `json:"operators"`
}

// contentsDoc is what is stored for one operator id.
type contentsDoc struct {
	ID      string       `json:"id"`
	Files   []stateDoc   `json:"files"`
	Archive [][]stateDoc `json:"archive,omitempty"`
	Last    int          `json:"last_archive_slot"` // -1: none was written
}

// stateDoc is a State. 64-bit numbers that a program may not keep exactly are text.
type stateDoc struct {
	Path           string          `json:"path,omitempty"`
	PathBytes      []byte          `json:"path_bytes,omitempty"` // in place of Path if that is no UTF-8
	Offset         int64           `json:"offset"`
	RecordNumber   int64           `json:"record_number"`
	Head           []byte          `json:"fingerprint,omitempty"` // the first bytes
	HeadLength     int             `json:"fingerprint_length,omitempty"`
	HeadDigest     string          `json:"fingerprint_digest,omitempty"`
	Device         uint64          `json:"device,omitempty,string"`
	Inode          uint64          `json:"inode,omitempty,string"`
	Frontiers      []frontier      `json:"frontiers,omitempty"`
	Size           int64           `json:"seen_size,omitempty"`
	ModTime        *time.Time      `json:"seen_modified,omitempty"`
	Compressed     bool            `json:"compressed,omitempty"`
	Base           int64           `json:"base,omitempty"`
	BaseAt         int64           `json:"base_at,omitempty"`
	Attributes     json.RawMessage `json:"attributes,omitempty"`
	HeaderDone     bool            `json:"header_done,omitempty"`
	Skipping       bool            `json:"skipping,omitempty"`
	PartialLength  int64           `json:"partial_length,omitempty"`
	PartialSince   *time.Time      `json:"partial_since,omitempty"`
	MinTokenLength int64           `json:"min_token_length,omitempty"`
}

// newDocument makes an export. With hash, no bytes of log files are in it, except
// those in attributes.
func newDocument(v *inventory, hash bool) document {
	d := document{Version: documentVersion, Operators: []contentsDoc{}}
	for _, o := range v.operators {
		c := contentsDoc{ID: o.id, Files: stateDocs(o.Known, hash), Last: o.Last}
		for _, states := range o.Archive {
			c.Archive = append(c.Archive, stateDocs(states, hash))
		}
		d.Operators = append(d.Operators, c)
	}
	return d
}

func stateDocs(states []*fileid.State, hash bool) []stateDoc {
	docs := make([]stateDoc, len(states))
	for i, s := range states {
		docs[i] = newStateDoc(s, hash)
	}
	return docs
}

func newStateDoc(s *fileid.State, hash bool) stateDoc {
	d := stateDoc{
		Path: s.Path, Offset: s.Offset, RecordNumber: s.RecordNumber,
		Device: s.Locator.Device, Inode: s.Locator.Inode, Size: s.Size, ModTime: timeOf(s.ModTime),
		Compressed: s.Compressed, Base: s.Base, BaseAt: s.BaseAt,
		Attributes: attributesText(s), HeaderDone: s.HeaderDone, Skipping: s.Skipping,
		PartialLength: s.PartialLength, PartialSince: timeOf(s.PartialSince), MinTokenLength: s.MinTokenLength,
	}
	if !utf8.ValidString(s.Path) {
		d.Path, d.PathBytes = "", []byte(s.Path)
	}
	if f := s.Fingerprint; f.Len() > 0 && (hash || f.IsHashed()) {
		digest := f.Digest()
		d.HeadLength, d.HeadDigest = f.Len(), hex.EncodeToString(digest[:])
	} else {
		d.Head = f.Head()
	}
	for i := range s.Ladder.Len() {
		rung := s.Ladder.At(i)
		d.Frontiers = append(d.Frontiers, frontier{Offset: rung.Offset, Sum: sumText(rung)})
	}
	return d
}

// contents makes what is to be stored of an export.
func (c *contentsDoc) contents() (checkpoint.Contents, error) {
	if c.ID == "" {
		return checkpoint.Contents{}, errors.New("an operator without an \"id\"")
	}
	if c.Last < -1 || c.Last >= len(c.Archive) {
		return checkpoint.Contents{}, fmt.Errorf("operator %q: \"last_archive_slot\" is %d, but there are %d slots", c.ID, c.Last, len(c.Archive))
	}
	contents := checkpoint.Contents{Last: c.Last}
	var err error
	if contents.Known, err = statesOf(c.Files); err != nil {
		return checkpoint.Contents{}, fmt.Errorf("operator %q, %w", c.ID, err)
	}
	for slot := range c.Archive {
		states, err := statesOf(c.Archive[slot])
		if err != nil {
			return checkpoint.Contents{}, fmt.Errorf("operator %q, archive slot %d, %w", c.ID, slot, err)
		}
		contents.Archive = append(contents.Archive, states)
	}
	return contents, nil
}

func statesOf(docs []stateDoc) ([]*fileid.State, error) {
	states := make([]*fileid.State, len(docs))
	for i := range docs {
		var err error
		if states[i], err = docs[i].state(); err != nil {
			return nil, fmt.Errorf("file %d (%s): %w", i+1, pathText(docs[i].Path), err)
		}
	}
	return states, nil
}

// state makes the State that a stateDoc describes.
func (d *stateDoc) state() (*fileid.State, error) {
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"offset", d.Offset}, {"record_number", d.RecordNumber}, {"seen_size", d.Size}, {"base", d.Base}, {"base_at", d.BaseAt},
		{"partial_length", d.PartialLength}, {"min_token_length", d.MinTokenLength},
	} {
		if n.value < 0 {
			return nil, fmt.Errorf("%q is %d, below zero", n.name, n.value)
		}
	}
	s := &fileid.State{
		Locator: fileid.Locator{Device: d.Device, Inode: d.Inode}, Path: d.Path,
		Offset: d.Offset, RecordNumber: d.RecordNumber,
		Compressed: d.Compressed, Base: d.Base, BaseAt: d.BaseAt, HeaderDone: d.HeaderDone, Skipping: d.Skipping,
		PartialLength: d.PartialLength, MinTokenLength: d.MinTokenLength, Size: d.Size,
	}
	if len(d.PathBytes) > 0 {
		s.Path = string(d.PathBytes)
	}
	var err error
	if s.ModTime, err = nanosecondsOf("seen_modified", d.ModTime); err != nil {
		return nil, err
	}
	if s.PartialSince, err = nanosecondsOf("partial_since", d.PartialSince); err != nil {
		return nil, err
	}
	if s.Fingerprint, err = d.fingerprint(); err != nil {
		return nil, err
	}
	if s.Ladder, err = ladderOf(d.Frontiers); err != nil {
		return nil, err
	}
	if len(d.Attributes) > 0 {
		if s.Attributes, err = checkpoint.ParseAttributes(d.Attributes); err != nil {
			return nil, fmt.Errorf("\"attributes\": %w", err)
		}
	}
	return s, nil
}

// fingerprint makes the fingerprint, of its bytes or of length and digest.
func (d *stateDoc) fingerprint() (fileid.Fingerprint, error) {
	if d.HeadDigest == "" && d.HeadLength == 0 {
		if len(d.Head) == 0 {
			return fileid.Fingerprint{}, nil
		}
		return fileid.NewFingerprint(d.Head), nil
	}
	digest, err := hex.DecodeString(d.HeadDigest)
	if err != nil || len(digest) != len(fileid.Digest{}) || d.HeadLength <= 0 || len(d.Head) > 0 {
		return fileid.Fingerprint{}, errors.New("a fingerprint is either \"fingerprint\", or \"fingerprint_length\" from 1 and \"fingerprint_digest\" of 32 hexadecimal digits")
	}
	return fileid.HashedFingerprint(d.HeadLength, fileid.Digest(digest)), nil
}

// ladderOf makes the ladder of frontiers, which stand from the newest to the oldest.
func ladderOf(frontiers []frontier) (fileid.Ladder, error) {
	rungs := make([]fileid.Frontier, len(frontiers))
	for i, f := range frontiers {
		sum, err := strconv.ParseUint(f.Sum, 16, 64)
		if err != nil {
			return fileid.Ladder{}, fmt.Errorf("\"sum\" %q of a frontier is no hexadecimal number of 64 bits", f.Sum)
		}
		rungs[i] = fileid.Frontier{Offset: f.Offset, Sum: sum}
	}
	l := fileid.LadderOf(rungs...)
	if l.Len() != len(rungs) {
		return fileid.Ladder{}, fmt.Errorf("\"frontiers\" have to be at most %d with falling offsets above zero", fileid.Rungs)
	}
	return l, nil
}

// nanosecondsOf is the inverse of timeOf.
func nanosecondsOf(name string, at *time.Time) (int64, error) {
	if at == nil {
		return 0, nil
	}
	n := at.UnixNano()
	if !time.Unix(0, n).Equal(*at) {
		return 0, fmt.Errorf("%q is too far from today", name)
	}
	return n, nil
}
