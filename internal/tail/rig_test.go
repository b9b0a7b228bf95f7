package tail

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otelfilelog/filelogreceiver/internal/batch"
	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
	"github.com/otelfilelog/filelogreceiver/internal/deliver"
	"github.com/otelfilelog/filelogreceiver/internal/framing"
	"github.com/otelfilelog/filelogreceiver/internal/match"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
)

// rig drives a Loop step by step over real files, with a clock of its own: a
// step ends when nothing moves any more. Time passes only when a test says so;
// touch gives files and folders the rig's time.
type rig struct {
	t    testing.TB
	dir  string
	conf Config

	now      time.Time
	layer    *doubleLayer
	sink     *gateSink
	retry    deliver.Retry
	storage  *memoryStorage
	progress *memoryStorage
	hashed   bool
	slots    int
	include  string
	maxAge   time.Duration
	status   Status

	loop        *Loop
	workersDone <-chan struct{}
	logs        *observer.ObservedLogs
	lost        int64
}

func newRig(t testing.TB) *rig {
	dir := t.TempDir()
	r := &rig{
		t: t, dir: dir,
		now:      time.Now().Round(0),
		layer:    &doubleLayer{},
		sink:     newGateSink(),
		storage:  newMemoryStorage(),
		progress: newMemoryStorage(),
		status:   func(string, error) {},
		include:  filepath.Join(dir, "in", "*"),
		conf: Config{
			PollInterval:    200 * time.Millisecond,
			FingerprintSize: 1000,
			MaxOpenFiles:    1000,
			Workers:         1,
			MaxBatchRecords: 1000,
			MaxBatchBytes:   1 << 20,
		},
	}
	for _, sub := range []string{"in", "out"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
		r.touch(filepath.Join(dir, sub))
	}
	t.Cleanup(func() {
		if r.loop != nil {
			r.sink.set(accepting)
			r.stop()
		}
	})
	return r
}

// noInstruments counts lost bytes and nothing else.
type noInstruments struct{ r *rig }

func (noInstruments) Files(int, int, int, int)                        {}
func (noInstruments) Read(int64, int64)                               {}
func (i noInstruments) Lost(n int64, _ string)                        { i.r.lost += n }
func (noInstruments) Rotations(int64)                                 {}
func (noInstruments) Truncations(int64)                               {}
func (noInstruments) Forgotten(int64, string)                         {}
func (noInstruments) Decision(string)                                 {}
func (noInstruments) Saved(string, int, time.Duration, error)         {}
func (noInstruments) StartLogsOp(ctx context.Context) context.Context { return ctx }
func (noInstruments) EndLogsOp(context.Context, string, int, error)   {}

// start starts a loop on what is stored.
func (r *rig) start() *rig {
	r.t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	logger := zap.New(core)
	r.logs = logs
	matcher, err := match.New(match.Config{Include: []string{r.include}, ExcludeOlderThan: r.maxAge})
	require.NoError(r.t, err)
	frames, err := framing.New(framing.Config{MaxLogSize: 1 << 20})
	require.NoError(r.t, err)
	store, loaded, err := checkpoint.Open(context.Background(), checkpoint.Options{
		Client: r.storage, Progress: r.progress, Prefix: "file_input.",
		HashFingerprints: r.hashed, ArchiveSlots: r.slots, Now: func() time.Time { return time.Unix(0, 0) },
	})
	require.NoError(r.t, err)
	require.Empty(r.t, loaded.Damaged)
	r.sink.set(r.sink.mode)
	r.conf.Archiving = r.slots > 0
	instruments := noInstruments{r}
	r.loop = New(r.conf, Rooms{
		Matcher:  matcher,
		Registry: registry.New(1 << 16),
		Layer:    r.layer,
		Framing:  frames,
		Batches:  &batch.Settings{},
		Target: &deliver.Target{
			Next: r.sink, Reporter: instruments, Retry: r.retry, Logger: logger,
			Outage:    deliver.NewOutage(logger, func(error) {}),
			OnDropped: func(context.Context, int) {},
			Pause:     r.sink.pause,
		},
		Store:    store,
		Observer: NewObserver(instruments, r.status, logger),
		Logger:   logger,
		Now:      func() time.Time { return r.now },
	}, loaded.States, !loaded.Resumed && len(loaded.Damaged) == 0)
	r.workersDone = r.loop.startWorkers()
	return r
}

