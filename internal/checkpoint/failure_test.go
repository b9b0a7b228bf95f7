package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

var errStorage = errors.New("the storage is out of order")

// refuseOver refuses values larger than limit.
func refuseOver(limit int) func(string, string, []byte) error {
	return func(operation, _ string, value []byte) error {
		if operation == "set" && len(value) > limit {
			return fmt.Errorf("value of %d bytes is too large", len(value))
		}
		return nil
	}
}

// fastClock moves on by a minute at each look, so that no pause after failures is seen.
func fastClock() func() time.Time {
	now := time.Unix(1_800_000_000, 0)
	return func() time.Time {
		now = now.Add(time.Minute)
		return now
	}
}

func TestAStorageThatCannotBeReadFailsTheStart(t *testing.T) {
	for _, key := range []string{keyKnownFiles, keyProgress, keyArchiveIndex, slotKey(1)} {
		st := newStores()
		st.client.values[prefix+keyArchiveIndex] = indexValue(0)
		st.client.before = func(operation, k string, _ []byte) error {
			if operation == "get" && k == prefix+key {
				return errStorage
			}
			return nil
		}
		st.progress.before = st.client.before
		_, _, err := Open(context.Background(), st.archiving(3))
		require.ErrorIs(t, err, errStorage, key)
		if key == keyKnownFiles {
			assert.EqualError(t, err, "read known files from database: the storage is out of order")
		}
	}
	_, _, err := Open(context.Background(), Options{})
	require.Error(t, err, "a client is needed")
}

// scenario is a life of a Store with everything in it. It returns the States that
// are known at the end; failing saves are repeated by later ones.
func scenario(t testing.TB, st stores) []*fileid.State {
	s, _, err := Open(context.Background(), st.archiving(2))
	if err != nil {
		return nil
	}
	s.o.Now = fastClock()
	save := func() {
		if s.Save() {
			s.Applied(<-s.Results())
		}
	}
	var states []*fileid.State
	for n := range 6 {
		states = append(states, state(n))
		s.Add(states[n])
	}
	save()
	for round := range 3 {
		for n := range states {
			advance(states[n], int64(round*1000+n))
			s.Changed(states[n])
		}
		save()
	}
	s.Archive(states[4:5])
	save()
	save()
	for _, found := range s.FindArchived(headOf(4)) {
		s.Revive(found)
		advance(found, 77)
		s.Changed(found)
	}
	save()
	s.Remove(states[5])
	save()
	states = states[:5]
	_ = s.Close(context.Background())
	return states
}

func TestAFailureOfAnyOneCallLosesNothing(t *testing.T) {
	for failing := 1; ; failing++ {
		for _, forGood := range []bool{false, true} {
			st := newStores()
			calls, failed := 0, false
			before := func(string, string, []byte) error {
				calls++
				if calls == failing || (forGood && calls > failing) {
					failed = true
					return errStorage
				}
				return nil
			}
			st.client.before, st.progress.before = before, before
			want := scenario(t, st)
			if !failed {
				require.Greater(t, failing, 10, "the scenario has many calls")
				return
			}
			if want == nil {
				continue // Open failed
			}
			s, loaded := open(t, st.clone().archiving(2))
			require.Empty(t, loaded.Damaged, "call %d", failing)
			got := snapshotOf(append(loaded.States, archivedStates(s)...))
			for path, w := range snapshotOf(want) {
				if g, ok := got[path]; ok {
					require.LessOrEqual(t, g.Offset, w.Offset, "call %d", failing)
				}
				if !forGood && calls > failing+3 {
					require.Equal(t, w, got[path], "call %d", failing)
				}
			}
		}
	}
}

func archivedStates(s *Store) []*fileid.State {
	var states []*fileid.State
	if s.ring != nil {
		for state := range s.ring.byState {
			states = append(states, state)
		}
	}
	return states
}

func TestWhatFailedIsSavedLater(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	s.o.Now = fastClock()
	one := state(1)
	s.Add(one)
	st.client.before = func(string, string, []byte) error { return errStorage }
	st.progress.before = st.client.before
	for range 3 {
		require.ErrorIs(t, save(t, s).Err, errStorage)
	}
	st.client.before, st.progress.before = nil, nil
	require.NoError(t, save(t, s).Err)
	require.False(t, s.Save())
	_, loaded := open(t, st.clone().options())
	requireSame(t, []*fileid.State{one}, loaded.States)
}

