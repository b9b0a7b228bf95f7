package framing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const mebibyte = 1 << 20

func TestConfigurationsAreRefusedInUpstreamsWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		err    string
	}{
		{"no limit", Config{}, "'max_log_size' must be positive"},
		{"negative limit", Config{MaxLogSize: -1}, "'max_log_size' must be positive"},
		{"unknown encoding", Config{MaxLogSize: 1, Encoding: "UTF-3233"}, "unsupported encoding 'UTF-3233'"},
		{"encoding without a table", Config{MaxLogSize: 1, Encoding: "utf-32"}, "no charmap defined for encoding 'utf-32'"},
		{"stateful encoding without a table", Config{MaxLogSize: 1, Encoding: "iso-2022-kr"}, "no charmap defined for encoding 'iso-2022-kr'"},
		{"both patterns", Config{MaxLogSize: 1, LineStartPattern: "a", LineEndPattern: "b"}, "only one of line_start_pattern or line_end_pattern can be set"},
		{"start pattern with nop", Config{MaxLogSize: 1, Encoding: "nop", LineStartPattern: "a"}, "line_start_pattern should not be set when using nop encoding"},
		{"end pattern with nop", Config{MaxLogSize: 1, Encoding: "NOP", LineEndPattern: "a"}, "line_end_pattern should not be set when using nop encoding"},
		{"bad start pattern", Config{MaxLogSize: 1, LineStartPattern: "("}, "compile line start regex: error parsing regexp: missing closing ): `(?m)(`"},
		{"bad end pattern", Config{MaxLogSize: 1, LineEndPattern: "a{2,1}"}, "compile line end regex: error parsing regexp: invalid repeat count: `{2,1}`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.EqualError(t, c.config.Validate(), c.err)
		})
	}
	assert.NoError(t, Config{MaxLogSize: 1, OmitPattern: true}.Validate(), "omit_pattern alone means lines")
}

func TestEncodingNamesAreKnownInAnyCase(t *testing.T) {
	for name, kind := range map[string]charsetKind{
		"": utf8Checked, "utf8": utf8Checked, "UTF-8": utf8Checked, "ascii": utf8Checked, "US-ASCII": utf8Checked, "csUTF8": utf8Checked,
		"utf8-raw": utf8Raw, "UTF-8-RAW": utf8Raw,
		"utf-16": utf16Marked, "UTF16": utf16Marked, "csUTF16": utf16Marked,
		"UTF-16lE": utf16Little, "utf-16be": utf16Big,
		"nop": opaque, "big5": translated, "Shift_JIS": translated, "latin1": translated, "IBM037": translated, "gb18030": translated,
	} {
		c, err := lookupCharset(name)
		require.NoError(t, err, name)
		assert.Equal(t, kind, c.kind, name)
	}
}

