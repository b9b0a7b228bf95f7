package batch

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func offsets(from, n int) []Position {
	list := make([]Position, n)
	for i := range list {
		list[i].Offset = int64(from + i)
	}
	return list
}

func TestTagsAreUniqueAndIncreaseWhateverTheClockSays(t *testing.T) {
	l := newLedger()
	assert.EqualValues(t, 100, l.enter(100, 1, offsets(0, 10)))
	assert.EqualValues(t, 110, l.enter(50, 2, offsets(0, 5)), "the clock went back")
	assert.EqualValues(t, 115, l.enter(115, 1, offsets(10, 1)))
	assert.EqualValues(t, 1000, l.enter(1000, 1, offsets(11, 1)))
}

// TestLedgerAgreesWithAModel releases records in random order and compares what
// is held with a plain list of what is not released.
func TestLedgerAgreesWithAModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	const files = 4
	l := newLedger()
	type record struct {
		tag    int64
		offset int64
	}
	var open [files][]record
	var next [files]int
	for range 2000 {
		file := r.IntN(files)
		if r.IntN(3) > 0 {
			n := 1 + r.IntN(200)
			first := l.enter(int64(r.IntN(1000)), uint64(file), offsets(next[file], n))
			for i := range n {
				open[file] = append(open[file], record{first + int64(i), int64(next[file] + i)})
			}
			next[file] += n
		} else if n := len(open[file]); n > 0 {
			r.Shuffle(n, func(i, k int) {
				if r.IntN(4) == 0 {
					open[file][i], open[file][k] = open[file][k], open[file][i]
				}
			})
			gone := open[file][:r.IntN(n+1)]
			var tags []int64
			for _, rec := range gone {
				tags = append(tags, rec.tag)
			}
			open[file] = open[file][len(gone):]
			l.release(tags)
		}
		at, held := l.held(uint64(file))
		require.Equal(t, len(open[file]) > 0, held)
		if held {
			want := open[file][0].offset
			for _, rec := range open[file] {
				want = min(want, rec.offset)
			}
			require.Equal(t, want, at.Offset)
		}
	}
	for file := range open {
		for _, rec := range open[file] {
			l.release([]int64{rec.tag})
		}
	}
	assert.Empty(t, l.files)
	assert.LessOrEqual(t, len(l.runs), 32, "settled runs are swept")
}

func TestLedgerKeepsLittleOfARunOfWhichOneRecordIsHeld(t *testing.T) {
	l := newLedger()
	first := l.enter(1, 1, offsets(0, 1000))
	l.hold(first + 998)
	l.leave(first, 1000)
	at, held := l.held(1)
	require.True(t, held)
	assert.EqualValues(t, 998, at.Offset)
	require.Len(t, l.runs, 1)
	assert.Less(t, len(l.runs[0].places), 10)
	l.release([]int64{first + 997, first + 999}) // settled long ago
	_, held = l.held(1)
	require.True(t, held)
	l.release([]int64{first + 998})
	_, held = l.held(1)
	require.False(t, held)
}

func TestRecordsCombinedIntoAnUnknownOneAreNotKeptForEver(t *testing.T) {
	l := newLedger()
	first := l.enter(1, 1, offsets(0, 2))
	l.absorb(first+77, []int64{first, first + 1})
	_, held := l.held(1)
	require.False(t, held)
	assert.Empty(t, l.absorbed)
}
