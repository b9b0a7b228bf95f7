package batch

import (
	"strings"
	"unicode/utf8"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/parser/container"
)

// runtimeLine is a line of a container runtime, taken apart.
type runtimeLine struct {
	at     runtimeTime
	stderr bool   // else stdout
	docker bool   // else CRI: "time stream tag text"
	tag    string // of CRI: lastTag for a whole line
	text   string
	buffer []byte // for texts with escapes
}

// runtimeFormat takes apart lines in the common form that a container operator
// can get. Whatever it says no to is for the parser of stanza: invalid lines,
// and valid ones in a form that no runtime writes.
type runtimeFormat struct{ docker, cri bool }

// newRuntimeFormat tells which lines an operator of this configuration parses
// as runtimeFormat does: none if it is configured to do more than its own work.
func newRuntimeFormat(config *container.Config) runtimeFormat {
	from, fromBody := config.ParseFrom.FieldInterface.(entry.BodyField)
	to, toAttributes := config.ParseTo.FieldInterface.(entry.AttributeField)
	if !fromBody || len(from.Keys) > 0 || !toAttributes || len(to.Keys) > 0 || config.BodyField != nil ||
		config.TimeParser != nil || config.SeverityConfig != nil || config.TraceParser != nil || config.ScopeNameParser != nil {
		return runtimeFormat{}
	}
	switch config.Format {
	case "":
		return runtimeFormat{docker: true, cri: true}
	case "docker":
		return runtimeFormat{docker: true}
	default:
		return runtimeFormat{cri: true}
	}
}

// any tells whether any line can be taken apart here.
func (f runtimeFormat) any() bool { return f.docker || f.cri }

// parse takes raw apart. If it says no, what is in line has no meaning.
func (f runtimeFormat) parse(raw string, line *runtimeLine) bool {
	if raw == "" {
		return false
	}
	if raw[0] == '{' {
		return f.docker && line.parseDocker(raw)
	}
	return f.cri && line.parseCRI(raw)
}

const (
	stdoutName = "stdout"
	stderrName = "stderr"
)

// parseStream takes the name of a stream and what has to follow it from s.
func (l *runtimeLine) parseStream(s, behind string) (rest string, ok bool) {
	const size = len(stdoutName)
	if len(s) < size || !strings.HasPrefix(s[size:], behind) {
		return "", false
	}
	switch s[:size] {
	case stdoutName:
		l.stderr = false
	case stderrName:
		l.stderr = true
	default:
		return "", false
	}
	return s[size+len(behind):], true
}

func (l *runtimeLine) parseCRI(raw string) (ok bool) {
	end := strings.IndexByte(raw, ' ')
	if end < 0 {
		return false
	}
	if l.at, ok = parseRuntimeTime(raw[:end]); !ok {
		return false
	}
	rest, ok := l.parseStream(raw[end+1:], " ")
	if !ok {
		return false
	}
	l.docker = false
	l.tag, l.text, _ = strings.Cut(rest, " ")
	return true
}

// parseDocker reads the JSON that Docker writes: these three keys, in this
// order, without a space between them.
func (l *runtimeLine) parseDocker(raw string) (ok bool) {
	rest, ok := strings.CutPrefix(raw, `{"log":"`)
	if !ok {
		return false
	}
	if l.text, rest, ok = l.parseText(rest); !ok {
		return false
	}
	if rest, ok = strings.CutPrefix(rest, `,"stream":"`); !ok {
		return false
	}
	if rest, ok = l.parseStream(rest, `","time":"`); !ok {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, `"}`); !ok {
		return false
	}
	l.at, ok = parseRuntimeTime(rest)
	l.docker, l.tag = true, ""
	return ok && l.at.zulu
}

// parseText reads a JSON string up to its closing quote. Without escapes it is a part of s.
func (l *runtimeLine) parseText(s string) (text, rest string, ok bool) {
	start, ascii, escaped := 0, true, false // start: of what is not in the buffer yet
	l.buffer = l.buffer[:0]
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			text = s[start:i]
			if escaped {
				l.buffer = append(l.buffer, text...)
				text = string(l.buffer)
			}
			return text, s[i+1:], ascii || utf8.ValidString(text)
		case c == '\\':
			l.buffer = append(l.buffer, s[start:i]...)
			size := l.appendEscaped(s[i:])
			if size == 0 {
				return "", "", false
			}
			i += size - 1
			start, escaped = i+1, true
		case c < ' ':
			return "", "", false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", "", false
}

// appendEscaped appends what the escape at the start of s stands for, and
// returns its length: 0 if it is none of the usual ones.
func (l *runtimeLine) appendEscaped(s string) (size int) {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case 'n':
		l.buffer = append(l.buffer, '\n')
	case 't':
		l.buffer = append(l.buffer, '\t')
	case 'r':
		l.buffer = append(l.buffer, '\r')
	case '"', '\\':
		l.buffer = append(l.buffer, s[1])
	case 'u': // as Docker writes control characters, `<`, `>`, `&` and U+2028
		return l.appendUnicode(s)
	default:
		return 0
	}
	return 2
}

func (l *runtimeLine) appendUnicode(s string) (size int) {
	size = len(`\u0000`)
	if len(s) < size {
		return 0
	}
	var r rune
	for _, c := range []byte(s[2:size]) {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		default:
			return 0
		}
	}
	if r >= 0xD800 { // halves of characters begin here
		return 0
	}
	l.buffer = utf8.AppendRune(l.buffer, r)
	return size
}
