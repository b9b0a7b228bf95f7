package filelogreceiver

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestASaveThatFailedCountsAsAFailureOnly(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	defer func() { require.NoError(t, telemetry.Shutdown(context.Background())) }()
	i, err := newInstruments(telemetry.NewTelemetrySettings(), 0)
	require.NoError(t, err)
	defer i.shutdown()

	sum := func(name string) int64 {
		m, err := telemetry.GetMetric(name)
		if err != nil {
			return 0 // nothing was counted
		}
		total := int64(0)
		for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
			total += point.Value
		}
		return total
	}
	counted := func() [3]int64 {
		return [3]int64{
			sum("otelcol_file_log_checkpoint_failures"),
			sum("otelcol_file_log_checkpoint_saves"),
			sum("otelcol_file_log_checkpoint_bytes"),
		}
	}
	i.Saved("snapshot", 1000, time.Second, errors.New("no space"))
	require.Equal(t, [3]int64{1, 0, 0}, counted())
	i.Saved("snapshot", 1000, time.Second, nil)
	i.Saved("delta", 10, time.Second, nil)
	require.Equal(t, [3]int64{1, 2, 1010}, counted())

	m, err := telemetry.GetMetric("otelcol_file_log_checkpoint_duration")
	require.NoError(t, err)
	require.EqualValues(t, 3, m.Data.(metricdata.Histogram[float64]).DataPoints[0].Count, "a failure takes its time as well")
}
