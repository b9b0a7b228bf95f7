package framing

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// unbounded stands for a number of newlines or bytes in a match that has no
// upper limit.
const unbounded = math.MaxInt

// longestAwaited is how many bytes of a match are awaited at most before an
// entry that reaches the size limit is cut.
const longestAwaited = 256

// pattern is a regular expression that begins or ends an entry, with what can
// be known of its matches beforehand. That serves to search line by line, and
// not to search what was searched before when more bytes have come.
type pattern struct {
	whole    *regexp.Regexp
	program  *syntax.Prog
	longest  int  // bytes of UTF-8 in a match at most
	newlines int  // newlines in a match at most
	textual  bool // asks for the beginning or the end of the whole text
	leaning  bool // whether a match begins at a place may depend on what stands before it, as with ^ and \b

	// If every match begins at the beginning of a line and ends in it: the same
	// expression bound to the beginning of the text, and the bytes that a match
	// can begin with.
	anchored *regexp.Regexp
	first    [256]bool
}

func compilePattern(what, expression string) (*pattern, error) {
	expression = "(?m)" + expression
	whole, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("compile %s regex: %w", what, err)
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("compile %s regex: %w", what, err)
	}
	p := &pattern{whole: whole, textual: asksForText(tree)}
	p.longest, p.newlines = measure(tree)
	simple := tree.Simplify()
	inLine := beginsLine(simple) && p.lineByLine() // Compile below may change the tree
	if p.program, err = syntax.Compile(simple); err != nil {
		return nil, fmt.Errorf("compile %s regex: %w", what, err)
	}
	p.inspectBeginning()
	if inLine {
		if p.anchored, err = regexp.Compile(`\A(?:` + expression + `)`); err != nil {
			return nil, fmt.Errorf("compile %s regex: %w", what, err)
		}
	}
	return p, nil
}

// lineByLine tells that no match reaches beyond its line, and that each line
// can be searched alone.
func (p *pattern) lineByLine() bool { return p.newlines == 0 && !p.textual }

// search finds the leftmost match that begins at or behind from, where a line
// must begin. If there is none, again is from where to search when more text
// has come.
func (p *pattern) search(text []byte, from int) (begin, end, again int) {
	if p.lineByLine() {
		return p.searchLines(text, from)
	}
	if m := p.whole.FindIndex(text[from:]); m != nil {
		return from + m[0], from + m[1], from
	}
	return -1, -1, p.again(text, from)
}

func (p *pattern) searchLines(text []byte, from int) (begin, end, again int) {
	for {
		line, last := text[from:], true
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, last = line[:i+1], false
		}
		if m := p.matchLine(line); m != nil && (last || m[0] < len(line)) {
			return from + m[0], from + m[1], from
		}
		if last {
			return -1, -1, from
		}
		from += len(line)
	}
}

// matchLine finds the leftmost match in a line, its newline included.
func (p *pattern) matchLine(line []byte) []int {
	if p.anchored == nil {
		return p.whole.FindIndex(line)
	}
	if len(line) > 0 && !p.first[line[0]] {
		return nil
	}
	return p.anchored.FindIndex(line)
}

// again is from where a text without a match has to be searched when it has
// grown: the beginning of the line in which a match can begin that would reach
// beyond the text's end.
func (p *pattern) again(text []byte, from int) int {
	if p.textual || p.newlines == unbounded {
		return from
	}
	at := len(text)
	for range p.newlines + 1 {
		i := bytes.LastIndexByte(text[from:at], '\n')
		if i < 0 {
			return from
		}
		at = from + i
	}
	return at + 1
}

// searchBehind finds the leftmost match that begins behind place, where the
// first match of the text ends. A match that begins right there is passed over.
func (p *pattern) searchBehind(text []byte, place int) (begin, end, again int) {
	if !p.lineByLine() {
		return p.searchBehindWhole(text, place)
	}
	line, rest := text, len(text)
	if i := bytes.IndexByte(text[place:], '\n'); i >= 0 {
		rest = place + i + 1
		line = text[:rest]
	}
	unfinished := rest == 0 || line[rest-1] != '\n'
	if p.anchored == nil {
		for _, m := range p.whole.FindAllIndex(line, 3) {
			if m[0] > place && (m[0] < rest || unfinished) {
				return m[0], m[1], 0
			}
		}
	}
	if unfinished {
		return -1, -1, 0
	}
	return p.searchLines(text, rest)
}

