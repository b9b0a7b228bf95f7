package checkpoint

import (
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
	rest []byte // all other static fields, encoded
	sum  uint32 // CRC-32C of the encoded fingerprint and rest
	size int    // bytes of the encoded fingerprint and rest
}

// build makes the encoding anew, in the buffers of the old one.
func (e *encodedStatic) build(s *fileid.State, hashFingerprint bool) {
	b := e.rest[:0]
	e.head = nil
	if s.Fingerprint.IsHashed() || (hashFingerprint && s.Fingerprint.Len() > 0) {
		digest := s.Fingerprint.Digest()
		n := intSize(hashedLength, int64(s.Fingerprint.Len())) + 2 + len(digest)
		b = appendLength(b, entryHashedFingerprint, n)
		b = appendInt(b, hashedLength, int64(s.Fingerprint.Len()))
		b = appendLength(b, hashedDigest, len(digest))
		b = append(b, digest[:]...)
	} else {
		e.head = s.Fingerprint.Head()
	}
	if len(s.Attributes) > 0 {
		text := appendAttributes(nil, s.Attributes)
		b = appendLength(b, entryAttributes, len(text))
		b = append(b, text...)
	}
	b = appendBool(b, entryHeaderDone, s.HeaderDone)
	if s.Compressed {
		b = appendLength(b, entryFileType, len(gzipFileType))
		b = append(b, gzipFileType...)
		b = appendInt(b, entryBaseAt, s.BaseAt)
	}
	if !s.Locator.IsZero() {
		n := intSize(locatorDevice, int64(s.Locator.Device)) + intSize(locatorInode, int64(s.Locator.Inode))
		b = appendLength(b, entryLocator, n)
		b = appendUint(b, locatorDevice, s.Locator.Device)
		b = appendUint(b, locatorInode, s.Locator.Inode)
	}
	if s.Path != "" {
		b = appendLength(b, entryPath, len(s.Path))
		b = append(b, s.Path...)
	}
	e.rest = b

	var scratch [16]byte
	prefix := appendFingerprintPrefix(scratch[:0], len(e.head))
	e.size = len(prefix) + len(e.head) + len(e.rest)
	e.sum = crc32.Update(0, castagnoli, prefix)
	e.sum = crc32.Update(e.sum, castagnoli, e.head)
	e.sum = crc32.Update(e.sum, castagnoli, e.rest)
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

// entryWriter appends entries. It exists for its scratch buffer.
type entryWriter struct {
	dynamic []byte
}

// append appends s as field number of a message, an entry with its check at the
// end, and returns the check. static has to be up to date.
func (w *entryWriter) append(b []byte, number protowire.Number, static *encodedStatic, s *fileid.State) ([]byte, uint32) {
	w.dynamic = appendDynamic(w.dynamic[:0], s)
	check := crc32.Update(static.sum, castagnoli, w.dynamic)
	b = appendLength(b, number, static.size+len(w.dynamic)+entryCheckSize)
	b = appendFingerprintPrefix(b, len(static.head))
	b = append(b, static.head...)
	b = append(b, static.rest...)
	b = append(b, w.dynamic...)
	return appendFixed32(b, entryCheck, check), check
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
	for i := range s.Ladder.Len() {
		b = appendFrontier(b, entryFrontier, s.Ladder.At(i))
	}
	b = appendInt(b, entrySize, s.Size)
	b = appendFixed64(b, entryModTime, uint64(s.ModTime))
	return appendBool(b, entrySkipping, s.Skipping)
}

// appendFrontier appends f as field number of a message.
func appendFrontier(b []byte, number protowire.Number, f fileid.Frontier) []byte {
	n := intSize(frontierOffset, f.Offset)
	if f.Sum != 0 {
		n += 1 + 8
	}
	b = appendLength(b, number, n)
	b = appendInt(b, frontierOffset, f.Offset)
	return appendFixed64(b, frontierSum, f.Sum)
}

// clampInt32 keeps a count in the range that upstream's schema has for it.
func clampInt32(v int64) int64 { return min(max(v, 0), math.MaxInt32) }
