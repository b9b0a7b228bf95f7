package checkpoint

import (
	"encoding/binary"
	"hash/crc32"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers. They are part of the format and never change their meaning;
// proto/checkpoint.proto says the same, and a test holds both equal.
const (
	// MetadataList. Entries are upstream's.
	listEntry protowire.Number = 1
	listSeal  protowire.Number = 100

	// Metadata, upstream's fields.
	entryFingerprint protowire.Number = 1
	entryOffset      protowire.Number = 2
	entryRecordNum   protowire.Number = 3
	entryAttributes  protowire.Number = 4
	entryHeaderDone  protowire.Number = 5
	entryFlush       protowire.Number = 6
	entryTokenLength protowire.Number = 7
	entryFileType    protowire.Number = 8
	// Metadata, our own.
	entryPlace             protowire.Number = 100
	entryHashedFingerprint protowire.Number = 101
	entryBaseAt            protowire.Number = 102
	entryLogicalOffset     protowire.Number = 103
	entryEvidence          protowire.Number = 104
	entrySkipping          protowire.Number = 105
	entrySameAttributes    protowire.Number = 106
	entryCheck             protowire.Number = 127

	fingerprintBytes protowire.Number = 1

	flushSince  protowire.Number = 1
	flushLength protowire.Number = 2

	tokenMinimum protowire.Number = 1

	sealVersion    protowire.Number = 1
	sealGeneration protowire.Number = 2
	sealCount      protowire.Number = 3
	sealPart       protowire.Number = 4
	sealParts      protowire.Number = 5
	sealSide       protowire.Number = 6
	sealCheck      protowire.Number = 15

	// Progress, the delta.
	progressVersion    protowire.Number = 1
	progressGeneration protowire.Number = 2
	progressStep       protowire.Number = 3
	progressRemoved    protowire.Number = 4
	progressAdded      protowire.Number = 5
	progressCheck      protowire.Number = 15

	stepPosition       protowire.Number = 1
	stepOffset         protowire.Number = 2
	stepRecordNum      protowire.Number = 3
	stepSum            protowire.Number = 4
	stepFrontierOffset protowire.Number = 5
	stepLadder         protowire.Number = 6
	stepSizeBeyond     protowire.Number = 7
	stepModTime        protowire.Number = 8
	stepPartialLength  protowire.Number = 9
	stepPartialSince   protowire.Number = 10
	stepMinTokenLength protowire.Number = 11
	stepSkipping       protowire.Number = 12
)

// formatVersion goes up when an older reader would misread a value.
const formatVersion = 1

// gzipFileType is what upstream calls compressed files.
const gzipFileType = ".gz"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entryCheckSize and progressCheckSize are the lengths of the encoded checks,
// which always come last.
const (
	entryCheckSize    = 2 + 4
	progressCheckSize = 1 + 4
	sealCheckSize     = 1 + 4
)

// appendUint appends a varint field unless it is zero, as proto3 does.
func appendUint(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = protowire.AppendTag(b, field, protowire.VarintType)
	return protowire.AppendVarint(b, v)
}

// appendInt appends an int64 field unless it is zero.
func appendInt(b []byte, field protowire.Number, v int64) []byte {
	return appendUint(b, field, uint64(v))
}

// appendBool appends a bool field unless it is false.
func appendBool(b []byte, field protowire.Number, v bool) []byte {
	return appendUint(b, field, protowire.EncodeBool(v))
}

// appendFixed64 appends a fixed64 or sfixed64 field unless it is zero.
func appendFixed64(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = protowire.AppendTag(b, field, protowire.Fixed64Type)
	return protowire.AppendFixed64(b, v)
}

// appendFixed32 appends a fixed32 field, zero or not.
func appendFixed32(b []byte, field protowire.Number, v uint32) []byte {
	b = protowire.AppendTag(b, field, protowire.Fixed32Type)
	return protowire.AppendFixed32(b, v)
}

// appendLength appends the head of a length-delimited field.
func appendLength(b []byte, field protowire.Number, n int) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendVarint(b, uint64(n))
}

// intSize is how long the varint field of v is when it is appended.
func intSize(field protowire.Number, v int64) int {
	if v == 0 {
		return 0
	}
	return protowire.SizeTag(field) + protowire.SizeVarint(uint64(v))
}

// field is one field of a message, its value in the member that its type needs.
type field struct {
	number protowire.Number
	kind   protowire.Type
	uint   uint64 // of a varint, fixed32 or fixed64
	bytes  []byte // of a length-delimited field; it aliases the input
	end    int    // where it ends
}

// nextField reads the field at offset at of a message; ok is false if the bytes
// do not make one. It never looks beyond the message and allocates nothing.
func nextField(message []byte, at int) (f field, ok bool) {
	tag, n := varint(message, at)
	number := protowire.Number(tag >> 3)
	if n == 0 || tag>>3 > uint64(protowire.MaxValidNumber) || number < protowire.MinValidNumber {
		return field{}, false
	}
	f = field{number: number, kind: protowire.Type(tag & 7)}
	at += n
	switch f.kind {
	case protowire.VarintType:
		if f.uint, n = varint(message, at); n == 0 {
			return field{}, false
		}
		f.end = at + n
	case protowire.BytesType:
		length, n := varint(message, at)
		at += n
		if n == 0 || length > uint64(len(message)-at) {
			return field{}, false
		}
		f.end = at + int(length)
		f.bytes = message[at:f.end]
	case protowire.Fixed64Type:
		if len(message)-at < 8 {
			return field{}, false
		}
		f.uint, f.end = binary.LittleEndian.Uint64(message[at:]), at+8
	case protowire.Fixed32Type:
		if len(message)-at < 4 {
			return field{}, false
		}
		f.uint, f.end = uint64(binary.LittleEndian.Uint32(message[at:])), at+4
	default:
		m := protowire.ConsumeFieldValue(f.number, f.kind, message[at:])
		if m < 0 {
			return field{}, false
		}
		f.end = at + m
	}
	return f, true
}

// varint reads the varint at offset at and returns its length, 0 if there is
// none. Most are of one byte.
func varint(message []byte, at int) (v uint64, n int) {
	if at < len(message) && message[at] < 0x80 {
		return uint64(message[at]), 1
	}
	v, n = protowire.ConsumeVarint(message[at:])
	return v, max(n, 0)
}
