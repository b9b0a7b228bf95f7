package filelogreceiver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
)

// memoryStorage is a storage extension that keeps values in memory, notes who
// asks for a client, and fails as fail says.
type memoryStorage struct {
	component.StartFunc
	component.ShutdownFunc

	mu      sync.Mutex
	clients []string
	values  map[string][]byte
	refuse  error // of a client for the progress
	fail    func(op string) error
	hang    chan struct{} // not nil: a write waits until it is closed or its context ends
}

func (m *memoryStorage) GetClient(_ context.Context, kind component.Kind, id component.ID, name string) (storage.Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients = append(m.clients, fmt.Sprintf("%s %s %q", kind, id, name))
	if name == progressStore && m.refuse != nil {
		return nil, m.refuse
	}
	return &memoryClient{m: m, prefix: name + "/"}, nil
}

func (m *memoryStorage) setFail(fail func(op string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

func (m *memoryStorage) setHang(hang chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hang = hang
}

// wait is what a write does first.
func (m *memoryStorage) wait(ctx context.Context) error {
	m.mu.Lock()
	hang := m.hang
	m.mu.Unlock()
	if hang == nil {
		return nil
	}
	select {
	case <-hang:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type memoryClient struct {
	m      *memoryStorage
	prefix string
}

func (c *memoryClient) do(op, key string, value []byte) ([]byte, error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if c.m.fail != nil {
		if err := c.m.fail(op); err != nil {
			return nil, err
		}
	}
	if c.m.values == nil {
		c.m.values = map[string][]byte{}
	}
	switch op {
	case "set":
		c.m.values[c.prefix+key] = append([]byte{}, value...)
	case "delete":
		delete(c.m.values, c.prefix+key)
	}
	return c.m.values[c.prefix+key], nil
}

func (c *memoryClient) Get(_ context.Context, key string) ([]byte, error) {
	return c.do("get", key, nil)
}

func (c *memoryClient) Set(ctx context.Context, key string, value []byte) error {
	if err := c.m.wait(ctx); err != nil {
		return err
	}
	_, err := c.do("set", key, value)
	return err
}

func (c *memoryClient) Delete(_ context.Context, key string) error {
	_, err := c.do("delete", key, nil)
	return err
}

func (c *memoryClient) Batch(ctx context.Context, ops ...*storage.Operation) (err error) {
	if err := c.m.wait(ctx); err != nil {
		return err
	}
	for _, op := range ops {
		name := map[storage.OpType]string{storage.Get: "get", storage.Set: "set", storage.Delete: "delete"}[op.Type]
		value, failed := c.do(name, op.Key, op.Value)
		if op.Type == storage.Get {
			op.Value = value
		}
		err = errors.Join(err, failed)
	}
	return err
}

func (*memoryClient) Close(context.Context) error { return nil }

// with gives the lab's receivers a storage of that id.
func (l *lab) with(id string, ext component.Component) *lab {
	l.t.Helper()
	l.keys["storage"] = id
	var parsed component.ID
	require.NoError(l.t, parsed.UnmarshalText([]byte(id)))
	if l.extensions == nil {
		l.extensions = map[component.ID]component.Component{}
	}
	if ext != nil {
		l.extensions[parsed] = ext
	}
	return l
}

// O1
func TestEachLineComesOnceOverManyRuns(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil).stored()
	var want []string
	for _, end := range []int{2, 5, 105, 110} {
		text, bodies := lines(len(want)+1, end)
		want = append(want, bodies...)
		l.write("a.log", text).start().await(len(want))
		l.stop()
	}
	l.start().expectInOrder(want...)
}

// O2, O3
func TestAStorageThatIsNoneIsAnErrorOfTheStart(t *testing.T) {
	type noStorage struct {
		component.StartFunc
		component.ShutdownFunc
	}
	l := newLab(t, nil).with("file_storage/none", nil)
	require.ErrorContains(t, l.tryStart(), "storage client: storage extension 'file_storage/none' not found")
	l = newLab(t, nil).with("health_check", noStorage{})
	require.ErrorContains(t, l.tryStart(), "storage client: non-storage extension 'health_check' found")
}

// O4, O5
func TestTheStorageIsAskedAsContribDoes(t *testing.T) {
	for id, asked := range map[string]string{"file_log": "filelog", "file_log/x_y": "filelog/x_y"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			right, wrong := &memoryStorage{}, &memoryStorage{}
			l := newLab(t, nil).with("file_storage/wrong", wrong).with("file_storage/right", right)
			require.NoError(t, l.id.UnmarshalText([]byte(id)))
			l.write("a.log", "line\n").start().expect("line")
			l.stop()
			require.Equal(t, []string{`Receiver ` + asked + ` ""`, `Receiver ` + asked + ` "progress"`}, right.clients)
			require.Empty(t, wrong.clients)
		})
	}
	require.Equal(t, "abc/d_e", storedAs(component.NewIDWithName(component.MustNewType("a_b_c"), "d_e")).String())
}

// An extension may give the one client that contrib's receiver asks for and no
// other, and another one later.
func TestWithoutAPlaceForTheProgressPositionsAreSavedAllTheSame(t *testing.T) {
	t.Parallel()
	store := &memoryStorage{}
	l := newLab(t, nil).with("memory", store)
	l.write("a.log", "one\n").start().expect("one")
	l.write("a.log", "two\n").expect("one", "two")
	l.polls().stop()
	for i, refuse := range []error{errors.New("no other"), errors.New("no other"), nil, nil} {
		store.refuse = refuse
		l.start()
		if refuse != nil {
			require.Equal(t, 1, l.logs.FilterMessageSnippet("no place for what changes between two snapshots").Len())
		}
		before := l.sink.count()
		want := fmt.Sprint("run ", i)
		l.write("a.log", want+"\n").await(before + 1)
		l.polls().stop()
		require.Equal(t, want, l.sink.bodies()[before])
		require.Equal(t, before+1, l.sink.count())
	}
}

// O6
func TestTheIDOfTheInputIsThePrefixOfItsKeys(t *testing.T) {
	for id, prefix := range map[string]string{"": "file_input.", "my_tailer": "my_tailer."} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"id": id}).stored()
			l.write("a.log", "line\n").start().expect("line")
			l.stop()
			require.Contains(t, l.storedValue(prefix+"knownFiles"), "line\n", "the fingerprint")
		})
	}
}

