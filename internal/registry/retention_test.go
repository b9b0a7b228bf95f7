package registry

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

func add(g *Registry, inode uint64) *Record {
	return g.Add(&fileid.State{
		Fingerprint: fileid.NewFingerprint([]byte{byte(inode), byte(inode >> 8), 1}),
		Locator:     fileid.Locator{Device: 1, Inode: inode},
	})
}

func TestAStateOutlivesItsFileForThreePolls(t *testing.T) {
	g := New(10)
	r := add(g, 1)
	for range missedPolls {
		overdue, _ := g.EndPoll(nil)
		require.Empty(t, overdue)
	}
	overdue, overLimit := g.EndPoll(nil)
	require.Equal(t, []*Record{r}, overdue)
	require.Zero(t, overLimit)
	g.Forget(r)
	require.Zero(t, g.Len())
	require.False(t, g.KnowsLocator(r.State.Locator))
}

func TestAnOwnedStateIsNeverOverdueNorOverTheLimit(t *testing.T) {
	g := New(1)
	for i := range uint64(5) {
		g.Own(add(g, i+1))
	}
	for range 10 {
		overdue, overLimit := g.EndPoll(nil)
		require.Empty(t, overdue)
		require.Zero(t, overLimit)
	}
}

func TestAReleasedStateIsCountedFromThen(t *testing.T) {
	g := New(10)
	r := add(g, 1)
	g.Own(r)
	for range 10 {
		g.EndPoll(nil)
	}
	g.Release(r)
	for range missedPolls {
		overdue, _ := g.EndPoll(nil)
		require.Empty(t, overdue)
	}
	overdue, _ := g.EndPoll(nil)
	require.Len(t, overdue, 1)
}

func TestAKeptStateIsLeftAloneForSoManyPolls(t *testing.T) {
	g := New(10)
	r := add(g, 1)
	g.Keep(r, 5)
	polls := 0
	for ; ; polls++ {
		if overdue, _ := g.EndPoll(nil); len(overdue) > 0 {
			break
		}
	}
	require.Equal(t, 5+missedPolls, polls)
}

func TestTheLimitTakesTheStatesThatWereSeenLongestAgo(t *testing.T) {
	g := New(3)
	var all []*Record
	for i := range uint64(5) {
		all = append(all, add(g, i+1))
	}
	g.EndPoll(nil)
	g.Keep(all[0], 50) // seen just now
	g.Keep(all[1], 50)
	overdue, overLimit := g.EndPoll(nil)
	require.Equal(t, 2, overLimit)
	require.ElementsMatch(t, []*Record{all[2], all[3]}, overdue)
}

func TestAnOrphanHasNoLocatorAnyMore(t *testing.T) {
	g := New(10)
	r := add(g, 7)
	g.Own(r)
	at := r.State.Locator
	revision := r.State.StaticRevision
	g.Orphaned(r)
	require.True(t, r.Orphan())
	require.False(t, r.Owned())
	require.False(t, g.KnowsLocator(at))
	require.Greater(t, r.State.StaticRevision, revision)
	g.Own(r)
	require.False(t, r.Orphan())
}

func TestALocatorLeadsToTheStateThatWasSeenThereLast(t *testing.T) {
	g := New(10)
	first, second := add(g, 1), add(g, 2)
	g.Locate(second, "b", fileid.Locator{Device: 1, Inode: 1})
	require.True(t, g.KnowsLocator(fileid.Locator{Device: 1, Inode: 1}))
	require.False(t, g.KnowsLocator(fileid.Locator{Device: 1, Inode: 2}))
	g.Forget(first)
	require.True(t, g.KnowsLocator(fileid.Locator{Device: 1, Inode: 1}), "it is the second one's now")
	g.Forget(second)
	require.False(t, g.KnowsLocator(fileid.Locator{Device: 1, Inode: 1}))
}

func TestUnownedStatesAreVisitedOnceEach(t *testing.T) {
	g := New(10)
	a, b, c := add(g, 1), add(g, 2), add(g, 3)
	g.Own(b)
	seen := map[*Record]int{}
	g.Unowned(func(r *Record) { seen[r]++ })
	require.Equal(t, map[*Record]int{a: 1, c: 1}, seen)
	g.Release(b)
	g.Own(a)
	seen = map[*Record]int{}
	g.Unowned(func(r *Record) { seen[r]++ })
	require.Equal(t, map[*Record]int{b: 1, c: 1}, seen)
}
