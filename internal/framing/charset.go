package framing

import (
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

// charsetKind is the way in which characters are read from bytes.
type charsetKind uint8

const (
	utf8Checked charsetKind = iota // UTF-8, invalid bytes are replaced
	utf8Raw                        // UTF-8, bytes stay as they are
	utf16Little                    // UTF-16, low byte first
	utf16Big                       // UTF-16, high byte first
	utf16Marked                    // UTF-16, the byte order mark tells; low byte first without one
	translated                     // by a decoder of golang.org/x/text
	opaque                         // no characters, only bytes
)

// charset is a character encoding.
type charset struct {
	kind     charsetKind
	encoding encoding.Encoding // for translated
	newline  []byte            // what ends a line; for utf16Marked not set
	carriage []byte            // a carriage return
}

// ownCharsets are the encodings that need no table, by lower-case name.
var ownCharsets = map[string]charsetKind{
	"":          utf8Checked,
	"utf-8":     utf8Checked,
	"utf8":      utf8Checked,
	"ascii":     utf8Checked,
	"us-ascii":  utf8Checked,
	"utf-8-raw": utf8Raw,
	"utf8-raw":  utf8Raw,
	"utf-16":    utf16Marked,
	"utf16":     utf16Marked,
	"nop":       opaque,
}

// ownIANA are those among them that the IANA index knows under more names.
var ownIANA = map[string]charsetKind{
	"UTF-8":    utf8Checked,
	"UTF-16":   utf16Marked,
	"UTF-16LE": utf16Little,
	"UTF-16BE": utf16Big,
}

func lookupCharset(name string) (charset, error) {
	if kind, ok := ownCharsets[strings.ToLower(name)]; ok {
		return ownCharset(kind), nil
	}
	enc, err := ianaindex.IANA.Encoding(name)
	if err != nil {
		return charset{}, fmt.Errorf("unsupported encoding '%s'", name)
	}
	if enc == nil {
		return charset{}, fmt.Errorf("no charmap defined for encoding '%s'", name)
	}
	if canonical, err := ianaindex.IANA.Name(enc); err == nil {
		if kind, ok := ownIANA[canonical]; ok {
			return ownCharset(kind), nil
		}
	}
	newline, err := enc.NewEncoder().Bytes([]byte{'\n'})
	if err != nil || len(newline) == 0 {
		return charset{}, fmt.Errorf("encoding '%s' has no newline character", name)
	}
	carriage, err := enc.NewEncoder().Bytes([]byte{'\r'})
	if err != nil {
		return charset{}, fmt.Errorf("encoding '%s' has no carriage return character", name)
	}
	return charset{kind: translated, encoding: enc, newline: newline, carriage: carriage}, nil
}

func ownCharset(kind charsetKind) charset {
	c := charset{kind: kind}
	switch kind {
	case utf16Little:
		c.newline, c.carriage = []byte{'\n', 0}, []byte{'\r', 0}
	case utf16Big:
		c.newline, c.carriage = []byte{0, '\n'}, []byte{0, '\r'}
	default:
		c.newline, c.carriage = []byte{'\n'}, []byte{'\r'}
	}
	return c
}

// decodes tells whether the bytes are something else than UTF-8.
func (c *charset) decodes() bool {
	return c.kind != utf8Checked && c.kind != utf8Raw && c.kind != opaque
}

// resolve returns the encoding of a file that begins with head: for
// utf16Marked one of the two byte orders, else the encoding itself.
func (c *charset) resolve(head []byte) charset {
	if c.kind != utf16Marked {
		return *c
	}
	if len(head) >= 2 && head[0] == 0xFE && head[1] == 0xFF {
		return ownCharset(utf16Big)
	}
	return ownCharset(utf16Little)
}

// mark is the byte order mark that is no part of the first record, "" if the
// encoding has none or keeps it.
func (c *charset) mark() string {
	switch c.kind {
	case utf8Checked:
		return "\xEF\xBB\xBF"
	case utf16Little:
		return "\xFF\xFE"
	case utf16Big:
		return "\xFE\xFF"
	default:
		return ""
	}
}
