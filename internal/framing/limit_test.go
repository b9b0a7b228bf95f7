package framing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOversizedRecords(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		name    string
		config  Config
		content string
		whole   []string
		flushed []string
	}{
		{"a long line is split", Config{MaxLogSize: 10}, a(22) + "\naaa\n", []string{a(10), a(10), "aa", "aaa"}, nil},
		{"an unfinished long line is split", Config{MaxLogSize: 10}, a(22), []string{a(10), a(10)}, []string{"aa"}},
		{"a tiny limit", Config{MaxLogSize: 4}, "foo1234567890\nbar\nhelloworld\n", []string{"foo1", "2345", "6789", "0", "bar", "hell", "owor", "ld"}, nil},
		{"pieces are trimmed", Config{MaxLogSize: 10}, "aaaaaaaaa bbbbbbbbb cc\n", []string{"aaaaaaaaa", "bbbbbbbbb", "cc"}, nil},
		{"characters are not cut", Config{MaxLogSize: 4}, "日本語\n", []string{"日", "本", "語"}, nil},
		{"characters are not cut in an unfinished line", Config{MaxLogSize: 4}, "日本語", []string{"日", "本"}, []string{"語"}},
		{"a character larger than the limit stays whole", Config{MaxLogSize: 1}, "日a\n", []string{"日", "a"}, nil},
		{"invalid bytes are cut where the limit is", Config{MaxLogSize: 2}, "\x80\x80\x80\x80\x80\n", []string{"\uFFFD\uFFFD", "\uFFFD\uFFFD", "\uFFFD"}, nil},
		{"UTF-16 is cut at characters", Config{MaxLogSize: 5, Encoding: "utf-16le"}, utf16Of("a😀b語c\n", false), []string{"a", "😀", "b語", "c"}, nil},
		{"big5 is cut at characters", Config{MaxLogSize: 3, Encoding: "big5"}, "\xA7\xE9\xA7\xE9a\n", []string{"折", "折a"}, nil},
		{"gb18030 characters of four bytes stay whole", Config{MaxLogSize: 3, Encoding: "gb18030"}, "\x94\x39\xDA\x33\x94\x39\xDA\x33\n", []string{"💩", "💩"}, nil},
		{"the rest of a long line is dropped", Config{MaxLogSize: 10, TruncateOversize: true}, "Very long line here.\nShort.\n", []string{"Very long", "Short."}, nil},
		{"an unfinished long line is dropped too", Config{MaxLogSize: 10, TruncateOversize: true}, a(40), []string{a(10)}, nil},
		{"the limit is no excess", Config{MaxLogSize: 10, TruncateOversize: true}, "1234567890\nShort.\n", []string{"1234567890", "Short."}, nil},
		{"the limit with CR LF is none either", Config{MaxLogSize: 10, TruncateOversize: true}, "1234567890\r\nShort.\n", []string{"1234567890", "Short."}, nil},
		{"one above is", Config{MaxLogSize: 10, TruncateOversize: true}, "12345678901\nShort.\n", []string{"1234567890", "Short."}, nil},
		{"an empty line behind a dropped rest", Config{MaxLogSize: 10, TruncateOversize: true}, a(30) + "\n\nShort.\n", []string{a(10), "Short."}, nil},
		{"much more than the limit is dropped", Config{MaxLogSize: 20480, TruncateOversize: true}, strings.Repeat("q", 70_000) + "\nz\n", []string{strings.Repeat("q", 20480), "z"}, nil},
		{"characters are not cut by dropping", Config{MaxLogSize: 4, TruncateOversize: true}, "日本語\nx\n", []string{"日", "x"}, nil},
		{"UTF-16 is dropped to its newline", Config{MaxLogSize: 5, TruncateOversize: true, Encoding: "utf-16be"}, utf16Of("ab\u0A00\u0A61c\nx\n", true), []string{"ab", "x"}, nil},
		{"an entry is split", Config{MaxLogSize: 15, LineStartPattern: `\d+-\d+-\d+`}, "aaa2023-01-01" + a(40) + " 2023-01-01 2 2023-01-01",
			[]string{"aaa", "2023-01-01aaaaa", a(15), a(15), "aaaaa", "2023-01-01 2"}, []string{"2023-01-01"}},
		{"an entry within the limit", Config{MaxLogSize: 100, TruncateOversize: true, LineStartPattern: ">", OmitPattern: true},
			">first\nsecond\nthird\n>short\n>end\n", []string{"first\nsecond\nthird", "short"}, []string{"end"}},
		{"the rest of an entry is dropped up to the next", Config{MaxLogSize: 10, TruncateOversize: true, LineStartPattern: ">", OmitPattern: true},
			">first\nsecond\nthird\n>short\n>end\n", []string{"first\nseco", "short"}, []string{"end"}},
		{"an omitted pattern does not repeat bytes", Config{MaxLogSize: 10, LineStartPattern: ">>>", OmitPattern: true},
			">>>0123456789ABCDEF\n>>>x\n>>>", []string{"0123456789", "ABCDEF", "x"}, nil},
		{"an omitted end pattern does not count", Config{MaxLogSize: 5, LineEndPattern: "END", OmitPattern: true}, "12345END123456END", []string{"12345", "12345", "6"}, nil},
		{"an end pattern is not cut", Config{MaxLogSize: 10, LineEndPattern: "END"}, "12345678ENDnextEND", []string{"12345678", "END", "nextEND"}, nil},
		{"the rest is dropped up to the end pattern", Config{MaxLogSize: 4, LineEndPattern: ";", TruncateOversize: true}, "123456789;ab;", []string{"1234", "ab;"}, nil},
		{"entries in UTF-16 are cut at characters", Config{MaxLogSize: 5, Encoding: "utf-16le", LineStartPattern: ">"}, utf16Of(">a😀語>b>", false), []string{">a", "😀", "語", ">b"}, []string{">"}},
		{"entries in UTF-16 are dropped", Config{MaxLogSize: 5, Encoding: "utf-16be", LineStartPattern: ">", TruncateOversize: true}, utf16Of(">a😀語>b>", true), []string{">a", ">b"}, []string{">"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole, flushed := readAll(t, c.config, c.content)
			assert.Equal(t, c.whole, nilIfEmpty(whole))
			assert.Equal(t, c.flushed, nilIfEmpty(flushed))
		})
	}
}

