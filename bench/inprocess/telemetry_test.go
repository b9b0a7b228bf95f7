//go:build unix

package inprocess

import (
	"context"
	"runtime"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
)

// layer is how far the receiver's own telemetry goes: with no-op providers it is
// called and does nothing, with providers of the SDK it is recorded, with
// exporters it is also collected and sent (to nowhere, every 100 ms, which is
// much more often than anybody would).
type layer struct {
	name    string
	metrics func() []metric.Option
	traces  func() []trace.TracerProviderOption
}

func recordMetrics() []metric.Option {
	return []metric.Option{metric.WithReader(metric.NewManualReader())}
}

func sendMetrics() []metric.Option {
	return []metric.Option{metric.WithReader(metric.NewPeriodicReader(discardMetrics{}, metric.WithInterval(100*time.Millisecond)))}
}

func recordSpans(share float64) func() []trace.TracerProviderOption {
	return func() []trace.TracerProviderOption {
		return []trace.TracerProviderOption{trace.WithSampler(trace.TraceIDRatioBased(share))}
	}
}

func sendSpans(share float64) func() []trace.TracerProviderOption {
	return func() []trace.TracerProviderOption {
		return append(recordSpans(share)(), trace.WithBatcher(discardSpans{}, trace.WithBatchTimeout(100*time.Millisecond)))
	}
}

var layers = []layer{
	{name: "off"},
	{name: "metrics=recorded", metrics: recordMetrics},
	{name: "metrics=sent", metrics: sendMetrics},
	{name: "metrics=sent,traces=0%", metrics: sendMetrics, traces: sendSpans(0)},
	{name: "metrics=sent,traces=10%", metrics: sendMetrics, traces: sendSpans(0.1)},
	{name: "metrics=sent,traces=100%,recorded", metrics: sendMetrics, traces: recordSpans(1)},
	{name: "metrics=sent,traces=100%,sent", metrics: sendMetrics, traces: sendSpans(1)},
}

// settings makes the providers of a layer; they end with the test.
func (l layer) settings(tb testing.TB) *component.TelemetrySettings {
	set := componenttest.NewNopTelemetrySettings()
	if l.metrics != nil {
		p := metric.NewMeterProvider(l.metrics()...)
		tb.Cleanup(func() { _ = p.Shutdown(context.Background()) })
		set.MeterProvider = p
	}
	if l.traces != nil {
		p := trace.NewTracerProvider(l.traces()...)
		tb.Cleanup(func() { _ = p.Shutdown(context.Background()) })
		set.TracerProvider = p
	}
	return &set
}

// BenchmarkTelemetry reads 400,000 lines with each layer of telemetry.
func BenchmarkTelemetry(b *testing.B) {
	corpus := writeCorpus(b, 4, 400_000, usualLine)
	for _, l := range layers {
		b.Run(l.name, func(b *testing.B) { readAll(b, contenders[0], corpus, nil, l.settings(b)) })
	}
}

func TestTelemetryAllocatesNothingPerLine(t *testing.T) {
	corpus := writeCorpus(t, 1, 200_000, usualLine)
	allocations := func(l layer) float64 {
		set := l.settings(t)
		least := 0.0
		for n := range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			next := newCounter(corpus.records)
			r := contenders[0].start(t, corpus.dir, nil, set, next)
			next.await(t)
			stop(t, r)
			runtime.ReadMemStats(&after)
			if each := float64(after.Mallocs-before.Mallocs) / float64(corpus.records); n == 0 || each < least {
				least = each
			}
		}
		return least
	}
	without, with := allocations(layers[0]), allocations(layers[len(layers)-1])
	// A batch has 1,000 lines: what is allocated once per batch is below this.
	if extra := with - without; extra > 0.2 {
		t.Errorf("telemetry allocates %.2f times per line: %.2f with it, %.2f without", extra, with, without)
	}
}

// discardMetrics is an exporter that takes everything and sends nothing.
type discardMetrics struct{}

func (discardMetrics) Temporality(k metric.InstrumentKind) metricdata.Temporality {
	return metric.DefaultTemporalitySelector(k)
}

func (discardMetrics) Aggregation(k metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(k)
}

func (discardMetrics) Export(context.Context, *metricdata.ResourceMetrics) error { return nil }
func (discardMetrics) ForceFlush(context.Context) error                          { return nil }
func (discardMetrics) Shutdown(context.Context) error                            { return nil }

type discardSpans struct{}

func (discardSpans) ExportSpans(context.Context, []trace.ReadOnlySpan) error { return nil }
func (discardSpans) Shutdown(context.Context) error                          { return nil }
