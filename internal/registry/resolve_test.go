package registry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// frontierIn is the frontier of content at offset.
func frontierIn(content string, offset int64) fileid.Frontier {
	window := fileid.WindowLen(offset)
	return fileid.NewFrontier(offset, []byte(content[int(offset)-window:offset]))
}

// stateOf is the State of a file whose content was read up to offset, by steps.
func stateOf(content string, fingerprint int, locator uint64, offsets ...int64) *fileid.State {
	s := &fileid.State{
		Fingerprint: fileid.NewFingerprint([]byte(content[:min(fingerprint, len(content))])),
	}
	if locator != 0 {
		s.Locator = fileid.Locator{Device: 1, Inode: locator}
	}
	for _, o := range offsets {
		s.Offset = o
		s.Ladder.Advance(frontierIn(content, o))
	}
	return s
}

// see resolves a file of that content.
func see(g *Registry, content string, locator uint64, apart ...*Record) Decision {
	s := Sighting{Head: []byte(content[:min(len(content), max(16, g.MaxFingerprint()))]), Size: int64(len(content))}
	if locator != 0 {
		s.Locator = fileid.Locator{Device: 1, Inode: locator}
	}
	var answers []fileid.Frontier
	for _, q := range g.Questions(s) {
		if q <= s.Size {
			answers = append(answers, frontierIn(content, q))
		}
	}
	return g.Resolve(s, answers, apart)
}

const (
	begin   = "begins alike: 16 and more\n"
	content = begin + "first line\nsecond line\nthird line\n"
	other   = begin + "something that is quite different\nand longer than the first\nwas\n"
)

