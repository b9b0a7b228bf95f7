package filelogreceiver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/goleak"

	"github.com/otelfilelog/filelogreceiver/internal/metadata"
)

// answering is a consumer that does with a call what it is told, and hands on
// to the sink what it accepts.
type answering struct {
	*sink
	answer func(ctx context.Context) error
}

func (a *answering) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	if err := a.answer(ctx); err != nil {
		return err
	}
	return a.sink.ConsumeLogs(ctx, logs)
}

var _ consumer.Logs = (*answering)(nil)

// stopCase is a state in which a receiver is stopped.
type stopCase struct {
	name  string
	keys  map[string]any
	limit time.Duration // how long the stop may take
	// run starts the receiver, brings it into the state and returns the lines that
	// have to have come after another run, once each.
	run func(l *lab) []string
	// later, if set, is done before that other run; it returns further lines.
	later func(l *lab) []string
}

var stopCases = []stopCase{
	{
		name:  "before the first poll has ended",
		limit: 2 * time.Second,
		run: func(l *lab) []string {
			text, bodies := lines(1, 100)
			l.write("a.log", text).start()
			return bodies
		},
	},
	{
		name:  "while a consumer blocks until its context ends",
		limit: 5 * time.Second, // it is given three to answer
		run: func(l *lab) []string {
			entered := make(chan struct{}, 100)
			l.consumer = &answering{l.sink, func(ctx context.Context) error {
				entered <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}}
			text, bodies := lines(1, 100)
			l.write("a.log", text).write("b.log", strings.ReplaceAll(text, "line", "other")).start()
			<-entered
			return append(bodies, strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "line", "other")), "\n")...)
		},
	},
	{
		name:  "while a consumer refuses without an end",
		limit: 2 * time.Second,
		run: func(l *lab) []string {
			l.consumer = &answering{l.sink, func(context.Context) error { return errRefused }}
			text, bodies := lines(1, 100)
			l.write("a.log", text).start().waitLogged("The next consumer refuses records; reading waits for it and nothing is lost")
			return bodies
		},
	},
	{
		name:  "while two thousand files are read",
		limit: 3 * time.Second,
		run: func(l *lab) (bodies []string) {
			for i := range 2000 {
				bodies = append(bodies, fmt.Sprintf("the line of file %d", i))
				require.NoError(l.t, os.WriteFile(l.path(fmt.Sprintf("%d.log", i)), []byte(bodies[i]+"\n"), 0o644))
			}
			l.start().await(1)
			return bodies
		},
	},
	{
		name:  "while two thousand files wait for a consumer that refuses",
		limit: 3 * time.Second,
		run: func(l *lab) (bodies []string) {
			l.consumer = &answering{l.sink, func(context.Context) error { return errRefused }}
			for i := range 2000 {
				bodies = append(bodies, fmt.Sprintf("the line of file %d", i))
				require.NoError(l.t, os.WriteFile(l.path(fmt.Sprintf("%d.log", i)), []byte(bodies[i]+"\n"), 0o644))
			}
			l.start().watched(2000)
			return bodies
		},
	},
	{
		name:  "while a compressed file is half read",
		keys:  map[string]any{"compression": "gzip", "max_batch_size": 50},
		limit: 2 * time.Second,
		run: func(l *lab) []string {
			text, bodies := lines(1, 5000)
			l.slow(5 * time.Millisecond)
			l.write("a.gz", gzipped(l.t, text)).start().await(200)
			require.Less(l.t, l.sink.count(), 4000)
			return bodies
		},
	},
	{
		name:  "while half of a compressed file is there",
		keys:  map[string]any{"compression": "gzip", "max_batch_size": 50},
		limit: 2 * time.Second,
		run: func(l *lab) []string {
			text, bodies := lines(1, 5000)
			z := gzipped(l.t, text)
			l.write("a.gz", z[:len(z)/2]).start().polls()
			return bodies
		},
		later: func(l *lab) []string {
			text, _ := lines(1, 5000)
			z := gzipped(l.t, text)
			l.write("a.gz", z[len(z)/2:])
			return nil
		},
	},
	{
		name:  "in the middle of a header",
		keys:  headerKeys(`^# (?P<key>\w+): (?P<value>.*)$`),
		limit: 2 * time.Second,
		run: func(l *lab) []string {
			l.keys["force_flush_period"] = "0s" // else what there is of the second line comes out on a slow machine
			l.write("a.log", "# one: 1\n# tw").start().watched(1).polls()
			return nil
		},
		later: func(l *lab) []string {
			l.write("a.log", "o: 2\nline\n")
			return []string{"line"}
		},
	},
	{
		name: "while operators hold records",
		keys: map[string]any{"operators": []any{map[string]any{
			"type": "recombine", "combine_field": "body", "is_first_entry": `body startsWith "first"`, "force_flush_period": "1h",
		}}},
		limit: 2 * time.Second,
		run: func(l *lab) []string {
			l.write("a.log", "first 1\nmore 1\nfirst 2\nmore 2\n").start().await(1)
			return []string{"first 1", "more 1", "first 2", "more 2"}
		},
		later: func(l *lab) []string {
			l.write("a.log", "first 3\n")
			return []string{"first 3"}
		},
	},
	{
		name: "while operators hold records that a consumer refuses",
		keys: map[string]any{"operators": []any{map[string]any{
			"type": "recombine", "combine_field": "body", "is_first_entry": `body startsWith "first"`, "force_flush_period": "1h",
		}}},
		limit: 2 * time.Second,
		run: func(l *lab) []string {
			var calls atomic.Int64
			l.consumer = &answering{l.sink, func(context.Context) error {
				if calls.Add(1) > 1 {
					return errRefused
				}
				return nil
			}}
			l.write("a.log", "first 1\nmore 1\nfirst 2\nmore 2\n").start().await(1)
			return []string{"first 1", "more 1", "first 2", "more 2"}
		},
		later: func(l *lab) []string {
			l.write("a.log", "first 3\n")
			return []string{"first 3"}
		},
	},
	{
		name:  "while a save is under way on a slow store",
		limit: 3 * time.Second,
		run: func(l *lab) []string {
			store, saving := l.extensions[memoryID].(*memoryStorage), make(chan struct{}, 1000)
			store.setFail(func(op string) error {
				if op == "set" {
					saving <- struct{}{}
					time.Sleep(300 * time.Millisecond) // a store that takes its time
				}
				return nil
			})
			text, bodies := lines(1, 100)
			l.write("a.log", text).start().await(100)
			<-saving
			return bodies
		},
	},
	{
		name:  "while a poll looks through a large directory",
		limit: 5 * time.Second,
		run: func(l *lab) (bodies []string) {
			for i := range 5000 {
				require.NoError(l.t, os.WriteFile(l.path(fmt.Sprintf("%d.log", i)), nil, 0o644))
			}
			l.start() // the first poll begins, beside
			l.write("a.log", "line\n")
			return []string{"line"}
		},
	},
	{
		name:  "while a file waits for its flush and another one to be deleted",
		keys:  map[string]any{"delete_after_read": true, "force_flush_period": "1h", "max_batch_size": 10},
		limit: 2 * time.Second,
		run: func(l *lab) []string {
			text, bodies := lines(1, 1000)
			l.slow(5 * time.Millisecond)
			l.write("a.log", text).write("b.log", "whole\nunfinished").start().await(50)
			return append(bodies, "whole")
		},
		later: func(l *lab) []string {
			require.FileExists(l.t, l.path("a.log"))
			l.write("b.log", " no more\n")
			return []string{"unfinished no more"}
		},
	},
}

