package checkpoint

import (
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// list is what a value of known files holds, of whatever format.
type list struct {
	states []*fileid.State
	seal   seal
	sealed bool // the seal verifies: nothing is missing
	ours   bool // we wrote it
	json   bool // a version before protobuf wrote it

	// The first damage, if any.
	err      error
	offset   int
	lost     int  // records that are not among states
	unharmed bool // err is about something that costs nothing, like a negative number
}

// complain notes damage. Only the first is kept: what follows mostly follows from it.
func (l *list) complain(offset int, err error, lost int) {
	l.unharmed = false
	l.lost += lost
	if l.err == nil {
		l.err, l.offset = err, offset
	}
}

// remark notes something odd about a state that can be used all the same.
func (l *list) remark(offset int, err error) {
	unharmed := l.err == nil || l.unharmed
	l.complain(offset, err, 0)
	l.unharmed = unharmed
}

// decodeList decodes a value of known files: protobuf, ours or upstream's, or
// JSON. The first byte tells which; trying would mistake some JSON for protobuf.
// It takes what is whole and never fails as such. A nil or empty value is an
// empty list.
func decodeList(value []byte, d *entryDecoder) list {
	switch {
	case len(value) == 0:
		return list{}
	case value[0] == 0x0A:
		return decodeProtobuf(value, d)
	case value[0] >= '0' && value[0] <= '9':
		return decodeJSON(value)
	}
	// No format of ours begins like this. It may still have been one: look for
	// entries that prove themselves.
	l := decodeProtobuf(value, d)
	if len(l.states) == 0 {
		l = decodeJSON(value)
	}
	l.sealed = false
	l.err, l.offset = ErrUnknownFormat, 0
	return l
}

// bareEntry is an entry that ends in no check: upstream's, or a damaged one.
type bareEntry struct {
	entry  []byte
	offset int
}

// decodeProtobuf decodes a list of entries. In a list of ours an entry counts if
// its own check verifies, wherever it stands; upstream's entries have no check
// and have to be believed.
func decodeProtobuf(value []byte, d *entryDecoder) list {
	var (
		l      list
		bare   []bareEntry
		checks uint32
		found  int
		sealed []byte
		sealAt int
	)
	salvage := salvager{decoder: d, value: value, budget: 64*len(value) + 1<<16}
	for at := 0; at < len(value); {
		f, ok := nextField(value, at)
		end := len(value)
		if ok {
			end = f.end
		}
		if ok && f.isEntryTag() {
			if check, ours := d.verify(f.bytes); ours {
				l.ours = true
				found++
				checks = sumCheck(checks, check)
				l.add(d, f.bytes, at, true)
				at = end
				continue
			}
		}
		if ok && f.isSealTag() {
			l.ours = true
			sealed, sealAt = f.bytes, at
			at = end
			continue
		}
		// Upstream's entry, or damage whose length leads astray.
		if next, again := salvage.next(at+1, end); again {
			l.complain(at, ErrMalformed, 1)
			at = next
			continue
		}
		switch {
		case !ok:
			l.complain(at, ErrMalformed, 0)
		case f.isEntryTag():
			bare = append(bare, bareEntry{entry: f.bytes, offset: at})
		}
		at = end
	}

	if !l.ours {
		for _, b := range bare {
			l.add(d, b.entry, b.offset, false)
		}
		return l
	}
	for _, b := range bare {
		l.complain(b.offset, ErrChecksum, 1)
	}
	if sealed == nil {
		l.complain(len(value), ErrIncomplete, 0)
		return l
	}
	s, err := decodeSeal(sealed, checks)
	switch {
	case err != nil:
		// Of a newer version the entries count too: upstream's fields mean what
		// they mean in every version.
		l.complain(sealAt, err, 0)
	case s.count != found:
		l.complain(sealAt, ErrIncomplete, 0)
	case l.err == nil || l.unharmed:
		l.seal, l.sealed = s, true
	}
	return l
}

// add decodes one entry into the list.
func (l *list) add(d *entryDecoder, entry []byte, offset int, ours bool) {
	s, complaint, err := d.decode(entry, ours)
	if err != nil {
		l.complain(offset, err, 1)
		return
	}
	if complaint != nil {
		l.remark(offset, complaint)
	}
	l.states = append(l.states, s)
}

// salvager looks for entries of ours behind damaged bytes.
type salvager struct {
	decoder *entryDecoder
	value   []byte
	budget  int // bytes that may still be looked at, so that no value takes quadratic time
}

// next finds the first entry of ours that begins in [from, end), by its check.
func (s *salvager) next(from, end int) (at int, ok bool) {
	for at := from; at < end; at++ {
		s.budget--
		if s.budget < 0 {
			return 0, false
		}
		if s.value[at] != 0x0A {
			continue
		}
		f, ok := nextField(s.value, at)
		if !ok || !f.isEntryTag() {
			continue
		}
		if _, ends := checkOf(f.bytes); !ends {
			continue
		}
		s.budget -= len(f.bytes)
		if _, whole := s.decoder.verify(f.bytes); whole {
			return at, true
		}
	}
	return 0, false
}
