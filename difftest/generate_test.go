package difftest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// dice makes a trial's content. The same seed makes the same trial.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 1))} }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }

const letters = "abcdefghijklmnopqrstuvwxyz 0123456789=:[]{}\"',.-"

// word is n bytes of ASCII that is not white space.
func (d dice) word(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[d.IntN(26)]
	}
	return string(b)
}

// ascii is n bytes of printable ASCII.
func (d dice) ascii(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[d.IntN(len(letters))]
	}
	return string(b)
}

// text is n characters from many scripts.
func (d dice) text(n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune(pick(d, 'a', 'z', ' ', 'é', 'ß', 'Ж', '日', '本', '€', '😀', 'Ċ', '\u00a0'))
	}
	return b.String()
}

// blanks is a little white space, of the kinds that are trimmed and that are not.
func (d dice) blanks() string {
	return pick(d, "", "", "", " ", "\t", "  \t", "\v", "\u00a0", " \r")
}

// first is a line that makes a file unlike all others from its first byte: files
// that begin alike are a matter of identity, not of records.
func (d dice) first(name string) string { return name + " " + d.word(12) }

// line is a line without its end.
func (d dice) line() string {
	switch d.IntN(12) {
	case 0:
		return ""
	case 1:
		return d.blanks()
	case 2:
		return d.blanks() + d.ascii(d.IntN(60)) + d.blanks()
	case 3:
		return d.text(d.IntN(30))
	case 4:
		return d.ascii(10) + string([]byte{byte(0x80 + d.IntN(128)), byte(d.IntN(256) | 0x20)}) + d.ascii(5)
	case 5:
		return d.ascii(d.IntN(20)) + "\x00" + d.ascii(3)
	case 6:
		return d.ascii(3) + "\r" + d.ascii(3)
	default:
		return d.ascii(d.IntN(120))
	}
}

// edgeLine is a line that ends near the edge of a buffer.
func (d dice) edgeLine() string {
	size := pick(d, 4<<10, 16<<10, 32<<10, 64<<10, 128<<10)
	return d.word(size - 3 + d.IntN(7))
}

func (d dice) eol() string { return pick(d, "\n", "\n", "\n", "\r\n", "\n\n", "\r\r\n") }

// lines is a file of lines made by line; the last is ended if ended.
func (d dice) lines(name string, n int, ended bool, line func() string) []byte {
	var b bytes.Buffer
	b.WriteString(d.first(name) + "\n")
	for range n {
		b.WriteString(line())
		b.WriteString(d.eol())
	}
	if !ended {
		b.WriteString(d.word(1 + d.IntN(20)))
	}
	return b.Bytes()
}

// fileNames are the names of a trial's files.
func (d dice) fileNames() []string {
	names := make([]string, 1+d.IntN(3))
	for i := range names {
		names[i] = fmt.Sprintf("f%d.log", i)
	}
	return names
}

// oneStage is a trial's only stage, with the files that make makes.
func (d dice) oneStage(make func(name string) []byte) []stage {
	s := stage{}
	for _, name := range d.fileNames() {
		s[name] = make(name)
	}
	return []stage{s}
}

// cut spreads one stage over several, cut anywhere.
func (d dice) cut(whole stage, parts int) []stage {
	stages := make([]stage, parts)
	for i := range stages {
		stages[i] = stage{}
	}
	for name, data := range whole {
		for i := range parts - 1 {
			n := d.IntN(len(data) + 1)
			if i == 0 {
				n = min(max(n, 40), len(data)) // enough to be known by
			}
			stages[i][name], data = data[:n:n], data[n:]
		}
		stages[parts-1][name] = data
	}
	return stages
}

// places asks for the attributes that say where a record stands.
func places(keys map[string]any) map[string]any {
	keys["include_file_record_number"] = true
	keys["include_file_record_offset"] = true
	return keys
}