func TestAfterASnapshotOfUnknownFateTheNextSaveIsASnapshot(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	one := state(1)
	s.Add(one)
	save(t, s)
	// Too much for a delta.
	many := make([]*fileid.State, 100)
	for n := range many {
		many[n] = state(100 + n)
		s.Add(many[n])
	}
	st.client.before = func(operation, key string, value []byte) error {
		if operation == "set" {
			st.client.values[key] = bytes.Clone(value) // it is there, whatever was said
		}
		return errStorage
	}
	r := save(t, s)
	require.Equal(t, KindSnapshot, r.Kind)
	require.ErrorIs(t, r.Err, errStorage)
	st.client.before = nil
	for _, state := range many {
		s.Remove(state)
	}
	advance(one, 5)
	s.Changed(one)
	require.Equal(t, KindSnapshot, save(t, s).Kind, "a delta might belong to a snapshot that is gone")
	_, loaded := open(t, st.clone().options())
	requireSame(t, []*fileid.State{one}, loaded.States)
}

func TestAFailingStorageIsNotTriedAtEveryPoll(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	st := newStores()
	o := st.options()
	o.Now = func() time.Time { return now }
	s, _ := open(t, o)
	st.client.before = func(string, string, []byte) error { return errStorage }
	s.Add(state(1))
	require.Error(t, save(t, s).Err)
	require.Error(t, save(t, s).Err, "once more at once")
	tries := 0
	for range 500 {
		now = now.Add(200 * time.Millisecond)
		if s.Save() {
			s.Applied(<-s.Results())
			tries++
		}
	}
	assert.Less(t, tries, 40)
	assert.Greater(t, tries, 10)
	st.client.before = nil
	now = now.Add(5 * time.Second)
	require.NoError(t, save(t, s).Err)
}

func TestAStoreThatRefusesLargeValuesGetsSeveral(t *testing.T) {
	for _, limit := range []int{20 << 10, 64 << 10, 100 << 10} {
		t.Run(fmt.Sprintf("%d KiB", limit>>10), func(t *testing.T) {
			st := newStores()
			st.client.before, st.progress.before = refuseOver(limit), refuseOver(limit)
			s, _ := open(t, st.options())
			s.o.Now = fastClock()
			var states []*fileid.State
			for n := range 1000 {
				states = append(states, state(n))
				s.Add(states[n])
			}
			for s.Save() {
				s.Applied(<-s.Results())
			}
			for round := range 4 {
				_, loaded := open(t, st.clone().options())
				require.Empty(t, loaded.Damaged)
				requireSame(t, states, loaded.States)
				for n := range states {
					advance(states[n], 300)
					s.Changed(states[n])
				}
				if round > 1 {
					s.needSnapshot = true
				}
				for s.Save() {
					s.Applied(<-s.Results())
				}
			}
			require.NoError(t, s.Close(context.Background()))
			_, loaded := open(t, st.options())
			requireSame(t, states, loaded.States)
			for key, value := range st.client.values {
				assert.LessOrEqual(t, len(value), limit, key)
			}

			// When there is no limit any more, the parts go away.
			st.client.before, st.progress.before = nil, nil
			s, loaded = open(t, st.options())
			s.Changed(loaded.States[0])
			require.NoError(t, s.Close(context.Background()))
			assert.Equal(t, []string{prefix + keyKnownFiles}, st.client.keys())
		})
	}
}

func TestAMissingPartCostsItsFilesOnly(t *testing.T) {
	st := newStores()
	st.client.before = refuseOver(32 << 10)
	s, _ := open(t, st.options())
	s.o.Now = fastClock()
	var states []*fileid.State
	for n := range 500 {
		states = append(states, state(n))
		s.Add(states[n])
	}
	for s.Save() {
		s.Applied(<-s.Results())
	}
	part := prefix + partKey(s.saver.vault.side, 1)
	require.Contains(t, st.client.values, part)
	st = st.clone()
	other := bytes.Clone(st.client.values[part])
	delete(st.client.values, part)
	_, loaded := open(t, st.options())
	require.Len(t, loaded.Damaged, 1)
	assert.ErrorIs(t, loaded.Damaged[0], ErrMissing)
	assert.Less(t, len(loaded.States), 500)
	assert.Greater(t, len(loaded.States), 300)
	requireNothingAhead(t, loaded.States, snapshotOf(states))

	st.client.values[prefix+partKey(s.saver.vault.side, 2)] = other
	_, loaded = open(t, st.options())
	assert.ErrorIs(t, loaded.Damaged[1], ErrOutdated)
}

