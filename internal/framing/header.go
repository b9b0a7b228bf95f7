package framing

import "bytes"

// HeaderLine reads the line at the framer's position, where buf begins, and
// moves the position behind it without counting a record. The line is decoded,
// and the carriage returns and newlines at its end are removed; neither the
// pattern nor trimming apply to it. A line longer than the size limit comes in
// parts. It is not ok if buf holds no whole line: more bytes are needed, and
// what they will be may not be a header.
//
// To read the same line as content, Reset goes back to where it began.
func (r *Framer) HeaderLine(buf []byte) (line string, ok bool) {
	r.load(buf, false)
	rest := r.rest()
	newline := len(r.decoder.newline)
	longest := r.limit + len(r.decoder.carriage) + newline
	window := rest[:min(len(rest), longest)]
	end := r.decoder.indexNewline(window, r.at())
	next := end + newline
	if end < 0 {
		if len(window) < longest {
			return "", false
		}
		cut, known := r.decoder.cut(rest, r.limit, r.at(), false)
		if !known {
			return "", false
		}
		end, next = cut, cut
	}
	r.decoder.restart()
	r.scratch, _ = r.decoder.appendDecoded(r.scratch[:0], rest[:end], r.at(), true)
	text := bytes.TrimRight(r.scratch, "\r\n")
	line = string(text)
	if r.charset.kind == utf8Checked {
		line = string(appendRepaired(r.repair[:0], line))
	}
	r.view.clear()
	r.memo = memo{}
	r.consume(next)
	return line, true
}