// memoryID is the storage of a lab of these tests.
var memoryID = component.MustNewIDWithName("file_storage", "memory")

// slow lets each batch take so long.
func (l *lab) slow(d time.Duration) {
	l.sink.setAnswer(func(plog.Logs) error {
		time.Sleep(d) // a destination that takes its time
		return nil
	})
}

// TestAStopInAnyStateIsPromptAndLosesAndLeavesNothing does not run beside other
// tests: it counts goroutines.
func TestAStopInAnyStateIsPromptAndLosesAndLeavesNothing(t *testing.T) {
	for _, c := range stopCases {
		t.Run(c.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			l := newLab(t, c.keys).with(memoryID.String(), &memoryStorage{})
			want := c.run(l)
			at := time.Now()
			require.NoError(t, l.running.Shutdown(context.Background()))
			require.Less(t, time.Since(at), c.limit)
			require.NoError(t, l.running.Shutdown(context.Background()), "a second stop")
			l.running = nil
			require.Zero(t, openFiles(t, l.dir), "handles that are still open")
			goleak.VerifyNone(t, before)
			taken := l.sink.count()
			l.polls()
			require.Equal(t, taken, l.sink.count(), "something came after the stop")

			l.extensions[memoryID].(*memoryStorage).setFail(nil)
			l.consumer = nil
			l.sink.setAnswer(nil)
			if c.later != nil {
				want = append(want, c.later(l)...)
			}
			l.start()
			require.Eventually(t, func() bool { return len(intoLines(l.sink.bodies())) >= len(want) || c.heldTill(l, want) },
				waitLimit, time.Millisecond)
			l.polls().stop()
			missing, extra := difference(want, intoLines(l.sink.bodies()))
			require.Empty(t, missing, "lost; log: %v", l.messages())
			require.Empty(t, extra, "repeated; log: %v", l.messages())
			require.Zero(t, openFiles(t, l.dir), "handles that are still open")
			goleak.VerifyNone(t, before)
		})
	}
}

