package filelogreceiver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/otelfilelog/filelogreceiver/internal/metadata"
)

// BenchmarkInstruments is all that the receiver's own telemetry costs for one
// batch of 1,000 records with a poll of its own: what is reported about the
// delivery and what the poll has counted. A line has no part in it.
func BenchmarkInstruments(b *testing.B) {
	const records = 1000
	recorded := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
	spans := func(share float64) *trace.TracerProvider {
		return trace.NewTracerProvider(trace.WithSampler(trace.TraceIDRatioBased(share)))
	}
	for _, bc := range []struct {
		name    string
		metrics bool
		traces  *trace.TracerProvider
	}{
		{name: "off"},
		{name: "metrics", metrics: true},
		{name: "metrics,traces=0%", metrics: true, traces: spans(0)},
		{name: "metrics,traces=10%", metrics: true, traces: spans(0.1)},
		{name: "metrics,traces=100%", metrics: true, traces: spans(1)},
	} {
		b.Run(bc.name, func(b *testing.B) {
			set := componenttest.NewNopTelemetrySettings()
			if bc.metrics {
				set.MeterProvider = recorded
			}
			if bc.traces != nil {
				set.TracerProvider = bc.traces
			}
			id := component.NewID(metadata.Type)
			report, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
				ReceiverID:             id,
				ReceiverCreateSettings: receiver.Settings{ID: id, TelemetrySettings: set},
			})
			require.NoError(b, err)
			meters, err := newInstruments(set, 0)
			require.NoError(b, err)
			defer meters.shutdown()
			b.ReportAllocs()
			for b.Loop() {
				ctx := report.StartLogsOp(context.Background())
				report.EndLogsOp(ctx, "file_log", records, nil)
				meters.Read(226*records, records)
				meters.Files(1, 1, 1, 0)
				meters.Files(1, 0, 1, 0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
		})
	}
}
