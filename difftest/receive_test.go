package difftest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	ours "github.com/otelfilelog/filelogreceiver"
)

// sink keeps what a receiver hands over.
type sink struct {
	mu      sync.Mutex
	batches []plog.Logs
	records int
}

func (*sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

func (s *sink) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, logs)
	s.records += logs.LogRecordCount()
	return nil
}

func (s *sink) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records
}

// side is one of the two receivers at work.
type side struct {
	sink     *sink
	receiver receiver.Logs
}

func startSide(tb testing.TB, factory receiver.Factory, keys map[string]any) *side {
	s := &side{sink: &sink{}}
	cfg := factory.CreateDefaultConfig()
	require.NoError(tb, confmap.NewFromStringMap(keys).Unmarshal(cfg))
	var err error
	s.receiver, err = factory.CreateLogs(context.Background(), receivertest.NewNopSettings(factory.Type()), cfg, s.sink)
	require.NoError(tb, err)
	require.NoError(tb, s.receiver.Start(context.Background(), componenttest.NewNopHost()))
	return s
}

func (s *side) stop(tb testing.TB) map[string][]shape {
	require.NoError(tb, s.receiver.Shutdown(context.Background()))
	return shapesByFile(s.sink.batches)
}

// patience is how long the two are waited for.
type patience struct {
	agreed time.Duration // nothing came for so long, and both have as many records
	ended  time.Duration // nothing came for so long, though they differ in number
}

var (
	brisk = patience{agreed: 100 * time.Millisecond, ended: 400 * time.Millisecond}
	// calm is for trials that ended in a difference, which a busy machine may have
	// made: a forced flush comes at a moment of its own.
	calm = patience{agreed: time.Second, ended: 2 * time.Second}
)

// perform lets both receivers read the trial's files and returns the records of
// contrib's and ours.
func (t trial) perform(tb testing.TB, p patience) (theirs, own map[string][]shape) {
	dir := tb.TempDir()
	keys := t.configuration(dir)
	t.write(tb, dir, t.stages[0])
	a := startSide(tb, filelogreceiver.NewFactory(), keys)
	b := startSide(tb, ours.NewFactory(), keys)
	awaitQuiet(a.sink, b.sink, p)
	for _, s := range t.stages[1:] {
		t.write(tb, dir, s)
		awaitQuiet(a.sink, b.sink, p)
	}
	return a.stop(tb), b.stop(tb)
}

func awaitQuiet(a, b *sink, p patience) {
	since, counts := time.Now(), [2]int{-1, -1}
	for {
		now := [2]int{a.count(), b.count()}
		if now != counts {
			since, counts = time.Now(), now
		}
		quiet := time.Since(since)
		if quiet >= p.ended || quiet >= p.agreed && now[0] == now[1] {
			return
		}
		time.Sleep(5 * time.Millisecond) // that nothing comes cannot be waited for
	}
}
