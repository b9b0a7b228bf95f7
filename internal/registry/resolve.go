package registry

import (
	"slices"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// Sighting is a file that is not being read yet, as it was seen.
type Sighting struct {
	Locator fileid.Locator
	// Head is the beginning of the content, at least MaxFingerprint bytes if
	// the file has them.
	Head []byte
	// Size is the length of the content; -1: not known, as of a compressed file.
	Size int64
	// Path is where it was seen: of many that it may be a copy of, those with a
	// path like it are looked at.
	Path string
}

// Kind says what a sighting is.
type Kind int

const (
	// Fresh: nothing is known of the file. It is read from its beginning.
	Fresh Kind = iota
	// Alike: a known file begins alike, yet this is not it. As Fresh.
	Alike
	// Continue: the State of this very file.
	Continue
	// Adopt: the content of a State whose own file is gone or was rewritten:
	// the file was moved, restored, copied and truncated, or compressed.
	Adopt
	// Rewritten: the State of this very file, but its content has changed. It
	// goes on at Decision.Offset; the State is orphaned.
	Rewritten
	// Hold: the same content as far as can be told as a file that lives on: a
	// copy in the making or a twin.
	Hold
)

// String is the kind as metrics and the debug log name it.
func (k Kind) String() string {
	return [...]string{"fresh", "alike", "continue", "adopt", "rewritten", "hold"}[k]
}

// Decision is what a sighting was taken for.
type Decision struct {
	Kind   Kind
	Record *Record // of all kinds but Fresh and Alike: the State in question
	Offset int64   // Rewritten: where reading goes on
	Reason string  // constant text, for the debug log
}

// Questions are the positions at which the content before them is needed to
// decide: the frontiers of all States that the file may continue, each
// position once, descending.
func (g *Registry) Questions(s Sighting) []int64 {
	var offsets []int64
	for _, r := range g.candidates(s) {
		l := &r.State.Ladder
		for i := range l.Len() {
			if f := l.At(i); s.Size < 0 || f.Offset <= s.Size {
				offsets = append(offsets, f.Offset)
			}
		}
	}
	slices.SortFunc(offsets, func(a, b int64) int { return compare(uint64(b), uint64(a)) })
	return slices.Compact(offsets)
}

// Resolve decides what s is. answers holds a frontier of the file's own content
// for each of the Questions that the file is long enough for. The records in
// apart are known to be other files: they were compared and differ, or were
// held long enough.
func (g *Registry) Resolve(s Sighting, answers []fileid.Frontier, apart []*Record) Decision {
	var adopt, hold, whole, same *Record // whole: what hold would be if shorter ones did not count
	alike := false
	for _, r := range g.candidates(s) {
		alike = true
		full := verifiedWhole(r.State, s, answers)
		// Nothing is compressed in place: the file has got the inode of the one whose
		// content it has, or of another one that has less of it.
		packed := full && s.Size < 0 && !r.State.Compressed
		switch {
		case !s.Locator.IsZero() && r.State.Locator == s.Locator && !r.owned && !packed:
			if full {
				return Decision{Kind: Continue, Record: r, Reason: "same locator, the content before the position is the same"}
			}
			same = r
		case !r.owned && !full && same == nil && fromContrib(r):
			// Its fingerprint is all that contrib's receiver goes by.
			same = r
		case r.orphan && r.State.Offset == 0 && !r.Held:
			// Rewritten before it was read: there is nothing to go on with.
		case !r.owned && full && !slices.Contains(apart, r):
			if adopt == nil || better(r, adopt) {
				adopt = r
			}
		case r.owned && !slices.Contains(apart, r) && (full || shorter(r.State, s, answers)):
			if hold == nil || better(r, hold) {
				hold = r
			}
			if full && (whole == nil || better(r, whole)) {
				whole = r
			}
		}
	}
	var deepest int64
	if same != nil {
		deepest = Deepest(same.State, answers)
	}
	switch {
	case adopt != nil && whole != nil && Evidence(whole.State) > Evidence(adopt.State):
		// The deepest frontier decides: those files only began alike.
		return Decision{Kind: Hold, Record: whole, Reason: "has more of a file that lives on than of one that is gone"}
	case adopt != nil && adopt.orphan:
		return Decision{Kind: Adopt, Record: adopt, Reason: "has the content of a file that was rewritten"}
	case adopt != nil && (same == nil || adopt.State.Ladder.Len() > 0):
		return Decision{Kind: Adopt, Record: adopt, Reason: "has the content of a file that is gone"}
	case same != nil && whole != nil && (deepest == 0 || whole.State.Offset > deepest):
		return Decision{Kind: Hold, Record: whole, Reason: "has the content of a file that lives on, and the inode of one that begins alike"}
	case same != nil:
		return Decision{Kind: Rewritten, Record: same, Offset: deepest, Reason: "same locator, the content before the position differs"}
	case hold != nil:
		return Decision{Kind: Hold, Record: hold, Reason: "has the content of a file that lives on"}
	case alike:
		return Decision{Kind: Alike, Reason: "begins like a known file, but is not that file"}
	}
	return Decision{Kind: Fresh, Reason: "begins like no known file"}
}

// fromContrib tells whether r comes from a version that kept neither locator
// nor frontiers, and has not been read for since.
func fromContrib(r *Record) bool {
	return !r.orphan && r.State.Locator.IsZero() && r.State.Ladder.Len() == 0
}

// Evidence is how many bytes speak for a State whose beginning and position a file
// has: of a file that was not read yet, only its fingerprint does.
func Evidence(s *fileid.State) int64 { return max(s.Offset, int64(s.Fingerprint.Len())) }

// better prefers the State for which more speaks, then the one that came further,
// then the younger one.
func better(a, b *Record) bool {
	if x, y := Evidence(a.State), Evidence(b.State); x != y {
		return x > y
	}
	if a.State.Offset != b.State.Offset {
		return a.State.Offset > b.State.Offset
	}
	return a.serial > b.serial
}

// Continues tells whether a file has all that was read under state, which is
// no known one: an archived State.
func Continues(state *fileid.State, s Sighting, answers []fileid.Frontier) bool {
	return state.Fingerprint.IsPrefixOf(s.Head) && verifiedWhole(state, s, answers)
}

// verifiedWhole tells whether the file has all that was read under state. A
// State without frontiers comes from a version that kept none: there the
// fingerprint and the size have to do.
func verifiedWhole(state *fileid.State, s Sighting, answers []fileid.Frontier) bool {
	newest, ok := state.Ladder.Newest()
	if !ok || newest.Offset != state.Offset {
		return s.Size < 0 || s.Size >= state.Offset
	}
	return slices.Contains(answers, newest)
}

// shorter tells whether the file is a true beginning of what was read under
// state, as far as frontiers and fingerprint show.
func shorter(state *fileid.State, s Sighting, answers []fileid.Frontier) bool {
	if s.Size < 0 || s.Size >= state.Offset {
		return false
	}
	for i := range state.Ladder.Len() {
		if f := state.Ladder.At(i); f.Offset <= s.Size {
			return slices.Contains(answers, f)
		}
	}
	return true
}

// Deepest is the deepest position of state at which the file's content, as the
// answers show it, is still the same; 0 if there is none.
func Deepest(state *fileid.State, answers []fileid.Frontier) int64 {
	for i := range state.Ladder.Len() {
		if f := state.Ladder.At(i); slices.Contains(answers, f) {
			return f.Offset
		}
	}
	return 0
}
