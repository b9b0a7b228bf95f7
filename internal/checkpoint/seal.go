package checkpoint

import (
	"encoding/binary"
	"hash/crc32"

	"google.golang.org/protobuf/encoding/protowire"
)

// seal is the last field of a list of entries that we wrote. Its check covers
// the checks of all entries, in order, and the seal itself, so that a list whose
// seal verifies is whole: nothing is missing, changed or of another list. It
// costs a few bytes per entry instead of a second look at all of them.
type seal struct {
	generation uint64 // of the snapshot; 0 in an archive slot
	count      int    // entries in this value
	part       int    // number of this part
	parts      int    // 0: the list is in one value; else how many parts there are
	side       int    // where the further parts lie
}

// appendSeal appends the seal of a list whose entries' checks have the CRC-32C
// checks, one after the other as little-endian bytes.
func appendSeal(b []byte, s seal, checks uint32) []byte {
	n := intSize(sealVersion, formatVersion) +
		fixed64Size(s.generation) +
		intSize(sealCount, int64(s.count)) +
		intSize(sealPart, int64(s.part)) +
		intSize(sealParts, int64(s.parts)) +
		intSize(sealSide, int64(s.side)) +
		sealCheckSize
	b = appendLength(b, listSeal, n)
	start := len(b)
	b = appendInt(b, sealVersion, formatVersion)
	b = appendFixed64(b, sealGeneration, s.generation)
	b = appendInt(b, sealCount, int64(s.count))
	b = appendInt(b, sealPart, int64(s.part))
	b = appendInt(b, sealParts, int64(s.parts))
	b = appendInt(b, sealSide, int64(s.side))
	return appendFixed32(b, sealCheck, crc32.Update(checks, castagnoli, b[start:]))
}

func fixed64Size(v uint64) int {
	if v == 0 {
		return 0
	}
	return 1 + 8
}

// maxParts bounds how many parts a snapshot may have: beyond it, a seal is not
// believed.
const maxParts = 1 << 14

// decodeSeal reads the seal of a list. It fails with ErrMalformed, ErrChecksum
// or ErrNewerVersion.
func decodeSeal(message []byte, checks uint32) (seal, error) {
	at := len(message) - sealCheckSize
	// The tag of field 15 as a fixed32: 0x7D.
	if at < 0 || message[at] != 0x7D {
		return seal{}, ErrMalformed
	}
	if crc32.Update(checks, castagnoli, message[:at]) != binary.LittleEndian.Uint32(message[at+1:]) {
		return seal{}, ErrChecksum
	}
	var s seal
	for at := 0; at < len(message); {
		f, ok := nextField(message, at)
		if !ok {
			return seal{}, ErrMalformed
		}
		at = f.end
		switch f.number {
		case sealVersion:
			if f.uint > formatVersion {
				return seal{}, ErrNewerVersion
			}
		case sealGeneration:
			s.generation = f.uint
		case sealCount:
			s.count = int(min(f.uint, 1<<31-1))
		case sealPart:
			s.part = int(min(f.uint, maxParts+1))
		case sealParts:
			s.parts = int(min(f.uint, maxParts+1))
		case sealSide:
			s.side = int(min(f.uint, sideB+1))
		}
	}
	if s.parts > maxParts || s.part > s.parts || s.side > sideB {
		return seal{}, ErrMalformed
	}
	return s, nil
}

// sumCheck continues the CRC-32C of checks with one more.
func sumCheck(sum, check uint32) uint32 {
	// Written out: a slice of a local array would be allocated for every entry,
	// since the CRC is reached through a function variable.
	for range 4 {
		sum = ^sum
		sum = castagnoli[byte(sum)^byte(check)] ^ (sum >> 8)
		sum = ^sum
		check >>= 8
	}
	return sum
}

// isSealTag tells whether f is the seal of a list.
func (f field) isSealTag() bool { return f.number == listSeal && f.kind == protowire.BytesType }

// isEntryTag tells whether f is an entry of a list.
func (f field) isEntryTag() bool { return f.number == listEntry && f.kind == protowire.BytesType }
