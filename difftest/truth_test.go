package difftest

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// truth says what the records of a file of lines have to be, written to be
// obviously right rather than fast: the third voice where the two receivers
// differ.
type truth struct {
	t        trial
	wide     bool // UTF-16
	limit    int
	truncate bool

	offset   int64 // of rest
	number   int64
	rest     []byte
	skipping bool // the rest of a record that is being dropped
	records  []place
}

// place is what the truth knows of a record.
type place struct {
	Body           string
	Number, Offset int64
}

// truthOf gives the records of a file, if the trial is of the kind that the
// truth is known of: lines in UTF-8 or UTF-16, not compressed, without operators,
// headers and resources, all of them read and from the beginning.
func (t trial) truthOf(file string) (records []place, known bool) {
	for _, key := range []string{"multiline", "compression", "operators", "header", "resource", "include", "start_at"} {
		if t.keys[key] != nil {
			return nil, false
		}
	}
	encoding := strings.ToLower(t.text("encoding"))
	tr := truth{t: t, limit: 1 << 20, truncate: t.text("max_log_size_behavior") == "truncate"}
	switch encoding {
	case "", "utf-8", "utf8", "ascii", "us-ascii":
	case "utf-16", "utf16", "utf-16le", "utf-16be":
		tr.wide = true
	default:
		return nil, false
	}
	if n := t.number("max_log_size"); n > 0 {
		tr.limit = n
	}
	if file == "" || !t.flag("include_file_record_number") || !t.flag("include_file_record_offset") {
		return nil, false
	}
	flushes := t.text("force_flush_period") == ""
	for _, s := range t.stages {
		if len(s[file]) > 0 {
			tr.feed(s[file])
		}
		if flushes {
			tr.flush()
		}
	}
	return tr.records, true
}

func (tr *truth) feed(data []byte) {
	tr.rest = append(tr.rest, data...)
	for {
		line, next := tr.line()
		if next == 0 {
			break
		}
		tr.whole(line, next)
	}
	// Of what is unfinished, as much is a record as cannot belong to a shorter one.
	for len(tr.rest) > tr.limit+len("\r\n") && !tr.skipping {
		n := tr.cut(tr.rest)
		tr.emit(tr.rest[:n], n)
		tr.skipping = tr.truncate
	}
	if tr.skipping {
		tr.offset += int64(len(tr.rest))
		tr.rest = nil
	}
}

// whole makes records of a line that takes next bytes with its end.
func (tr *truth) whole(line []byte, next int) {
	if tr.skipping {
		tr.skipping = false
		tr.advance(next)
		return
	}
	for len(line) > tr.limit {
		n := tr.cut(line)
		if tr.truncate {
			tr.emit(line[:n], next)
			return
		}
		tr.emit(line[:n], n)
		line, next = line[n:], next-n
	}
	tr.emit(line, next)
}

// flush makes records of what is unfinished.
func (tr *truth) flush() {
	if len(tr.rest) > 0 {
		rest := len(tr.rest)
		tr.whole(tr.rest, rest)
	}
}

func (tr *truth) emit(token []byte, n int) {
	tr.number++
	if body := trimmed(tr.t, tr.decode(token)); body != "" {
		tr.records = append(tr.records, place{body, tr.number, tr.offset})
	}
	tr.advance(n)
}

func (tr *truth) advance(n int) {
	tr.rest = tr.rest[n:]
	tr.offset += int64(n)
}

// line is the first line of the rest, without its end; next is 0 if there is
// none.
func (tr *truth) line() (line []byte, next int) {
	if !tr.wide {
		end := bytes.IndexByte(tr.rest, '\n')
		if end < 0 {
			return nil, 0
		}
		return bytes.TrimSuffix(tr.rest[:end], []byte("\r")), end + 1
	}
	for i := 0; i+1 < len(tr.rest); i += 2 {
		if tr.unit(i) == '\n' {
			end := i
			if end >= 2 && tr.unit(end-2) == '\r' {
				end -= 2
			}
			return tr.rest[:end], i + 2
		}
	}
	return nil, 0
}

func (tr *truth) unit(i int) uint16 {
	if strings.HasSuffix(strings.ToLower(tr.t.text("encoding")), "be") {
		return uint16(tr.rest[i])<<8 | uint16(tr.rest[i+1])
	}
	return uint16(tr.rest[i]) | uint16(tr.rest[i+1])<<8
}

// cut is how many bytes of an oversized token are one record: at most the limit
// and no part of a character.
func (tr *truth) cut(token []byte) int {
	n := 0
	for n < len(token) {
		_, size := utf8.DecodeRune(token[n:])
		if n+size > tr.limit {
			break
		}
		n += size
	}
	return n
}

func (tr *truth) decode(token []byte) string {
	decoder := unicode.UTF8.NewDecoder()
	if tr.wide {
		decoder = codec(tr.t.text("encoding")).NewDecoder()
	}
	text, err := decoder.Bytes(token)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// places are the records' bodies and places.
func placesOf(list []shape) []place {
	var out []place
	for _, s := range list {
		out = append(out, place{s.Body, s.Number, s.Offset})
	}
	return out
}
