package difftest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	ours "github.com/otelfilelog/filelogreceiver"
)

type storageHost struct {
	component.Host
	storage component.Component
}

func (h *storageHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{component.MustNewID("file_storage"): h.storage}
}

// runStored runs a receiver on a storage until it has handed over n records and
// rests, and returns their bodies.
func runStored(t *testing.T, factory receiver.Factory, storage string, keys map[string]any, n int) (bodies []string) {
	t.Helper()
	f := filestorage.NewFactory()
	storageConfig := f.CreateDefaultConfig().(*filestorage.Config)
	storageConfig.Directory = storage
	ctx := context.Background()
	ext, err := f.Create(ctx, extension.Settings{
		ID: component.MustNewID("file_storage"), TelemetrySettings: componenttest.NewNopTelemetrySettings(),
	}, storageConfig)
	require.NoError(t, err)
	host := &storageHost{componenttest.NewNopHost(), ext}
	require.NoError(t, ext.Start(ctx, host))
	cfg := factory.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(keys).Unmarshal(cfg))
	s := &sink{}
	set := receivertest.NewNopSettings(factory.Type())
	set.ID = component.NewID(factory.Type())
	r, err := factory.CreateLogs(ctx, set, cfg, s)
	require.NoError(t, err)
	require.NoError(t, r.Start(ctx, host))
	require.Eventually(t, func() bool { return s.count() >= n }, 10*time.Second, time.Millisecond)
	time.Sleep(300 * time.Millisecond) // that nothing more comes cannot be waited for
	require.NoError(t, r.Shutdown(ctx))
	require.NoError(t, ext.Shutdown(ctx))
	for _, logs := range s.batches {
		for _, rl := range logs.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					bodies = append(bodies, lr.Body().AsString())
				}
			}
		}
	}
	return bodies
}

// After a stop in good order contrib's receiver goes on from what ours stored,
// and ours from what contrib's stored, back and forth.
func TestTheStorageGoesBackAndForthBetweenTheReceivers(t *testing.T) {
	logs, storage := t.TempDir(), t.TempDir()
	keys := map[string]any{
		"include":  []any{filepath.Join(logs, "*.log")},
		"start_at": "beginning", "poll_interval": "20ms", "storage": "file_storage",
		"polls_to_archive": 10,
		"header": map[string]any{
			"pattern":            "^#",
			"metadata_operators": []any{map[string]any{"type": "regex_parser", "regex": "^#(?P<kind>.*)"}},
		},
	}
	turn := 0
	write := func() (want []string) {
		turn++
		for i := range 40 {
			path := filepath.Join(logs, fmt.Sprintf("file%02d.log", i))
			var text strings.Builder
			if turn == 1 && i%3 == 0 {
				text.WriteString("#kind of header\n")
			}
			for k := range 1 + i%5*40 {
				line := fmt.Sprintf("turn %d file %d line %d", turn, i, k)
				want = append(want, line)
				text.WriteString(line + "\n")
			}
			f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			require.NoError(t, err)
			_, err = f.WriteString(text.String())
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
		return want
	}
	for _, factory := range []receiver.Factory{
		ours.NewFactory(), filelogreceiver.NewFactory(), ours.NewFactory(), ours.NewFactory(), filelogreceiver.NewFactory(), ours.NewFactory(),
	} {
		want := write()
		require.ElementsMatch(t, want, runStored(t, factory, storage, keys, len(want)), "turn %d", turn)
	}
}
