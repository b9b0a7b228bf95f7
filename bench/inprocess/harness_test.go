//go:build unix

package inprocess

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	ours "github.com/otelfilelog/filelogreceiver"
)

// contender is a receiver to measure.
type contender struct {
	name    string
	factory receiver.Factory
}

var contenders = []contender{
	{"ours", ours.NewFactory()},
	{"upstream", filelogreceiver.NewFactory()},
}

// waitLimit is how long one reading of a corpus may take.
const waitLimit = time.Minute

// counter is a consumer that counts and keeps nothing.
type counter struct {
	want  int64
	got   atomic.Int64
	first atomic.Int64 // Unix nanoseconds of the first batch
	done  chan struct{}
}

func newCounter(want int) *counter { return &counter{want: int64(want), done: make(chan struct{})} }

func (c *counter) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (c *counter) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	n := int64(logs.LogRecordCount())
	if c.first.Load() == 0 {
		c.first.CompareAndSwap(0, time.Now().UnixNano())
	}
	if total := c.got.Add(n); total >= c.want && total-n < c.want {
		close(c.done)
	}
	return nil
}

// await waits until everything has come; the time since the first batch is
// returned, because one receiver polls at once and the other after an interval.
func (c *counter) await(tb testing.TB) time.Duration {
	tb.Helper()
	select {
	case <-c.done:
		return time.Since(time.Unix(0, c.first.Load()))
	case <-time.After(waitLimit):
		tb.Fatalf("%d of %d records have come in %s", c.got.Load(), c.want, waitLimit)
		return 0
	}
}

// start starts a receiver on the files of dir; keys are laid over the defaults.
func (c contender) start(tb testing.TB, dir string, keys map[string]any, telemetry *component.TelemetrySettings, next consumer.Logs) receiver.Logs {
	tb.Helper()
	all := map[string]any{"include": []any{dir + "/*.log"}, "start_at": "beginning"}
	for k, v := range keys {
		all[k] = v
	}
	cfg := c.factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(all).Unmarshal(cfg); err != nil {
		tb.Fatal(err)
	}
	set := receivertest.NewNopSettings(c.factory.Type())
	set.ID = component.NewID(c.factory.Type())
	if telemetry != nil {
		set.TelemetrySettings = *telemetry
	}
	r, err := c.factory.CreateLogs(tb.Context(), set, cfg, next)
	if err != nil {
		tb.Fatal(err)
	}
	if err := r.Start(tb.Context(), componenttest.NewNopHost()); err != nil {
		tb.Fatal(err)
	}
	return r
}

func stop(tb testing.TB, r receiver.Logs) {
	tb.Helper()
	if err := r.Shutdown(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// readAll measures a receiver that reads a corpus from beginning to end, once
// per operation.
func readAll(b *testing.B, c contender, corpus corpus, keys map[string]any, telemetry *component.TelemetrySettings) {
	b.Helper()
	m := newMeter(b, corpus)
	for b.Loop() {
		next := newCounter(corpus.records)
		r := c.start(b, corpus.dir, keys, telemetry, next)
		m.wall += next.await(b)
		stop(b, r)
	}
	m.report()
}

// meter turns what a benchmark has used into figures per record.
type meter struct {
	b      *testing.B
	corpus corpus
	wall   time.Duration
	cpu    time.Duration
	memory runtime.MemStats
}

func newMeter(b *testing.B, corpus corpus) *meter {
	m := &meter{b: b, corpus: corpus}
	runtime.GC()
	runtime.ReadMemStats(&m.memory)
	m.cpu = cpuTime(b)
	return m
}

func (m *meter) report() {
	cpu := cpuTime(m.b) - m.cpu
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	records := float64(m.corpus.records) * float64(m.b.N)
	m.b.SetBytes(m.corpus.bytes)
	m.b.ReportMetric(float64(cpu.Nanoseconds())/records, "cpu-ns/record")
	m.b.ReportMetric(records/m.wall.Seconds(), "records/s")
	m.b.ReportMetric(float64(memory.Mallocs-m.memory.Mallocs)/records, "allocs/record")
	m.b.ReportMetric(float64(memory.TotalAlloc-m.memory.TotalAlloc)/records, "B/record")
}

// cpuTime is the CPU time of this process so far.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func sizeName(n int) string {
	if n >= 1<<10 {
		return fmt.Sprintf("%dKiB", n>>10)
	}
	return fmt.Sprintf("%dB", n)
}
