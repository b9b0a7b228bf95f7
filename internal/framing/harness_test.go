package framing

import (
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record is what a Framer says of one record.
type record struct {
	body   string
	start  int64
	number int64
	after  Position
}

// reader feeds a framer as the receiver does: what was not consumed is fed
// again with what follows it.
type reader struct {
	t       testing.TB
	framer  *Framer
	content []byte
	end     int // content[:end] was written
	records []record
}

func newReader(t testing.TB, f *Framing, content string) *reader {
	r := &reader{t: t, framer: f.NewFramer(), content: []byte(content)}
	r.framer.Reset(Position{}, r.content[:min(len(r.content), 4)])
	return r
}

// grow makes n more bytes of the content known and reads them.
func (r *reader) grow(n int, flush bool) {
	r.end = min(r.end+n, len(r.content))
	from := r.framer.Position().Offset
	buf := make([]byte, int64(r.end)-from) // a copy of its own: the race detector and cap checks see any overstepping
	copy(buf, r.content[from:r.end])
	r.framer.Feed(buf, flush)
	for r.framer.Next() {
		r.records = append(r.records, record{r.framer.Body(), r.framer.Start(), r.framer.Number(), r.framer.After()})
	}
	p := r.framer.Position()
	require.GreaterOrEqual(r.t, p.Offset, from, "the position went back")
	require.LessOrEqual(r.t, p.Offset, int64(r.end), "the position is behind what was fed")
	if flush {
		require.Equal(r.t, int64(r.end), p.Offset, "a flush left something")
	}
}

func (r *reader) bodies() []string {
	var all []string
	for _, rec := range r.records {
		all = append(all, rec.body)
	}
	return all
}

// readAll returns the records of content before and after a flush.
func readAll(t testing.TB, c Config, content string) (whole, flushed []string) {
	f, err := New(c)
	require.NoError(t, err)
	r := newReader(t, f, content)
	r.grow(len(content), false)
	n := len(r.records)
	r.grow(0, true)
	all := r.bodies()
	return all[:n:n], all[n:]
}

func utf16Of(text string, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}
