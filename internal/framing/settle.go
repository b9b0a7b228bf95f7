package framing

import (
	"regexp/syntax"
	"unicode/utf8"
)

// states is the working memory of settle, reused.
type states struct {
	now, then []uint32
	seenAt    []int // per instruction: the step in which it was visited last
	step      int
	text      []byte
	at        int
	open      bool
	certain   bool
}

// settle runs p over text from begin, where a match begins, and tells whether
// bytes yet to come behind the text could change that: certain means that there
// is a match in any case, open that it could become another one.
func (s *states) settle(p *pattern, text []byte, begin int) (certain, open bool) {
	if len(s.seenAt) < len(p.program.Inst) {
		s.seenAt = make([]int, len(p.program.Inst))
		s.step = 0
	}
	s.text, s.at, s.open, s.certain = text, begin, false, false
	s.now = s.now[:0]
	s.step++
	s.follow(p, uint32(p.program.Start), &s.now)
	for len(s.now) > 0 {
		if !utf8.FullRune(text[s.at:]) { // also at the end
			s.open = true
			break
		}
		char, size := utf8.DecodeRune(text[s.at:])
		s.at += size
		s.step++
		s.then = s.then[:0]
		for _, pc := range s.now {
			inst := &p.program.Inst[pc]
			if inst.MatchRune(char) && s.follow(p, inst.Out, &s.then) {
				break // what comes later in the list has less priority than this match
			}
		}
		s.now, s.then = s.then, s.now
	}
	s.text = nil
	return s.certain, s.open
}

// follow adds to list the instructions that read a character and are reached
// from pc, in the order of their priority. It returns true when a match was
// reached that stands whatever comes: then the rest has no say.
func (s *states) follow(p *pattern, pc uint32, list *[]uint32) bool {
	if s.seenAt[pc] == s.step {
		return false
	}
	s.seenAt[pc] = s.step
	inst := &p.program.Inst[pc]
	switch inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return s.follow(p, inst.Out, list) || s.follow(p, inst.Arg, list)
	case syntax.InstCapture, syntax.InstNop:
		return s.follow(p, inst.Out, list)
	case syntax.InstEmptyWidth:
		holds, known := s.holds(syntax.EmptyOp(inst.Arg))
		if !known {
			s.open = true
			return false
		}
		return holds && s.follow(p, inst.Out, list)
	case syntax.InstMatch:
		s.certain = true
		return true
	case syntax.InstFail:
		return false
	default:
		*list = append(*list, pc)
		return false
	}
}

// looksBehind are the conditions that depend on the character before.
const looksBehind = syntax.EmptyBeginLine | syntax.EmptyBeginText | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary

// looksAhead are the conditions that depend on the next character.
const looksAhead = syntax.EmptyEndLine | syntax.EmptyEndText | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary

// holds tells whether a condition holds here, and whether that is known yet.
func (s *states) holds(condition syntax.EmptyOp) (holds, known bool) {
	before, behind := rune(-1), rune(-1)
	if s.at > 0 {
		before, _ = utf8.DecodeLastRune(s.text[:s.at])
	}
	atEnd := !utf8.FullRune(s.text[s.at:])
	if !atEnd {
		behind, _ = utf8.DecodeRune(s.text[s.at:])
	}
	context := syntax.EmptyOpContext(before, behind)
	if atEnd && condition&looksAhead != 0 {
		// If what is known already fails, the rest does not matter.
		fixed := condition &^ looksAhead
		return false, context&fixed != fixed
	}
	return context&condition == condition, true
}
