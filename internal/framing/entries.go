package framing

import (
	"bytes"
	"unicode/utf8"
)

// memo is what was found out about the unfinished entry, so that it is not
// searched again when more of it comes. Places are in entryText. The zero
// value knows nothing.
type memo struct {
	again int // where the search for the entry's end goes on; a line begins there
	// For splitStarts: the match that the entry begins with is known.
	begun    bool
	firstEnd int // where it ends
}

// entry is a token of a multi-line split, in places of entryText.
type entry struct {
	begin, end int // its content
	next       int // where the next token begins
	pattern    int // content from here on is the end pattern, and better not cut
}

// stepEntry takes an entry that a pattern begins or ends.
func (r *Framer) stepEntry() bool {
	text, rest := r.entryWindow(), r.rest()
	full := len(rest) >= r.limit+r.lookahead
	e, found := r.findEntry(text, full)
	if !found && !full && !r.final {
		return false
	}
	if len(text) == 0 && !r.final {
		return false
	}
	w := r.newWalk()
	begin, end, next := w.rawOf(e.begin), len(rest), len(rest)
	if begin > r.limit+r.lookahead {
		begin, e.begin = 0, 0 // a match of that size is text, so that the buffer needs not hold any size
	}
	switch {
	case found:
		end = w.rawOf(e.end)
		e.end = w.textAt(e.end)
		next = w.rawOf(e.next)
		e.next = w.textAt(e.next)
	case r.final:
		e.end, e.next = len(text), len(text)
	case end-begin < r.limit+r.lookahead:
		return false // an omitted pattern does not count
	}
	if end-begin > r.limit {
		pattern := end
		if found && e.pattern > 0 {
			w = r.newWalk()
			pattern = w.rawOf(e.pattern)
		}
		return r.cutEntry(rest, begin, end, pattern, found)
	}
	if next == 0 {
		return false
	}
	from := len(r.scratch)
	r.appendText(text[e.begin:e.end])
	r.consumeEntry(from, e.next, next, false)
	return true
}

// entryWindow is as much of entryText as it takes to find an entry or to see
// that it is too large, so that a large buffer is not searched again for every
// piece of an oversized entry.
func (r *Framer) entryWindow() []byte {
	text, size := r.entryText(), r.maxBuffer
	if r.view.used {
		size *= utf8.UTFMax - 1 // the most that a byte in another encoding becomes
	}
	r.final = r.flush && len(text) <= size
	return text[:min(len(text), size)]
}

// cutEntry makes a token of as much of the content rest[begin:end] as the limit
// allows. The end pattern, from pattern on, is not cut.
func (r *Framer) cutEntry(rest []byte, begin, end, pattern int, found bool) bool {
	n, ok := r.decoder.cut(rest[begin:end], r.limit, r.at()+int64(begin), found || r.flush)
	if !ok {
		return false
	}
	if begin < pattern && pattern < begin+n && end-pattern <= r.limit {
		n = pattern - begin
	}
	piece := rest[begin : begin+n]
	from := len(r.scratch)
	textNext := begin + n
	if r.view.used {
		w := r.newWalk()
		textNext = r.textOf(&w, begin+n)
		r.decoder.restart()
		r.scratch, _ = r.decoder.appendDecoded(r.scratch, piece, r.at()+int64(begin), true)
	} else {
		r.appendText(piece)
	}
	r.consumeEntry(from, textNext, begin+n, r.truncate)
	return true
}

// textOf returns the place in entryText of the place raw in rest.
func (r *Framer) textOf(w *walk, raw int) int {
	var room [512]byte
	for w.raw < raw {
		written, read := r.decoder.decode(room[:], r.rest()[w.raw:raw], r.at()+int64(w.raw), false)
		if read == 0 {
			written, read = r.decoder.decode(room[:], r.rest()[w.raw:raw], r.at()+int64(w.raw), true)
		}
		if read == 0 {
			break
		}
		w.text += written
		w.raw += read
	}
	return min(w.text, len(r.entryText()))
}

// consumeEntry makes the token of the scratch bytes from begin on, and goes to
// the place that is next in the text and raw in rest.
func (r *Framer) consumeEntry(begin, next, raw int, skipping bool) {
	r.view.next = min(r.view.next+next, len(r.view.text))
	r.memo = memo{}
	r.finish(begin, raw, skipping)
}

// findEntry finds the first entry in text. If there is none, its begin tells
// where the content of the unfinished one begins. full means that no more text
// is to be awaited.
func (r *Framer) findEntry(text []byte, full bool) (entry, bool) {
	if r.split == splitEnds {
		return r.findEnd(text, full)
	}
	return r.findStart(text, full)
}

