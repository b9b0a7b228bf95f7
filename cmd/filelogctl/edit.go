package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// atEnd is the offset that stands for the end of the file.
const atEnd = -1

// setOffset is the command set-offset.
func setOffset(ctx context.Context, l *call) (int, error) {
	offset := int64(atEnd)
	if text := l.rest[1]; text != "end" {
		var err error
		if offset, err = strconv.ParseInt(text, 10, 64); err != nil || offset < 0 {
			return exitFailed, fmt.Errorf("%q is no offset: a number of bytes from 0, or 'end'", text)
		}
	}
	o, err := alter(ctx, l, func(v *inventory, touched map[*stored]struct{}) ([]change, error) {
		p, err := v.choose(l.rest[0])
		if err != nil {
			return nil, err
		}
		before := p.state.Offset
		moved, err := moveTo(p.state, p.path(), offset, l.recordNumber)
		if err != nil {
			return nil, err
		}
		c := change{
			Operator: p.operator.id, ID: p.id(), Path: p.path(), What: "offset", From: &before, To: &p.state.Offset,
		}
		if moved {
			touched[p.operator] = struct{}{}
		} else {
			c.What = "already at this offset"
		}
		return []change{c}, nil
	})
	if err != nil {
		return exitFailed, err
	}
	return exitWhole, l.tell(o)
}

// moveTo lets s go on at offset and tells whether it changed. The evidence of what
// stood before is cut back to the offset; the file at path, if it begins as s does,
// gives new evidence.
func moveTo(s *fileid.State, path string, offset, recordNumber int64) (bool, error) {
	frontier, verified, err := frontierIn(path, s, offset)
	if err != nil {
		return false, err
	}
	if offset == atEnd {
		if !verified {
			return false, fmt.Errorf("the end is not known: the file is not there, is another one, or is compressed; give a number")
		}
		offset = frontier.Offset
	}
	if recordNumber < 0 {
		recordNumber = s.RecordNumber
		if offset == 0 {
			recordNumber = 0
		}
	}
	if s.Offset == offset && s.RecordNumber == recordNumber && (offset != 0 || s.Base == 0) && !s.Skipping {
		return false, nil
	}
	s.Offset, s.RecordNumber = offset, recordNumber
	s.Ladder.TruncateTo(offset)
	if verified {
		s.Ladder.Advance(frontier)
	}
	s.Skipping, s.PartialLength, s.PartialSince, s.MinTokenLength = false, 0, 0, 0
	if offset < s.BaseAt || offset == 0 {
		s.Base, s.BaseAt = 0, 0
	}
	if offset == 0 {
		// The header is read again, too.
		s.HeaderDone, s.Attributes = false, nil
	}
	s.StaticRevision++
	return true, nil
}

// forget is the command forget.
func forget(ctx context.Context, l *call) (int, error) {
	o, err := alter(ctx, l, func(v *inventory, touched map[*stored]struct{}) ([]change, error) {
		var changes []change
		gone := map[*fileid.State]struct{}{}
		for _, name := range l.rest {
			p, err := v.choose(name)
			if err != nil {
				return nil, err
			}
			if _, again := gone[p.state]; again {
				continue
			}
			gone[p.state] = struct{}{}
			touched[p.operator] = struct{}{}
			changes = append(changes, change{Operator: p.operator.id, ID: p.id(), Path: p.path(), What: "forgotten"})
		}
		without := func(states []*fileid.State) []*fileid.State {
			return slices.DeleteFunc(states, func(s *fileid.State) bool {
				_, is := gone[s]
				return is
			})
		}
		for o := range touched {
			o.Known = without(o.Known)
			for slot := range o.Archive {
				o.Archive[slot] = without(o.Archive[slot])
			}
		}
		return changes, nil
	})
	if err != nil {
		return exitFailed, err
	}
	return exitWhole, l.tell(o)
}
