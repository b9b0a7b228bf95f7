package filelogreceiver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/otelfilelog/filelogreceiver/internal/metadata"
)

func quickRetry(keys map[string]any) map[string]any {
	retry := map[string]any{"initial_interval": "5ms", "max_interval": "10ms"}
	for k, v := range keys {
		retry[k] = v
	}
	return map[string]any{"retry_on_failure": retry}
}

// P1
func TestParsersFillTheRecord(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"operators": []any{map[string]any{
		"type": "regex_parser", "regex": `^(?P<time>\S+) (?P<sev>\S+) (?P<msg>.*)$`,
		"timestamp": map[string]any{"parse_from": "attributes.time", "layout_type": "gotime", "layout": time.RFC3339},
		"severity":  map[string]any{"parse_from": "attributes.sev"},
	}}})
	l.write("a.log", "2026-03-02T08:15:00Z INFO one\n2026-03-02T08:15:01Z WARN two\n2026-03-02T08:15:02Z ERROR three\n").start().await(3)
	r := l.find("2026-03-02T08:15:01Z WARN two")
	require.Equal(t, time.Date(2026, 3, 2, 8, 15, 1, 0, time.UTC), r.record.Timestamp().AsTime())
	require.Equal(t, plog.SeverityNumberWarn, r.record.SeverityNumber())
	require.Equal(t, "WARN", r.record.SeverityText())
	require.Equal(t, "two", r.attributes["msg"])
	require.Equal(t, metadata.ScopeName, r.scope)
}

// P3, P5, cases of both ways to refuse.
func TestRefusedRecordsComeOnceTheyAreTaken(t *testing.T) {
	for name, keys := range map[string]map[string]any{
		"with retries":                             quickRetry(nil),
		"without retries":                          quickRetry(map[string]any{"enabled": false}),
		"with retries that end":                    quickRetry(map[string]any{"max_elapsed_time": "20ms"}),
		"without retries and with pauses of hours": quickRetry(map[string]any{"enabled": false, "initial_interval": "1h", "max_interval": "2h"}),
		"with retries that end and a first pause beyond the longest": quickRetry(map[string]any{"max_elapsed_time": "20ms", "initial_interval": "1h"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, keys).stored()
			var refuse atomic.Bool
			refuse.Store(true)
			l.sink.setAnswer(func(plog.Logs) error {
				if refuse.Load() {
					return errRefused
				}
				return nil
			})
			text, bodies := lines(1, 250)
			l.write("a.log", text).start().still()
			require.Zero(t, l.sink.count())
			require.Len(t, l.complaints(), 1, "one message per outage")
			refuse.Store(false)
			l.expectInOrder(bodies...)
			l.restart().expectInOrder(bodies...)
		})
	}
}

// P4
func TestWhatIsRejectedForGoodIsDroppedAndNotSentAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, quickRetry(nil)).stored()
	l.keys["max_batch_size"] = 10
	calls := 0
	l.sink.setAnswer(func(plog.Logs) error {
		if calls++; calls == 2 || calls == 3 {
			return consumererror.NewPermanent(errors.New("malformed"))
		}
		return nil
	})
	text, bodies := lines(1, 50)
	l.write("a.log", text).start().expectInOrder(append(bodies[:10:10], bodies[30:]...)...)
	require.Len(t, l.complaints(), 1, "one message for a run of rejections")
	l.restart().still()
	require.Equal(t, 30, l.sink.count())
}

// P5
func TestOfAPartialFailureOnlyTheRestIsSentAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, quickRetry(nil))
	var mu sync.Mutex
	var taken []string
	l.sink.setAnswer(func(logs plog.Logs) error {
		records := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
		mu.Lock()
		defer mu.Unlock()
		taken = append(taken, records.At(0).Body().Str())
		if records.Len() == 1 {
			return nil
		}
		rest := plog.NewLogs()
		logs.CopyTo(rest)
		first := true
		rest.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().RemoveIf(func(plog.LogRecord) bool {
			was := first
			first = false
			return was
		})
		return consumererror.NewLogs(errRefused, rest)
	})
	text, bodies := lines(1, 12)
	l.write("a.log", text).start().await(1)
	l.still()
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, bodies, taken)
}

