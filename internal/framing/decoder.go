package framing

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// replacement is U+FFFD in UTF-8.
const replacement = "\uFFFD"

// decoder reads the characters of one resolved charset. It is owned by a
// Framer. Where a charset has shift states, every token begins in the initial
// one.
type decoder struct {
	charset
	translator transform.Transformer // for translated
}

func newDecoder(c charset) decoder {
	d := decoder{charset: c}
	if c.kind == translated {
		d.translator = c.encoding.NewDecoder()
	}
	return d
}

// restart puts the decoder into its initial state.
func (d *decoder) restart() {
	if d.translator != nil {
		d.translator.Reset()
	}
}

// decode writes the characters of src to dst as UTF-8 until dst is full or src
// holds no further whole character. at is the file position of src, end tells
// that nothing follows it. It returns the bytes written and read.
func (d *decoder) decode(dst, src []byte, at int64, end bool) (written, read int) {
	switch d.kind {
	case utf16Little, utf16Big:
		return decodeUTF16(dst, src, d.kind == utf16Big, at%2 != 0, end)
	case translated:
		written, read, err := d.translator.Transform(dst, src, end)
		if err != nil && err != transform.ErrShortDst && err != transform.ErrShortSrc &&
			read < len(src) && written+len(replacement) <= len(dst) {
			// The decoders of x/text replace what they cannot read; one that
			// refuses it gets the same result here.
			written += copy(dst[written:], replacement)
			read++
		}
		return written, read
	default:
		n := copy(dst, src)
		return n, n
	}
}

// appendDecoded appends to dst the characters of src, and returns how many
// bytes of src they are: all if end is set, else the whole characters.
func (d *decoder) appendDecoded(dst, src []byte, at int64, end bool) (_ []byte, read int) {
	for read < len(src) {
		dst = slices.Grow(dst, len(src)-read+2*utf8.UTFMax)
		room := dst[len(dst):cap(dst)]
		w, n := d.decode(room, src[read:], at+int64(read), end)
		dst = dst[:len(dst)+w]
		read += n
		if w == 0 && n == 0 {
			break
		}
	}
	return dst, read
}

// indexNewline finds the newline in b, which stands at file position at; -1 if
// there is none.
func (d *decoder) indexNewline(b []byte, at int64) int {
	switch d.kind {
	case utf16Little, utf16Big:
		return indexUTF16(b, d.kind == utf16Big, at%2 != 0)
	default:
		if len(d.newline) == 1 {
			return bytes.IndexByte(b, d.newline[0])
		}
		return bytes.Index(b, d.newline)
	}
}

// endsInCarriage tells whether b, which stands at file position at, ends in a
// carriage return.
func (d *decoder) endsInCarriage(b []byte, at int64) bool {
	if !bytes.HasSuffix(b, d.carriage) {
		return false
	}
	return len(d.carriage) == 1 || (at+int64(len(b)))%2 == 0
}

// unfinished is how many of the last of n bytes, which stand at file position
// at, may be the beginning of a newline.
func (d *decoder) unfinished(n int, at int64) int {
	switch d.kind {
	case utf16Little, utf16Big:
		return int((at + int64(n)) % 2)
	default:
		return len(d.newline) - 1
	}
}

// cut returns how many bytes of src make up at most limit bytes of whole
// characters; src, at file position at, is longer than limit. A first character
// that is larger than limit is taken whole. end tells that nothing follows src;
// it is not ok if what follows is needed to tell.
func (d *decoder) cut(src []byte, limit int, at int64, end bool) (n int, ok bool) {
	switch d.kind {
	case utf8Checked, utf8Raw:
		return cutUTF8(src, limit, end)
	case utf16Little, utf16Big:
		return cutUTF16(src, limit, d.kind == utf16Big, at%2 != 0, end)
	case translated:
		return d.cutTranslated(src, limit, end)
	default:
		return limit, true
	}
}

func (d *decoder) cutTranslated(src []byte, limit int, end bool) (n int, ok bool) {
	var room [1024]byte
	for size := limit; size <= min(len(src), limit+utf8Slack); size++ {
		d.restart()
		n = 0
		for n < size {
			w, read := d.decode(room[:], src[n:size], 0, false)
			n += read
			if w == 0 && read == 0 {
				break
			}
		}
		if n > 0 {
			return n, true
		}
	}
	if len(src) <= limit+utf8Slack && !end {
		return 0, false
	}
	return limit, true
}

// cutUTF8 is decoder.cut for UTF-8.
func cutUTF8[T string | []byte](src T, limit int, end bool) (n int, ok bool) {
	var around [utf8.UTFMax - 1 + utf8.UTFMax]byte
	first := max(limit-(utf8.UTFMax-1), 0)
	window := around[:copy(around[:], src[first:])]
	middle := limit - first
	for begin := middle - 1; begin >= 0; begin-- {
		if !utf8.RuneStart(window[begin]) {
			continue
		}
		if !utf8.FullRune(window[begin:]) && !end {
			return limit, false
		}
		_, size := utf8.DecodeRune(window[begin:])
		switch {
		case begin+size <= middle:
			return limit, true
		case first+begin > 0:
			return first + begin, true
		default:
			return size, true
		}
	}
	return limit, true
}

// appendRepaired appends s, in which U+FFFD takes the place of what is no UTF-8:
// of each byte that begins nothing, and of as much of a character as there is.
func appendRepaired[T string | []byte](dst []byte, s T) []byte {
	copied := 0 // of s
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		window := string(s[i:min(i+utf8.UTFMax, len(s))])
		char, size := utf8.DecodeRuneInString(window)
		if char == utf8.RuneError && size == 1 {
			size = fragment(window)
			dst = append(append(dst, s[copied:i]...), replacement...)
			copied = i + size
		}
		i += size
	}
	return append(dst, s[copied:]...)
}

// fragment is how many bytes at the beginning of s, which is no whole
// character, are the beginning of one; 1 if none are.
func fragment(s string) int {
	least, most := byte(0x80), byte(0xBF) // of the second byte
	size := 3
	switch first := s[0]; {
	case first < 0xE0 || first > 0xF4:
		return 1
	case first == 0xE0:
		least = 0xA0
	case first == 0xED:
		most = 0x9F
	case first == 0xF0:
		size, least = 4, 0x90
	case first == 0xF4:
		size, most = 4, 0x8F
	case first > 0xF0:
		size = 4
	}
	switch {
	case len(s) < 2 || s[1] < least || s[1] > most:
		return 1
	case size == 3 || len(s) < 3 || s[2] < 0x80 || s[2] > 0xBF:
		return 2
	default:
		return 3
	}
}
