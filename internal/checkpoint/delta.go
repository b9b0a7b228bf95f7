package checkpoint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// stepWriter appends the steps of a delta. It exists for its scratch buffer.
type stepWriter struct {
	message []byte
}

// append appends the step of the State at position of the snapshot: all that
// changes while a file is read. base is the ladder that the snapshot has; if the
// reader of the delta can make the present ladder of it by advancing to the
// newest frontier, only that is written, which is nearly always so. Otherwise
// the file was rewritten in between, and every frontier is written.
func (w *stepWriter) append(b []byte, position int32, base *fileid.Ladder, s *fileid.State) []byte {
	m := w.message[:0]
	m = appendInt(m, stepPosition, int64(position))
	m = appendInt(m, stepOffset, s.Offset)
	m = appendInt(m, stepRecordNum, s.RecordNumber)
	switch newest, some := s.Ladder.Newest(); {
	case !some:
	case continues(base, &s.Ladder, newest):
		m = protowire.AppendTag(m, stepSum, protowire.Fixed64Type)
		m = protowire.AppendFixed64(m, newest.Sum)
		if newest.Offset != s.Offset {
			m = appendInt(m, stepFrontierOffset, newest.Offset)
		}
	default:
		m = appendLength(m, stepLadder, ladderSize(s))
		m = appendLadder(m, s)
	}
	m = appendUint(m, stepSizeBeyond, protowire.EncodeZigZag(s.Size-s.Offset))
	m = appendFixed64(m, stepModTime, uint64(s.ModTime))
	m = appendInt(m, stepPartialLength, s.PartialLength)
	m = appendFixed64(m, stepPartialSince, uint64(s.PartialSince))
	m = appendInt(m, stepMinTokenLength, s.MinTokenLength)
	m = appendBool(m, stepSkipping, s.Skipping)
	w.message = m
	b = appendLength(b, progressStep, len(m))
	return append(b, m...)
}

// continues tells whether every frontier that base has after advancing to newest
// stands in present too.
func continues(base, present *fileid.Ladder, newest fileid.Frontier) bool {
	made := *base
	made.Advance(newest)
	n := 0
	for i := range made.Len() {
		f := made.At(i)
		for n < present.Len() && present.At(n).Offset > f.Offset {
			n++
		}
		if n == present.Len() || present.At(n) != f {
			return false
		}
	}
	return true
}

// appendProgressHead appends what a delta begins with.
func appendProgressHead(b []byte, generation uint64) []byte {
	b = appendInt(b, progressVersion, formatVersion)
	return appendFixed64(b, progressGeneration, generation)
}

// appendProgressTail appends the removed positions and the check of all of b.
func appendProgressTail(b []byte, removed []int32) []byte {
	if len(removed) > 0 {
		n := 0
		for _, position := range removed {
			n += protowire.SizeVarint(uint64(position))
		}
		b = appendLength(b, progressRemoved, n)
		for _, position := range removed {
			b = protowire.AppendVarint(b, uint64(position))
		}
	}
	return appendFixed32(b, progressCheck, crc32.Checksum(b, castagnoli))
}

// step is a decoded change of one State of the snapshot.
type step struct {
	position int
	state    fileid.State // the fields that a step has
	sum      uint64
	hasSum   bool
	frontier int64 // offset of the newest frontier; 0: State.Offset
}

// delta is a decoded delta.
type delta struct {
	generation uint64
	steps      []step
	removed    []int
	added      []*fileid.State
}

// decodeDelta decodes a delta wholly or not at all: its check has to verify. It
// fails with ErrIncomplete, ErrChecksum, ErrMalformed or ErrNewerVersion.
func decodeDelta(value []byte, d *entryDecoder) (delta, error) {
	at := len(value) - progressCheckSize
	if at < 0 {
		return delta{}, ErrIncomplete
	}
	// The tag of field 15 as a fixed32: 0x7D.
	if value[at] != 0x7D || crc32.Checksum(value[:at], castagnoli) != binary.LittleEndian.Uint32(value[at+1:]) {
		return delta{}, ErrChecksum
	}
	var p delta
	for at := 0; at < len(value); {
		f, ok := nextField(value, at)
		if !ok {
			return delta{}, ErrMalformed
		}
		at = f.end
		switch {
		case f.number == progressVersion && f.kind == protowire.VarintType:
			if f.uint > formatVersion {
				return delta{}, ErrNewerVersion
			}
		case f.number == progressGeneration && f.kind == protowire.Fixed64Type:
			p.generation = f.uint
		case f.number == progressStep && f.kind == protowire.BytesType:
			s, ok := decodeStep(f.bytes)
			if !ok {
				return delta{}, ErrMalformed
			}
			p.steps = append(p.steps, s)
		case f.number == progressRemoved && f.kind == protowire.BytesType:
			for rest := f.bytes; len(rest) > 0; {
				position, n := protowire.ConsumeVarint(rest)
				if n < 0 || position > 1<<31-1 {
					return delta{}, ErrMalformed
				}
				p.removed = append(p.removed, int(position))
				rest = rest[n:]
			}
		case f.number == progressAdded && f.kind == protowire.BytesType:
			s, complaint, err := d.decode(f.bytes, true)
			if err == nil {
				err = complaint
			}
			if err != nil {
				return delta{}, err
			}
			p.added = append(p.added, s)
		}
	}
	return p, nil
}

