package registry

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// TestTheIndexFindsWhatASearchOfAllFinds compares the index with a plain search
// while States come, go, grow and are hashed.
func TestTheIndexFindsWhatASearchOfAllFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	letters := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(rng.IntN(2)) // few letters: many begin alike
		}
		return b
	}
	fingerprint := func() fileid.Fingerprint {
		f := fileid.NewFingerprint(letters(rng.IntN(12)))
		if rng.IntN(4) == 0 && f.Len() > 0 {
			f = fileid.HashedFingerprint(f.Len(), f.Digest())
		}
		return f
	}
	g := New(1 << 20)
	var all []*Record
	found := 0
	for range 4000 {
		switch n := rng.IntN(10); {
		case n < 3 && len(all) < 100:
			all = append(all, g.Add(&fileid.State{Fingerprint: fingerprint()}))
		case n == 3 && len(all) > 0:
			i := rng.IntN(len(all))
			g.Forget(all[i])
			all = slices.Delete(all, i, i+1)
		case n == 4 && len(all) > 0:
			g.Rehead(all[rng.IntN(len(all))], fingerprint())
		}
		head := letters(rng.IntN(14))
		var naive []*Record
		longest := 0
		for _, r := range all {
			f := r.State.Fingerprint
			longest = max(longest, f.Len())
			if f.Len() > 0 && len(head) > 0 && (f.IsPrefixOf(head) || f.Len() > len(head) && len(head) >= firstStep && f.StartsWith(head)) {
				naive = append(naive, r)
			}
		}
		require.ElementsMatch(t, naive, g.candidates(Sighting{Head: head, Size: -1}), "head %q", head)
		require.Equal(t, longest, g.MaxFingerprint())
		require.Equal(t, len(all), g.Len())
		found += len(naive)
	}
	require.Greater(t, found, 4000, "the test has to find something to compare")
}

func TestThousandsThatBeginAlikeAreNotAllLookedAt(t *testing.T) {
	g := New(1 << 20)
	for range 5000 {
		g.Add(&fileid.State{Fingerprint: fileid.NewFingerprint([]byte("all the same beginning"))})
	}
	require.LessOrEqual(t, len(g.candidates(Sighting{Head: []byte("all the same"), Size: -1})), maxShorter)
}

func BenchmarkCandidatesAmongManyStates(b *testing.B) {
	g := New(1 << 20)
	rng := rand.New(rand.NewPCG(1, 2))
	var head []byte
	for range 10000 {
		head = make([]byte, 1000)
		for i := range head {
			head[i] = byte(rng.IntN(256))
		}
		g.Add(&fileid.State{Fingerprint: fileid.NewFingerprint(head)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(g.candidates(Sighting{Head: head, Size: -1})) != 1 {
			b.Fatal("not found")
		}
	}
}
