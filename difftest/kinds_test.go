package difftest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
)

// kind is a family of trials.
type kind struct {
	name  string
	count int // how many seeds of it are tried
	make  func(d dice) trial
}

var kinds = []kind{
	{"lines of all sorts", 40, linesTrial},
	{"lines at the edges of buffers", 12, edgesTrial},
	{"very long lines", 3, longTrial},
	{"lines beyond the size limit", 50, limitTrial},
	{"entries that begin with a pattern", 50, startPatternTrial},
	{"entries that end with a pattern", 50, endPatternTrial},
	{"files that grow in the middle of lines", 30, growingTrial},
	{"unfinished lines that are not flushed", 15, unflushedTrial},
	{"encodings", 80, encodingTrial},
	{"bytes that are no text", 10, nopTrial},
	{"attributes of files", 15, attributesTrial},
	{"headers", 20, headerTrial},
	{"compressed files", 20, gzipTrial},
	{"operators", 90, operatorsTrial},
}

func linesTrial(d dice) trial {
	return trial{
		keys: places(map[string]any{
			"preserve_leading_whitespaces":  d.chance(30),
			"preserve_trailing_whitespaces": d.chance(30),
			"encoding":                      pick(d, "utf-8", "UTF8", "", "ascii", "us-ascii", "utf-8-raw"),
			"initial_buffer_size":           pick(d, 16, 100, 4096, 16384),
		}),
		stages: d.oneStage(func(name string) []byte { return d.lines(name, d.IntN(400), d.chance(50), d.line) }),
	}
}

func edgesTrial(d dice) trial {
	return trial{
		keys: places(map[string]any{}),
		stages: d.oneStage(func(name string) []byte {
			return d.lines(name, 12, d.chance(50), func() string {
				if d.chance(50) {
					return d.edgeLine()
				}
				return d.line()
			})
		}),
	}
}

func longTrial(d dice) trial {
	return trial{
		keys: places(map[string]any{"max_log_size": 3 << 20}),
		stages: []stage{{"f0.log": d.lines("f0.log", 2, true, func() string {
			return strings.Repeat(d.word(1<<10), 1<<10+1)[:1<<20-3+d.IntN(7)]
		})}},
	}
}

func limitTrial(d dice) trial {
	limit := pick(d, 20+d.IntN(100), 20+d.IntN(30), 1000+d.IntN(3000), 16<<10, 20<<10)
	line := func() string {
		switch d.IntN(5) {
		case 0:
			return d.word(limit - 1 + d.IntN(3)) // around the limit
		case 1:
			return d.word(limit*pick(d, 2, 3) - 1 + d.IntN(3))
		case 2:
			return d.ascii(d.IntN(limit * 4))
		default:
			return d.ascii(d.IntN(limit))
		}
	}
	if d.chance(20) {
		ascii := line
		line = func() string {
			if d.chance(50) {
				return d.text(d.IntN(limit))
			}
			return ascii()
		}
	}
	stages := d.oneStage(func(name string) []byte { return d.lines(name, d.IntN(40), d.chance(50), line) })
	if d.chance(30) {
		stages = d.cut(stages[0], 2)
	}
	return trial{
		keys: places(map[string]any{
			"max_log_size":                  limit,
			"max_log_size_behavior":         pick(d, "split", "truncate"),
			"preserve_leading_whitespaces":  d.chance(30),
			"preserve_trailing_whitespaces": d.chance(30),
			"initial_buffer_size":           pick(d, 16, 1000, 16384),
		}),
		stages: stages,
	}
}

// entries is a file of multi-line entries with that mark, which may stand
// anywhere.
func (d dice) entries(name, mark string, n int) []byte {
	var b bytes.Buffer
	b.WriteString(d.first(name) + "\n")
	for range n {
		switch d.IntN(6) {
		case 0:
			b.WriteString(mark)
		case 1:
			b.WriteString(d.word(3) + mark + d.word(4)) // in the middle of a line
		case 2:
			b.WriteString(d.eol())
		case 3:
			b.WriteString(d.line() + d.eol())
		default:
			b.WriteString(mark + d.ascii(d.IntN(40)) + d.eol())
		}
	}
	return b.Bytes()
}

func (d dice) multilineTrial(key string, patterns map[string]string) trial {
	var pattern string
	for _, candidate := range sorted(patterns) {
		if pattern == "" || d.chance(30) {
			pattern = candidate
		}
	}
	keys := places(map[string]any{
		"multiline": map[string]any{key: pattern, "omit_pattern": d.chance(30)},
	})
	if d.chance(25) {
		keys["max_log_size"] = pick(d, 50+d.IntN(100), 200)
		keys["max_log_size_behavior"] = pick(d, "split", "truncate")
	}
	if d.chance(20) {
		keys["preserve_leading_whitespaces"] = true
		keys["preserve_trailing_whitespaces"] = true
	}
	if d.chance(20) {
		keys["force_flush_period"] = "0s"
	}
	stages := d.oneStage(func(name string) []byte { return d.entries(name, patterns[pattern], d.IntN(60)) })
	if d.chance(30) {
		stages = d.cut(stages[0], 2)
	}
	return trial{keys: keys, stages: stages}
}

func startPatternTrial(d dice) trial {
	return d.multilineTrial("line_start_pattern", map[string]string{
		`^\d{4}-\d\d-\d\d`: "2024-05-06",
		`LOGSTART \d+ `:    "LOGSTART 123 ",
		`^`:                "",
		`^\S`:              "x",
		`\n\n`:             "\n\n",
		`#+`:               "###",
		`^<\d+>`:           "<34>",
	})
}