func (p *pattern) searchBehindWhole(text []byte, place int) (begin, end, again int) {
	behind := 0
	for n := 2; n <= 3; n++ {
		found := p.whole.FindAllIndex(text, n)
		for _, m := range found {
			if m[0] > place {
				return m[0], m[1], 0
			}
			behind = max(behind, m[1])
		}
		if len(found) < n {
			break
		}
	}
	if again = p.again(text, 0); again <= behind {
		again = 0
	}
	return -1, -1, again
}

// searchNonEmpty finds the leftmost match that does not end where the text
// begins.
func (p *pattern) searchNonEmpty(text []byte, from int) (begin, end, again int) {
	begin, end, again = p.search(text, from)
	if begin < 0 || end > 0 {
		return begin, end, again
	}
	part, rest := text, len(text)
	if p.lineByLine() {
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			rest = i + 1
			part = text[:rest]
		}
	}
	for _, m := range p.whole.FindAllIndex(part, 2) {
		if m[1] > 0 && (m[0] < rest || rest == len(text)) {
			return m[0], m[1], 0
		}
	}
	if rest == len(text) {
		return -1, -1, 0
	}
	return p.searchLines(text, rest)
}

// measure returns how many bytes and newlines a match has at most.
func measure(re *syntax.Regexp) (bytes, newlines int) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, char := range re.Rune {
			if char == '\n' {
				newlines++
			}
			if re.Flags&syntax.FoldCase != 0 {
				bytes += utf8.UTFMax
			} else {
				bytes += max(utf8.RuneLen(char), 1)
			}
		}
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				newlines = 1
			}
			bytes = max(bytes, utf8.RuneLen(min(re.Rune[i+1], utf8.MaxRune)), 1)
		}
	case syntax.OpAnyChar:
		return utf8.UTFMax, 1
	case syntax.OpAnyCharNotNL:
		return utf8.UTFMax, 0
	case syntax.OpStar, syntax.OpPlus:
		bytes, newlines = measure(re.Sub[0])
		return times(bytes, unbounded), times(newlines, unbounded)
	case syntax.OpRepeat:
		bytes, newlines = measure(re.Sub[0])
		most := re.Max
		if most < 0 {
			most = unbounded
		}
		return times(bytes, most), times(newlines, most)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			b, n := measure(sub)
			bytes, newlines = max(bytes, b), max(newlines, n)
		}
	default: // concatenation, group, optional part; without parts: nothing
		for _, sub := range re.Sub {
			b, n := measure(sub)
			bytes, newlines = plus(bytes, b), plus(newlines, n)
		}
	}
	return bytes, newlines
}

func plus(a, b int) int {
	if a > unbounded-b {
		return unbounded
	}
	return a + b
}

func times(a, n int) int {
	if a == 0 || n == 0 {
		return 0
	}
	if a > unbounded/n {
		return unbounded
	}
	return a * n
}

// asksForText tells whether re has \A or \z in it.
func asksForText(re *syntax.Regexp) bool {
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText {
		return true
	}
	for _, sub := range re.Sub {
		if asksForText(sub) {
			return true
		}
	}
	return false
}

// beginsLine tells whether every match of re begins at the beginning of a line.
func beginsLine(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine:
		return true
	case syntax.OpCapture, syntax.OpConcat, syntax.OpPlus:
		return len(re.Sub) > 0 && beginsLine(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !beginsLine(sub) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// inspectBeginning finds out with which bytes a match can begin, erring on the
// side of too many, and whether that leans on what stands before.
func (p *pattern) inspectBeginning() {
	for b := utf8.RuneSelf; b < len(p.first); b++ {
		p.first[b] = true
	}
	visited := make([]bool, len(p.program.Inst))
	var follow func(pc uint32)
	follow = func(pc uint32) {
		if visited[pc] {
			return
		}
		visited[pc] = true
		inst := &p.program.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			follow(inst.Out)
			follow(inst.Arg)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&looksBehind != 0 {
				p.leaning = true
			}
			follow(inst.Out)
		case syntax.InstCapture, syntax.InstNop:
			follow(inst.Out)
		case syntax.InstMatch:
			for b := range p.first {
				p.first[b] = true
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for b := range utf8.RuneSelf {
				if inst.MatchRune(rune(b)) {
					p.first[b] = true
				}
			}
		}
	}
	follow(uint32(p.program.Start))
}