func TestLines(t *testing.T) {
	both := Config{PreserveLeading: true, PreserveTrailing: true}
	for _, c := range []struct {
		name    string
		config  Config
		content string
		whole   []string
		flushed []string
	}{
		{name: "an empty line between gives no record", content: "l1\n\nl2\n", whole: []string{"l1", "l2"}},
		{name: "several empty lines give none", content: "\n\nl1\n\n\nl2\n", whole: []string{"l1", "l2"}},
		{name: "only a newline", content: "\n"},
		{name: "CR LF ends a line", content: "a\r\n\r\nb\r\n", whole: []string{"a", "b"}},
		{name: "one CR belongs to the line end even if blanks are kept", config: both, content: "a\r\n \r\n c \r\nd\r\r\n", whole: []string{"a", " ", " c ", "d\r"}},
		{name: "blanks are trimmed on both sides", content: " \t x \t \n", whole: []string{"x"}},
		{name: "leading blanks are kept", config: Config{PreserveLeading: true}, content: "  x  \n", whole: []string{"  x"}},
		{name: "trailing blanks are kept", config: Config{PreserveTrailing: true}, content: "  x  \n", whole: []string{"x  "}},
		{name: "both are kept", config: both, content: "  x  \n", whole: []string{"  x  "}},
		{name: "a line of blanks gives no record", content: " \t \n"},
		{name: "a line of blanks that are kept does", config: both, content: "  \n", whole: []string{"  "}},
		{name: "other blanks stay", content: "\v x \v\n\u00a0y\u00a0\n", whole: []string{"\v x \v", "\u00a0y\u00a0"}},
		{name: "NUL is a character", content: "a\x00b\n\x00\x00\n", whole: []string{"a\x00b", "\x00\x00"}},
		{name: "a rest comes when it is flushed", content: "l1\nl2", whole: []string{"l1"}, flushed: []string{"l2"}},
		{name: "a rest of blanks gives no record", content: "done\n   ", whole: []string{"done"}},
		{name: "a byte order mark is removed", content: "\xEF\xBB\xBFhello\n\xEF\xBB\xBFx\n", whole: []string{"hello", "\uFEFFx"}},
		{name: "a byte order mark alone is no record", content: "\xEF\xBB\xBF"},
		{name: "half a mark is flushed as invalid bytes", content: "\xEF\xBB", flushed: []string{"\uFFFD"}},
		{name: "the mark stays with utf-8-raw", config: Config{Encoding: "utf-8-raw"}, content: "\xEF\xBB\xBFhello\n", whole: []string{"\uFEFFhello"}},
		{name: "each invalid byte is replaced", content: "\xC5\n\xff\xfe\xE6\nok\n", whole: []string{"\uFFFD", "\uFFFD\uFFFD\uFFFD", "ok"}},
		{name: "a piece of a character is replaced as one", content: "\xE6\x97|\xF0\x9F\x98|\xF4\x8F\x8F\xE6\n", whole: []string{"\uFFFD|\uFFFD|\uFFFD\uFFFD"}},
		{name: "bytes that no character begins with are replaced one by one", content: "\xE0\x80|\xED\xA0\x80|\xF4\x90|\xC0\xAF\n", whole: []string{"\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD"}},
		{name: "an invalid rest is replaced", content: "a\xE6", flushed: []string{"a\uFFFD"}},
		{name: "invalid bytes stay with utf-8-raw", config: Config{Encoding: "utf8-raw"}, content: "\xC5\nx\xff", whole: []string{"\xC5"}, flushed: []string{"x\xff"}},
		{name: "ascii is UTF-8", config: Config{Encoding: "ascii"}, content: "é\xFF\n", whole: []string{"é\uFFFD"}},
		{name: "a long line is whole", content: strings.Repeat("x", 300_000) + "\nb", whole: []string{strings.Repeat("x", 300_000)}, flushed: []string{"b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.MaxLogSize = mebibyte
			whole, flushed := readAll(t, c.config, c.content)
			assert.Equal(t, c.whole, nilIfEmpty(whole))
			assert.Equal(t, c.flushed, nilIfEmpty(flushed))
		})
	}
}

func nilIfEmpty(s []string) []string {
	if len(s) == 0 {
		return nil
	}
	return s
}

func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		name, encoding, content string
		whole, flushed          []string
	}{
		{"UTF-16BE", "utf-16be", utf16Of("😀\nfoo", true), []string{"😀"}, []string{"foo"}},
		{"UTF-16LE", "UTF-16lE", utf16Of("😀\nfoo", false), []string{"😀"}, []string{"foo"}},
		{"utf-16 without a mark is little endian", "utf-16", utf16Of("é\n", false), []string{"é"}, nil},
		{"utf-16 with a little endian mark", "utf-16", utf16Of("\uFEFFone é\ntwo\n", false), []string{"one é", "two"}, nil},
		{"utf-16 with a big endian mark", "utf-16", utf16Of("\uFEFFone é\ntwo\n", true), []string{"one é", "two"}, nil},
		{"the mark is removed from utf-16le", "utf-16le", utf16Of("\uFEFFx\n\uFEFFy\n", false), []string{"x", "\uFEFFy"}, nil},
		{"the mark is removed from utf-16be", "utf-16be", utf16Of("\uFEFFx\n", true), []string{"x"}, nil},
		{"a mark alone is no record", "utf-16be", utf16Of("\uFEFF", true), nil, nil},
		{"CR LF and empty lines in UTF-16", "utf-16be", utf16Of("\r\nlog1\r\nlog2\r\n", true), []string{"log1", "log2"}, nil},
		{"a leading blank in UTF-16LE", "utf-16le", utf16Of(" two\n", false), []string{"two"}, nil},
		{"a trailing blank in UTF-16BE", "utf-16be", utf16Of("two \n", true), []string{"two"}, nil},
		{"a first character that looks like a newline", "utf-16le", utf16Of("\u010Ax\n", false), []string{"\u010Ax"}, nil},
		{"newline bytes across two characters in UTF-16LE", "utf-16le", utf16Of("p\u0A05\u0100q\n", false), []string{"p\u0A05\u0100q"}, nil},
		{"newline bytes across two characters in UTF-16BE", "utf-16be", utf16Of("p\u0A00\u0A61q\n", true), []string{"p\u0A00\u0A61q"}, nil},
		{"unpaired surrogates are replaced", "utf-16le", "\x00\xD8a\x00\n\x00\x00\xDCb\x00\n\x00", []string{"\uFFFDa", "\uFFFDb"}, nil},
		{"an odd byte at the end is replaced", "utf-16le", "a\x00b", nil, []string{"a\uFFFD"}},
		{"half a pair at the end is replaced", "utf-16be", "\x00a\xD8\x00", nil, []string{"a\uFFFD"}},
		{"big5", "big5", "\xA7\xE9\n\xa7A\xa6n", []string{"折"}, []string{"你好"}},
		{"shift_jis", "shift_jis", "\x82\xb1\x82\xf1\r\nok\n", []string{"こん", "ok"}, nil},
		{"gbk", "gbk", "\xc4\xe3\xba\xc3\nok\n", []string{"你好", "ok"}, nil},
		{"iso-8859-1 is trimmed after decoding", "iso-8859-1", " caf\xe9 \n\xa0x\n", []string{"café", "\u00a0x"}, nil},
		{"the newline of EBCDIC", "IBM037", "\xC1\x40\x25\xC2\x25", []string{"A", "B"}, nil},
		{"half a character at the end is replaced", "shift_jis", "a\x82", nil, []string{"a\uFFFD"}},
		{"iso-2022-jp shifts within a line", "iso-2022-jp", "a\x1b$B8l\x1b(Bb\nok\n", []string{"a語b", "ok"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole, flushed := readAll(t, Config{Encoding: c.encoding, MaxLogSize: mebibyte}, c.content)
			assert.Equal(t, c.whole, nilIfEmpty(whole))
			assert.Equal(t, c.flushed, nilIfEmpty(flushed))
		})
	}
}

func TestNopTakesBytesAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   int
		content string
		whole   []string
		flushed []string
	}{
		{"invalid bytes and newline", mebibyte, "\xC5\n", nil, []string{"\xC5\n"}},
		{"pieces of the limit", 8, "testlog1testlog2test", []string{"testlog1", "testlog2"}, []string{"test"}},
		{"control characters stay", 8, "testlog1\n\ttestlog2\n\t", []string{"testlog1", "\n\ttestlo"}, []string{"g2\n\t"}},
		{"a limit of one", 1, "ab", []string{"a", "b"}, nil},
		{"a limit just below", 7, "testlog1", []string{"testlog"}, []string{"1"}},
		{"a limit just above", 9, "testlog1", nil, []string{"testlog1"}},
		{"blanks and a mark stay", mebibyte, "\xEF\xBB\xBF \n", nil, []string{"\xEF\xBB\xBF \n"}},
	} {
		for _, truncate := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				config := Config{Encoding: "nop", MaxLogSize: c.limit, TruncateOversize: truncate}
				whole, flushed := readAll(t, config, c.content)
				assert.Equal(t, c.whole, nilIfEmpty(whole))
				assert.Equal(t, c.flushed, nilIfEmpty(flushed))
				f, err := New(config)
				require.NoError(t, err)
				assert.True(t, f.Bytes())
			})
		}
	}
}

func TestRecordNumbersAndOffsets(t *testing.T) {
	type at struct{ start, number int64 }
	for _, c := range []struct {
		name    string
		config  Config
		content string
		want    []at
	}{
		{"blanks are not skipped", Config{}, "   01234567   \n01234567 \n01234567", []at{{0, 1}, {15, 2}, {25, 3}}},
		{"empty tokens take a number", Config{}, "   01234567   \n\n01234567 \n   \nlast\n", []at{{0, 1}, {16, 3}, {30, 5}}},
		{"a mark belongs to the first record", Config{}, "\xEF\xBB\xBFa\nb\n", []at{{0, 1}, {5, 2}}},
		{"CR LF", Config{}, "one\r\ntwo\r\n\r\nthree\r\n", []at{{0, 1}, {5, 2}, {12, 4}}},
		{"positions are those of the file's bytes", Config{Encoding: "utf-16"}, utf16Of("\uFEFFé\n\n😀\nx\n", true), []at{{0, 1}, {8, 3}, {14, 4}}},
		{"a dropped rest is behind", Config{MaxLogSize: 20480, TruncateOversize: true}, strings.Repeat("q", 70000) + "\nz\n", []at{{0, 1}, {70001, 2}}},
		{"pieces count", Config{MaxLogSize: 4}, "foo1234\n\nbar\n", []at{{0, 1}, {4, 2}, {9, 4}}},
		{"an omitted start pattern is not skipped", Config{LineStartPattern: ">>", OmitPattern: true}, ">>a>>b", []at{{0, 1}, {3, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.config.MaxLogSize == 0 {
				c.config.MaxLogSize = mebibyte
			}
			f, err := New(c.config)
			require.NoError(t, err)
			r := newReader(t, f, c.content)
			r.grow(len(c.content), true)
			var got []at
			for _, rec := range r.records {
				got = append(got, at{rec.start, rec.number})
			}
			assert.Equal(t, c.want, got)
		})
	}
}
