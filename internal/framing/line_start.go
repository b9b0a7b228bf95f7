package framing

// LineStart is where in buf, which stands at file position at, the line begins
// that is unfinished at its end; -1 if no line ends in buf. head is as in
// Framer.Reset.
func (f *Framing) LineStart(head, buf []byte, at int64) int {
	d := newDecoder(f.charset.resolve(head))
	start := -1
	for next := 0; ; start = next {
		i := d.indexNewline(buf[next:], at+int64(next))
		if i < 0 {
			return start
		}
		next += i + len(d.newline)
	}
}
