package source

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func member(t testing.TB, text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// gunzipped reads all there is, and returns the error that ended it.
func gunzipped(data []byte, base int64) (string, error) {
	g, err := NewGunzip(bytes.NewReader(data), base, int64(len(data)))
	if err != nil {
		return "", err
	}
	defer g.Close()
	var text strings.Builder
	p := make([]byte, 7)
	for {
		n, err := g.Read(p)
		text.Write(p[:n])
		if err != nil {
			return text.String(), err
		}
	}
}

func TestSeveralMembersAreOneContent(t *testing.T) {
	first, second := member(t, "first\n"), member(t, "second\n")
	text, err := gunzipped(append(bytes.Clone(first), second...), 0)
	require.Equal(t, io.EOF, err)
	require.Equal(t, "first\nsecond\n", text)
	text, err = gunzipped(append(bytes.Clone(first), second...), int64(len(first)))
	require.Equal(t, io.EOF, err)
	require.Equal(t, "second\n", text, "from where the second member begins")
}

func TestAMemberThatIsStillBeingWrittenIsIncompleteNotDamaged(t *testing.T) {
	whole := append(member(t, "first\n"), member(t, strings.Repeat("second line\n", 100))...)
	boundary := len(member(t, "first\n"))
	for size := 1; size < len(whole); size++ {
		text, err := gunzipped(whole[:size], 0)
		if size == boundary {
			require.Equal(t, io.EOF, err)
		} else {
			require.ErrorIs(t, err, ErrIncomplete, "of %d bytes", size)
		}
		require.True(t, strings.HasPrefix("first\n"+strings.Repeat("second line\n", 100), text))
	}
}

func TestDamagedContentIsAnErrorOfItsOwn(t *testing.T) {
	data := member(t, "some text that is long enough\n")
	data[len(data)-6] ^= 0xff // the checksum
	_, err := gunzipped(data, 0)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrIncomplete)
	require.NotEqual(t, io.EOF, err)
}

func TestSkipGoesOnWhereItStopped(t *testing.T) {
	data := member(t, "0123456789")
	g, err := NewGunzip(bytes.NewReader(data), 0, int64(len(data)))
	require.NoError(t, err)
	defer g.Close()
	require.NoError(t, g.Skip(4, make([]byte, 3)))
	require.EqualValues(t, 4, g.Pos())
	p := make([]byte, 3)
	n, err := g.Read(p)
	require.NoError(t, err)
	require.Equal(t, "456", string(p[:n]))
	require.Equal(t, io.EOF, g.Skip(100, p))
}

func FuzzGunzipNeverPanics(f *testing.F) {
	f.Add(member(f, "text\n"))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = gunzipped(data, 0) })
}
