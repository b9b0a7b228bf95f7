package framing

import "unicode/utf8"

// token is a record that waits in the queue.
type token struct {
	begin, end int // of its body in text
	start      int64
	after      Position
}

// nextQueued is Next for all but lines in UTF-8. Tokens are made until their
// bodies fill a piece; then these become one string.
func (r *Framer) nextQueued() bool {
	if r.served == len(r.queue) && !r.fillQueue() {
		return false
	}
	t := &r.queue[r.served]
	r.served++
	r.body, r.start, r.after = r.text[t.begin:t.end], t.start, t.after
	return true
}

func (r *Framer) fillQueue() bool {
	r.queue, r.served = r.queue[:0], 0
	r.scratch = r.scratch[:0]
	for len(r.scratch) < pieceSize && r.next < len(r.feed) && r.step() {
	}
	r.text = string(r.scratch)
	return len(r.queue) > 0
}

// step makes one token, or drops a part of an oversized one. It returns false
// if that needs more bytes.
func (r *Framer) step() bool {
	switch r.split {
	case splitNothing:
		return r.stepBytes()
	case splitLines:
		if r.pos.Skipping {
			return r.skipEncodedLine()
		}
		return r.stepEncodedLine()
	default:
		if r.pos.Skipping {
			return r.skipEntry()
		}
		return r.stepEntry()
	}
}

// stepBytes takes pieces of the size limit, and what is left when it is flushed.
func (r *Framer) stepBytes() bool {
	rest := r.rest()
	if len(rest) < r.limit && !r.flush {
		return false
	}
	n := min(len(rest), r.limit)
	begin := len(r.scratch)
	r.scratch = append(r.scratch, rest[:n]...)
	r.finish(begin, n, false)
	return true
}

// stepEncodedLine takes a line in an encoding that has to be decoded.
func (r *Framer) stepEncodedLine() bool {
	rest := r.rest()
	newline, carriage := len(r.decoder.newline), len(r.decoder.carriage)
	window := rest[:min(len(rest), r.limit+carriage+newline)]
	from := r.searched()
	end := -1
	if from < len(window) {
		if end = r.decoder.indexNewline(window[from:], r.at()+int64(from)); end >= 0 {
			end += from
		}
	}
	next := end + newline
	switch {
	case end >= 0:
		if r.decoder.endsInCarriage(rest[:end], r.at()) {
			end -= carriage
		}
	case len(window) == r.limit+carriage+newline:
		end = len(rest)
	case r.flush:
		end, next = len(rest), len(rest)
	default:
		r.seen = r.next + len(window)
		return false
	}
	skipping := false
	if end > r.limit {
		cut, ok := r.decoder.cut(rest[:end], r.limit, r.at(), r.flush || end < len(rest))
		if !ok {
			return false
		}
		end, next, skipping = cut, cut, r.truncate
	}
	begin := len(r.scratch)
	r.decoder.restart()
	r.scratch, _ = r.decoder.appendDecoded(r.scratch, rest[:end], r.at(), true)
	r.finish(begin, next, skipping)
	return true
}

// searched is how much of the rest is known to hold no newline, less what may
// be the beginning of one.
func (r *Framer) searched() int {
	n := r.seen - r.next - (len(r.decoder.newline) + 1)
	if n <= 0 {
		return 0
	}
	return n
}

// skipEncodedLine drops bytes up to the next newline, or all there is.
func (r *Framer) skipEncodedLine() bool {
	rest := r.rest()
	if i := r.decoder.indexNewline(rest, r.at()); i >= 0 {
		r.consume(i + len(r.decoder.newline))
		r.pos.Skipping = false
		return true
	}
	n := len(rest)
	if !r.flush {
		n -= r.decoder.unfinished(n, r.at())
	}
	if n > 0 {
		r.consume(n)
	}
	return false
}

// finish makes a token of the scratch bytes from begin on and goes n bytes
// ahead. If nothing is left after trimming, it only counts.
func (r *Framer) finish(begin, n int, skipping bool) {
	start := r.pos.Offset
	r.consume(n)
	r.pos.RecordNumber++
	r.pos.Skipping = skipping
	before := begin
	body := r.scratch[begin:]
	if r.split != splitNothing {
		if !r.preserveTrailing {
			body = trimBytes(body, false, true)
		}
		end := len(body)
		if !r.preserveLeading {
			body = trimBytes(body, true, false)
		}
		begin += end - len(body)
	}
	if len(body) == 0 {
		r.scratch = r.scratch[:before]
		return
	}
	r.queue = append(r.queue, token{begin: begin, end: begin + len(body), start: start, after: r.pos})
}

// appendText appends text that is already UTF-8, repaired where it is not and
// the encoding asks for it.
func (r *Framer) appendText(text []byte) {
	if r.charset.kind != utf8Checked || utf8.Valid(text) {
		r.scratch = append(r.scratch, text...)
		return
	}
	r.scratch = appendRepaired(r.scratch, text)
}
