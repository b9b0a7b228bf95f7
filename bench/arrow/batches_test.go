//go:build unix

package arrow

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
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

// shape is a way to make batches of the same lines.
type shape struct {
	name    string
	factory receiver.Factory
	keys    map[string]any
}

var shapes = []shape{
	{"upstream", filelogreceiver.NewFactory(), nil},
	{"ours,batch=100", ours.NewFactory(), map[string]any{"max_batch_size": 100}},
	{"ours", ours.NewFactory(), nil},
	{"ours,on-resource", ours.NewFactory(), map[string]any{"file_attributes_on": "resource"}},
}

const (
	files        = 4
	linesPerFile = 3_000
	allLines     = files * linesPerFile
)

// writeLogs writes lines as a service writes them: times, levels, ids and paths
// differ from line to line as they do in life.
func writeLogs(tb testing.TB) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	levels := [...]string{"INFO ", "INFO ", "INFO ", "DEBUG", "WARN "}
	for i := range files {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("orders-%d.log", i)))
		if err != nil {
			tb.Fatal(err)
		}
		w := bufio.NewWriter(f)
		at := time.Date(2026, 11, 30, 18, 30, 57, 0, time.UTC)
		id := uint64(i + 1)
		for n := range linesPerFile {
			id = id*6364136223846793005 + 1442695040888963407
			at = at.Add(time.Duration(id>>44) * time.Microsecond)
			_, _ = fmt.Fprintf(w, "%s %s request served verb=GET path=/v2/shop/orders/%d status=200 took_ms=%d span=%016x\n",
				at.Format("2006-01-02T15:04:05.000000Z"), levels[n%len(levels)], id>>40, id>>56, id)
		}
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
		if err := f.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// collector keeps the batches it gets.
type collector struct {
	mu      sync.Mutex
	batches []plog.Logs
	records int
	done    chan struct{}
}

func (c *collector) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (c *collector) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches = append(c.batches, logs)
	if c.records += logs.LogRecordCount(); c.records == allLines {
		close(c.done)
	}
	return nil
}

// batchesOf lets the receiver of a shape read the files of dir, whose name and
// path become attributes.
func (s shape) batchesOf(tb testing.TB, dir string) []plog.Logs {
	tb.Helper()
	keys := map[string]any{"include": []any{dir + "/*.log"}, "start_at": "beginning", "include_file_path": true}
	for k, v := range s.keys {
		keys[k] = v
	}
	cfg := s.factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(keys).Unmarshal(cfg); err != nil {
		tb.Fatal(err)
	}
	set := receivertest.NewNopSettings(s.factory.Type())
	set.ID = component.NewID(s.factory.Type())
	next := &collector{done: make(chan struct{})}
	r, err := s.factory.CreateLogs(tb.Context(), set, cfg, next)
	if err != nil {
		tb.Fatal(err)
	}
	if err := r.Start(tb.Context(), componenttest.NewNopHost()); err != nil {
		tb.Fatal(err)
	}
	select {
	case <-next.done:
	case <-time.After(time.Minute):
		tb.Fatalf("%s: %d of %d records have come", s.name, next.records, allLines)
	}
	if err := r.Shutdown(context.Background()); err != nil {
		tb.Fatal(err)
	}
	return next.batches
}
