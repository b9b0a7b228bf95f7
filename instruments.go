package filelogreceiver

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelfilelog/filelogreceiver/internal/metadata"
)

// instruments hands the loop's numbers to the Collector's telemetry: once per
// poll, and only what has changed.
type instruments struct {
	builder *metadata.TelemetryBuilder

	open, reading, tracked, twins int64 // what the up-down counters stand at
}

func newInstruments(set component.TelemetrySettings, damaged int) (*instruments, error) {
	builder, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return nil, err
	}
	if damaged > 0 {
		builder.FileLogCheckpointDamagedValues.Add(context.Background(), int64(damaged))
	}
	return &instruments{builder: builder}, nil
}

// observe lets the lag be asked for whenever metrics are collected.
func (i *instruments) observe(lag func() (int64, time.Time)) error {
	err := i.builder.RegisterFileLogUnreadBytesCallback(func(_ context.Context, o metric.Int64Observer) error {
		unread, _ := lag()
		o.Observe(unread)
		return nil
	})
	if err != nil {
		return err
	}
	return i.builder.RegisterFileLogOldestUnreadAgeCallback(func(_ context.Context, o metric.Float64Observer) error {
		age := 0.0
		if _, oldest := lag(); !oldest.IsZero() {
			age = time.Since(oldest).Seconds()
		}
		o.Observe(age)
		return nil
	})
}

func (i *instruments) shutdown() { i.builder.Shutdown() }

func (i *instruments) Files(open, reading, tracked, twins int) {
	moveTo(i.builder.FileconsumerOpenFiles, &i.open, int64(open))
	moveTo(i.builder.FileconsumerReadingFiles, &i.reading, int64(reading))
	moveTo(i.builder.FileLogTrackedFiles, &i.tracked, int64(tracked))
	moveTo(i.builder.FileLogTwinFiles, &i.twins, int64(twins))
}

// moveTo brings an up-down counter from *at to value.
func moveTo(c metric.Int64UpDownCounter, at *int64, value int64) {
	if value != *at {
		c.Add(context.Background(), value-*at)
		*at = value
	}
}

func (i *instruments) Read(bytes, records int64) {
	i.builder.FileLogReadBytes.Add(context.Background(), bytes)
	i.builder.FileLogRecords.Add(context.Background(), records)
}

func (i *instruments) Lost(bytes int64, reason string) {
	i.builder.FileLogLostBytes.Add(context.Background(), bytes, because(reason))
}

func (i *instruments) Rotations(n int64) { i.builder.FileLogRotations.Add(context.Background(), n) }

func (i *instruments) Truncations(n int64) {
	i.builder.FileLogTruncations.Add(context.Background(), n)
}

func (i *instruments) Forgotten(n int64, reason string) {
	i.builder.FileLogForgottenFiles.Add(context.Background(), n, because(reason))
}

func (i *instruments) Decision(kind string) {
	i.builder.FileLogResumeDecisions.Add(context.Background(), 1, metric.WithAttributes(attribute.String("decision", kind)))
}

func (i *instruments) Saved(kind string, bytes int, duration time.Duration, err error) {
	ctx := context.Background()
	i.builder.FileLogCheckpointDuration.Record(ctx, duration.Seconds())
	if err != nil {
		i.builder.FileLogCheckpointFailures.Add(ctx, 1)
		return
	}
	i.builder.FileLogCheckpointSaves.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", kind)))
	i.builder.FileLogCheckpointBytes.Add(ctx, int64(bytes))
}

// dropped counts records that a permanent error has cost.
func (i *instruments) dropped(ctx context.Context, records int) {
	i.builder.FileLogDroppedRecords.Add(ctx, int64(records), because("rejected"))
}

func because(reason string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("reason", reason))
}