func TestAFileIsResolvedByTheDeepestFrontierThatVerifies(t *testing.T) {
	end := int64(len(content))
	middle := int64(len(begin) + len("first line\n"))
	type known struct {
		state  *fileid.State
		owned  bool
		orphan bool
	}
	for _, c := range []struct {
		name    string
		known   []known
		content string
		locator uint64
		kind    Kind
		record  int // index into known, -1: none
		offset  int64
	}{
		{"nothing is known", nil, content, 1, Fresh, -1, 0},
		{"another beginning is known", []known{{state: stateOf("another beginning", 16, 1, 17)}}, content, 2, Fresh, -1, 0},
		{"same locator, unchanged", []known{{state: stateOf(content, 16, 1, end)}}, content, 1, Continue, 0, 0},
		{"same locator, grown", []known{{state: stateOf(content, 16, 1, middle)}}, content, 1, Continue, 0, 0},
		{"same locator, nothing read of it yet", []known{{state: stateOf(content, 16, 1)}}, content, 1, Continue, 0, 0},
		{"same locator, truncated between two frontiers", []known{{state: stateOf(content, 16, 1, middle, end)}}, content[:end-4], 1, Rewritten, 0, middle},
		{"same locator, truncated and grown past the position", []known{{state: stateOf(content, 16, 1, middle, end)}}, other, 1, Rewritten, 0, 0},
		{"inode used again by a file with another beginning", []known{{state: stateOf("another beginning", 16, 1, 17)}}, content, 1, Fresh, -1, 0},
		{"moved while nobody looked", []known{{state: stateOf(content, 16, 1, middle)}}, content, 2, Adopt, 0, 0},
		{"no locator is known of the State, as of upstream's", []known{{state: stateOf(content, 16, 0, middle)}}, content, 2, Adopt, 0, 0},
		{"copied and truncated", []known{{state: stateOf(content, 16, 0, end), orphan: true}}, content, 2, Adopt, 0, 0},
		{"a copy while the original lives on", []known{{state: stateOf(content, 16, 1, end), owned: true}}, content, 2, Hold, 0, 0},
		{"a shorter copy while the original lives on", []known{{state: stateOf(content, 16, 1, middle, end), owned: true}}, content[:middle+3], 2, Hold, 0, 0},
		{"shorter than the fingerprint", []known{{state: stateOf(content, 1000, 1, end), owned: true}}, content[:5], 2, Hold, 0, 0},
		{"begins like one that lives on", []known{{state: stateOf(content, 16, 1, end), owned: true}}, other, 2, Alike, -1, 0},
		{"begins like one that is gone", []known{{state: stateOf(content, 16, 1, end)}}, other, 2, Alike, -1, 0},
		{"new generation that is shorter than the old one", []known{{state: stateOf(content, 16, 1, end)}}, begin + "new\n", 2, Alike, -1, 0},
		{"of two that are gone, the one that came further", []known{{state: stateOf(content, 16, 5, middle)}, {state: stateOf(content, 16, 6, end)}}, content, 2, Adopt, 1, 0},
		{"a copy of a file that lives on, which begins like one that was rewritten", []known{{state: stateOf(content, 16, 0, int64(len(begin))), orphan: true}, {state: stateOf(content, 16, 1, end), owned: true}}, content, 2, Hold, 1, 0},
		{"the content of a file that was rewritten before it was read", []known{{state: stateOf(content, 16, 0), orphan: true}}, content, 2, Alike, -1, 0},
		{"a copy of a file that lives on, and of one that was rewritten before it was read", []known{{state: stateOf(content, 16, 0), orphan: true}, {state: stateOf(content, 16, 1), owned: true}}, content, 2, Hold, 1, 0},
		{"a file that was rewritten, which begins like one that lives on", []known{{state: stateOf(content, 16, 0, end), orphan: true}, {state: stateOf(content, 16, 1, middle), owned: true}}, content, 2, Adopt, 0, 0},
		{"a copy of a file that lives on, with the inode of one that is gone and began alike", []known{{state: stateOf(other, 16, 2, int64(len(other)))}, {state: stateOf(content, 16, 1, end), owned: true}}, content, 2, Hold, 1, 0},
		{"the orphan rather than the State at the same locator", []known{{state: stateOf(content, 16, 0, end), orphan: true}, {state: stateOf(other, 16, 2, int64(len(other)))}}, content, 2, Adopt, 0, 0},
		{"same locator before one that is gone and came further", []known{{state: stateOf(content, 16, 2, middle)}, {state: stateOf(content, 16, 6, end)}}, content, 2, Continue, 0, 0},
		{"hashed fingerprint", []known{{state: hashed(stateOf(content, 16, 1, middle))}}, content, 2, Adopt, 0, 0},
		{"hashed fingerprint that is longer than the file", []known{{state: hashed(stateOf(content, 40, 1, middle))}}, content[:20], 2, Fresh, -1, 0},
		{"without frontiers, as of older versions, by size", []known{{state: &fileid.State{Fingerprint: fileid.NewFingerprint([]byte(begin)), Offset: middle}}}, content, 2, Adopt, 0, 0},
		{"without frontiers and locator, as contrib leaves it, and shorter than the position", []known{{state: &fileid.State{Fingerprint: fileid.NewFingerprint([]byte(begin)), Offset: end + 1}}}, content, 2, Rewritten, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := New(100)
			var records []*Record
			for _, k := range c.known {
				r := g.Add(k.state)
				if k.owned {
					g.Own(r)
				}
				if k.orphan {
					g.Own(r)
					g.Orphaned(r)
				}
				records = append(records, r)
			}
			d := see(g, c.content, c.locator)
			assert.Equal(t, c.kind.String(), d.Kind.String(), d.Reason)
			assert.Equal(t, c.offset, d.Offset)
			assert.NotEmpty(t, d.Reason)
			if c.record < 0 {
				assert.Nil(t, d.Record)
			} else {
				assert.Same(t, records[c.record], d.Record)
			}
		})
	}
}

func hashed(s *fileid.State) *fileid.State {
	s.Fingerprint = fileid.HashedFingerprint(s.Fingerprint.Len(), s.Fingerprint.Digest())
	return s
}

