package filelogreceiver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// consumerFault is what a consumer does instead of accepting a batch.
type consumerFault struct {
	name    string
	mutates bool // the consumer says that it changes data
	calls   int  // so many calls in a row
	paced   bool // retry_on_failure makes a difference
	stops   bool // it ends only when the receiver is stopped
	do      func(ctx context.Context, c *faultyConsumer, logs plog.Logs) error
}

var consumerFaults = []consumerFault{
	{name: "refuses", calls: 2, paced: true, do: func(context.Context, *faultyConsumer, plog.Logs) error {
		return errRefused
	}},
	{name: "refuses all but the first record", calls: 2, paced: true, do: func(ctx context.Context, c *faultyConsumer, logs plog.Logs) error {
		return c.acceptFirst(ctx, logs)
	}},
	{name: "panics", calls: 2, paced: true, do: func(context.Context, *faultyConsumer, plog.Logs) error {
		panic("the consumer is out of order")
	}},
	{name: "refuses and changes the data afterwards", mutates: true, calls: 2, paced: true, do: func(_ context.Context, c *faultyConsumer, logs plog.Logs) error {
		c.spoilLater(logs)
		return errRefused
	}},
	{name: "accepts and changes the data afterwards", mutates: true, calls: 1 << 30, do: func(ctx context.Context, c *faultyConsumer, logs plog.Logs) error {
		copied := plog.NewLogs()
		logs.CopyTo(copied)
		c.spoilLater(logs)
		return c.sink.ConsumeLogs(ctx, copied)
	}},
	{name: "rejects for good", calls: 2, do: func(_ context.Context, c *faultyConsumer, logs plog.Logs) error {
		c.note(&c.rejected, logs)
		return consumererror.NewPermanent(errors.New("malformed"))
	}},
	{name: "blocks until it is released", calls: 1, do: func(ctx context.Context, c *faultyConsumer, logs plog.Logs) error {
		<-c.released
		return c.sink.ConsumeLogs(ctx, logs)
	}},
	{name: "blocks until the stop ends its context", calls: 1, stops: true, do: func(ctx context.Context, c *faultyConsumer, _ plog.Logs) error {
		close(c.stuck)
		<-ctx.Done()
		return ctx.Err()
	}},
}

// faultyConsumer does what its fault says from call `at` on for as many calls as
// that lasts, and accepts all else.
type faultyConsumer struct {
	sink     *sink
	fault    consumerFault
	at       int
	released chan struct{} // closed when all files are followed
	stuck    chan struct{} // closed when a call waits for the end of its context
	spoiling sync.WaitGroup
	byLine   bool // records are counted by the lines that they were made of

	mu       sync.Mutex
	called   int
	rejected []string // given up for good
	twice    []string // accepted in part, with an error
}

func (c *faultyConsumer) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: c.fault.mutates}
}

func (c *faultyConsumer) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	c.mu.Lock()
	c.called++
	faulty := c.called >= c.at && c.called < c.at+c.fault.calls
	c.mu.Unlock()
	if faulty {
		return c.fault.do(ctx, c, logs)
	}
	return c.sink.ConsumeLogs(ctx, logs)
}

func (c *faultyConsumer) note(where *[]string, logs plog.Logs) {
	seen := sink{}
	_ = seen.ConsumeLogs(context.Background(), logs)
	c.mu.Lock()
	defer c.mu.Unlock()
	*where = append(*where, seen.bodies()...)
}

// acceptFirst accepts the first record and refuses the others, if there are any.
func (c *faultyConsumer) acceptFirst(ctx context.Context, logs plog.Logs) error {
	first, rest := plog.NewLogs(), plog.NewLogs()
	logs.CopyTo(first)
	logs.CopyTo(rest)
	keep := func(from plog.Logs, wanted func(n int) bool) {
		n := 0
		from.ResourceLogs().RemoveIf(func(rl plog.ResourceLogs) bool {
			rl.ScopeLogs().RemoveIf(func(sl plog.ScopeLogs) bool {
				sl.LogRecords().RemoveIf(func(plog.LogRecord) bool {
					n++
					return !wanted(n)
				})
				return sl.LogRecords().Len() == 0
			})
			return rl.ScopeLogs().Len() == 0
		})
	}
	keep(first, func(n int) bool { return n == 1 })
	keep(rest, func(n int) bool { return n > 1 })
	if err := c.sink.ConsumeLogs(ctx, first); err != nil || rest.LogRecordCount() == 0 {
		return err
	}
	c.note(&c.twice, first)
	return consumererror.NewLogs(errRefused, rest)
}

// spoilLater changes all of the data on a goroutine that goes on after the call.
func (c *faultyConsumer) spoilLater(logs plog.Logs) {
	c.spoiling.Go(func() { spoil(logs) })
}

