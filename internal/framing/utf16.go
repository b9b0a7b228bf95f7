package framing

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Units of UTF-16 lie at even positions of the file. A file position and not
// the beginning of a token decides that, so that reading falls into step again
// after half a character was flushed.

// decodeUTF16 writes the characters of src to dst as UTF-8, until dst is full
// or src holds no further whole character. odd tells that src begins in the
// middle of a unit, end that nothing will follow src; broken units become
// U+FFFD. It returns the bytes written and the bytes of src that these are.
func decodeUTF16(dst, src []byte, big, odd, end bool) (written, read int) {
	if odd && len(src) > 0 {
		if len(dst) < len(replacement) {
			return 0, 0
		}
		written, read = copy(dst, replacement), 1
	}
	for read+1 < len(src) {
		char, size := rune(unit(src[read:], big)), 2
		if char < utf8.RuneSelf {
			if written == len(dst) {
				return written, read
			}
			dst[written] = byte(char)
			written++
			read += 2
			continue
		}
		if utf16.IsSurrogate(char) {
			if char < 0xDC00 && len(src)-read < 4 && !end {
				return written, read
			}
			if len(src)-read >= 4 {
				char = utf16.DecodeRune(char, rune(unit(src[read+2:], big)))
			} else {
				char = utf8.RuneError
			}
			if char != utf8.RuneError {
				size = 4
			}
		}
		if written+utf8.RuneLen(char) > len(dst) {
			return written, read
		}
		written += utf8.EncodeRune(dst[written:], char)
		read += size
	}
	if end && read < len(src) && written+len(replacement) <= len(dst) {
		written += copy(dst[written:], replacement)
		read++
	}
	return written, read
}

func unit(b []byte, big bool) uint16 {
	if big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// indexUTF16 finds the newline unit in b, of which odd tells that it begins in
// the middle of a unit; -1 if there is none.
func indexUTF16(b []byte, big, odd bool) int {
	first, low := 0, 0 // where the first unit begins, and where its low byte stands in it
	if odd {
		first = 1
	}
	if big {
		low = 1
	}
	for at := first; at+1 < len(b); {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return -1
		}
		begin := at + i - low
		if begin >= first && (begin-first)%2 == 0 && begin+1 < len(b) && b[begin+1-low] == 0 {
			return begin
		}
		at += i + 1
	}
	return -1
}

// cutUTF16 returns how many bytes of src, which is longer than limit, make up
// at most limit bytes of whole characters, or one character if the first is
// larger than limit. It is not ok if more bytes are needed to tell.
func cutUTF16(src []byte, limit int, big, odd, end bool) (n int, ok bool) {
	phase := 0
	if odd {
		phase = 1
	}
	n = limit - (limit+phase)%2
	if n == 0 {
		n = 2 // the first unit alone is larger
		if len(src) < n {
			return len(src), end
		}
	}
	if n-2 < phase || !isHighSurrogate(unit(src[n-2:], big)) {
		return n, true
	}
	if len(src) < n+2 {
		return n, end
	}
	if next := unit(src[n:], big); next < 0xDC00 || next > 0xDFFF {
		return n, true
	}
	if n-2 > 0 {
		return n - 2, true
	}
	return n + 2, true
}

func isHighSurrogate(u uint16) bool { return u >= 0xD800 && u < 0xDC00 }
