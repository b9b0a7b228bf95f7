package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	checkpointpb "github.com/otelfilelog/filelogreceiver/internal/checkpoint/proto"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

func (s stores) archiving(slots int) Options {
	o := s.options()
	o.ArchiveSlots = slots
	return o
}

// headOf is the beginning of the file of a State, a line longer than its fingerprint.
func headOf(n int) []byte { return append(bytes.Clone(state(n).Fingerprint.Head()), " and more\n"...) }

// archive archives a State and saves until the archive and the known files agree.
func archive(t testing.TB, s *Store, states ...*fileid.State) {
	s.Archive(states)
	settle(t, s)
}

// settle saves until there is nothing to save.
func settle(t testing.TB, s *Store) {
	t.Helper()
	for range 10 {
		if !s.Save() {
			return
		}
		s.Applied(<-s.Results())
	}
	t.Fatal("there is always something to save")
}

// storedSlot are the paths of the files in a slot.
func storedSlot(t testing.TB, st stores, slot int) []string {
	var list checkpointpb.MetadataList
	require.NoError(t, proto.Unmarshal(st.client.clone().values[prefix+slotKey(slot)], &list))
	var paths []string
	for _, m := range list.Metadata {
		_, device := protowire.ConsumeVarint(m.Place)
		_, inode := protowire.ConsumeVarint(m.Place[device:])
		paths = append(paths, string(m.Place[device+inode:]))
	}
	slices.Sort(paths)
	return paths
}

func TestAnArchivedFileIsFoundByItsBeginning(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(3))
	one, two := state(1), state(2)
	s.Add(one)
	s.Add(two)
	save(t, s)
	s.Archive([]*fileid.State{one})
	require.Equal(t, []*fileid.State{one}, s.FindArchived(headOf(1)), "also before it is saved")
	settle(t, s)
	assert.Equal(t, 1, s.Known())
	for _, each := range []stores{st, st.clone()} {
		s, loaded := open(t, each.archiving(3))
		requireSame(t, []*fileid.State{two}, loaded.States)
		assert.Empty(t, s.FindArchived(headOf(2)), "a known file is not an archived one")
		assert.Empty(t, s.FindArchived(headOf(1)[:10]), "less than the fingerprint proves nothing")
		found := s.FindArchived(headOf(1))
		requireSame(t, []*fileid.State{one}, found)
	}
}

func TestLookingIntoTheArchiveReadsNoStorage(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(3))
	archive(t, s, state(1))
	st.client.takeCalls()
	for n := range 100 {
		s.FindArchived(headOf(n))
	}
	assert.Empty(t, st.client.takeCalls())
}

func TestTheLongestAndNewestBeginningIsFoundFirst(t *testing.T) {
	st := newStores()
	o := st.archiving(5)
	s, _ := open(t, o)
	head := headOf(1)
	for i, length := range []int{10, 30, 20, 30} {
		archive(t, s, &fileid.State{Fingerprint: fileid.NewFingerprint(head[:length]), Path: fmt.Sprint(i)})
	}
	archive(t, s, &fileid.State{Fingerprint: fileid.HashedFingerprint(25, fileid.DigestOf(head[:25])), Path: "hashed"})
	for range 2 {
		var paths []string
		for _, f := range s.FindArchived(head) {
			paths = append(paths, f.Path)
		}
		assert.Equal(t, []string{"3", "1", "hashed", "2", "0"}, paths)
		require.NoError(t, s.Close(context.Background()))
		s, _ = open(t, o)
	}
}

func TestAFileWithoutAFingerprintIsNotArchived(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(3))
	empty := &fileid.State{Path: "empty"}
	s.Add(empty)
	archive(t, s, empty)
	assert.Zero(t, s.Known())
	assert.Empty(t, s.FindArchived([]byte("anything")))
}

func TestWithoutAnArchiveAnArchivedFileIsRemoved(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	one := state(1)
	s.Add(one)
	archive(t, s, one)
	assert.Zero(t, s.Known())
	assert.Empty(t, s.FindArchived(headOf(1)))
	s.Revive(one)
	assert.Zero(t, s.Known())
}

func TestTheOldestSlotIsOverwritten(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(3))
	for n := range 4 {
		archive(t, s, state(n))
	}
	for range 2 {
		assert.Empty(t, s.FindArchived(headOf(0)))
		for n := 1; n < 4; n++ {
			assert.Len(t, s.FindArchived(headOf(n)), 1)
		}
		require.NoError(t, s.Close(context.Background()))
		s, _ = open(t, st.archiving(3))
	}
	assert.Equal(t, "0\n", string(st.client.values[prefix+keyArchiveIndex]))
}

func TestASlotIsUsedOnlyWhenThereIsSomethingToArchive(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(2))
	archive(t, s, state(1))
	for range 20 {
		s.Archive(nil)
		settle(t, s)
	}
	assert.Len(t, s.FindArchived(headOf(1)), 1)
	assert.NotContains(t, st.client.values, prefix+slotKey(1))
}

