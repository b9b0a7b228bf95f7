package checkpoint

import (
	"bytes"
	"hash/crc32"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// encodedStatic is the encoding of what seldom changes in a State, kept so that
// an entry is mostly a copy. The bytes of the fingerprint are not copied: they
// are immutable and stay where the State has them.
type encodedStatic struct {
	head []byte // the fingerprint's bytes; nil if none are stored
	rest []byte // all other static fields, encoded; the attributes last
	bare int    // how much of rest stands before the attributes
	text int    // where in rest the text of the attributes begins
	sum  uint32 // CRC-32C of the encoded fingerprint and rest
	size int    // bytes of the encoded fingerprint and rest

	bareSum uint32 // CRC-32C of the encoded fingerprint and rest[:bare]
}

// attributes is the text of the attributes, empty if there are none.
func (e *encodedStatic) attributes() []byte { return e.rest[e.text:] }

// build makes the encoding anew, in the buffers of the old one.
func (e *encodedStatic) build(s *fileid.State, hashFingerprint bool) {
	b := e.rest[:0]
	e.head = nil
	if s.Fingerprint.IsHashed() || (hashFingerprint && s.Fingerprint.Len() > 0) {
		digest := s.Fingerprint.Digest()
		length := uint64(s.Fingerprint.Len())
		b = appendLength(b, entryHashedFingerprint, protowire.SizeVarint(length)+len(digest))
		b = protowire.AppendVarint(b, length)
		b = append(b, digest[:]...)
	} else {
		e.head = s.Fingerprint.Head()
	}
	b = appendBool(b, entryHeaderDone, s.HeaderDone)
	if s.Compressed {
		b = appendLength(b, entryFileType, len(gzipFileType))
		b = append(b, gzipFileType...)
		b = appendInt(b, entryBaseAt, s.BaseAt)
	}
	if !s.Locator.IsZero() || s.Path != "" {
		b = appendLength(b, entryPlace, protowire.SizeVarint(s.Locator.Device)+protowire.SizeVarint(s.Locator.Inode)+len(s.Path))
		b = protowire.AppendVarint(b, s.Locator.Device)
		b = protowire.AppendVarint(b, s.Locator.Inode)
		b = append(b, s.Path...)
	}
	e.bare, e.text = len(b), len(b)
	if len(s.Attributes) > 0 {
		text := appendAttributes(nil, s.Attributes)
		b = appendLength(b, entryAttributes, len(text))
		e.text = len(b)
		b = append(b, text...)
	}
	e.rest = b

	var scratch [16]byte
	prefix := appendFingerprintPrefix(scratch[:0], len(e.head))
	e.size = len(prefix) + len(e.head) + len(e.rest)
	e.bareSum = crc32.Update(0, castagnoli, prefix)
	e.bareSum = crc32.Update(e.bareSum, castagnoli, e.head)
	e.bareSum = crc32.Update(e.bareSum, castagnoli, e.rest[:e.bare])
	e.sum = crc32.Update(e.bareSum, castagnoli, e.rest[e.bare:])
}

// appendFingerprintPrefix appends what stands before n bytes of fingerprint.
func appendFingerprintPrefix(b []byte, n int) []byte {
	if n == 0 {
		return b
	}
	inner := 1 + protowire.SizeVarint(uint64(n)) + n
	b = appendLength(b, entryFingerprint, inner)
	return appendLength(b, fingerprintBytes, n)
}

// entryWriter appends entries.
type entryWriter struct {
	dynamic []byte // scratch

	// sharing lets an entry refer to the attributes of the one before, for lists
	// that upstream has no use of anyway: thousands of files have the same header.
	sharing bool
	last    []byte // copy of the attributes that an entry may refer to
	lent    int    // entries that referred to them
}

// maxLent is how many entries may refer to the attributes of one: that many are
// lost with it when it is damaged.
const maxLent = 127

// begin prepares for another list.
func (w *entryWriter) begin(sharing bool) {
	w.sharing, w.last, w.lent = sharing, w.last[:0], 0
}

// append appends s as field number of a message, an entry with its check at the
// end, and returns the check. static has to be up to date.
func (w *entryWriter) append(b []byte, number protowire.Number, static *encodedStatic, s *fileid.State) ([]byte, uint32) {
	rest, size, sum := static.rest, static.size, static.sum
	same := w.sharing && w.same(static)
	w.dynamic = w.dynamic[:0]
	if same {
		rest, size, sum = static.rest[:static.bare], static.size-(len(static.rest)-static.bare), static.bareSum
		w.dynamic = appendBool(w.dynamic, entrySameAttributes, true)
	}
	w.dynamic = appendDynamic(w.dynamic, s)
	check := crc32.Update(sum, castagnoli, w.dynamic)
	if same {
		check = crc32.Update(check, castagnoli, w.last)
	}
	b = appendLength(b, number, size+len(w.dynamic)+entryCheckSize)
	b = appendFingerprintPrefix(b, len(static.head))
	b = append(b, static.head...)
	b = append(b, rest...)
	b = append(b, w.dynamic...)
	return appendFixed32(b, entryCheck, check), check
}

// same tells whether an entry can refer to the attributes of one before it; if
// not, its own are those that the next ones can refer to.
func (w *entryWriter) same(static *encodedStatic) bool {
	text := static.attributes()
	if len(text) == 0 {
		return false
	}
	if w.lent < maxLent && bytes.Equal(text, w.last) {
		w.lent++
		return true
	}
	w.last, w.lent = append(w.last[:0], text...), 0
	return false
}

// appendDynamic appends what changes while a file is read. Upstream's fields
// come first and say what upstream needs to go on: for a compressed file that is
// a position in the compressed file, so it starts at the last member's beginning.
func appendDynamic(b []byte, s *fileid.State) []byte {
	if s.Compressed {
		b = appendInt(b, entryOffset, s.Base)
	} else {
		b = appendInt(b, entryOffset, s.Offset)
	}
	b = appendInt(b, entryRecordNum, s.RecordNumber)
	partial := clampInt32(s.PartialLength)
	if partial != 0 || s.PartialSince != 0 {
		b = appendLength(b, entryFlush, intSize(flushSince, s.PartialSince)+intSize(flushLength, partial))
		b = appendInt(b, flushSince, s.PartialSince)
		b = appendInt(b, flushLength, partial)
	}
	if minimum := clampInt32(s.MinTokenLength); minimum != 0 {
		b = appendLength(b, entryTokenLength, intSize(tokenMinimum, minimum))
		b = appendInt(b, tokenMinimum, minimum)
	}
	if s.Compressed {
		b = appendInt(b, entryLogicalOffset, s.Offset)
	}
	if s.Ladder.Len() > 0 || s.Size != 0 || s.ModTime != 0 {
		beyond := protowire.EncodeZigZag(s.Size - s.Offset)
		b = appendLength(b, entryEvidence, protowire.SizeVarint(beyond)+8+ladderSize(s))
		b = protowire.AppendVarint(b, beyond)
		b = protowire.AppendFixed64(b, uint64(s.ModTime))
		b = appendLadder(b, s)
	}
	return appendBool(b, entrySkipping, s.Skipping)
}

// appendLadder appends the frontiers of s from the newest: how far each stands
// before the one in front of it, the newest before the committed position.
func appendLadder(b []byte, s *fileid.State) []byte {
	at := s.Offset
	for i := range s.Ladder.Len() {
		f := s.Ladder.At(i)
		b = protowire.AppendVarint(b, rungDistance(i, at, f))
		b = protowire.AppendFixed64(b, f.Sum)
		at = f.Offset
	}
	return b
}

// ladderSize is how many bytes appendLadder appends.
func ladderSize(s *fileid.State) int {
	n, at := 0, s.Offset
	for i := range s.Ladder.Len() {
		f := s.Ladder.At(i)
		n += protowire.SizeVarint(rungDistance(i, at, f)) + 8
		at = f.Offset
	}
	return n
}

// rungDistance is how the offset of the i-th frontier is stored. Only the newest
// may stand behind what it is told from.
func rungDistance(i int, at int64, f fileid.Frontier) uint64 {
	if i == 0 {
		return protowire.EncodeZigZag(at - f.Offset)
	}
	return uint64(at - f.Offset)
}

// expectedDynamicSize is about what an entry takes beside its static part.
const expectedDynamicSize = 80

// clampInt32 keeps a count in the range that upstream's schema has for it.
func clampInt32(v int64) int64 { return min(max(v, 0), math.MaxInt32) }
