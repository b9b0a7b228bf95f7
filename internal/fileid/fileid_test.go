package fileid

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFingerprintIsAPrefixOfWhatGoesOnFromIt(t *testing.T) {
	content := []byte("begin and go on")
	hash := func(f Fingerprint) Fingerprint { return HashedFingerprint(f.Len(), f.Digest()) }
	for _, f := range []Fingerprint{NewFingerprint(content[:5]), hash(NewFingerprint(content[:5]))} {
		require.True(t, f.IsPrefixOf(content))
		require.True(t, f.IsPrefixOf(content[:5]))
		require.False(t, f.IsPrefixOf(content[:4]), "shorter than the fingerprint")
		require.False(t, f.IsPrefixOf([]byte("other text")))
		require.True(t, f.StartsWith(content[:5]))
		require.True(t, f.Equal(NewFingerprint(content[:5])))
		require.False(t, f.Equal(NewFingerprint(content[:6])))
	}
	require.True(t, NewFingerprint(content).StartsWith(content[:3]))
	require.False(t, hash(NewFingerprint(content)).StartsWith(content[:3]), "a digest says nothing of a shorter beginning")
	require.True(t, NewFingerprint(nil).IsPrefixOf(content), "an empty one says nothing")
	require.True(t, Fingerprint{}.Equal(NewFingerprint([]byte{})))
}

func TestAFrontierVerifiesOnlyTheSameBytes(t *testing.T) {
	text := strings.Repeat("0123456789", 100)
	for _, offset := range []int64{1, 255, 256, 257, 1000} {
		window := []byte(text[int(offset)-WindowLen(offset) : offset])
		f := NewFrontier(offset, window)
		require.True(t, f.Verifies(window))
		require.False(t, f.Verifies(window[1:]))
		changed := append([]byte(nil), window...)
		changed[len(changed)/2] ^= 1
		require.False(t, f.Verifies(changed))
	}
}

func TestALadderReachesBackAtGrowingDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var l Ladder
	at := int64(0)
	for range 10000 {
		at += 1 + rng.Int64N(16000)
		l.Advance(Frontier{Offset: at, Sum: uint64(at)})
		require.LessOrEqual(t, l.Len(), Rungs)
		newest, ok := l.Newest()
		require.True(t, ok)
		require.Equal(t, at, newest.Offset)
		for i := 1; i < l.Len(); i++ {
			require.Less(t, l.At(i).Offset, l.At(i-1).Offset)
		}
	}
	require.Equal(t, Rungs, l.Len())
	for i, within := range []int64{64 << 10, 1 << 20, 16 << 20} {
		distance := at - l.At(i+1).Offset
		require.Less(t, distance, within, "rung %d", i+1)
		require.Greater(t, distance*64, within, "rung %d", i+1)
	}
}

func TestALadderForgetsWhatIsBehindATruncation(t *testing.T) {
	l := LadderOf(Frontier{500, 5}, Frontier{300, 3}, Frontier{100, 1})
	l.TruncateTo(300)
	require.Equal(t, LadderOf(Frontier{300, 3}, Frontier{100, 1}), l)
	l.TruncateTo(0)
	require.Zero(t, l.Len())
	l = LadderOf(Frontier{500, 5}, Frontier{300, 3})
	l.Advance(Frontier{400, 4})
	require.Equal(t, LadderOf(Frontier{400, 4}, Frontier{300, 3}), l, "a step back")
	l.Advance(Frontier{})
	require.Zero(t, l.Len())
}

func TestALadderTakesOnlyWhatDescends(t *testing.T) {
	l := LadderOf(Frontier{100, 1}, Frontier{100, 1}, Frontier{200, 2}, Frontier{50, 3}, Frontier{0, 4}, Frontier{-1, 5})
	require.Equal(t, 2, l.Len())
	require.Equal(t, int64(50), l.At(1).Offset)
}
