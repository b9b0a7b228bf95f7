package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// jsonEntry is one file in the JSON that versions before v0.165 may have written.
// Fields that are missing in old data stay zero.
type jsonEntry struct {
	Fingerprint *struct {
		FirstBytes []byte `json:"first_bytes"`
	}
	Offset          int64
	RecordNum       int64
	FileAttributes  map[string]any
	HeaderFinalized bool
	FlushState      struct {
		LastDataChange time.Time
		LastDataLength int64
	}
	TokenLenState struct {
		MinimumLength int64
	}
	FileType         string
	TruncateSkipping bool
}

// decodeJSON decodes JSON of known files: their number, then one object each.
// Behind damage it takes what makes an object on a line of its own, as each was
// written.
func decodeJSON(value []byte) list {
	l := list{json: true}
	decoder := json.NewDecoder(bytes.NewReader(value))
	var count int64
	err := decoder.Decode(&count)
	if err == nil && count < 0 {
		err = ErrNegativePosition
	}
	if err != nil {
		l.complain(0, fmt.Errorf("%w number of files: %w", ErrMalformed, err), 0)
		l.salvageLines(value, 0)
		return l
	}
	for read := int64(0); read < count; read++ {
		start := skipNewlines(value, int(decoder.InputOffset()))
		var e jsonEntry
		err := decoder.Decode(&e)
		var wrongType *json.UnmarshalTypeError
		switch {
		case err == nil:
			l.addJSON(&e, start)
		case errors.As(err, &wrongType):
			// The decoder is behind the object and can go on.
			l.complain(start, fmt.Errorf("%w: %w", ErrMalformed, err), 1)
		case errors.Is(err, io.EOF):
			l.complain(len(value), ErrIncomplete, 0)
			return l
		default:
			l.complain(start, fmt.Errorf("%w: %w", ErrMalformed, err), 1)
			l.salvageLines(value, nextLine(value, start))
			return l
		}
	}
	return l
}

// salvageLines adds the files that stand in whole lines from offset at on.
func (l *list) salvageLines(value []byte, at int) {
	for at < len(value) {
		end := nextLine(value, at)
		var e jsonEntry
		line := bytes.TrimSpace(value[at:end])
		if len(line) > 0 && line[0] == '{' {
			if err := json.Unmarshal(line, &e); err == nil && e.Fingerprint != nil {
				l.addJSON(&e, at)
			} else {
				l.lost++
			}
		}
		at = end
	}
}

// skipNewlines returns the offset of the first byte at or behind at that is not
// a line end.
func skipNewlines(value []byte, at int) int {
	for at < len(value) && (value[at] == '\n' || value[at] == '\r') {
		at++
	}
	return at
}

// nextLine returns the offset behind the next line end at or behind at.
func nextLine(value []byte, at int) int {
	n := bytes.IndexByte(value[at:], '\n')
	if n < 0 {
		return len(value)
	}
	return at + n + 1
}

// addJSON makes a State of a decoded object.
func (l *list) addJSON(e *jsonEntry, offset int) {
	s := &fileid.State{
		Offset:         e.Offset,
		RecordNumber:   e.RecordNum,
		HeaderDone:     e.HeaderFinalized,
		Compressed:     e.FileType == gzipFileType,
		PartialLength:  e.FlushState.LastDataLength,
		MinTokenLength: e.TokenLenState.MinimumLength,
		Skipping:       e.TruncateSkipping,
	}
	if e.Fingerprint != nil && len(e.Fingerprint.FirstBytes) > 0 {
		s.Fingerprint = fileid.NewFingerprint(e.Fingerprint.FirstBytes)
	}
	if !e.FlushState.LastDataChange.IsZero() {
		s.PartialSince = e.FlushState.LastDataChange.UnixNano()
	}
	if s.Compressed {
		// Upstream counts in the compressed file; reading goes on from there.
		s.Base, s.Offset = s.Offset, 0
	}
	complaint := migrateHeaderAttributes(e.FileAttributes)
	dropFileAttributes(e.FileAttributes)
	if len(e.FileAttributes) > 0 {
		s.Attributes = e.FileAttributes
	}
	if clampPositions(s) > 0 {
		complaint = ErrNegativePosition
	}
	if complaint != nil {
		l.remark(offset, complaint)
	}
	l.states = append(l.states, s)
}
