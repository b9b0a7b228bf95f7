package framing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/encoding/traditionalchinese"
)

func TestEntries(t *testing.T) {
	start := `LOGSTART \d+ `
	big5, _ := traditionalchinese.Big5.NewEncoder().String("折log END下一END")
	for _, c := range []struct {
		name    string
		config  Config
		content string
		whole   []string
		flushed []string
	}{
		{"the last entry is pending", Config{LineStartPattern: start}, "LOGSTART 123 log1LOGSTART 123 a", []string{"LOGSTART 123 log1"}, []string{"LOGSTART 123 a"}},
		{"the start pattern is left out, also when flushed", Config{LineStartPattern: start, OmitPattern: true}, "LOGSTART 123 log1LOGSTART 123 a", []string{"log1"}, []string{"a"}},
		{"text before the first match is a record", Config{LineStartPattern: start}, "part that doesn't match LOGSTART 123 part that matchesLOGSTART 123 foo",
			[]string{"part that doesn't match", "LOGSTART 123 part that matches"}, []string{"LOGSTART 123 foo"}},
		{"an anchored pattern does not match within a line", Config{LineStartPattern: `^LOGSTART \d+ `}, "LOGSTART 123 LOGSTART 345 log1\nLOGSTART 234 log2\nLOGSTART 345 foo",
			[]string{"LOGSTART 123 LOGSTART 345 log1", "LOGSTART 234 log2"}, []string{"LOGSTART 345 foo"}},
		{"without a match everything waits", Config{LineStartPattern: start}, "no match\nat all\n", nil, []string{"no match\nat all"}},
		{"entries of several lines", Config{LineStartPattern: `^LOGSTART \d+ `}, "LOGSTART 1 a\nb\nc\nLOGSTART 2 d\n\te\nLOGSTART 3 f\n",
			[]string{"LOGSTART 1 a\nb\nc", "LOGSTART 2 d\n\te"}, []string{"LOGSTART 3 f"}},
		{"a huge entry", Config{LineStartPattern: start}, "LOGSTART 1 " + strings.Repeat("x", 10_000) + "LOGSTART 2 ", []string{"LOGSTART 1 " + strings.Repeat("x", 10_000)}, []string{"LOGSTART 2"}},
		{"the end pattern", Config{LineEndPattern: `LOGEND \d+ `}, "log1 LOGEND 123 log2 LOGEND 234 ", []string{"log1 LOGEND 123", "log2 LOGEND 234"}, nil},
		{"the end pattern is left out", Config{LineEndPattern: `LOGEND \d+ `, OmitPattern: true}, "log1 LOGEND 123 log2 LOGEND 234 ", []string{"log1", "log2"}, nil},
		{"an end that may still grow waits", Config{LineEndPattern: `LOGEND \d+`}, "log1 LOGEND 123 log2 LOGEND 23", []string{"log1 LOGEND 123"}, []string{"log2 LOGEND 23"}},
		{"an end one byte before the end waits if it may grow", Config{LineEndPattern: `END(\r\n)?`}, "aEND\r", nil, []string{"aEND"}},
		{"an end at the line's end", Config{LineEndPattern: `LOGEND$`}, "log1 LOGEND LOGEND\nlog2 LOGEND\n", []string{"log1 LOGEND LOGEND", "log2 LOGEND"}, nil},
		{"an end at the line's end waits for the line to end", Config{LineEndPattern: `LOGEND$`}, "log1 LOGEND", nil, []string{"log1 LOGEND"}},
		{"text behind the last end waits", Config{LineEndPattern: `LOGEND \d+ `}, "part that matches LOGEND 123 rest", []string{"part that matches LOGEND 123"}, []string{"rest"}},
		{"ends in a row give nothing", Config{LineEndPattern: `END`, OmitPattern: true}, "ENDENDEND", nil, nil},
		{"an end over the newline", Config{LineEndPattern: `^LOGEND.*\n`}, "a\nb\nLOGEND x\nc\nLOGEND\n", []string{"a\nb\nLOGEND x", "c\nLOGEND"}, nil},
		{"adjacent matches begin one entry", Config{LineStartPattern: "A"}, "AAAbA", []string{"AA", "Ab"}, []string{"A"}},
		{"adjacent matches over lines", Config{LineStartPattern: `^A\n`}, "A\nA\nA\nb\nA\n", []string{"A\nA", "A\nb"}, []string{"A"}},
		{"CR LF as end", Config{LineEndPattern: `\r?\n`, OmitPattern: true}, "a\r\n\r\nb\nc", []string{"a", "b"}, []string{"c"}},
		{"an end of no width goes ahead", Config{LineEndPattern: `$`}, "a\nb\n", []string{"a", "b"}, nil},
		{"an end of no width within a line", Config{LineEndPattern: `\b`}, "ab cd!", []string{"ab", "cd"}, []string{"!"}},
		{"a start of no width", Config{LineStartPattern: `^`}, "a\nb\nc", []string{"a", "b"}, []string{"c"}},
		{"a start at empty lines", Config{LineStartPattern: `^$`}, "a\nb\n\nc\n\nd", []string{"a\nb", "c"}, []string{"d"}},
		{"several bytes of newline", Config{LineStartPattern: `^--\n`, OmitPattern: true}, "--\na\nb\n--\nc\n", []string{"a\nb"}, []string{"c"}},
		{"alternatives", Config{LineStartPattern: `^(a|b)\d`}, "a1 x\nab\nb2\nc3\na4", []string{"a1 x\nab", "b2\nc3"}, []string{"a4"}},
		{"alternatives of which one is not anchored", Config{LineStartPattern: `^a|b`}, "a1 b2 a3\na4", []string{"a1", "b2 a3"}, []string{"a4"}},
		{"any case", Config{LineStartPattern: `(?i)^error`}, "ERROR 1\nx\nerror 2\n", []string{"ERROR 1\nx"}, []string{"error 2"}},
		{"the beginning of the text only", Config{LineStartPattern: `\Aa`}, "a\na\n", nil, []string{"a\na"}},
		{"only omit_pattern means lines", Config{OmitPattern: true}, "a\nb\n", []string{"a", "b"}, nil},
		{"invalid bytes are replaced", Config{LineEndPattern: ";"}, "\xff;é;", []string{"\uFFFD;", "é;"}, nil},
		{"invalid bytes stay raw", Config{LineEndPattern: ";", Encoding: "utf-8-raw"}, "\xff;é;", []string{"\xff;", "é;"}, nil},
		{"a mark is removed before a start", Config{LineStartPattern: "^a"}, "\xEF\xBB\xBFa1\na2\n", []string{"a1"}, []string{"a2"}},
		{"five entries of UTF-16LE", Config{LineStartPattern: `LOGSTART_\d+_`, Encoding: "utf-16le"}, utf16Of("LOGSTART_1_aLOGSTART_2_bLOGSTART_3_cLOGSTART_4_dLOGSTART_5_e", false),
			[]string{"LOGSTART_1_a", "LOGSTART_2_b", "LOGSTART_3_c", "LOGSTART_4_d"}, []string{"LOGSTART_5_e"}},
		{"ends in UTF-16LE", Config{LineEndPattern: `LOGEND_\d+`, Encoding: "utf-16le"}, utf16Of("aLOGEND_1 bLOGEND_2 cLOGEND_3", false),
			[]string{"aLOGEND_1", "bLOGEND_2"}, []string{"cLOGEND_3"}},
		{"omitted in UTF-16LE", Config{LineStartPattern: `>>`, OmitPattern: true, Encoding: "utf-16le"}, utf16Of(">>é1>>x2>>y3", false), []string{"é1", "x2"}, []string{"y3"}},
		{"a mark in UTF-16", Config{LineStartPattern: `^>>`, Encoding: "utf-16"}, utf16Of("\uFEFF>>é1\n>>x2\n", true), []string{">>é1"}, []string{">>x2"}},
		{"an end in UTF-16BE", Config{LineEndPattern: `END`, Encoding: "utf-16be"}, utf16Of("log END", true), []string{"log END"}, nil},
		{"ends in Big5", Config{LineEndPattern: `END`, Encoding: "big5"}, big5, []string{"折log END", "下一END"}, nil},
		{"starts in ISO-8859-1", Config{LineStartPattern: `>>`, Encoding: "iso-8859-1"}, ">>\xe9\xe91>>x2>>y3", []string{">>éé1", ">>x2"}, []string{">>y3"}},
		{"markers far apart", Config{LineEndPattern: "MARKER", Encoding: "utf-16le"}, utf16Of(strings.Repeat("語", 5000)+"MARKER"+strings.Repeat("é", 9000)+"MARKER", false),
			[]string{strings.Repeat("語", 5000) + "MARKER", strings.Repeat("é", 9000) + "MARKER"}, nil},
		{"a character that becomes two", Config{LineEndPattern: "\u00CA", Encoding: "big5"}, "a\x88\x62b\x88\x62", []string{"a\u00CA\u0304", "b\u00CA\u0304"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.MaxLogSize = mebibyte
			whole, flushed := readAll(t, c.config, c.content)
			assert.Equal(t, c.whole, nilIfEmpty(whole))
			assert.Equal(t, c.flushed, nilIfEmpty(flushed))
		})
	}
}
