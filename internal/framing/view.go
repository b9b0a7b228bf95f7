package framing

// view is the decoded text of what was fed, for patterns to be searched in
// when the file is not UTF-8. It grows with what is fed, so that nothing is
// decoded twice.
type view struct {
	used bool
	text []byte
	next int // in text: the same place as Framer.next
	read int // in feed: how much was decoded
}

func (v *view) clear() { v.text, v.next, v.read = v.text[:0], 0, 0 }

// extendView decodes what is new in feed; consumed is how many bytes of the
// feed before are gone.
func (r *Framer) extendView(consumed int) {
	v := &r.view
	v.text = v.text[:copy(v.text, v.text[v.next:])]
	v.next = 0
	v.read -= consumed
	if len(v.text) == 0 || v.read < r.next || v.read > len(r.feed) {
		v.clear()
		v.read = r.next
	}
	r.decoder.restart()
	var read int
	v.text, read = r.decoder.appendDecoded(v.text, r.feed[v.read:], r.feedAt+int64(v.read), r.flush)
	v.read += read
}

// entryText is the UTF-8 text of the bytes that belong to no token yet.
func (r *Framer) entryText() []byte {
	if r.view.used {
		return r.view.text[r.view.next:]
	}
	return r.rest()
}

// walk maps places in entryText to places in rest. Places are asked for in
// ascending order. The decoder stops where its room is full, which is how a
// place in the text is found again in the bytes.
type walk struct {
	r         *Framer
	raw, text int
}

func (r *Framer) newWalk() walk {
	r.decoder.restart()
	return walk{r: r}
}

// rawOf returns the place in rest where the character at text stands. Where a
// character of the file became several of UTF-8, the second one's place is
// behind it.
func (w *walk) rawOf(text int) int {
	if !w.r.view.used {
		return text
	}
	rest := w.r.rest()
	var room [512]byte
	for w.text < text && w.raw < len(rest) {
		size := min(text-w.text, len(room))
		written, read := w.r.decoder.decode(room[:size], rest[w.raw:], w.r.at()+int64(w.raw), w.r.flush)
		if written == 0 && read == 0 {
			written, read = w.single(rest) // text is within what one character became
			if written == 0 && read == 0 {
				break
			}
		}
		w.text += written
		w.raw += read
	}
	return w.raw
}

// textAt is the place in entryText that rawOf reached: text, or the next place
// at which a character of the file ends.
func (w *walk) textAt(text int) int {
	if !w.r.view.used {
		return text
	}
	return w.text
}

// single decodes the one next character.
func (w *walk) single(rest []byte) (written, read int) {
	var room [utf8Slack]byte
	at := w.r.at() + int64(w.raw)
	for size := 1; size <= len(room); size++ {
		written, read = w.r.decoder.decode(room[:size], rest[w.raw:], at, w.r.flush)
		if written > 0 || read > 0 {
			break
		}
	}
	return written, read
}