// decodeStep decodes one step; positions below zero are damage.
func decodeStep(message []byte) (step, bool) {
	var (
		s      step
		beyond int64
		ladder []byte
	)
	for at := 0; at < len(message); {
		f, ok := nextField(message, at)
		if !ok {
			return step{}, false
		}
		at = f.end
		switch {
		case f.number == stepPosition && f.kind == protowire.VarintType:
			if f.uint > 1<<31-1 {
				return step{}, false
			}
			s.position = int(f.uint)
		case f.number == stepOffset && f.kind == protowire.VarintType:
			s.state.Offset = int64(f.uint)
		case f.number == stepRecordNum && f.kind == protowire.VarintType:
			s.state.RecordNumber = int64(f.uint)
		case f.number == stepSum && f.kind == protowire.Fixed64Type:
			s.sum, s.hasSum = f.uint, true
		case f.number == stepFrontierOffset && f.kind == protowire.VarintType:
			s.frontier = int64(f.uint)
		case f.number == stepLadder && f.kind == protowire.BytesType:
			ladder = f.bytes
		case f.number == stepSizeBeyond && f.kind == protowire.VarintType:
			beyond = protowire.DecodeZigZag(f.uint)
		case f.number == stepModTime && f.kind == protowire.Fixed64Type:
			s.state.ModTime = int64(f.uint)
		case f.number == stepPartialLength && f.kind == protowire.VarintType:
			s.state.PartialLength = int64(f.uint)
		case f.number == stepPartialSince && f.kind == protowire.Fixed64Type:
			s.state.PartialSince = int64(f.uint)
		case f.number == stepMinTokenLength && f.kind == protowire.VarintType:
			s.state.MinTokenLength = int64(f.uint)
		case f.number == stepSkipping && f.kind == protowire.VarintType:
			s.state.Skipping = protowire.DecodeBool(f.uint)
		}
	}
	s.state.Size = s.state.Offset + beyond
	return s, clampPositions(&s.state) == 0 && s.frontier >= 0 && ladderMember(ladder, &s.state)
}

// applyTo makes the State of the snapshot what it was when the delta was saved.
func (p *step) applyTo(s *fileid.State) {
	s.Offset = p.state.Offset
	s.RecordNumber = p.state.RecordNumber
	s.Size = p.state.Size
	s.ModTime = p.state.ModTime
	s.PartialLength = p.state.PartialLength
	s.PartialSince = p.state.PartialSince
	s.MinTokenLength = p.state.MinTokenLength
	s.Skipping = p.state.Skipping
	switch {
	case p.hasSum:
		newest := fileid.Frontier{Offset: s.Offset, Sum: p.sum}
		if p.frontier != 0 {
			newest.Offset = p.frontier
		}
		s.Ladder.Advance(newest)
	default:
		s.Ladder = p.state.Ladder
	}
}

// apply changes the snapshot's states to those of the delta, and returns which it
// changed or added. It checks first and changes nothing if the delta does not fit.
func (p *delta) apply(states []*fileid.State) (all, touched []*fileid.State, err error) {
	for i := range p.steps {
		if p.steps[i].position >= len(states) {
			return states, nil, fmt.Errorf("%w: step of file %d, the snapshot has %d", ErrMalformed, p.steps[i].position, len(states))
		}
	}
	for _, position := range p.removed {
		if position >= len(states) {
			return states, nil, fmt.Errorf("%w: removal of file %d, the snapshot has %d", ErrMalformed, position, len(states))
		}
	}
	touched = make([]*fileid.State, 0, len(p.steps)+len(p.added))
	for i := range p.steps {
		s := states[p.steps[i].position]
		p.steps[i].applyTo(s)
		touched = append(touched, s)
	}
	for _, position := range p.removed {
		states[position] = nil
	}
	kept := make([]*fileid.State, 0, len(states)+len(p.added))
	for _, s := range states {
		if s != nil {
			kept = append(kept, s)
		}
	}
	return append(kept, p.added...), append(touched, p.added...), nil
}