// spoil changes whatever can be changed.
func spoil(logs plog.Logs) {
	for _, rl := range logs.ResourceLogs().All() {
		rl.Resource().Attributes().PutStr("spoiled", "yes")
		for _, sl := range rl.ScopeLogs().All() {
			sl.Scope().SetName("spoiled")
			for _, lr := range sl.LogRecords().All() {
				lr.Body().SetStr("spoiled")
				for _, v := range lr.Attributes().All() {
					v.SetStr("spoiled")
				}
				lr.Attributes().PutStr("spoiled", "yes")
			}
			sl.LogRecords().RemoveIf(func(plog.LogRecord) bool { return true })
		}
	}
	logs.ResourceLogs().RemoveIf(func(plog.ResourceLogs) bool { return true })
}

// course is what happens to files while a consumer has its faults.
type course struct {
	name string
	keys map[string]any
	// run starts the receiver and returns the bodies that have to come, and those
	// of them that come when it stops at the latest.
	run func(l *lab) (want, atStop []string)
	// end is checked when all has come.
	end func(l *lab)
}

var courses = []course{
	{
		name: "plain files, one rotated and one compressed",
		keys: map[string]any{"compression": "auto"},
		run: func(l *lab) (want, _ []string) {
			text := func(name string, n int) string {
				bodies := namedLines(name, n)
				want = append(want, bodies...)
				return strings.Join(bodies, "\n") + "\n"
			}
			l.write("a.log", text("a", 10)).write("b.log", text("b", 6)).write("c.gz", gzipped(l.t, text("c", 10)))
			l.start().watched(3)
			l.rename("a.log", "a.log.1").write("a.log.1", text("late", 3)).write("a.log", text("new", 6)).watched(4)
			return want, nil
		},
	},
	{
		name: "operators that hold records",
		// What belongs together is told by the content: a file's name changes.
		keys: map[string]any{"operators": []any{
			map[string]any{"type": "regex_parser", "regex": `^\w+ (?P<source>\w+)`},
			map[string]any{"type": "recombine", "combine_field": "body", "is_first_entry": `body startsWith "first"`,
				"source_identifier": "attributes.source", "force_flush_period": "1h"},
		}},
		run: func(l *lab) (want, atStop []string) {
			text := func(name string, n int) string {
				text := ""
				for i := range n {
					body := fmt.Sprintf("first %s %d\nmore %s %d", name, i, name, i)
					if i == n-1 { // what is held at a stop is one line: a stop could part two
						body = fmt.Sprintf("first %s %d", name, i)
					}
					want = append(want, body)
					text += body + "\n"
				}
				atStop = append(atStop, want[len(want)-1])
				return text
			}
			l.write("a.log", text("a", 7)).write("b.log", text("b", 5)).start().watched(2)
			l.rename("a.log", "a.log.1").write("a.log", text("new", 4)).watched(3)
			return want, atStop
		},
	},
	{
		name: "headers, files deleted after they were read",
		keys: mergeKeys(headerKeys(`^# ship: (?P<ship>.*)$`), map[string]any{
			"compression": "auto", "delete_after_read": true, "force_flush_period": "30ms",
		}),
		run: func(l *lab) (want, _ []string) {
			text := func(name string, n int) string {
				bodies := namedLines(name, n)
				want = append(want, bodies...)
				return "# ship: " + name + "\n" + strings.Join(bodies, "\n")
			}
			l.write("a.log", text("a", 9)).write("b.gz", gzipped(l.t, text("b", 9)+"\n")).start().watched(2)
			l.write("c.log", text("c", 5)+"\n").watched(3)
			return want, nil
		},
		end: func(l *lab) {
			for _, name := range []string{"a.log", "b.gz", "c.log"} {
				l.gone(name)
			}
			for _, r := range l.sink.all() {
				require.Equal(l.t, strings.Fields(r.body)[0], r.attributes["ship"], "the header of %q", r.body)
			}
		},
	},
}

func namedLines(name string, n int) (bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprintf("%s line %d", name, i))
	}
	return bodies
}

func mergeKeys(all ...map[string]any) map[string]any {
	merged := map[string]any{}
	for _, keys := range all {
		maps.Copy(merged, keys)
	}
	return merged
}

