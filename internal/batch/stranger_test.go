package batch

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
)

// hoarder is an operator of a type that nobody here knows. It holds every
// record until somebody says go, and drops those that say so.
type hoarder struct {
	helper.TransformerOperator
	hoard []*entry.Entry
}

func (h *hoarder) ProcessBatch(ctx context.Context, entries []*entry.Entry) error {
	h.hoard = append(h.hoard, slices.DeleteFunc(slices.Clone(entries), func(e *entry.Entry) bool { return e.Body == "drop" })...)
	if len(entries) > 0 && entries[len(entries)-1].Body == "go" {
		out := h.hoard
		h.hoard = nil
		return h.WriteBatch(ctx, out)
	}
	return nil
}

func (h *hoarder) Process(ctx context.Context, e *entry.Entry) error {
	return h.ProcessBatch(ctx, []*entry.Entry{e})
}

type hoarderConfig struct{ helper.TransformerConfig }

func (c *hoarderConfig) Build(set component.TelemetrySettings) (operator.Operator, error) {
	transformer, err := c.TransformerConfig.Build(set)
	return &hoarder{TransformerOperator: transformer}, err
}

func TestOperatorOfUnknownTypeHoldsWhatHasNotComeOut(t *testing.T) {
	config := &hoarderConfig{helper.NewTransformerConfig("hoarder", "hoarder")}
	p := startPipeline(t, PipelineConfig{Operators: []operator.Config{operator.NewConfig(config)}})
	require.True(t, p.Holds())
	f := p.NewFeeder()
	feed(t, f, 1, 0, "a", "b")
	require.Zero(t, f.Len())
	requireHeld(t, p, 1, 0)
	feed(t, f, 1, 2, "drop", "go")
	require.Equal(t, []string{"a", "b", "go"}, bodies(f))
	requireHeld(t, p, 1, 2) // nobody knows that it was dropped
	p.strangers[0].expire(time.Now().Add(strangerPatience / 2))
	requireHeld(t, p, 1, 2)
	p.strangers[0].expire(time.Now().Add(strangerPatience + time.Second))
	requireNothingHeld(t, p, 1)
}