func TestAFullStorageGetsHashesInPlaceOfFingerprints(t *testing.T) {
	st := newStores()
	st.client.before = func(operation, _ string, value []byte) error {
		if operation == "set" && len(value) > 256<<10 {
			return storage.ErrStorageFull
		}
		return nil
	}
	s, _ := open(t, st.options())
	s.o.Now = fastClock()
	states := make([]*fileid.State, 600)
	for n := range states {
		states[n] = state(n)
		states[n].Attributes = nil
		states[n].Fingerprint = fileid.NewFingerprint(fmt.Appendf(nil, "%01000d", n))
		s.Add(states[n])
	}
	require.ErrorIs(t, save(t, s).Err, storage.ErrStorageFull)
	require.NoError(t, save(t, s).Err)
	_, loaded := open(t, st.clone().options())
	require.Len(t, loaded.States, 600)
	assert.True(t, loaded.States[7].Fingerprint.Equal(states[7].Fingerprint))
}

func TestASlowStorageDelaysNothingButSaves(t *testing.T) {
	st := newStores()
	started, release := make(chan struct{}), make(chan struct{})
	s, _ := open(t, st.options())
	one, two := state(1), state(2)
	s.Add(one)
	s.Add(two)
	st.client.before = func(string, string, []byte) error {
		close(started)
		<-release
		return nil
	}
	require.True(t, s.Save())
	<-started
	saved := *one
	advance(one, 100)
	s.Changed(one)
	s.Remove(two)
	three := state(3)
	s.Add(three)
	require.False(t, s.Save(), "one save at a time")
	st.client.before = nil
	close(release)
	s.Applied(<-s.Results())
	_, loaded := open(t, st.clone().options())
	requireSame(t, []*fileid.State{&saved, state(2)}, loaded.States)
	require.Equal(t, KindDelta, save(t, s).Kind)
	_, loaded = open(t, st.clone().options())
	requireSame(t, []*fileid.State{one, three}, loaded.States)
}

func TestClosingDoesNotWaitForEver(t *testing.T) {
	st := newStores()
	started, release := make(chan struct{}), make(chan struct{})
	s, _ := open(t, st.options())
	s.Add(state(1))
	st.client.before = func(string, string, []byte) error {
		close(started)
		<-release
		return nil
	}
	require.True(t, s.Save())
	<-started
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, s.Close(ctx), context.Canceled)
	close(release)
	<-s.saver.done
	require.NoError(t, s.Close(context.Background()), "closing twice does nothing")
	require.False(t, s.Save())
}

func TestClosingReportsWhatCouldNotBeSaved(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(2))
	one := state(1)
	s.Add(one)
	save(t, s)
	s.Archive([]*fileid.State{one})
	st.client.before = func(operation, _ string, _ []byte) error {
		if operation == "set" {
			return errStorage
		}
		return nil
	}
	require.ErrorIs(t, s.Close(context.Background()), errStorage)
	st.client.before = nil
	_, loaded := open(t, st.archiving(2))
	requireSame(t, []*fileid.State{one}, loaded.States)
}

func TestWithoutAClientForProgressEverySaveIsASnapshot(t *testing.T) {
	st := newStores()
	o := st.options()
	o.Progress = nil
	s, _ := open(t, o)
	one := state(1)
	s.Add(one)
	for range 3 {
		advance(one, 10)
		s.Changed(one)
		require.Equal(t, KindSnapshot, save(t, s).Kind)
	}
	require.False(t, s.Save())
	require.NoError(t, s.Close(context.Background()))
	_, loaded := open(t, o)
	requireSame(t, []*fileid.State{one}, loaded.States)
}
