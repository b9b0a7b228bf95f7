package framing

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"
)

func TestALineStartsBehindTheNewlineOfItsEncoding(t *testing.T) {
	// U+0A0A and U+4E0A have the byte of a newline in them.
	const text = "one\n\u0A0A\u4E0A\ntw"
	for name, start := range map[string]int{"utf-8": 11, "utf-16le": 14, "utf-16be": 14, "utf-16": 14} {
		f, err := New(Config{Encoding: name, MaxLogSize: 1 << 20})
		require.NoError(t, err)
		buf := []byte(text)
		switch name {
		case "utf-16le", "utf-16":
			buf, err = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().Bytes(buf)
		case "utf-16be":
			buf, err = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder().Bytes(buf)
		}
		require.NoError(t, err)
		require.Equal(t, start, f.LineStart(buf, buf, 0), name)
		require.Equal(t, start-1, f.LineStart(buf, buf[1:], 1), "%s, from an odd position", name)
		require.Equal(t, -1, f.LineStart(buf, buf[start:], int64(start)), name)
		require.Equal(t, -1, f.LineStart(buf, nil, 0), name)
	}
}