// O7, O17
func TestAnEmptyCheckpointLetsStartAtApply(t *testing.T) {
	for name, value := range map[string]string{"JSON": "0\n", "protobuf": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"start_at": "end"}).stored()
			l.store(map[string]string{"file_input.knownFiles": value})
			l.write("a.log", "old\n").start().watched(1)
			l.write("a.log", "new\n").expect("new")
		})
	}
}

// O8
func TestAStorageThatCannotBeReadIsAnErrorOfTheStart(t *testing.T) {
	broken := &memoryStorage{fail: func(string) error { return errors.New("disk on fire") }}
	l := newLab(t, nil).with("file_storage/broken", broken)
	require.ErrorContains(t, l.tryStart(), "read known files from database: disk on fire")
}

// O9
func TestAStorageThatCannotBeWrittenDoesNotStopReading(t *testing.T) {
	t.Parallel()
	store := &memoryStorage{}
	l := newLab(t, nil).with("file_storage/memory", store)
	store.setFail(func(op string) error {
		if op == "get" {
			return nil
		}
		return storage.ErrStorageFull
	})
	l.write("a.log", "l1\n").start().expect("l1")
	l.write("a.log", "l2\n").expect("l1", "l2")
	l.waitLogged("save offsets")
	require.Equal(t, 1, l.logged("save offsets"), "once per outage")
	store.setFail(nil)
	l.waitLogged("Offsets are saved again")
	l.restart().expect("l1", "l2")
}