// TestAFaultOfTheConsumerAtAnyCallLosesNothing lets a consumer fail at its
// first call, its second and so on until a run passes without a fault.
func TestAFaultOfTheConsumerAtAnyCallLosesNothing(t *testing.T) {
	retries := map[string]map[string]any{
		"with retries":          nil,
		"without retries":       {"enabled": false},
		"with retries that end": {"max_elapsed_time": "1ms"},
	}
	for _, course := range courses {
		for _, fault := range consumerFaults {
			for how, retry := range retries {
				if !fault.paced && retry != nil {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", course.name, fault.name, how), func(t *testing.T) {
					t.Parallel()
					if fault.stops { // each takes seconds, and mostly waits
						calls := consumerFaultAt(t, course, fault, 1<<30, retry)
						for at := 1; at <= calls; at++ {
							t.Run(fmt.Sprint("call ", at), func(t *testing.T) {
								t.Parallel()
								consumerFaultAt(t, course, fault, at, retry)
							})
						}
						return
					}
					for at := 1; consumerFaultAt(t, course, fault, at, retry) >= at; at++ {
						require.Less(t, at, 60)
					}
				})
			}
		}
	}
}

// consumerFaultAt runs a course with a fault at one call and returns how many
// calls there were.
func consumerFaultAt(t *testing.T, course course, fault consumerFault, at int, retry map[string]any) int {
	l := newLab(t, course.keys).with("file_storage/memory", &memoryStorage{})
	l.keys["poll_interval"] = "5ms"
	l.keys["max_batch_size"] = 5
	l.keys["retry_on_failure"] = mergeKeys(map[string]any{"initial_interval": "2ms", "max_interval": "2ms"}, retry)
	l.telemetry = componenttest.NewTelemetry()
	c := &faultyConsumer{sink: l.sink, fault: fault, at: at, released: make(chan struct{}), stuck: make(chan struct{})}
	l.consumer = c
	want, atStop := course.run(l)
	close(c.released)

	if fault.stops {
		// A stop parts what operators hold from what follows: count lines.
		want, c.byLine = intoLines(want), true
		atStop = intoLines(atStop)
	}
	c.await(l, want, atStop)
	if c.isStuck() {
		l.stop().start()
		c.stuck = make(chan struct{})
		c.await(l, want, atStop)
	}
	if course.end != nil {
		course.end(l)
	}
	// What operators hold comes at a stop, and what was refused then at one of the
	// next, when it was read again.
	l.stop()
	for range 2 * min(fault.calls, 2) {
		if missing, _ := c.balance(want); len(missing) > 0 {
			l.start().polls().stop()
		}
	}
	l.start().polls().stop() // nothing else comes any more
	c.spoiling.Wait()

	missing, extra := c.balance(want)
	require.Empty(t, missing, "call %d: lost, of %q; log: %v", at, l.sink.bodies(), l.messages())
	require.Empty(t, extra, "call %d: repeated, of %q; log: %v", at, l.sink.bodies(), l.messages())
	require.Equal(t, len(c.rejected), l.dropped(), "call %d: the records that are counted as dropped", at)
	for _, r := range l.sink.all() {
		require.NotContains(t, r.attributes, "spoiled")
		require.NotContains(t, r.resource, "spoiled")
	}
	require.Greater(t, c.called, 4, "too few calls to say much")
	return c.called
}

// await waits until all but what operators hold has come, or a call is stuck.
func (c *faultyConsumer) await(l *lab, want, held []string) {
	l.t.Helper()
	want = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return slices.Contains(held, s) })
	var missing []string
	for end := time.Now().Add(waitLimit); ; time.Sleep(time.Millisecond) {
		if missing, _ = c.balance(want); len(missing) == 0 || c.isStuck() {
			return
		}
		if time.Now().After(end) {
			l.t.Fatalf("call %d of %d: waiting for %q; log: %v", c.at, c.calls(), missing, l.messages())
		}
	}
}

func (c *faultyConsumer) calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.called
}

func (c *faultyConsumer) isStuck() bool {
	select {
	case <-c.stuck:
		return true
	default:
		return false
	}
}

func intoLines(bodies []string) []string { return strings.Split(strings.Join(bodies, "\n"), "\n") }

// balance is what of want was neither accepted nor rejected, and what was
// accepted too often. What was accepted with an error may come again.
func (c *faultyConsumer) balance(want []string) (missing, extra []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := append(c.sink.bodies(), c.rejected...)
	if c.byLine {
		got = intoLines(got)
	}
	missing, extra = difference(want, got)
	return missing, slices.DeleteFunc(extra, func(s string) bool { return slices.Contains(c.twice, s) })
}

// dropped is what the receiver counts as dropped.
func (l *lab) dropped() (n int) {
	l.t.Helper()
	metric, err := l.telemetry.GetMetric("otelcol_file_log_dropped_records")
	if err != nil {
		return 0 // nothing was counted
	}
	for _, point := range metric.Data.(metricdata.Sum[int64]).DataPoints {
		n += int(point.Value)
	}
	return n
}