func TestAFileThatWasComparedAndDiffersIsNotHeldAgain(t *testing.T) {
	g := New(100)
	r := g.Add(stateOf(content, 16, 1, int64(len(content))))
	g.Own(r)
	require.Equal(t, Hold, see(g, content, 2).Kind)
	require.Equal(t, Alike, see(g, content, 2, r).Kind)
	g.Release(r)
	require.Equal(t, Alike, see(g, content, 2, r).Kind, "not adopted either")
	require.Equal(t, Adopt, see(g, content, 2).Kind)
}

func TestTheSizeOfCompressedContentIsNotKnown(t *testing.T) {
	g := New(100)
	r := g.Add(stateOf(content, 16, 1, int64(len(content))))
	s := Sighting{Head: []byte(content[:16]), Size: -1}
	require.Equal(t, []int64{int64(len(content))}, g.Questions(s))
	d := g.Resolve(s, []fileid.Frontier{frontierIn(content, int64(len(content)))}, nil)
	require.Equal(t, Adopt, d.Kind)
	require.Same(t, r, d.Record)
	require.Equal(t, Alike, g.Resolve(s, nil, nil).Kind, "shorter than the position")
}

func TestACompressedFileWithTheInodeOfOneThatWasReadLessFarHasTheContentOfTheOther(t *testing.T) {
	middle, end := int64(len(begin)), int64(len(content))
	g := New(100)
	g.Add(stateOf(content, 16, 2, middle))
	r := g.Add(stateOf(content, 16, 6, end))
	s := Sighting{Locator: fileid.Locator{Device: 1, Inode: 2}, Head: []byte(content[:16]), Size: -1}
	d := g.Resolve(s, []fileid.Frontier{frontierIn(content, end), frontierIn(content, middle)}, nil)
	require.Equal(t, Adopt, d.Kind)
	require.Same(t, r, d.Record)
	packed := stateOf(content, 16, 3, middle)
	packed.Compressed = true
	g.Add(packed)
	s.Locator.Inode = 3
	require.Equal(t, Continue, g.Resolve(s, []fileid.Frontier{frontierIn(content, end), frontierIn(content, middle)}, nil).Kind)
}

func TestQuestionsAreAskedOnceAndOnlyWithinTheFile(t *testing.T) {
	g := New(100)
	g.Add(stateOf(content, 16, 1, 30, int64(len(content))))
	g.Add(stateOf(content, 16, 2, 30))
	g.Add(stateOf("another beginning", 16, 3, 17))
	s := Sighting{Head: []byte(content[:16]), Size: 40}
	require.Equal(t, []int64{30}, g.Questions(s))
	s.Size = 1000
	require.Equal(t, []int64{int64(len(content)), 30}, g.Questions(s))
}

func TestDeepestIsZeroWhenNothingVerifies(t *testing.T) {
	s := stateOf(content, 16, 1, 30, 50)
	require.Zero(t, Deepest(s, nil))
	require.Zero(t, Deepest(s, []fileid.Frontier{{Offset: 30, Sum: 1}, {Offset: 50, Sum: 2}}))
	require.Equal(t, int64(30), Deepest(s, []fileid.Frontier{{Offset: 50, Sum: 2}, frontierIn(content, 30)}))
}

func TestAnArchivedStateContinuesOnlyWhatWasReadOfIt(t *testing.T) {
	s := stateOf(content, 16, 0, 40)
	sight := Sighting{Head: []byte(content), Size: int64(len(content))}
	require.True(t, Continues(s, sight, []fileid.Frontier{frontierIn(content, 40)}))
	require.False(t, Continues(s, sight, []fileid.Frontier{frontierIn(strings.ToUpper(content), 40)}))
	sight.Head = []byte("another beginning of it")
	require.False(t, Continues(s, sight, []fileid.Frontier{frontierIn(content, 40)}))
}
