package framing

import (
	"math/rand/v2"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

func TestUTF16IsDecodedAsTheStandardLibraryDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	units := []uint16{'a', '\n', 0, 0x00E9, 0x0A05, 0x0100, 0xD83D, 0xDE00, 0xDBFF, 0xDC00, 0xFFFD, 0xFFFF, 0xFEFF}
	for range 2000 {
		chosen := make([]uint16, random.IntN(12))
		for i := range chosen {
			chosen[i] = units[random.IntN(len(units))]
		}
		for _, big := range []bool{false, true} {
			var raw []byte
			for _, u := range chosen {
				if big {
					raw = append(raw, byte(u>>8), byte(u))
				} else {
					raw = append(raw, byte(u), byte(u>>8))
				}
			}
			kind := utf16Little
			if big {
				kind = utf16Big
			}
			d := newDecoder(ownCharset(kind))
			text, read := d.appendDecoded(nil, raw, 0, true)
			require.Equal(t, len(raw), read)
			require.Equal(t, string(utf16.Decode(chosen)), string(text), "units %x", chosen)

			// Every place in the text is found again in the bytes.
			for cut := range text {
				written, read := d.decode(make([]byte, cut), raw, 0, true)
				again, _ := d.appendDecoded(nil, raw[:read], 0, true)
				require.Equal(t, string(text[:written]), string(again), "units %x, cut %d", chosen, cut)
			}
		}
	}
}

func TestAFileReadFromTheMiddleOfAUnitFallsIntoStep(t *testing.T) {
	f, err := New(Config{Encoding: "utf-16le", MaxLogSize: mebibyte})
	require.NoError(t, err)
	content := []byte(utf16Of("one\ntwo\n", false))
	r := f.NewFramer()
	r.Reset(Position{Offset: 3}, content)
	r.Feed(content[3:], false)
	require.True(t, r.Next())
	require.Equal(t, "\uFFFDe", r.Body())
	require.True(t, r.Next())
	require.Equal(t, "two", r.Body())
}
