package checkpoint

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// crashStorage is a storage of which a crash at any moment leaves a copy. A write
// that was completed is safe, unless unsynced is set: then a crash may lose the
// last ones. A write under way may be lost, done or torn.
type crashStorage struct {
	*memoryStorage
	random   *rand.Rand
	unsynced bool
	history  []map[string][]byte // unsynced: the states that a crash may go back to
}

func (c *crashStorage) Set(ctx context.Context, key string, value []byte) error {
	c.remember()
	return c.memoryStorage.Set(ctx, key, value)
}

func (c *crashStorage) Delete(ctx context.Context, key string) error {
	c.remember()
	return c.memoryStorage.Delete(ctx, key)
}

func (c *crashStorage) remember() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsynced {
		copied := make(map[string][]byte, len(c.values))
		for k, v := range c.values {
			copied[k] = v
		}
		if c.history = append(c.history, copied); len(c.history) > 6 {
			c.history = c.history[1:]
		}
	}
}

// torn is what a crash in the middle of writing value over old may leave.
func torn(r *rand.Rand, old, value []byte) []byte {
	cut := 0
	if len(value) > 0 {
		cut = r.IntN(len(value) + 1)
	}
	switch r.IntN(4) {
	case 0:
		return bytes.Clone(value[:cut])
	case 1: // the rest is still the old one
		mixed := bytes.Clone(value[:cut])
		if cut < len(old) {
			mixed = append(mixed, old[cut:]...)
		}
		return mixed
	case 2: // allocated, and not written
		mixed := make([]byte, len(value))
		copy(mixed, value[:cut])
		return mixed
	default:
		return bytes.Clone(old)
	}
}

// crash returns the storage after a crash, with the write under way torn.
func (c *crashStorage) crash(key string, value []byte) *memoryStorage {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := newMemoryStorage()
	from := c.values
	if c.unsynced && len(c.history) > 0 && c.random.IntN(2) == 0 {
		from = c.history[c.random.IntN(len(c.history))]
	}
	for k, v := range from {
		m.values[k] = v
	}
	if key != "" {
		m.values[key] = torn(c.random, m.values[key], value)
	}
	return m
}

// life drives a Store through random changes and crashes, and knows what is
// allowed to be found after each.
type life struct {
	t      *testing.T
	random *rand.Rand
	states map[string]*fileid.State
	// seen are all versions of each file that were ever handed to a save, done is
	// the offset that the last completed save has of it.
	seen map[string]map[int64]fileid.State
	done map[string]int64
	next int
}

func (l *life) hand() map[string]int64 {
	offsets := map[string]int64{}
	for path, s := range l.states {
		c := *s
		c.Slot, c.StaticRevision = 0, 0
		if l.seen[path] == nil {
			l.seen[path] = map[int64]fileid.State{}
		}
		l.seen[path][s.Offset] = c
		offsets[path] = s.Offset
	}
	return offsets
}

func (l *life) change(s *Store) {
	for range 1 + l.random.IntN(5) {
		var some *fileid.State
		for _, some = range l.states {
			break
		}
		switch n := l.random.IntN(10); {
		case n < 3 || some == nil:
			added := state(l.next)
			l.next++
			l.states[added.Path] = added
			s.Add(added)
		case n < 8:
			advance(some, int64(1+l.random.IntN(90000)))
			s.Changed(some)
		case n < 9:
			some.Locator.Device++
			some.StaticRevision++
			advance(some, 1)
			s.Changed(some)
		default:
			delete(l.states, some.Path)
			delete(l.done, some.Path)
			s.Remove(some)
		}
	}
}

// check holds what is found after a crash to what is allowed.
func (l *life) check(loaded Loaded, unsynced bool) {
	for _, s := range loaded.States {
		c := *s
		c.Slot = 0
		want, ok := l.seen[s.Path][s.Offset]
		require.True(l.t, ok, "%s is at %d, where no save ever had it", s.Path, s.Offset)
		// A delta may leave out frontiers between the newest and the oldest.
		requireRungsOf(l.t, &want.Ladder, &c.Ladder)
		want.Ladder = c.Ladder
		require.Equal(l.t, want, c)
	}
	if unsynced {
		return
	}
	found := snapshotOf(loaded.States)
	for path, offset := range l.done {
		s, ok := found[path]
		if len(loaded.Damaged) > 0 {
			continue // a torn value: that is older, or missing, and was reported
		}
		require.True(l.t, ok, "%s is lost", path)
		require.GreaterOrEqual(l.t, s.Offset, offset, "%s is older than the last completed save", path)
	}
}

