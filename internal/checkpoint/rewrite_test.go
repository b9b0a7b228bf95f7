package checkpoint

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// inspected reads the contents of stores, and how many slots are stored.
func inspected(t testing.TB, st stores, prefix string) (Inspection, int) {
	t.Helper()
	slots := Prefixes(st.client.keys(), st.progress.keys())[prefix]
	i, err := Inspect(context.Background(), st.client, st.progress, prefix, slots)
	require.NoError(t, err)
	return i, slots
}

func TestWhatEveryFixtureHoldsIsTheSameAfterARewrite(t *testing.T) {
	folders, err := filepath.Glob(fixtures + "/*-*")
	require.NoError(t, err)
	require.Greater(t, len(folders), 25)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			st, prefix := loadFolder(t, folder)
			before, slots := inspected(t, st, prefix)
			require.NoError(t, Rewrite(context.Background(), st.client, st.progress, prefix, slots, before.Contents))
			after, _ := inspected(t, st, prefix)
			assert.Empty(t, after.Damaged)
			assert.False(t, after.HasDelta)
			assert.Equal(t, before.Contents, after.Contents)
			if len(after.Known) > 0 {
				assert.Equal(t, "snapshot", after.Format)
				assert.Greater(t, after.Generation, before.Generation)
			}
			kept := 0
			for _, m := range []*memoryStorage{st.client, st.progress} {
				for _, key := range m.keys() {
					if filepath.Ext(key) == QuarantineSuffix {
						kept++
					}
				}
			}
			assert.LessOrEqual(t, kept, len(before.Damaged))
			for _, d := range before.Damaged {
				assert.True(t, kept > 0 || errors.Is(d, ErrMissing) || errors.Is(d, ErrOutdated), "damaged bytes are kept: %v", d)
			}
		})
	}
}

// archivedLife is a storage with a snapshot, a delta on it and two full slots.
func archivedLife(t testing.TB) stores {
	st := newStores()
	s, _ := open(t, st.archiving(3))
	for n := range 6 {
		s.Add(state(n))
	}
	settle(t, s)
	for n := 6; n < 8; n++ {
		archive(t, s, state(n))
	}
	late := state(9)
	s.Add(late)
	settle(t, s)
	return st.clone()
}

func TestWhatARewriteLeavesOutIsGoneAndWhatItChangesIsFound(t *testing.T) {
	st := archivedLife(t)
	before, slots := inspected(t, st, prefix)
	require.True(t, before.HasDelta)
	require.NotEmpty(t, before.FromDelta)
	require.Len(t, before.Archive, 2)
	c := before.Contents
	forgotten := c.Known[0]
	c.Known = c.Known[1:]
	c.Known[0].Offset, c.Known[0].Ladder = 17, fileid.Ladder{}
	c.Archive, c.Last = c.Archive[:1], 0
	require.NoError(t, Rewrite(context.Background(), st.client, st.progress, prefix, slots, c))

	assert.NotContains(t, st.client.keys(), prefix+slotKey(1))
	s, loaded := open(t, st.archiving(3))
	require.Empty(t, loaded.Damaged)
	requireSame(t, c.Known, loaded.States)
	assert.NotContains(t, snapshotOf(loaded.States), forgotten.Path)
	assert.Len(t, s.FindArchived(headOf(6)), 1)
	assert.Empty(t, s.FindArchived(headOf(7)))
	assert.False(t, s.Save(), "there is nothing left to write")
}

func TestARewriteOfNothingLeavesNothing(t *testing.T) {
	st := archivedLife(t)
	_, slots := inspected(t, st, prefix)
	require.NoError(t, Rewrite(context.Background(), st.client, st.progress, prefix, slots, Contents{Last: -1}))
	assert.Equal(t, []string{prefix + keyKnownFiles}, st.client.keys())
	assert.Empty(t, st.progress.keys())
	_, loaded := open(t, st.options())
	assert.False(t, loaded.Resumed)
	assert.Empty(t, loaded.Damaged)
}

func TestAFailedRewriteLeavesTheOldOrTheNewContents(t *testing.T) {
	whole := archivedLife(t)
	for call := 1; ; call++ {
		st := whole.clone()
		before, slots := inspected(t, st, prefix)
		old := snapshotOf(before.Known)
		c := before.Contents
		c.Known = c.Known[:3]
		for _, s := range c.Known {
			s.Offset, s.Ladder = s.Offset-1, fileid.Ladder{}
		}
		calls := 0
		fail := func(string, string, []byte) error {
			if calls++; calls == call {
				return errors.New("no")
			}
			return nil
		}
		st.client.before, st.progress.before = fail, fail
		err := Rewrite(context.Background(), st.client, st.progress, prefix, slots, c)
		st.client.before, st.progress.before = nil, nil
		after, _ := inspected(t, st, prefix)
		require.Empty(t, after.Damaged)
		got := snapshotOf(after.Known)
		if len(got) == len(old) {
			assert.Equal(t, old, got, "failed call %d", call)
		} else {
			assert.Equal(t, snapshotOf(c.Known), got, "failed call %d", call)
		}
		assert.Len(t, after.Archive, 2, "failed call %d", call)
		if calls < call {
			require.NoError(t, err)
			return
		}
	}
}

func TestARewriteRefusesAnArchiveThatCannotBe(t *testing.T) {
	st := newStores()
	for _, last := range []int{-2, 0, 1} {
		err := Rewrite(context.Background(), st.client, nil, prefix, 0, Contents{Last: last})
		assert.ErrorContains(t, err, "archive slot")
	}
	assert.ErrorContains(t, Rewrite(context.Background(), nil, nil, prefix, 0, Contents{Last: -1}), "storage client")
	assert.Empty(t, st.client.keys())
}

func TestPrefixesAreFoundByTheKeysOfTheFormatOnly(t *testing.T) {
	got := Prefixes(
		[]string{"file_input.knownFiles", "file_input.knownFiles4", "a.b.knownFiles.b2", "other", "x.knownFilesy", "x.progress", "i.knownFilesArchiveIndex", "q.knownFiles.damaged", "h.knownFiles99999999999999999999"},
		[]string{"p.progress", "file_input.progress", "q.progress.damaged"},
	)
	assert.Equal(t, map[string]int{"file_input.": 5, "a.b.": 0, "i.": 0, "p.": 0, "h.": 0}, got)
}

func TestAttributesKeepTheirTypesAsText(t *testing.T) {
	attributes := map[string]any{"count": int64(3), "share": 3.0, "name": "a\"b", "list": []any{true, nil}}
	got, err := ParseAttributes(AttributesText(attributes))
	require.NoError(t, err)
	assert.Equal(t, attributes, got)
	_, err = ParseAttributes([]byte("[1]"))
	assert.ErrorIs(t, err, ErrMalformed)
}

func TestAnArchiveThatIsRewrittenWithoutAnIndexGetsOne(t *testing.T) {
	st := newStores()
	c := Contents{Archive: [][]*fileid.State{nil, {state(1)}, nil}, Last: -1}
	require.NoError(t, Rewrite(context.Background(), st.client, st.progress, prefix, 0, c))
	s, _ := open(t, st.archiving(3))
	assert.Len(t, s.FindArchived(headOf(1)), 1)
}