// O14, O15
func TestHeaderAttributesOfOldStateAreMovedUp(t *testing.T) {
	entry := func(attributes string) string {
		return `1` + "\n" + `{"Fingerprint":{"first_bytes":"b2xkCg=="},"Offset":4,"FileAttributes":` + attributes + `,"HeaderFinalized":true}` + "\n"
	}
	t.Run("of an object", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, headerKeys(keyAndValue)).stored()
		l.store(map[string]string{"file_input.knownFiles": entry(`{"HeaderAttributes":{"ship":"Petrel"},"log.file.name":"a.log"}`)})
		l.write("a.log", "old\nnew\n").start().expect("new")
		require.Equal(t, map[string]any{"ship": "Petrel", "log.file.name": "a.log"}, l.find("new").attributes)
	})
	t.Run("of something else, which does not stop the start", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, headerKeys(keyAndValue)).stored()
		l.store(map[string]string{"file_input.knownFiles": entry(`{"HeaderAttributes":"nonsense"}`)})
		l.write("a.log", "old\nnew\n").start().await(1)
		l.still()
		require.Contains(t, l.sink.bodies(), "new")
	})
}

// O18
func TestAFileThatIsNewAtARestartIsReadFromItsBeginning(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"start_at": "end"}).stored()
	l.write("a.log", "old\n").start().watched(1)
	l.polls().stop().write("b.log", "b1\n").write("a.log", "a1\n").start().expect("a1", "b1")
	require.Equal(t, 1, l.logged("Resuming from previously known offset(s). 'start_at' setting is not applicable."))
}

// O19, U7, U20
func TestDamagedStateIsKeptAsideAndToldOnce(t *testing.T) {
	for name, value := range map[string]string{
		"text":              "all is well\n",
		"a count too large": "3\n" + `{"Fingerprint":{"first_bytes":"b2xkCg=="},"Offset":4}` + "\n",
		"a negative count":  "-5\n",
		"only a count":      "1\n",
		"a torn message":    "\n\x80\x01\n\x02",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil).stored()
			l.store(map[string]string{"file_input.knownFiles": value})
			l.write("a.log", "old\nnew\n").start().await(1)
			l.still()
			require.Contains(t, l.sink.bodies(), "new")
			if name == "a count too large" {
				require.Equal(t, []string{"new"}, l.sink.bodies(), "what is whole is used")
			}
			require.Len(t, l.complaints(), 1)
			require.Contains(t, l.complaints()[0], "Stored state is damaged")
			count := l.sink.count()
			l.restart().still()
			require.Equal(t, count, l.sink.count())
			require.Empty(t, l.complaints())
		})
	}
}

// O20
func TestOffsetsThatCannotBe(t *testing.T) {
	entry := func(offset int) string {
		return fmt.Sprintf("1\n"+`{"Fingerprint":{"first_bytes":"b2xkCg=="},"Offset":%d}`+"\n", offset)
	}
	for offset, want := range map[int][]string{0: {"old", "new"}, 4: {"new"}, -7: {"old", "new"}, 12: {"old", "new"}} {
		t.Run(fmt.Sprint(offset), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil).stored()
			l.store(map[string]string{"file_input.knownFiles": entry(offset)})
			l.write("a.log", "old\nnew\n").start().expectInOrder(want...)
		})
	}
}

// A file that was cut while contrib's receiver gave way to this one: its state
// has neither locator nor frontiers.
func TestOnTruncateDecidesAboutAFileThatWasCutDuringTheChangeover(t *testing.T) {
	for behavior, want := range map[string][]string{
		"":                {"old", "kept", "later"},
		"read_whole_file": {"old", "kept", "later"},
		"read_new":        {"later"},
		"ignore":          {"is beyond"},
	} {
		t.Run("on_truncate "+behavior, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"on_truncate": behavior}).stored()
			l.store(map[string]string{"file_input.knownFiles": `1
{"Fingerprint":{"first_bytes":"b2xkCg=="},"Offset":20}
`})
			l.write("a.log", "old\nkept\n").start().polls()
			if behavior == "ignore" {
				l.write("a.log", "eleven byte\nis beyond\n") // its first line ends at 21
			} else {
				l.write("a.log", "later\n")
			}
			if behavior == "ignore" {
				l.await(1)
				require.Equal(t, "is beyond", l.sink.bodies()[len(l.sink.bodies())-1])
				require.NotContains(t, l.sink.bodies(), "old")
				return
			}
			l.expectInOrder(want...)
		})
	}
}