func endPatternTrial(d dice) trial {
	return d.multilineTrial("line_end_pattern", map[string]string{
		`LOGEND`:   "LOGEND",
		`;`:        ";",
		`;\n`:      ";\n",
		`END \d+$`: "END 12",
		`\n\n`:     "\n\n",
		`\s{2}`:    "  ",
	})
}

func growingTrial(d dice) trial {
	whole := d.oneStage(func(name string) []byte { return d.lines(name, 5+d.IntN(60), d.chance(50), d.line) })
	return trial{keys: places(map[string]any{"preserve_trailing_whitespaces": d.chance(30)}), stages: d.cut(whole[0], 2+d.IntN(2))}
}

func unflushedTrial(d dice) trial {
	t := growingTrial(d)
	t.keys["force_flush_period"] = pick(d, "0s", "-1s", "1h")
	return t
}

var encodings = []string{
	"utf-16", "utf-16le", "utf-16be", "UTF16", "iso-8859-1", "iso-8859-15", "windows-1252", "koi8-r", "big5", "gbk", "gb18030",
	"shift_jis", "euc-jp", "euc-kr", "iso-2022-jp", "macintosh", "ibm866",
}

func codec(name string) encoding.Encoding {
	switch strings.ToLower(name) {
	case "utf-16", "utf16", "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	e, err := ianaindex.IANA.Encoding(name)
	if err != nil || e == nil {
		panic(fmt.Sprint(name, ": ", err))
	}
	return e
}

func encodingTrial(d dice) trial {
	name := pick(d, encodings...)
	encoder := encoding.ReplaceUnsupported(codec(name).NewEncoder())
	special := pick(d, "é", "日本", "Ж€", "ĀĊਅĀĊĀਅĀ", "")
	line := func() string {
		text := d.ascii(d.IntN(50))
		if d.chance(40) {
			text = d.word(3) + special + d.word(2)
		}
		if d.chance(20) {
			text = " " + text + "\t"
		}
		return text
	}
	keys := places(map[string]any{
		"encoding":                      name,
		"preserve_leading_whitespaces":  d.chance(50),
		"preserve_trailing_whitespaces": d.chance(50),
	})
	if d.chance(20) {
		keys["multiline"] = map[string]any{pick(d, "line_start_pattern", "line_end_pattern"): "LOG", "omit_pattern": d.chance(50)}
	}
	stages := d.oneStage(func(file string) []byte {
		var out bytes.Buffer
		out.WriteString(d.first(file) + "\n")
		for range d.IntN(60) {
			if d.chance(20) {
				out.WriteString("LOG")
			}
			out.WriteString(line() + d.eol())
		}
		encoded, err := encoder.Bytes(out.Bytes())
		if err != nil {
			panic(err)
		}
		return encoded
	})
	return trial{keys: keys, stages: stages}
}

func nopTrial(d dice) trial {
	return trial{
		keys: places(map[string]any{"encoding": "nop", "max_log_size": pick(d, 1<<20, 100, 5000)}),
		stages: d.oneStage(func(name string) []byte {
			return d.lines(name, d.IntN(100), d.chance(50), d.line)
		}),
	}
}

func attributesTrial(d dice) trial {
	keys := map[string]any{}
	for _, key := range []string{
		"include_file_path", "include_file_name_resolved", "include_file_path_resolved", "include_file_owner_name",
		"include_file_owner_group_name", "include_file_permissions", "include_file_record_number", "include_file_record_offset",
	} {
		keys[key] = d.chance(50)
	}
	if d.chance(50) {
		keys["attributes"] = map[string]any{"fixed": "a", "made": "<EXPR(body)>", "log.file.name": "loses"}
		keys["resource"] = map[string]any{"service.name": "x-EXPR(body[0:1])"}
	}
	return trial{keys: keys, stages: d.oneStage(func(name string) []byte {
		return d.lines(name, d.IntN(20), d.chance(50), func() string { return d.ascii(d.IntN(9)) })
	})}
}

func headerTrial(d dice) trial {
	stages := d.oneStage(func(name string) []byte {
		var b bytes.Buffer
		for i := range d.IntN(5) {
			fmt.Fprintf(&b, "# key%d: %s %s%s", i, name, d.word(4), d.eol())
		}
		b.Write(d.lines(name, d.IntN(20), d.chance(50), d.line))
		return b.Bytes()
	})
	if d.chance(30) {
		stages = d.cut(stages[0], 2)
	}
	keys := places(map[string]any{"header": map[string]any{
		"pattern": pick(d, `^#`, `^# key`, `^# key[01]:`),
		"metadata_operators": []any{map[string]any{
			"type": "regex_parser", "regex": pick(d, `^# (?P<header_key>[^:]+): (?P<header_value>.*)$`, `(?P<whole>.*)`),
		}},
	}})
	return trial{keys: keys, stages: stages}
}

func gzipTrial(d dice) trial {
	stages := d.oneStage(func(name string) []byte {
		plain := d.lines(name, d.IntN(300), d.chance(50), d.line)
		var out bytes.Buffer
		members := 1 + d.IntN(3)
		for i := range members {
			part := plain
			if i < members-1 {
				part = plain[:len(plain)/2]
			}
			plain = plain[len(part):]
			w := gzip.NewWriter(&out)
			if _, err := w.Write(part); err != nil {
				panic(err)
			}
			if err := w.Close(); err != nil {
				panic(err)
			}
		}
		return out.Bytes()
	})
	if d.chance(50) {
		stages[0]["plain.log"] = d.lines("plain.log", d.IntN(50), d.chance(50), d.line)
		return trial{keys: places(map[string]any{"compression": "auto"}), stages: stages}
	}
	return trial{keys: places(map[string]any{"compression": "gzip"}), stages: stages}
}
