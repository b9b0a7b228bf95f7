package checkpoint

import (
	"encoding/binary"
	"hash/crc32"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// entryDecoder makes States of entries. It hands them out of slabs and knows
// texts that many files share.
type entryDecoder struct {
	slab  []fileid.State
	heads []byte // room for fingerprints
	texts attributeDecoder
}

// slabSize is how many States are allocated at once: enough to make allocations
// rare, few enough that one long-lived State does not hold many dead ones.
const slabSize = 64

func (d *entryDecoder) newState() *fileid.State {
	if len(d.slab) == 0 {
		d.slab = make([]fileid.State, slabSize)
	}
	s := &d.slab[0]
	d.slab = d.slab[1:]
	return s
}

// keep copies a fingerprint, so that the value it is from can go.
func (d *entryDecoder) keep(head []byte) []byte {
	if len(head) > cap(d.heads)-len(d.heads) {
		d.heads = make([]byte, 0, max(len(head), slabSize<<8))
	}
	at := len(d.heads)
	d.heads = append(d.heads, head...)
	return d.heads[at:len(d.heads):len(d.heads)]
}

// checkOf returns the check at the end of an entry and whether the entry ends
// in one at all, as each of ours does and none of upstream's.
func checkOf(entry []byte) (check uint32, ok bool) {
	at := len(entry) - entryCheckSize
	if at < 0 {
		return 0, false
	}
	// The tag of field 127 as a fixed32: 0xFD 0x07.
	if entry[at] != 0xFD || entry[at+1] != 0x07 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(entry[at+2:]), true
}

// verify tells whether entry ends in the check of what stands before it.
func verify(entry []byte) (check uint32, ok bool) {
	check, ok = checkOf(entry)
	if !ok {
		return 0, false
	}
	return check, crc32.Checksum(entry[:len(entry)-entryCheckSize], castagnoli) == check
}

// decode makes a State of an entry, written by us or by upstream. The State
// shares no memory with the entry. It fails with ErrMalformed; a complaint is
// about a State that can be used all the same.
func (d *entryDecoder) decode(entry []byte, ours bool) (s *fileid.State, complaint, err error) {
	s = d.newState()
	var (
		head       []byte
		hashed     fileid.Fingerprint
		attributes []byte
		offset     int64
		logical    int64
		ladder     [fileid.Rungs]fileid.Frontier
		rungs      int
	)
	for at := 0; at < len(entry); {
		f, ok := nextField(entry, at)
		if !ok {
			return nil, nil, ErrMalformed
		}
		at = f.end
		switch {
		case f.number == entryFingerprint && f.kind == protowire.BytesType:
			if head, ok = bytesMember(f.bytes, fingerprintBytes, head); !ok {
				return nil, nil, ErrMalformed
			}
		case f.number == entryOffset && f.kind == protowire.VarintType:
			offset = int64(f.uint)
		case f.number == entryRecordNum && f.kind == protowire.VarintType:
			s.RecordNumber = int64(f.uint)
		case f.number == entryAttributes && f.kind == protowire.BytesType:
			attributes = f.bytes
		case f.number == entryHeaderDone && f.kind == protowire.VarintType:
			s.HeaderDone = protowire.DecodeBool(f.uint)
		case f.number == entryFlush && f.kind == protowire.BytesType:
			since, length, ok := twoMembers(f.bytes, flushSince, flushLength)
			if !ok {
				return nil, nil, ErrMalformed
			}
			s.PartialSince, s.PartialLength = int64(since), int64(int32(length))
		case f.number == entryTokenLength && f.kind == protowire.BytesType:
			minimum, _, ok := twoMembers(f.bytes, tokenMinimum, 0)
			if !ok {
				return nil, nil, ErrMalformed
			}
			s.MinTokenLength = int64(int32(minimum))
		case f.number == entryFileType && f.kind == protowire.BytesType:
			s.Compressed = string(f.bytes) == gzipFileType
		case !ours:
			// Numbers that upstream may give a meaning of its own one day.
		case f.number == entryLocator && f.kind == protowire.BytesType:
			if s.Locator.Device, s.Locator.Inode, ok = twoMembers(f.bytes, locatorDevice, locatorInode); !ok {
				return nil, nil, ErrMalformed
			}
		case f.number == entryPath && f.kind == protowire.BytesType:
			s.Path = string(f.bytes)
		case f.number == entryHashedFingerprint && f.kind == protowire.BytesType:
			if hashed, ok = hashedMember(f.bytes); !ok {
				return nil, nil, ErrMalformed
			}
		case f.number == entryBaseAt && f.kind == protowire.VarintType:
			s.BaseAt = int64(f.uint)
		case f.number == entryLogicalOffset && f.kind == protowire.VarintType:
			logical = int64(f.uint)
		case f.number == entryFrontier && f.kind == protowire.BytesType:
			offset, sum, ok := twoMembers(f.bytes, frontierOffset, frontierSum)
			if !ok {
				return nil, nil, ErrMalformed
			}
			if rungs < len(ladder) {
				ladder[rungs] = fileid.Frontier{Offset: int64(offset), Sum: sum}
				rungs++
			}
		case f.number == entrySize && f.kind == protowire.VarintType:
			s.Size = int64(f.uint)
		case f.number == entryModTime && f.kind == protowire.Fixed64Type:
			s.ModTime = int64(f.uint)
		case f.number == entrySkipping && f.kind == protowire.VarintType:
			s.Skipping = protowire.DecodeBool(f.uint)
		}
	}

	switch {
	case len(head) > 0:
		s.Fingerprint = fileid.NewFingerprint(d.keep(head))
	case hashed.Len() > 0:
		s.Fingerprint = hashed
	}
	if s.Compressed {
		s.Base, s.Offset = offset, logical
	} else {
		s.Offset = offset
	}
	s.Ladder = fileid.LadderOf(ladder[:rungs]...)
	if len(attributes) > 0 {
		if s.Attributes, complaint, err = d.texts.decode(attributes, ours); err != nil {
			return nil, nil, err
		}
	}
	if clampPositions(s) > 0 {
		complaint = ErrNegativePosition
	}
	return s, complaint, nil
}

// clampPositions makes zero of what must not be negative, and counts it. A
// negative position in a file can never be read, and nobody would notice.
func clampPositions(s *fileid.State) (negative int) {
	for _, v := range []*int64{&s.Offset, &s.RecordNumber, &s.Base, &s.BaseAt, &s.PartialLength, &s.MinTokenLength, &s.Size} {
		if *v < 0 {
			*v = 0
			negative++
		}
	}
	return negative
}

// bytesMember returns the value of a length-delimited member; when the member is
// not there, what is given.
func bytesMember(message []byte, number protowire.Number, otherwise []byte) ([]byte, bool) {
	for at := 0; at < len(message); {
		f, ok := nextField(message, at)
		if !ok {
			return nil, false
		}
		if f.number == number && f.kind == protowire.BytesType {
			otherwise = f.bytes
		}
		at = f.end
	}
	return otherwise, true
}

// twoMembers returns the values of two members that are numbers; zero for one
// that is not there.
func twoMembers(message []byte, first, second protowire.Number) (a, b uint64, ok bool) {
	for at := 0; at < len(message); {
		f, ok := nextField(message, at)
		if !ok {
			return 0, 0, false
		}
		if f.kind != protowire.BytesType {
			switch f.number {
			case first:
				a = f.uint
			case second:
				b = f.uint
			}
		}
		at = f.end
	}
	return a, b, true
}

// hashedMember reads a fingerprint of which only length and digest are stored.
func hashedMember(message []byte) (fileid.Fingerprint, bool) {
	length, _, ok := twoMembers(message, hashedLength, 0)
	if !ok {
		return fileid.Fingerprint{}, false
	}
	digest, ok := bytesMember(message, hashedDigest, nil)
	if !ok || len(digest) != len(fileid.Digest{}) || length == 0 || length > maxFingerprint {
		return fileid.Fingerprint{}, false
	}
	return fileid.HashedFingerprint(int(length), fileid.Digest(digest)), true
}

// maxFingerprint bounds a stored fingerprint length: a larger one is nonsense.
const maxFingerprint = 1 << 30