// O21
func TestAFileThatComesBackFromTheArchiveGoesOn(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"polls_to_archive": 50}).stored()
	var want []string
	text := ""
	for _, last := range []int{1, 2, 4} {
		more, bodies := lines(len(want)+1, last)
		want, text = append(want, bodies...), text+more
		l.replace("a.log", text).expectedAfter(want)
		l.remove("a.log").archived()
	}
	l.expectInOrder(want...)
}

// expectedAfter starts the receiver if it does not run and waits for bodies.
func (l *lab) expectedAfter(bodies []string) {
	l.t.Helper()
	if l.running == nil {
		l.start()
	}
	l.expectInOrder(bodies...)
}

// archived waits until the State of a file that was removed just now is in the
// archive: its handle is kept for a while, its State for three polls.
func (l *lab) archived() *lab {
	letTimePass(700 * time.Millisecond)
	return l
}

// O22, O23, O25, O26
func TestTheArchiveKeepsAsManySetsAsItHasSlots(t *testing.T) {
	generation := func(i int) string { return fmt.Sprintf("generation %d\n", i) }
	for _, c := range []struct {
		name        string
		generations int
		restart     bool
		slotsAfter  int
		forgotten   int // so many of the oldest; -1: some
	}{
		{name: "as many as slots", generations: 3, slotsAfter: 3},
		{name: "one more", generations: 4, slotsAfter: 3, forgotten: 1},
		{name: "over a restart", generations: 3, restart: true, slotsAfter: 3},
		{name: "over a restart with fewer slots", generations: 3, restart: true, slotsAfter: 1, forgotten: -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"polls_to_archive": 3}).stored()
			l.start()
			for i := range c.generations {
				l.write("a.log", generation(i)).await(i + 1)
				l.remove("a.log").archived()
			}
			if c.restart {
				l.stop()
				l.keys["polls_to_archive"] = c.slotsAfter
				l.start()
			}
			l.forget()
			var want []string
			for i := range c.generations {
				if i < c.forgotten {
					want = append(want, strings.TrimSpace(generation(i)))
				}
				want = append(want, fmt.Sprintf("more of %d", i))
				l.write(fmt.Sprintf("%d.log", i), generation(i)+fmt.Sprintf("more of %d\n", i))
			}
			if c.forgotten < 0 {
				// Fewer slots may forget what is oldest, and must not lose a line.
				l.await(c.generations)
				l.still()
				missing, _ := difference(want, l.sink.bodies())
				require.Empty(t, missing)
				return
			}
			l.expect(want...)
		})
	}
}

// U18
func TestTheFirstStartWithAnArchiveIsNoError(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"polls_to_archive": 3}).stored()
	l.write("a.log", "line\n").start().expect("line")
	require.Empty(t, l.complaints())
}

// O28
func TestAStopWithinABatchRepeatsOnlyThatBatch(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"max_batch_size": 100}).stored()
	text, bodies := lines(1, 200)
	batches := 0
	l.sink.setAnswer(func(plog.Logs) error {
		if batches++; batches > 1 {
			return errRefused
		}
		return nil
	})
	l.write("a.log", text).start().await(100)
	l.stop()
	l.sink.setAnswer(nil)
	l.start().expectInOrder(bodies...)
}

// U1: what contrib mistakes is the fixture v0.140.0-misparse, which is resumed
// from in TestStateOfContribIsResumedFrom; this is a value of the same kind, one
// file with a pending partial line.
func TestStateThatLooksLikeProtobufIsReadAsJSON(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil).stored()
	l.store(map[string]string{"file_input.knownFiles": "1\n" + `{"Fingerprint":{"first_bytes":"b2xkCg=="},"Offset":4,"RecordNum":1,"FileAttributes":{},"HeaderFinalized":false,"FlushState":{"LastDataChange":"2026-01-01T00:00:00Z","LastDataLength":27},"TokenLenState":{"MinimumLength":27},"FileType":""}` + "\n"})
	l.write("a.log", "old\nnew\n").start().expect("new")
}