func TestARevivedFileStaysArchivedUntilItIsSavedAsKnown(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(3))
	archive(t, s, state(1), state(2))
	one := s.FindArchived(headOf(1))[0]
	s.Revive(one)
	assert.Empty(t, s.FindArchived(headOf(1)), "it is found once")
	advance(one, 100)
	s.Changed(one)
	fail := errors.New("not now")
	st.client.before = func(operation, key string, _ []byte) error {
		if operation == "set" && key == prefix+keyKnownFiles {
			return fail
		}
		return nil
	}
	st.progress.before = func(string, string, []byte) error { return fail }
	require.ErrorIs(t, save(t, s).Err, fail)
	assert.Equal(t, []string{state(1).Path, state(2).Path}, storedSlot(t, st, 0))
	st.client.before, st.progress.before = nil, nil
	settle(t, s)
	assert.Equal(t, []string{state(2).Path}, storedSlot(t, st, 0))
	again, loaded := open(t, st.clone().archiving(3))
	requireSame(t, []*fileid.State{one}, loaded.States)
	assert.Len(t, again.FindArchived(headOf(2)), 1)
	assert.Empty(t, again.FindArchived(headOf(1)))
}

func TestASaveFromBeforeTheRevivalDoesNotClearTheArchive(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(3))
	two := state(2)
	s.Add(two)
	archive(t, s, state(1))
	advance(two, 10)
	s.Changed(two)
	require.True(t, s.Save())
	r := <-s.Results()
	one := s.FindArchived(headOf(1))[0]
	s.Revive(one) // after the save was encoded
	s.Applied(r)
	st.progress.before = func(string, string, []byte) error { return errStorage }
	st.client.before = func(operation, key string, _ []byte) error {
		if operation == "set" && key == prefix+keyKnownFiles {
			return errStorage
		}
		return nil
	}
	require.Error(t, save(t, s).Err)
	assert.Equal(t, []string{one.Path}, storedSlot(t, st, 0), "nowhere else is it stored")
	st.progress.before, st.client.before = nil, nil
	settle(t, s)
	assert.Empty(t, storedSlot(t, st, 0))
}

func TestAFileMayComeBackWhileItIsBeingArchived(t *testing.T) {
	for _, c := range []struct {
		name string
		when string
	}{{"before the save", "before"}, {"during the save", "during"}, {"after the save", "after"}} {
		t.Run(c.name, func(t *testing.T) {
			st := newStores()
			s, _ := open(t, st.archiving(3))
			one := state(1)
			s.Add(one)
			save(t, s)
			s.Archive([]*fileid.State{one})
			revive := func(when string) {
				if when == c.when {
					require.Equal(t, []*fileid.State{one}, s.FindArchived(headOf(1)))
					s.Revive(one)
					advance(one, 50)
					s.Changed(one)
				}
			}
			revive("before")
			require.True(t, s.Save())
			revive("during")
			s.Applied(<-s.Results())
			revive("after")
			settle(t, s)
			assert.Equal(t, 1, s.Known())
			again, loaded := open(t, st.clone().archiving(3))
			requireSame(t, []*fileid.State{one}, loaded.States)
			assert.Empty(t, again.FindArchived(headOf(1)))
			// And it can be archived once more.
			archive(t, s, one)
			again, loaded = open(t, st.clone().archiving(3))
			assert.Empty(t, loaded.States)
			requireSame(t, []*fileid.State{one}, again.FindArchived(headOf(1)))
		})
	}
}

func TestTheNumberOfSlotsMayChangeBetweenRuns(t *testing.T) {
	st := newStores()
	run := func(slots int, add ...int) []int {
		s, _ := open(t, st.archiving(slots))
		for _, n := range add {
			archive(t, s, state(n))
		}
		var found []int
		for n := range 20 {
			if len(s.FindArchived(headOf(n))) > 0 {
				found = append(found, n)
			}
		}
		settle(t, s)
		require.NoError(t, s.Close(context.Background()))
		return found
	}
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6}, run(10, 0, 1, 2, 3, 4, 5, 6))
	assert.Subset(t, run(3), []int{3, 4, 5, 6}, "what was beyond the ring moves into it")
	assert.Subset(t, run(3), []int{3, 4, 5, 6})
	for key := range st.client.values {
		assert.NotContains(t, []string{slotKey(3), slotKey(4), slotKey(5), slotKey(6)}, strings.TrimPrefix(key, prefix))
	}
	assert.Subset(t, run(10, 7), []int{3, 4, 5, 6, 7})
	run(0)
	assert.Subset(t, run(10), []int{3, 4, 5, 6, 7}, "a run without an archive leaves it alone")
}

func TestAnArchiveThatWasNeverWrittenIsNotReadHoweverLongItIs(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(math.MaxInt))
	reads := slices.DeleteFunc(st.client.takeCalls(), func(call string) bool { return !strings.HasPrefix(call, "get ") })
	assert.Equal(t, []string{"get " + prefix + keyKnownFiles, "get " + prefix + keyArchiveIndex, "get " + prefix + slotKey(0)}, reads)
	archive(t, s, state(1))
	assert.Equal(t, "0\n", string(st.client.values[prefix+keyArchiveIndex]))
}