// poll lets one interval pass, polls, and takes in what comes of it.
func (r *rig) poll() *rig {
	r.now = r.now.Add(r.conf.PollInterval)
	r.loop.poll()
	r.settle()
	return r
}

// polls polls n times.
func (r *rig) polls(n int) *rig {
	for range n {
		r.poll()
	}
	return r
}

// pass polls until so much time has passed.
func (r *rig) pass(d time.Duration) *rig {
	for end := r.now.Add(d); r.now.Before(end); {
		r.poll()
	}
	return r
}

// settle takes in reports until each worker is idle or waits in the sink, and
// the save under way, if there is one, is done.
func (r *rig) settle() {
	l := r.loop
	for {
		for _, report := range r.reports() {
			l.apply(report)
		}
		l.dispatch()
		if l.busy == r.sink.waitingCalls() {
			break
		}
	}
	if l.Store.Saving() {
		l.saveDone(<-l.Store.Results())
	}
}

// reports waits until no worker moves and returns what they report.
func (r *rig) reports() (reports []report) {
	done := 0
	for done+r.sink.waitingCalls() < r.loop.busy {
		select {
		case report := <-r.loop.reports:
			reports = append(reports, report)
			if report.done {
				done++
			}
		case <-r.sink.changed:
		}
	}
	return reports
}

// stop stops in good order. Calls that wait in the sink have to be let go before.
func (r *rig) stop() *rig {
	r.t.Helper()
	require.NoError(r.t, r.loop.shutdown(context.Background(), r.workersDone))
	require.Zero(r.t, r.layer.openHandles(), "handles that were not closed")
	r.loop = nil
	return r
}

// kill drops the loop: nothing is saved any more. What its workers did since
// the last settle is known to nobody but the sink.
func (r *rig) kill() *rig {
	l := r.loop
	if r.sink.mode != accepting {
		r.sink.set(refusing)
	}
	r.storage, r.progress = r.storage.kill(), r.progress.kill()
	l.cancelPace()
	for n := 0; n < l.busy; {
		if report := <-l.reports; report.done {
			n++
		}
	}
	close(l.turns)
	<-r.workersDone
	l.cancelCall()
	for _, b := range l.bodies {
		l.closeHandle(b)
	}
	for _, b := range l.left {
		l.closeHandle(b)
	}
	_ = l.Store.Close(context.Background()) // fails: the storage is dead
	r.loop = nil
	return r
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

// touch gives a file or folder the rig's time, which goes on a little.
func (r *rig) touch(path string) {
	r.now = r.now.Add(time.Millisecond)
	require.NoError(r.t, os.Chtimes(path, r.now, r.now))
}

// changed is to be called after a change of that file or name.
func (r *rig) changed(name string) {
	r.touch(filepath.Dir(r.path(name)))
	if _, err := os.Lstat(r.path(name)); err == nil {
		r.touch(r.path(name))
	}
}

// write appends text to a file, which it makes if needed.
func (r *rig) write(name, text string) *rig {
	r.t.Helper()
	f, err := os.OpenFile(r.path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(r.t, err)
	_, err = f.WriteString(text)
	require.NoError(r.t, err)
	require.NoError(r.t, f.Close())
	r.changed(name)
	return r
}

func (r *rig) truncate(name string, size int64) *rig {
	r.t.Helper()
	require.NoError(r.t, os.Truncate(r.path(name), size))
	r.changed(name)
	return r
}

func (r *rig) rename(from, to string) *rig {
	r.t.Helper()
	require.NoError(r.t, os.Rename(r.path(from), r.path(to)))
	r.touch(filepath.Dir(r.path(from)))
	r.touch(filepath.Dir(r.path(to)))
	return r
}

func (r *rig) remove(name string) *rig {
	r.t.Helper()
	require.NoError(r.t, os.Remove(r.path(name)))
	r.touch(filepath.Dir(r.path(name)))
	return r
}
