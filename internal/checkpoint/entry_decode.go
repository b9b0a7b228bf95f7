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
	// attributes is the text that the last entry with attributes had; the next
	// ones may refer to it.
	attributes []byte
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

// verify tells whether entry ends in the check of what stands before it, and of
// the attributes of an earlier entry if it refers to those.
func (d *entryDecoder) verify(entry []byte) (check uint32, ok bool) {
	check, ok = checkOf(entry)
	if !ok {
		return 0, false
	}
	sum := crc32.Checksum(entry[:len(entry)-entryCheckSize], castagnoli)
	return check, sum == check || len(d.attributes) > 0 && crc32.Update(sum, castagnoli, d.attributes) == check
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
		evidence   []byte
		offset     int64
		logical    int64
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
		case f.number == entryPlace && f.kind == protowire.BytesType:
			if !placeMember(f.bytes, s) {
				return nil, nil, ErrMalformed
			}
		case f.number == entryHashedFingerprint && f.kind == protowire.BytesType:
			if hashed, ok = hashedMember(f.bytes); !ok {
				return nil, nil, ErrMalformed
			}
		case f.number == entryBaseAt && f.kind == protowire.VarintType:
			s.BaseAt = int64(f.uint)
		case f.number == entryLogicalOffset && f.kind == protowire.VarintType:
			logical = int64(f.uint)
		case f.number == entryEvidence && f.kind == protowire.BytesType:
			evidence = f.bytes
		case f.number == entrySameAttributes && f.kind == protowire.VarintType:
			if len(d.attributes) == 0 {
				return nil, nil, ErrMalformed
			}
			attributes = d.attributes
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
	if len(evidence) > 0 && !evidenceMember(evidence, s) {
		return nil, nil, ErrMalformed
	}
	if ours && len(attributes) > 0 {
		d.attributes = attributes
	}
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

// placeMember reads where a file was seen last into s.
func placeMember(message []byte, s *fileid.State) bool {
	device, n := varint(message, 0)
	inode, m := varint(message, n)
	if n == 0 || m == 0 {
		return false
	}
	s.Locator = fileid.Locator{Device: device, Inode: inode}
	s.Path = string(message[n+m:])
	return true
}

// hashedMember reads a fingerprint of which only length and digest are stored.
func hashedMember(message []byte) (fileid.Fingerprint, bool) {
	length, n := varint(message, 0)
	digest := message[n:]
	if n == 0 || len(digest) != len(fileid.Digest{}) || length == 0 || length > maxFingerprint {
		return fileid.Fingerprint{}, false
	}
	return fileid.HashedFingerprint(int(length), fileid.Digest(digest)), true
}

// evidenceMember reads size, modification time and ladder into s, whose Offset
// must be known.
func evidenceMember(message []byte, s *fileid.State) bool {
	beyond, n := varint(message, 0)
	if n == 0 || len(message)-n < 8 {
		return false
	}
	s.Size = s.Offset + protowire.DecodeZigZag(beyond)
	s.ModTime = int64(binary.LittleEndian.Uint64(message[n:]))
	return ladderMember(message[n+8:], s)
}

// ladderMember reads the ladder into s, whose Offset must be known. Frontiers
// that a ladder cannot have are left out, wherever a sum may overflow to.
func ladderMember(message []byte, s *fileid.State) bool {
	var ladder [fileid.Rungs]fileid.Frontier
	rungs, offset := 0, s.Offset
	for at := 0; at < len(message); at += 8 {
		distance, n := varint(message, at)
		if at += n; n == 0 || len(message)-at < 8 {
			return false
		}
		if rungs == 0 {
			offset -= protowire.DecodeZigZag(distance)
		} else {
			offset -= int64(distance)
		}
		if rungs < len(ladder) {
			ladder[rungs] = fileid.Frontier{Offset: offset, Sum: binary.LittleEndian.Uint64(message[at:])}
			rungs++
		}
	}
	s.Ladder = fileid.LadderOf(ladder[:rungs]...)
	return true
}

// maxFingerprint bounds a stored fingerprint length: a larger one is nonsense.
const maxFingerprint = 1 << 30
