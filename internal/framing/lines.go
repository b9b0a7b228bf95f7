package framing

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// pieceSize is how many bytes of records share one string at most, unless a
// single record is larger.
const pieceSize = 64 << 10

// nextLine is Next for lines in UTF-8. It is the hot path: no allocation, no
// call through a pointer and no work besides searching the newline and
// trimming for each line.
func (r *Framer) nextLine() bool {
	for {
		for r.line < len(r.text) {
			line := r.text[r.line:]
			if r.pos.Skipping {
				r.pos.Skipping = false
				r.line += strings.IndexByte(line, '\n') + 1
				r.pos.Offset = r.textAt + int64(r.line)
				continue
			}
			window := line
			if len(window) > r.limit+len("\r\n") {
				window = window[:r.limit+len("\r\n")]
			}
			end := strings.IndexByte(window, '\n')
			next := end + 1
			if end > 0 && window[end-1] == '\r' {
				end--
			}
			if uint(end) > uint(r.limit) { // also if no newline was found
				end, _ = cutUTF8(line, r.limit, true)
				next = end
				r.pos.Skipping = r.truncate
			}
			r.start = r.pos.Offset
			r.line += next
			r.pos.Offset = r.textAt + int64(r.line)
			r.pos.RecordNumber++

			begin := 0
			if !r.preserveTrailing {
				for end > 0 && isBlank(line[end-1]) {
					end--
				}
			}
			if !r.preserveLeading {
				for begin < end && isBlank(line[begin]) {
					begin++
				}
			}
			if begin == end {
				continue
			}
			r.body = line[begin:end]
			if !r.sound {
				r.repairBody()
			}
			return true
		}
		if r.pos.Skipping && !r.skipLine() {
			return false
		}
		switch r.takePiece() {
		case pieceNone:
			return false
		case pieceRecord:
			return true
		}
	}
}

func (r *Framer) repairBody() {
	if utf8.ValidString(r.body) {
		return
	}
	r.repair = appendRepaired(r.repair[:0], r.body)
	r.body = string(r.repair)
}

// skipLine consumes up to the end of a line that is being dropped, or all there
// is, and tells whether it found the end.
func (r *Framer) skipLine() bool {
	i := bytes.IndexByte(r.rest(), '\n')
	if i < 0 {
		r.consume(len(r.rest()))
		return false
	}
	r.consume(i + 1)
	r.pos.Skipping = false
	return true
}

type piece uint8

const (
	pieceNone   piece = iota // nothing whole is left
	pieceLines               // text holds whole lines
	pieceRecord              // the record is ready: a part of a line
	pieceEmpty               // the same, but it is empty
)

// takePiece makes a string of the next whole lines, about pieceSize of them,
// or a record of the beginning of a line that is too long or will not end.
func (r *Framer) takePiece() piece {
	if r.next == len(r.feed) {
		return pieceNone
	}
	from := max(r.seen, r.next)
	if until := min(r.next+pieceSize, len(r.feed)); from < until {
		if i := bytes.IndexByte(r.feed[from:until], '\n'); i >= 0 {
			r.takeLines(from + i + 1 + bytes.LastIndexByte(r.feed[from+i+1:until], '\n') + 1)
			return pieceLines
		}
		from = until
	}
	if until := min(r.next+r.limit+len("\r\n"), len(r.feed)); from < until {
		if i := bytes.IndexByte(r.feed[from:until], '\n'); i >= 0 {
			r.takeLines(from + i + 1)
			return pieceLines
		}
		from = until
	}
	r.seen = from
	return r.takePart()
}

// takeLines makes the text of the bytes up to end, which is behind a newline.
func (r *Framer) takeLines(end int) {
	r.text = string(r.feed[r.next:end])
	r.textAt = r.at()
	r.line = 0
	r.sound = r.charset.kind == utf8Raw || utf8.ValidString(r.text)
	r.next = end
}

// takePart makes a record of the rest, in which there is no newline, if the
// rest is flushed or larger than a record may be.
func (r *Framer) takePart() piece {
	rest := r.rest()
	end := len(rest)
	// A rest of one byte above the limit may still be a line of exactly the
	// limit that ends in CR LF.
	oversize := end > r.limit+1 || end == r.limit+1 && rest[r.limit] != '\r'
	if !oversize && !r.flush {
		return pieceNone
	}
	skipping := false
	if end > r.limit {
		cut, ok := cutUTF8(rest, r.limit, r.flush)
		if !ok {
			return pieceNone
		}
		end, skipping = cut, r.truncate
	}
	content := trimBytes(rest[:end], !r.preserveLeading, !r.preserveTrailing)
	r.start = r.pos.Offset
	r.consume(end)
	r.pos.RecordNumber++
	r.pos.Skipping = skipping
	if len(content) == 0 {
		return pieceEmpty
	}
	r.body = string(content)
	if r.charset.kind == utf8Checked {
		r.repairBody()
	}
	return pieceRecord
}

// trimBytes removes blanks, tabs, carriage returns and newlines from the sides
// that are asked for.
func trimBytes(b []byte, leading, trailing bool) []byte {
	if trailing {
		for len(b) > 0 && isBlank(b[len(b)-1]) {
			b = b[:len(b)-1]
		}
	}
	if leading {
		for len(b) > 0 && isBlank(b[0]) {
			b = b[1:]
		}
	}
	return b
}