func TestAnOmittedMatchLargerThanARecordIsText(t *testing.T) {
	content := ">" + strings.Repeat("a", 600)
	whole, flushed := readAll(t, Config{MaxLogSize: 10, LineStartPattern: ">[^>]*", OmitPattern: true}, content)
	assert.NotEmpty(t, whole)
	assert.Equal(t, content, strings.Join(append(whole, flushed...), ""))
}

// TestALargeBufferIsNotSearchedForEveryPiece would take minutes if it were.
func TestALargeBufferIsNotSearchedForEveryPiece(t *testing.T) {
	content := strings.Repeat("x1 ", 150_000)
	for _, c := range []Config{{LineStartPattern: `\d{4}-\d{2}`}, {LineEndPattern: `\d{4}\s`}, {}, {LineStartPattern: `\d{4}-`, Encoding: "iso-8859-1"}, {Encoding: "iso-8859-1"}} {
		c.MaxLogSize = 1000
		c.PreserveLeading, c.PreserveTrailing = true, true
		whole, flushed := readAll(t, c, content)
		assert.Equal(t, content, strings.Join(append(whole, flushed...), ""))
	}
}

func TestALineOfExactlyTheLimitTakesOneNumber(t *testing.T) {
	for _, ending := range []string{"\n", "\r\n"} {
		f, err := New(Config{MaxLogSize: 10})
		require.NoError(t, err)
		for _, first := range []int{9, 10, 11} { // bytes that are there at the first look
			r := newReader(t, f, "1234567890"+ending+"x\n")
			r.grow(first, false)
			r.grow(100, false)
			require.Equal(t, []string{"1234567890", "x"}, r.bodies())
			assert.Equal(t, int64(2), r.records[1].number)
		}
	}
}