// findStart finds an entry that goes from one match to the next, or the text
// before the first match.
func (r *Framer) findStart(text []byte, full bool) (entry, bool) {
	m := &r.memo
	if !m.begun {
		begin, end, again := r.pattern.search(text, m.again)
		if begin < 0 {
			m.again = again
			return entry{}, false
		}
		certain, open := r.settle(text, begin, end)
		if !certain && r.awaits(text, begin, full) {
			return entry{}, false
		}
		if begin > 0 {
			return entry{end: begin, next: begin}, true
		}
		if end == len(text) {
			return r.unfinished(end), false
		}
		*m = memo{begun: !open, firstEnd: end}
	}
	next, end, again := -1, m.firstEnd, 0
	if m.again > end {
		next, _, again = r.pattern.search(text, m.again)
	} else {
		next, _, again = r.pattern.searchBehind(text, end)
	}
	if next < 0 {
		if m.begun {
			m.again = again
		}
		return r.unfinished(end), false
	}
	if certain, _ := r.settle(text, next, next); !certain && r.awaits(text, next, full) {
		return r.unfinished(end), false
	}
	e := r.unfinished(end)
	e.end, e.next = next, next
	return e, true
}

// unfinished is the entry that begins with a match up to end.
func (r *Framer) unfinished(end int) entry {
	if r.omit {
		return entry{begin: end}
	}
	return entry{}
}

// findEnd finds an entry that goes up to a match.
func (r *Framer) findEnd(text []byte, full bool) (entry, bool) {
	begin, end, again := r.pattern.searchNonEmpty(text, r.memo.again)
	r.memo.again = again
	if begin < 0 {
		return entry{}, false
	}
	if certain, open := r.settle(text, begin, end); (!certain || open) && r.awaits(text, begin, full) {
		return entry{}, false
	}
	if r.omit {
		return entry{end: begin, next: end}, true
	}
	return entry{end: end, next: end, pattern: begin}, true
}

// settle asks whether the match at text[begin:end] can be relied on. One that
// ends long before the text does can.
func (r *Framer) settle(text []byte, begin, end int) (certain, open bool) {
	if len(text)-end > longestAwaited {
		return true, false
	}
	return r.states.settle(r.pattern, text, begin)
}

// awaits tells whether a match that begins at begin and is not settled must
// wait for more text. If the buffer is full, only one of a size that is awaited
// does: it lies behind the limit, and the text before it can be taken.
func (r *Framer) awaits(text []byte, begin int, full bool) bool {
	return !r.final && (!full || len(text)-begin <= longestAwaited)
}

// skipEntry drops bytes up to the end of the oversized entry.
//
// While an entry is dropped, the text begins within it. A pattern that leans on
// what stands before, which nobody remembers, could match there by mistake; so
// what such a pattern matches at the very beginning of the text is no boundary.
func (r *Framer) skipEntry() bool {
	text, rest := r.entryText(), r.rest()
	r.final = r.flush
	full := len(rest) >= r.limit+r.lookahead
	boundary := r.findBoundary(text, full)
	switch {
	case boundary >= 0:
		w := r.newWalk()
		raw := w.rawOf(boundary)
		r.drop(w.textAt(boundary), raw)
		r.pos.Skipping = false
		return true
	case r.flush:
		// The flush ends the entry if another may begin right behind it. It
		// could not be told later.
		certain, open := r.states.settle(r.pattern, text, len(text))
		over := r.pattern.leaning && (certain || open)
		r.drop(len(text), len(rest))
		r.pos.Skipping = !over
		return false
	case full:
		return r.dropAllButTail(text)
	default:
		return false
	}
}

// findBoundary finds where the entry that is being dropped ends, -1 if that is
// not in the text.
func (r *Framer) findBoundary(text []byte, full bool) int {
	m := &r.memo
	ends := r.split == splitEnds
	var begin, end int
	if ends {
		begin, end, m.again = r.pattern.searchNonEmpty(text, m.again)
	} else {
		begin, end, m.again = r.pattern.search(text, m.again)
	}
	if begin == 0 && r.pattern.leaning {
		begin, end, m.again = r.pattern.searchBehind(text, 0)
	}
	if begin < 0 {
		return -1
	}
	if certain, open := r.settle(text, begin, end); (!certain || ends && open) && r.awaits(text, begin, full) {
		return -1
	}
	if ends {
		return end
	}
	return begin
}

// dropAllButTail drops what is there but as much as a match may have begun in,
// if possible up to the end of a line, so that it can be searched line by line.
func (r *Framer) dropAllButTail(text []byte) bool {
	tail := r.lookahead
	if r.view.used {
		tail /= 2 // lookahead counts bytes of the file
	}
	n := max(len(text)-tail, 1)
	if i := bytes.LastIndexByte(text[:n], '\n'); i > 0 {
		n = i
	}
	for n < len(text) && !utf8.RuneStart(text[n]) { // not within a character
		n++
	}
	w := r.newWalk()
	raw := w.rawOf(n)
	if raw == 0 {
		return false
	}
	r.drop(w.textAt(n), raw)
	return true
}

func (r *Framer) drop(text, raw int) {
	r.view.next = min(r.view.next+text, len(r.view.text))
	r.memo = memo{}
	r.consume(raw)
}
