package checkpoint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALargeSnapshotKeepsNoBufferAndIsFollowedByDeltas(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	states := benchmarkStates(manyFiles)
	for n, state := range states {
		require.False(t, s.LargeSnapshotDue(), n)
		s.Add(state)
	}
	require.True(t, s.LargeSnapshotDue())
	r := save(t, s)
	require.Equal(t, KindSnapshot, r.Kind)
	require.Greater(t, r.Bytes, largeSnapshot)
	require.Nil(t, s.job.known)
	require.False(t, s.LargeSnapshotDue())

	benchmarkAdvance(states[7], 300)
	s.Changed(states[7])
	require.False(t, s.LargeSnapshotDue())
	require.Equal(t, KindDelta, save(t, s).Kind)
	require.Less(t, cap(s.job.known), 1<<10)
	_, loaded := open(t, st.clone().options())
	requireSame(t, states, loaded.States)
}

func TestALargeSnapshotThatFailedKeepsItsBufferForTheNextTry(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	st.client.before = func(string, string, []byte) error { return errStorage }
	for _, state := range benchmarkStates(manyFiles) {
		s.Add(state)
	}
	require.True(t, s.Save())
	s.Applied(<-s.Results())
	require.NotNil(t, s.job.known)
	require.True(t, s.LargeSnapshotDue())
}