func TestACrashAtAnyPointLosesNothing(t *testing.T) {
	for _, unsynced := range []bool{false, true} {
		name := "a completed write is safe"
		if unsynced {
			name = "the last writes of either storage may be lost"
		}
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(25) {
				live(t, seed, unsynced)
			}
		})
	}
}

func live(t *testing.T, seed uint64, unsynced bool) {
	random := rand.New(rand.NewPCG(seed, 7))
	l := &life{
		t: t, random: random,
		states: map[string]*fileid.State{}, seen: map[string]map[int64]fileid.State{}, done: map[string]int64{},
	}
	chance := rand.New(rand.NewPCG(seed, 8)) // of its own: the saver's goroutine uses it
	client := &crashStorage{memoryStorage: newMemoryStorage(), random: chance, unsynced: unsynced}
	progress := &crashStorage{memoryStorage: newMemoryStorage(), random: chance, unsynced: unsynced}
	for range 12 {
		s, loaded, err := Open(context.Background(), Options{Client: client, Progress: progress, Prefix: prefix})
		require.NoError(t, err)
		l.check(loaded, unsynced)
		l.states, l.done = map[string]*fileid.State{}, map[string]int64{}
		for _, state := range loaded.States {
			l.states[state.Path] = state
			l.done[state.Path] = state.Offset
		}

		// The crash happens in the write number crashAt from now.
		var (
			mu           sync.Mutex
			writes       int
			crashAt      = 1 + random.IntN(14)
			left, behind *memoryStorage
		)
		watch := func(this, other *crashStorage, first bool) func(string, string, []byte) error {
			return func(operation, key string, value []byte) error {
				if operation == "get" {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				if writes++; writes != crashAt {
					return nil
				}
				if operation == "delete" {
					key = ""
				}
				this.mu.Unlock()
				a, b := this.crash(key, value), other.crash("", nil)
				this.mu.Lock()
				if !first {
					a, b = b, a
				}
				left, behind = a, b
				return nil
			}
		}
		client.before, progress.before = watch(client, progress, true), watch(progress, client, false)
		crashed := func() bool {
			mu.Lock()
			defer mu.Unlock()
			return left != nil
		}
		for step := 0; step < 40 && !crashed(); step++ {
			l.change(s)
			offsets := l.hand()
			if !s.Save() {
				continue
			}
			if random.IntN(3) == 0 {
				l.change(s)
			}
			r := <-s.Results()
			if !crashed() {
				require.NoError(t, r.Err)
				for path := range l.done {
					if _, known := l.states[path]; !known {
						delete(l.done, path)
					}
				}
				for path, offset := range offsets {
					if l.states[path] != nil {
						l.done[path] = offset
					}
				}
			}
			s.Applied(r)
		}
		client.before, progress.before = nil, nil
		if random.IntN(3) == 0 && !crashed() {
			l.hand()
			require.NoError(t, s.Close(context.Background()))
		} else {
			abandon(s)
		}
		if crashed() {
			client.values, progress.values = left.values, behind.values
			client.history, progress.history = nil, nil
		}
	}
}

// requireRungsOf fails if got has a frontier that whole does not have, or not its
// newest.
func requireRungsOf(t *testing.T, whole, got *fileid.Ladder) {
	t.Helper()
	rungs := map[fileid.Frontier]bool{}
	for i := range whole.Len() {
		rungs[whole.At(i)] = true
	}
	for i := range got.Len() {
		require.True(t, rungs[got.At(i)], "a frontier that the file never had")
	}
	wantNewest, _ := whole.Newest()
	gotNewest, _ := got.Newest()
	require.Equal(t, wantNewest, gotNewest)
}