func TestALongArchiveIsReadInFewStepsAndTakesTheMemoryOfWhatItHolds(t *testing.T) {
	const slots = 200_000
	o, closeClients := fileStorage(t, t.TempDir())
	defer closeClients()
	counting := &batchCounter{Client: o.Client}
	o.Client, o.ArchiveSlots = counting, slots
	s, _ := open(t, o)
	archive(t, s, state(1))
	require.NoError(t, s.Close(context.Background()))
	require.NoError(t, o.Client.Set(context.Background(), prefix+slotKey(slots-1), appendList(nil, []*fileid.State{state(2)}, 0, false)))
	counting.batches = 0
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, _ = open(t, o)
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, counting.batches, slots/maxFetch+20)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20), "two states")
	assert.Len(t, s.FindArchived(headOf(1)), 1)
	assert.Len(t, s.FindArchived(headOf(2)), 1)
	runtime.KeepAlive(s)
}

// batchCounter counts how often a storage is asked for several values at once.
type batchCounter struct {
	storage.Client
	batches int
}

func (c *batchCounter) Batch(ctx context.Context, operations ...*storage.Operation) error {
	c.batches++
	return c.Client.Batch(ctx, operations...)
}

func TestSlotsOfUpstreamVersionsWithoutAnIndexAreRead(t *testing.T) {
	st := newStores()
	st.client.values[prefix+slotKey(0)] = []byte("0\n") // as they wrote an empty set
	st.client.values[prefix+slotKey(2)] = appendList(nil, []*fileid.State{state(2)}, 0, false)
	s, _ := open(t, st.archiving(3))
	assert.Len(t, s.FindArchived(headOf(2)), 1)
}

func TestTheArchiveOutlivesTheLossOfItsIndex(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(5))
	for n := range 3 {
		archive(t, s, state(n))
	}
	s.Revive(s.FindArchived(headOf(0))[0]) // so that the first slot becomes empty
	settle(t, s)
	require.NoError(t, s.Close(context.Background()))
	st.client.values[prefix+keyArchiveIndex] = []byte("x")
	for range 2 {
		s, _ = open(t, st.archiving(5))
		assert.Len(t, s.FindArchived(headOf(1)), 1)
		assert.Len(t, s.FindArchived(headOf(2)), 1)
		require.NoError(t, s.Close(context.Background()))
	}
	assert.Equal(t, "2\n", string(st.client.values[prefix+keyArchiveIndex]))
}

func TestOfTooManyArchivedStatesTheOldestSlotsAreForgotten(t *testing.T) {
	r := newRing(archived{size: 1000, next: 0, last: -1})
	add := func(states int) {
		entries := make([]*archivedState, states)
		for i := range entries {
			entries[i] = &archivedState{state: &fileid.State{}, slot: -1}
		}
		r.written(slotWrite{slot: r.next, entries: entries}, func(*fileid.State) {})
	}
	for range 10 {
		add(maxArchived / 10)
	}
	require.Zero(t, r.forgotten)
	add(10)
	assert.Equal(t, maxArchived/10, r.forgotten, "the first slot")
	assert.NotContains(t, r.slots, 0)
	add(maxArchived / 10)
	assert.Equal(t, maxArchived/10*2, r.forgotten)
	assert.NotContains(t, r.slots, 1)
	for range 3000 {
		add(1)
	}
	assert.Len(t, r.slots, 1000)
	assert.Equal(t, 1000, r.count)
	add(maxArchived + 1)
	assert.Len(t, r.slots, 1, "what was written last stays")
}

func TestADamagedSlotIsSalvagedAndRewritten(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.archiving(3))
	archive(t, s, state(1), state(2))
	require.NoError(t, s.Close(context.Background()))
	value := st.client.values[prefix+slotKey(0)]
	st.client.values[prefix+slotKey(0)] = value[:len(value)-30]
	st.client.values[prefix+keyArchiveIndex] = []byte("x")
	s, loaded := open(t, st.archiving(3))
	require.Len(t, loaded.Damaged, 2)
	assert.Len(t, s.FindArchived(headOf(1)), 1)
	settle(t, s)
	require.NoError(t, s.Close(context.Background()))
	delete(st.client.values, prefix+keyArchiveIndex)
	_, loaded = open(t, st.archiving(3))
	assert.Empty(t, loaded.Damaged)
}

func TestAStoreThatRefusesLargeSlotsGetsSmallerOnes(t *testing.T) {
	st := newStores()
	st.client.before = refuseOver(32 << 10)
	s, _ := open(t, st.archiving(20))
	s.o.Now = fastClock()
	var states []*fileid.State
	for n := range 400 {
		states = append(states, state(n))
	}
	s.Archive(states)
	for s.Save() {
		s.Applied(<-s.Results())
	}
	again, _ := open(t, st.clone().archiving(20))
	for n := range states {
		require.Len(t, again.FindArchived(headOf(n)), 1)
	}
}