func TestDroppingOutlivesFlushAndRestart(t *testing.T) {
	for _, c := range []struct {
		name string
		Config
		text func(string) string
	}{
		{"lines", Config{}, func(s string) string { return s }},
		{"lines in UTF-16", Config{Encoding: "utf-16"}, func(s string) string { return utf16Of(s, false) }},
		{"entries by start", Config{LineStartPattern: `^>`}, func(s string) string { return s }},
		{"entries by end", Config{LineEndPattern: `\n`}, func(s string) string { return s }},
		{"entries in UTF-16", Config{LineEndPattern: `\n`, Encoding: "utf-16"}, func(s string) string { return utf16Of(s, false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.TruncateOversize = true
			c.MaxLogSize = len(c.text(strings.Repeat("x", 20)))
			f, err := New(c.Config)
			require.NoError(t, err)
			first := c.text(strings.Repeat("A", 50))
			r := newReader(t, f, first+c.text(strings.Repeat("B", 30)+"\n>next\n>"))
			r.grow(len(first), false)
			r.grow(0, true) // the flush period is over
			require.Equal(t, []string{strings.Repeat("A", 20)}, r.bodies())
			saved := r.framer.Position()
			require.Equal(t, Position{Offset: int64(len(first)), RecordNumber: 1, Skipping: true}, saved)

			r.framer = f.NewFramer()
			r.framer.Reset(saved, r.content[:4])
			r.grow(10, false)
			r.grow(10, true)
			r.grow(1000, false)
			require.Equal(t, []string{strings.Repeat("A", 20), ">next"}, r.bodies())
			assert.Equal(t, int64(2), r.records[1].number)
			assert.Equal(t, int64(len(c.text(strings.Repeat("A", 50)+strings.Repeat("B", 30)+"\n"))), r.records[1].start)
		})
	}
}

func TestAnEntryBehindAFlushedAndDroppedOneIsNotDropped(t *testing.T) {
	for _, pattern := range []string{`^>`, `>`, `^\S`, `\b>|^>`} {
		f, err := New(Config{MaxLogSize: 4, TruncateOversize: true, LineStartPattern: pattern})
		require.NoError(t, err)
		first := ">one two\n three\n"
		r := newReader(t, f, first+">x\n>y\n")
		r.grow(len(first), true)
		require.Equal(t, []string{">one"}, r.bodies())
		r.grow(100, true)
		assert.Equal(t, []string{">one", ">x", ">y"}, r.bodies(), pattern)
	}
}

func TestALineInTheMiddleOfADroppedEntryIsNoBoundary(t *testing.T) {
	for _, pattern := range []string{`^\S`, `^`, `\bw`} {
		f, err := New(Config{MaxLogSize: 4, TruncateOversize: true, LineStartPattern: pattern})
		require.NoError(t, err)
		r := newReader(t, f, strings.Repeat("w", 5000)+"\nwx\n")
		for r.end < len(r.content) {
			r.grow(400, false)
		}
		r.grow(0, true)
		assert.Equal(t, []string{"wwww", "wx"}, r.bodies(), pattern)
	}
}

// TestAHugeRecordNeedsNoMoreThanTheBuffer reads much without a
// boundary through a buffer of MaxBuffer bytes: each time some of it must be consumed.
func TestAHugeRecordNeedsNoMoreThanTheBuffer(t *testing.T) {
	contents := map[string]string{
		"letters":    strings.Repeat("x", 1<<14),
		"characters": strings.Repeat("日", 1<<12),
		"bytes":      strings.Repeat("\xff\xD8", 1<<14),
		"newlines":   strings.Repeat("\n", 1<<14),
		"carriages":  strings.Repeat("\r", 1<<14),
	}
	for _, c := range []Config{
		{}, {Encoding: "utf-16le"}, {Encoding: "utf-16be"}, {Encoding: "gb18030"}, {Encoding: "iso-2022-jp"}, {Encoding: "nop"}, {Encoding: "utf-8-raw"},
		{LineStartPattern: `^\d+`}, {LineStartPattern: `x.*`, OmitPattern: true}, {LineStartPattern: `(?s)x.*`, OmitPattern: true},
		{LineEndPattern: `$`}, {LineEndPattern: `(?s)x.*`}, {LineEndPattern: `NO`}, {LineEndPattern: `x+?`, OmitPattern: true},
		{LineStartPattern: `(?s)x.*`, OmitPattern: true, Encoding: "utf-16le"}, {LineEndPattern: `NO`, Encoding: "shift_jis"},
		{LineStartPattern: `(?s).*$`, OmitPattern: true, Encoding: "utf-16be"}, {LineStartPattern: `\A`}, {LineEndPattern: `\z`},
	} {
		for _, c.MaxLogSize = range []int{1, 5000} {
			for _, c.TruncateOversize = range []bool{false, true} {
				f, err := New(c)
				require.NoError(t, err)
				for name, content := range contents {
					if c.MaxLogSize < 100 {
						content = content[:min(len(content), f.MaxBuffer()+200)]
					}
					r := f.NewFramer()
					r.Reset(Position{}, []byte(content[:4]))
					for r.Position().Offset+int64(f.MaxBuffer()) <= int64(len(content)) {
						before := r.Position()
						r.Feed([]byte(content[before.Offset:before.Offset+int64(f.MaxBuffer())]), false)
						records := 0
						for r.Next() {
							records++
						}
						if records == 0 && r.Position().Offset == before.Offset {
							t.Fatalf("no progress at %d of %s with %+v", before.Offset, name, c)
						}
					}
				}
			}
		}
	}
}
