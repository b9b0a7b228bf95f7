package tail

import "github.com/otelfilelog/filelogreceiver/internal/fileid"

// window is the part of a file's content that a worker has in memory. It keeps
// the bytes before the unfinished record that a frontier there covers.
type window struct {
	buf   []byte // its length is what is filled
	start int64  // position of buf[0]
}

// reset empties the window and sets it to position.
func (w *window) reset(position int64) {
	w.buf, w.start = w.buf[:0], position
}

// end is the position behind the last byte.
func (w *window) end() int64 { return w.start + int64(len(w.buf)) }

// from is the bytes from position on.
func (w *window) from(position int64) []byte { return w.buf[position-w.start:] }

// frontier makes the frontier at position; the zero value if the window does
// not reach back far enough.
func (w *window) frontier(position int64) fileid.Frontier {
	end := position - w.start
	begin := end - int64(fileid.WindowLen(position))
	if begin < 0 {
		return fileid.Frontier{}
	}
	return fileid.NewFrontier(position, w.buf[begin:end])
}

// space makes room for at least n more bytes, lets go of what is before
// position but for what its frontier covers, and returns the room.
func (w *window) space(position int64, n int) []byte {
	if drop := position - int64(fileid.WindowLen(position)) - w.start; drop > 0 {
		w.buf = w.buf[:copy(w.buf, w.buf[drop:])]
		w.start += drop
	}
	if need := len(w.buf) + n; cap(w.buf) < need {
		grown := make([]byte, len(w.buf), max(need, 2*cap(w.buf)))
		copy(grown, w.buf)
		w.buf = grown
	}
	return w.buf[len(w.buf) : len(w.buf)+n]
}

// filled says that n more bytes were read into the room.
func (w *window) filled(n int) { w.buf = w.buf[:len(w.buf)+n] }

// trim gives a large buffer back.
func (w *window) trim() {
	if cap(w.buf) > keepBuffer {
		w.buf = nil
	}
}