// heldTill tells whether all has come that comes before the stop: operators hold
// what the last lines are.
func (c stopCase) heldTill(l *lab, want []string) bool {
	if c.keys["operators"] == nil {
		return false
	}
	return len(intoLines(l.sink.bodies())) >= len(want)-1
}

func TestAStopWithoutAStartIsNoErrorAndNeitherIsASecond(t *testing.T) {
	before := goleak.IgnoreCurrent()
	l := newLab(t, nil)
	r, err := NewFactory().CreateLogs(context.Background(), receivertest.NewNopSettings(metadata.Type), l.config(), l.sink)
	require.NoError(t, err)
	require.NoError(t, r.Shutdown(context.Background()))
	require.NoError(t, r.Shutdown(context.Background()))
	goleak.VerifyNone(t, before)
}

func TestAStopAfterAStartThatFailedIsNoError(t *testing.T) {
	before := goleak.IgnoreCurrent()
	l := newLab(t, map[string]any{"storage": "file_storage/none"})
	r, err := NewFactory().CreateLogs(context.Background(), receivertest.NewNopSettings(metadata.Type), l.config(), l.sink)
	require.NoError(t, err)
	require.Error(t, r.Start(context.Background(), componenttest.NewNopHost()))
	require.NoError(t, r.Shutdown(context.Background()))
	require.NoError(t, r.Shutdown(context.Background()))
	goleak.VerifyNone(t, before)
}

// A consumer that does not heed its context is broken. The stop ends with its
// own context all the same; what the call held is read again.
func TestAStopEndsWithItsContextAlsoWhenACallNeverReturns(t *testing.T) {
	for name, operators := range map[string][]any{
		"straight": nil,
		"with operators that hold records": {map[string]any{
			"type": "recombine", "combine_field": "body", "is_first_entry": "true", "force_flush_period": "1h",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			l := newLab(t, map[string]any{"operators": operators, "max_batch_size": 10, "workers": 1}).stored()
			gate, entered := make(chan struct{}), make(chan struct{}, 100)
			var calls atomic.Int64
			l.consumer = &answering{l.sink, func(context.Context) error {
				if calls.Add(1) == 1 {
					return nil
				}
				entered <- struct{}{}
				<-gate
				return errors.New("too late")
			}}
			text, bodies := lines(1, 100)
			l.write("a.log", text).start()
			<-entered
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			at := time.Now()
			err := l.running.Shutdown(ctx)
			require.Less(t, time.Since(at), 3*time.Second)
			require.ErrorContains(t, err, "next consumer")
			l.running = nil
			l.closeStorage()
			close(gate)
			goleak.VerifyNone(t, before) // what was left behind ends with the call
			require.Zero(t, openFiles(t, l.dir), "handles that are still open")

			l.consumer = nil
			l.start()
			require.Eventually(t, func() bool { return l.sink.count() >= len(bodies)-1 }, waitLimit, time.Millisecond)
			l.polls().stop()
			missing, _ := difference(bodies, l.sink.bodies())
			require.Empty(t, missing)
			require.LessOrEqual(t, l.sink.count(), len(bodies)+10, "the last save may have been cut short")
		})
	}
}

// A store that hangs holds a stop up as long as its context lasts.
func TestAStopEndsWithItsContextAlsoWhenTheStoreHangs(t *testing.T) {
	before := goleak.IgnoreCurrent()
	store := &memoryStorage{}
	l := newLab(t, nil).with(memoryID.String(), store)
	text, bodies := lines(1, 100)
	l.write("a.log", text).start().await(100)
	l.polls()
	hang := make(chan struct{})
	store.setHang(hang)
	l.write("a.log", "more\n").await(101)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	at := time.Now()
	require.Error(t, l.running.Shutdown(ctx), "the last save was not made")
	require.Less(t, time.Since(at), 3*time.Second)
	l.running = nil
	goleak.VerifyNone(t, before)
	require.Zero(t, openFiles(t, filepath.Clean(l.dir)))

	store.setHang(nil)
	l.start().polls()
	missing, extra := difference(append(bodies, "more"), l.sink.bodies())
	require.Empty(t, missing)
	require.Subset(t, []string{"more"}, extra, "only what was not saved comes again")
	l.stop()
}
