package filelogreceiver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/goleak"
)

// A regex_parser with a cache runs from the moment it is built.
func TestNothingRunsAfterWhatWasNotStarted(t *testing.T) {
	before := goleak.IgnoreCurrent()
	cfg := NewFactory().CreateDefaultConfig().(*Config)
	parser := map[string]any{"type": "regex_parser", "regex": "^(?P<key>.*)$", "cache": map[string]any{"size": 16}}
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"include":   []any{"/nowhere/*.log"},
		"start_at":  "beginning",
		"operators": []any{parser},
		"header":    map[string]any{"pattern": "^#", "metadata_operators": []any{parser}},
	}).Unmarshal(cfg))

	require.NoError(t, cfg.Validate())
	goleak.VerifyNone(t, before)

	r, err := NewFactory().CreateLogs(context.Background(), receivertest.NewNopSettings(NewFactory().Type()), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, r.Shutdown(context.Background()))
	goleak.VerifyNone(t, before)
}
