package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

func TestHashesInPlaceOfFingerprints(t *testing.T) {
	const secret = "token=s3cr3t"
	st := newStores()
	one := state(1)
	one.Fingerprint = fileid.NewFingerprint(bytes.Repeat([]byte(secret+"\n"), 70))
	head := one.Fingerprint.Head()
	run := func(hash bool) *fileid.State {
		o := st.options()
		o.HashFingerprints, o.ArchiveSlots = hash, 2
		s, loaded := open(t, o)
		if len(loaded.States) == 0 {
			s.Add(one)
			s.Add(state(2))
			loaded.States = []*fileid.State{one}
		}
		known := loaded.States[0]
		require.True(t, known.Fingerprint.IsPrefixOf(head))
		advance(known, 10)
		s.Changed(known)
		settle(t, s)
		advance(known, 10)
		s.Changed(known)
		settle(t, s)
		want := *known
		require.NoError(t, s.Close(context.Background()))
		_, loaded = open(t, o)
		assert.Equal(t, want.Offset, loaded.States[0].Offset)
		return loaded.States[0]
	}
	holds := func() bool {
		for _, value := range st.client.values {
			if bytes.Contains(value, []byte("s3cr3t")) {
				return true
			}
		}
		return false
	}
	run(false)
	assert.True(t, holds())
	assert.True(t, run(true).Fingerprint.IsHashed())
	assert.False(t, holds(), "no beginning of a log is at rest")
	loaded := run(false)
	assert.True(t, loaded.Fingerprint.IsHashed(), "bytes that are gone come back with the file only")
	assert.Equal(t, len(head), loaded.Fingerprint.Len())
}

func TestAHashedSnapshotIsATenthOfTheOther(t *testing.T) {
	size := func(hash bool) int {
		st := newStores()
		o := st.options()
		o.HashFingerprints = hash
		s, _ := open(t, o)
		for _, state := range benchmarkStates(1000) {
			state.Attributes = nil
			s.Add(state)
		}
		return save(t, s).Bytes
	}
	assert.LessOrEqual(t, 10*size(true), size(false)+size(false)/20)
}

func TestShortLivedFilesLeaveNothingBehind(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	var alive []*fileid.State
	written := 0
	for n := range 5000 {
		alive = append(alive, state(n))
		s.Add(alive[len(alive)-1])
		if len(alive) > 20 {
			s.Remove(alive[0])
			alive = alive[1:]
		}
		if n%10 == 0 && s.Save() {
			r := <-s.Results()
			written += r.Bytes
			s.Applied(r)
		}
	}
	settle(t, s)
	assert.Less(t, len(s.records), 40, "slots are used again")
	stored := len(st.client.values[prefix+keyKnownFiles]) + len(st.progress.values[prefix+keyProgress])
	assert.Less(t, stored, 20_000)
	assert.Less(t, written, 5000*1000, "each file is written a few times, not at every save")
	_, loaded := open(t, st.clone().options())
	requireSame(t, alive, loaded.States)
}

func TestAFewActiveFilesAmongManyCostLittle(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	states := benchmarkStates(1000)
	for _, state := range states {
		s.Add(state)
	}
	save(t, s)
	// First all are active, later one is: the others do not stay in the delta.
	advanceSome := func(n int) int {
		for _, state := range states[:n] {
			benchmarkAdvance(state, 300)
			s.Changed(state)
		}
		return save(t, s).Bytes
	}
	for range 10 {
		assert.LessOrEqual(t, advanceSome(1000), 40<<10)
	}
	total := 0
	for range 100 {
		total += advanceSome(1)
	}
	assert.Less(t, total, 4<<20)
	assert.Less(t, advanceSome(1), 100)
	require.NoError(t, s.Close(context.Background()))
	_, loaded := open(t, st.options())
	for i, state := range loaded.States {
		require.Equal(t, states[i].Offset, state.Offset)
	}
}

func TestARewrittenFileTakesNoFrontierAlong(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	one := state(1)
	for range 5 {
		advance(one, 40_000)
	}
	s.Add(one)
	save(t, s)
	// Read again from 0 with other content, beyond where it was.
	for _, f := range []fileid.Frontier{{Offset: 90_000, Sum: 1}, {Offset: 400_000, Sum: 2}} {
		one.Ladder.TruncateTo(10)
		one.Ladder.Advance(f)
		one.Offset = f.Offset
		s.Changed(one)
		require.Equal(t, KindDelta, save(t, s).Kind)
		_, loaded := open(t, st.clone().options())
		requireSame(t, []*fileid.State{one}, loaded.States)
	}
}

func TestGenerationsGoUpWhateverTheClockSays(t *testing.T) {
	st := newStores()
	last := uint64(0)
	for round := range 5 {
		o := st.options()
		o.Now = func() time.Time { return time.Unix(int64(1000-100*round), 0) }
		s, loaded := open(t, o)
		require.Empty(t, loaded.Damaged)
		if round == 0 {
			s.Add(state(1))
		} else {
			s.Changed(loaded.States[0])
		}
		save(t, s)
		require.Greater(t, s.base.generation, last)
		last = s.base.generation
		require.NoError(t, s.Close(context.Background()))
	}
}

func TestAddingTwiceAndRemovingTwiceDoNothing(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	one := state(1)
	s.Changed(one) // counts as adding
	s.Add(one)
	assert.Equal(t, 1, s.Known())
	s.Remove(one)
	s.Remove(one)
	assert.Zero(t, s.Known())
	assert.Zero(t, one.Slot)
	copied := *state(2)
	s.Add(&copied)
	stranger := copied
	s.Remove(&stranger) // has the slot of another
	assert.Equal(t, 1, s.Known())
}

func TestKindsHaveNames(t *testing.T) {
	for kind, name := range map[Kind]string{KindDelta: "delta", KindSnapshot: "snapshot", KindArchive: "archive", 0: "none"} {
		assert.Equal(t, name, fmt.Sprint(kind))
	}
}

func TestFilesWithTheSameAttributesShareThem(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	for n := range 4 {
		one := state(n)
		one.Attributes = map[string]any{"host": "a", "rack": int64(n / 2)}
		s.Add(one)
	}
	require.NoError(t, s.Close(context.Background()))
	_, loaded := open(t, st.options())
	require.Len(t, loaded.States, 4)
	for n, got := range loaded.States {
		assert.Equal(t, map[string]any{"host": "a", "rack": int64(n / 2)}, got.Attributes)
	}
	address := func(n int) uintptr { return reflect.ValueOf(loaded.States[n].Attributes).Pointer() }
	assert.Equal(t, address(0), address(1))
	assert.NotEqual(t, address(1), address(2))
	assert.Equal(t, address(2), address(3))
}