// P6, U2
func TestAStopDuringAnOutageIsPromptAndLosesNothing(t *testing.T) {
	for _, n := range []int{10, 250} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil).stored()
			l.sink.setAnswer(func(plog.Logs) error { return errRefused })
			text, bodies := lines(1, n)
			l.write("a.log", text).start().waitLogged("The next consumer refuses records; reading waits for it and nothing is lost")
			at := time.Now()
			l.stop()
			require.Less(t, time.Since(at), 2*time.Second)
			l.sink.setAnswer(nil)
			l.start().expectInOrder(bodies...)
		})
	}
}

// P7
func TestACallInFlightIsWaitedForAtTheStop(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil).stored()
	entered := make(chan struct{})
	gate := make(chan struct{})
	l.sink.setAnswer(func(plog.Logs) error {
		close(entered)
		<-gate
		return nil
	})
	text, bodies := lines(1, 100)
	l.write("a.log", text).start()
	<-entered
	time.AfterFunc(100*time.Millisecond, func() { close(gate) })
	l.stop()
	l.sink.setAnswer(nil)
	l.start().expectInOrder(bodies...)
}

// P8 to P11
func TestBatchesAreAsLargeAsConfigured(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"max_batch_size": 100})
	text, bodies := lines(1, 1234)
	l.write("a.log", text).start().expectInOrder(bodies...)
	for _, size := range l.sink.batches {
		require.LessOrEqual(t, size, 100)
	}
	require.Len(t, l.sink.batches, 13)
	at := time.Now()
	l.write("a.log", "alone\n").await(1235)
	require.Less(t, time.Since(at), time.Second)
}

// One destination that blocks does not hide rotation.
func TestRotationIsSeenWhileTheDestinationBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"max_batch_size": 10})
	l.keys["include"] = []any{l.path("a.log")}
	gate := make(chan struct{})
	l.sink.setAnswer(waitFor(gate))
	var want []string
	for generation := range 3 {
		text := ""
		for i := range 100 {
			want = append(want, fmt.Sprintf("generation %d line %d", generation, i))
			text += want[len(want)-1] + "\n"
		}
		l.write("a.log", text)
		if generation == 0 {
			l.start()
		}
		l.watched(generation+1).rename("a.log", fmt.Sprintf("old.%d", generation))
	}
	l.polls()
	close(gate)
	l.expect(want...)
}

// P18
func TestAnOperatorThatDoesNotStartIsAnErrorOfTheStart(t *testing.T) {
	l := newLab(t, map[string]any{"operators": []any{
		map[string]any{"type": "file_output", "path": filepath.Join(t.TempDir(), "no", "such", "directory")},
	}})
	require.ErrorContains(t, l.tryStart(), "start stanza: ")
}

// contractGenerator writes JSON lines with an id each to one file.
type contractGenerator struct {
	t    *testing.T
	path string
	next atomic.Int64

	mu   sync.Mutex // guards file
	file *os.File
}

func (g *contractGenerator) Start() {
	file, err := os.OpenFile(g.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o644)
	require.NoError(g.t, err)
	g.file = file
}

func (g *contractGenerator) Stop() {
	require.NoError(g.t, g.file.Close())
	require.NoError(g.t, os.Remove(g.path))
}

func (g *contractGenerator) Generate() []receivertest.UniqueIDAttrVal {
	id := receivertest.UniqueIDAttrVal(fmt.Sprint(g.next.Add(1)))
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := fmt.Fprintf(g.file, `{%q: %q}`+"\n", receivertest.UniqueIDAttrName, id)
	require.NoError(g.t, err)
	return []receivertest.UniqueIDAttrVal{id}
}

// P2
func TestTheContractWithTheNextConsumerIsKept(t *testing.T) {
	t.Parallel()
	l := newLab(t, quickRetry(nil))
	l.keys["max_batch_size"] = 100
	l.keys["operators"] = []any{map[string]any{"type": "json_parser"}}
	receivertest.CheckConsumeContract(receivertest.CheckConsumeContractParams{
		T: t, Factory: NewFactory(), Signal: pipeline.SignalLogs, Config: l.config(),
		Generator: &contractGenerator{t: t, path: l.path("a.log")}, GenerateCount: 2500,
	})
}

// The context of a start and of a stop are the Collector's; a stop whose context
// is over still returns.
func TestAStopWhoseTimeIsOverReturns(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil).stored()
	l.sink.setAnswer(func(plog.Logs) error { return errRefused })
	l.write("a.log", "line\n").start().polls()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	at := time.Now()
	_ = l.running.Shutdown(ctx) // whether the last save was cancelled or not
	require.Less(t, time.Since(at), 5*time.Second)
	l.running = nil
	l.closeStorage()
}
