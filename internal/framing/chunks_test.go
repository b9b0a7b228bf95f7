package framing

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chunkConfigs are configurations under which records must not depend on how
// the file grew. The patterns are such that a match does not depend on text far
// behind it.
var chunkConfigs = []Config{
	{},
	{PreserveLeading: true, PreserveTrailing: true},
	{Encoding: "utf-8-raw"},
	{Encoding: "utf-16"},
	{Encoding: "utf-16le", PreserveTrailing: true},
	{Encoding: "utf-16be"},
	{Encoding: "iso-8859-1"},
	{Encoding: "big5"},
	{Encoding: "gb18030"},
	{Encoding: "shift_jis", PreserveLeading: true},
	{LineStartPattern: `^>`},
	{LineStartPattern: `>+`, OmitPattern: true},
	{LineStartPattern: `a>`, Encoding: "utf-16le"},
	{LineStartPattern: `>\n`},
	{LineEndPattern: `>`},
	{LineEndPattern: `\r?\n`, OmitPattern: true},
	{LineEndPattern: `>$`},
	{LineEndPattern: `a>\n?`},
	{LineEndPattern: `>`, Encoding: "utf-16be", OmitPattern: true},
	{LineEndPattern: `>`, Encoding: "shift_jis"},
	{LineEndPattern: `\ba`},
}

// alphabet is what generated contents are made of: line ends, blanks, pattern
// characters, characters of every length, broken ones, and bytes that look like
// parts of others.
var alphabet = []string{
	"\n", "\n", "\n", "\r\n", "\r", " ", "\t", "a", "b", ">", ">", "a>", "é", "日", "😀", "\xff", "\x80", "\xE6\x97", "\xF0", "\x00", "\x0A\x05", "\xD8\x3D", "\xFE\xFF", "\xEF\xBB\xBF",
}

func generate(random *rand.Rand) string {
	var content string
	wide := random.IntN(2)
	for range random.IntN(60) {
		s := alphabet[random.IntN(len(alphabet))]
		switch wide {
		case 0:
			content += s
		default:
			content += utf16Of(s, random.IntN(20) == 0)
		}
	}
	return content
}

// checkChunks reads content at once and in chunks and compares. A cut tells
// how long each chunk is.
func checkChunks(t testing.TB, c Config, content string, chunk func() int) {
	f, err := New(c)
	require.NoError(t, err)
	whole := newReader(t, f, content)
	whole.grow(len(content), false)
	parts := newReader(t, f, content)
	for parts.end < len(content) {
		parts.grow(chunk(), false)
	}
	if !assert.Equal(t, whole.records, parts.records, "config %+v, content %q", c, content) {
		t.FailNow()
	}
	// While an entry is dropped, how much of it is kept for the pattern may differ.
	if p := whole.framer.Position(); !p.Skipping {
		require.Equal(t, p, parts.framer.Position(), "config %+v, content %q", c, content)
	}

	// A framer that knows nothing but the position goes on in the same way.
	resumed := newReader(t, f, content)
	for resumed.end < len(content) {
		resumed.grow(chunk(), false)
		p := resumed.framer.Position()
		resumed.framer = f.NewFramer()
		resumed.framer.Reset(p, resumed.content[:min(4, len(content))])
	}
	require.Equal(t, whole.records, resumed.records, "resumed: config %+v, content %q", c, content)

	whole.grow(0, true)
	parts.grow(0, true)
	resumed.grow(0, true)
	require.Equal(t, whole.records, parts.records, "flushed: config %+v, content %q", c, content)
	require.Equal(t, whole.records, resumed.records, "resumed and flushed: config %+v, content %q", c, content)
	checkCover(t, c, content, whole)
}

// checkCover checks that records and what lies between them make up the file:
// between records there is nothing but blanks, what was dropped, or nothing.
func checkCover(t testing.TB, c Config, content string, r *reader) {
	at := Position{}
	for _, rec := range r.records {
		require.GreaterOrEqual(t, rec.start, at.Offset, "records overlap: config %+v, content %q", c, content)
		require.Greater(t, rec.after.Offset, rec.start, "an empty range: config %+v, content %q", c, content)
		require.Greater(t, rec.number, at.RecordNumber)
		require.Equal(t, rec.number, rec.after.RecordNumber)
		if rec.number == at.RecordNumber+1 && !at.Skipping {
			require.Equal(t, at.Offset, rec.start, "a gap: config %+v, content %q", c, content)
		}
		at = rec.after
	}
	p := r.framer.Position()
	require.Equal(t, int64(len(content)), p.Offset)
	if p.RecordNumber == at.RecordNumber && !at.Skipping && at.RecordNumber > 0 {
		require.Equal(t, p.Offset, at.Offset, "a gap at the end: config %+v, content %q", c, content)
	}
}

func TestRecordsDoNotDependOnHowTheFileGrew(t *testing.T) {
	for i, c := range chunkConfigs {
		t.Run(fmt.Sprintf("%d %s %s%s", i, c.Encoding, c.LineStartPattern, c.LineEndPattern), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for range 40 {
				c := c
				c.MaxLogSize = []int{mebibyte, 1, 2, 3, 4, 5, 7, 10}[random.IntN(8)]
				c.TruncateOversize = random.IntN(2) == 0
				content := generate(random)
				most := 1 + random.IntN(9)
				checkChunks(t, c, content, func() int { return 1 + random.IntN(most) })
			}
		})
	}
}

func FuzzChunks(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), uint16(1), uint8(0), uint8(3))
	f.Add([]byte("\xEF\xBB\xBFa>b\n>\n"), uint16(4), uint8(11), uint8(1))
	f.Add([]byte(utf16Of("\uFEFFa😀>\nb", false)), uint16(5), uint8(3), uint8(1))
	f.Fuzz(func(t *testing.T, content []byte, limit uint16, choice, step uint8) {
		if len(content) > 512 {
			return
		}
		c := chunkConfigs[int(choice)%len(chunkConfigs)]
		c.MaxLogSize = int(limit) + 1
		c.TruncateOversize = choice >= 128
		n := 1 + int(step)
		checkChunks(t, c, string(content), func() int {
			n = 1 + (n*7+3)%(1+int(step)) // uneven, yet the same each time
			return n
		})
	})
}
