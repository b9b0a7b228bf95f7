package checkpoint

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

const prefix = "file_input."

// stores are the two clients that a receiver has.
type stores struct{ client, progress *memoryStorage }

func newStores() stores { return stores{newMemoryStorage(), newMemoryStorage()} }

func (s stores) options() Options {
	return Options{Client: s.client, Progress: s.progress, Prefix: prefix}
}

func (s stores) clone() stores { return stores{s.client.clone(), s.progress.clone()} }

func open(t testing.TB, o Options) (*Store, Loaded) {
	t.Helper()
	s, loaded, err := Open(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s, loaded
}

// state makes a State of the file number n, with everything set that is stored.
func state(n int) *fileid.State {
	head := fmt.Appendf(nil, "%08d begins like this and not otherwise", n)
	s := &fileid.State{
		Fingerprint:  fileid.NewFingerprint(head),
		Locator:      fileid.Locator{Device: 2049, Inode: uint64(100000 + n)},
		Path:         fmt.Sprintf("/var/log/app-%05d.log", n),
		HeaderDone:   n%2 == 0,
		RecordNumber: int64(n),
		Attributes:   map[string]any{"author": fmt.Sprintf("author %d", n), "year": int64(1900 + n), "share": 0.5},
		ModTime:      1_796_064_222_911_399_403 + int64(n),
	}
	advance(s, int64(1000+n))
	return s
}

// advance commits n more bytes.
func advance(s *fileid.State, n int64) {
	s.Offset += n
	s.RecordNumber++
	s.Size = s.Offset + 7
	s.ModTime++
	s.PartialLength, s.PartialSince = 7, s.ModTime
	s.Ladder.Advance(fileid.NewFrontier(s.Offset, window(s.Offset)))
}

// window is what stands before offset in every file of these tests.
func window(offset int64) []byte {
	return fmt.Appendf(nil, "%0*d", fileid.WindowLen(offset), offset)
}

// snapshotOf copies States as a reader of the storage sees them.
func snapshotOf(states []*fileid.State) map[string]fileid.State {
	all := make(map[string]fileid.State, len(states))
	for _, s := range states {
		c := *s
		c.Slot, c.StaticRevision = 0, 0
		all[s.Path] = c
	}
	return all
}

func requireSame(t testing.TB, want, got []*fileid.State) {
	t.Helper()
	require.Len(t, got, len(want))
	w, g := snapshotOf(want), snapshotOf(got)
	for path := range w {
		require.Equal(t, w[path], g[path], path)
	}
}

func TestAStateIsLoadedAsItWasSaved(t *testing.T) {
	for _, files := range []int{0, 1, 2, 300} {
		t.Run(fmt.Sprintf("%d files", files), func(t *testing.T) {
			st := newStores()
			s, loaded := open(t, st.options())
			assert.False(t, loaded.Resumed)
			assert.Empty(t, loaded.States)
			var states []*fileid.State
			for n := range files {
				states = append(states, state(n))
				s.Add(states[n])
			}
			if files > 0 {
				assert.Equal(t, KindSnapshot, save(t, s).Kind)
			}
			crashed := st.clone()
			for _, each := range []stores{crashed, st} {
				require.NoError(t, s.Close(context.Background()))
				_, loaded = open(t, each.options())
				requireSame(t, states, loaded.States)
				assert.Equal(t, files > 0, loaded.Resumed)
				assert.Empty(t, loaded.Damaged)
			}
		})
	}
}

func TestASaveAfterTheSnapshotWritesADelta(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	var states []*fileid.State
	for n := range 100 {
		states = append(states, state(n))
		s.Add(states[n])
	}
	save(t, s)
	st.client.takeCalls()
	for round := range 5 {
		for n := round; n < 100; n += 7 {
			advance(states[n], 5000)
			s.Changed(states[n])
		}
		r := save(t, s)
		require.NoError(t, r.Err)
		require.Equal(t, KindDelta, r.Kind)
		_, loaded := open(t, st.clone().options())
		requireSame(t, states, loaded.States)
	}
	assert.Empty(t, st.client.takeCalls(), "the snapshot's storage is left alone")
	require.NoError(t, s.Close(context.Background()))
	assert.Empty(t, st.progress.keys(), "an orderly end leaves no delta")
	_, loaded := open(t, st.options())
	requireSame(t, states, loaded.States)
}

func TestNothingIsWrittenWhenNothingChanged(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	one := state(1)
	s.Add(one)
	save(t, s)
	assert.False(t, s.Save())
	s.Changed(one)
	save(t, s)
	s.Changed(one)
	assert.False(t, s.Save(), "the same delta is stored already")
	require.NoError(t, s.Close(context.Background()))
	st.client.takeCalls()
	st.progress.takeCalls()
	s, _ = open(t, st.options())
	assert.False(t, s.Save())
	require.NoError(t, s.Close(context.Background()))
	assert.Equal(t, []string{"get file_input.knownFiles"}, st.client.takeCalls())
	assert.Equal(t, []string{"get file_input.progress"}, st.progress.takeCalls())
}
