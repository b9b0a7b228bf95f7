package metadata

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	"go.opentelemetry.io/otel/trace"
)

// Meter is the meter of the receiver.
func Meter(settings component.TelemetrySettings) metric.Meter {
	return settings.MeterProvider.Meter(ScopeName)
}

// Tracer is the tracer of the receiver.
func Tracer(settings component.TelemetrySettings) trace.Tracer {
	return settings.TracerProvider.Tracer(ScopeName)
}

// TelemetryBuilder holds the instruments that metadata.yaml declares; what each
// one counts is said there and in documentation.md. Instruments may be used by
// any goroutine. A nil MeterProvider is not allowed, a no-op one is.
type TelemetryBuilder struct {
	meter metric.Meter

	mu            sync.Mutex // guards registrations
	registrations []metric.Registration

	FileLogCheckpointBytes         metric.Int64Counter
	FileLogCheckpointDamagedValues metric.Int64Counter
	FileLogCheckpointDuration      metric.Float64Histogram
	FileLogCheckpointFailures      metric.Int64Counter
	FileLogCheckpointSaves         metric.Int64Counter
	FileLogDroppedRecords          metric.Int64Counter
	FileLogForgottenFiles          metric.Int64Counter
	FileLogLostBytes               metric.Int64Counter
	FileLogOldestUnreadAge         metric.Float64ObservableGauge
	FileLogReadBytes               metric.Int64Counter
	FileLogRecords                 metric.Int64Counter
	FileLogResumeDecisions         metric.Int64Counter
	FileLogRotations               metric.Int64Counter
	FileLogTrackedFiles            metric.Int64UpDownCounter
	FileLogTruncations             metric.Int64Counter
	FileLogTwinFiles               metric.Int64UpDownCounter
	FileLogUnreadBytes             metric.Int64ObservableGauge
	FileconsumerOpenFiles          metric.Int64UpDownCounter
	FileconsumerReadingFiles       metric.Int64UpDownCounter
}

// NewTelemetryBuilder makes all instruments of one receiver. On an error the
// builder is usable, instruments that could not be made do nothing.
func NewTelemetryBuilder(settings component.TelemetrySettings) (*TelemetryBuilder, error) {
	builder := &TelemetryBuilder{meter: Meter(settings)}
	var err, errs error
	builder.FileLogCheckpointBytes, err = builder.meter.Int64Counter(
		"otelcol_file_log_checkpoint_bytes",
		metric.WithDescription("Bytes handed to the storage extension by checkpoint saves that succeeded. [Alpha]"),
		metric.WithUnit("By"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogCheckpointDamagedValues, err = builder.meter.Int64Counter(
		"otelcol_file_log_checkpoint_damaged_values",
		metric.WithDescription("Stored values that were found damaged when they were loaded. [Alpha]"),
		metric.WithUnit("{value}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogCheckpointDuration, err = builder.meter.Float64Histogram(
		"otelcol_file_log_checkpoint_duration",
		metric.WithDescription("Time that one checkpoint save took, encoding and storage together, also when it failed. [Alpha]"),
		metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
	)
	errs = errors.Join(errs, err)
	builder.FileLogCheckpointFailures, err = builder.meter.Int64Counter(
		"otelcol_file_log_checkpoint_failures",
		metric.WithDescription("Checkpoint saves that the storage extension refused. Each is tried again. [Alpha]"),
		metric.WithUnit("{save}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogCheckpointSaves, err = builder.meter.Int64Counter(
		"otelcol_file_log_checkpoint_saves",
		metric.WithDescription("Checkpoint saves that succeeded, by what was written. [Alpha]"),
		metric.WithUnit("{save}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogDroppedRecords, err = builder.meter.Int64Counter(
		"otelcol_file_log_dropped_records",
		metric.WithDescription("Records that were read and given up, by reason. A retryable refusal never counts here, its records are read again. [Alpha]"),
		metric.WithUnit("{record}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogForgottenFiles, err = builder.meter.Int64Counter(
		"otelcol_file_log_forgotten_files",
		metric.WithDescription("Files whose position is no longer remembered, by reason. [Alpha]"),
		metric.WithUnit("{file}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogLostBytes, err = builder.meter.Int64Counter(
		"otelcol_file_log_lost_bytes",
		metric.WithDescription("Bytes that disappeared before they could be read, by reason. [Alpha]"),
		metric.WithUnit("By"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogOldestUnreadAge, err = builder.meter.Float64ObservableGauge(
		"otelcol_file_log_oldest_unread_age",
		metric.WithDescription("Time since the oldest data that is not accepted yet was noticed, over all files. 0 when everything was accepted. [Alpha]"),
		metric.WithUnit("s"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogReadBytes, err = builder.meter.Int64Counter(
		"otelcol_file_log_read_bytes",
		metric.WithDescription("Bytes of log content that were read, after decompression. [Alpha]"),
		metric.WithUnit("By"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogRecords, err = builder.meter.Int64Counter(
		"otelcol_file_log_records",
		metric.WithDescription("Records made from log content, before operators. [Alpha]"),
		metric.WithUnit("{record}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogResumeDecisions, err = builder.meter.Int64Counter(
		"otelcol_file_log_resume_decisions",
		metric.WithDescription("Decisions where to begin or go on in a file, by decision. [Alpha]"),
		metric.WithUnit("{decision}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogRotations, err = builder.meter.Int64Counter(
		"otelcol_file_log_rotations",
		metric.WithDescription("Files that were seen under a new name or gave their name to another file. [Alpha]"),
		metric.WithUnit("{rotation}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogTrackedFiles, err = builder.meter.Int64UpDownCounter(
		"otelcol_file_log_tracked_files",
		metric.WithDescription("Files whose position is remembered. [Alpha]"),
		metric.WithUnit("{file}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogTruncations, err = builder.meter.Int64Counter(
		"otelcol_file_log_truncations",
		metric.WithDescription("Files that were found rewritten or shorter than the position that was reached. [Alpha]"),
		metric.WithUnit("{truncation}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogTwinFiles, err = builder.meter.Int64UpDownCounter(
		"otelcol_file_log_twin_files",
		metric.WithDescription("Files held back because their content is so far the same as that of another living file. [Alpha]"),
		metric.WithUnit("{file}"),
	)
	errs = errors.Join(errs, err)
	builder.FileLogUnreadBytes, err = builder.meter.Int64ObservableGauge(
		"otelcol_file_log_unread_bytes",
		metric.WithDescription("Bytes in matched files that are not accepted downstream yet. What operators hold counts; a line that its writer has not finished, at the end of a file that was read, does not. [Alpha]"),
		metric.WithUnit("By"),
	)
	errs = errors.Join(errs, err)
	builder.FileconsumerOpenFiles, err = builder.meter.Int64UpDownCounter(
		"otelcol_fileconsumer_open_files",
		metric.WithDescription("Number of open files [Development]"),
		metric.WithUnit("1"),
	)
	errs = errors.Join(errs, err)
	builder.FileconsumerReadingFiles, err = builder.meter.Int64UpDownCounter(
		"otelcol_fileconsumer_reading_files",
		metric.WithDescription("Number of open files that are being read [Development]"),
		metric.WithUnit("1"),
	)
	errs = errors.Join(errs, err)
	return builder, errs
}

// RegisterFileLogOldestUnreadAgeCallback sets the callback that observes FileLogOldestUnreadAge. It is
// called on the goroutine of whoever collects metrics, until Shutdown.
func (builder *TelemetryBuilder) RegisterFileLogOldestUnreadAgeCallback(cb metric.Float64Callback) error {
	return builder.register(builder.FileLogOldestUnreadAge, func(ctx context.Context, o metric.Observer) error {
		return cb(ctx, &observerFloat64{inst: builder.FileLogOldestUnreadAge, obs: o})
	})
}

// RegisterFileLogUnreadBytesCallback sets the callback that observes FileLogUnreadBytes. It is
// called on the goroutine of whoever collects metrics, until Shutdown.
func (builder *TelemetryBuilder) RegisterFileLogUnreadBytesCallback(cb metric.Int64Callback) error {
	return builder.register(builder.FileLogUnreadBytes, func(ctx context.Context, o metric.Observer) error {
		return cb(ctx, &observerInt64{inst: builder.FileLogUnreadBytes, obs: o})
	})
}

// Shutdown ends the callbacks of observable instruments. A callback that is
// running may still be running when Shutdown returns.
func (builder *TelemetryBuilder) Shutdown() {
	builder.mu.Lock()
	defer builder.mu.Unlock()
	for _, registration := range builder.registrations {
		// Unregister cannot fail for the SDK's registrations, and there is nothing to be done about it.
		_ = registration.Unregister()
	}
	builder.registrations = nil
}

func (builder *TelemetryBuilder) register(inst metric.Observable, cb metric.Callback) error {
	registration, err := builder.meter.RegisterCallback(cb, inst)
	if err != nil {
		return err
	}
	builder.mu.Lock()
	defer builder.mu.Unlock()
	builder.registrations = append(builder.registrations, registration)
	return nil
}

type observerInt64 struct {
	embedded.Int64Observer
	inst metric.Int64Observable
	obs  metric.Observer
}

func (o *observerInt64) Observe(value int64, options ...metric.ObserveOption) {
	o.obs.ObserveInt64(o.inst, value, options...)
}

type observerFloat64 struct {
	embedded.Float64Observer
	inst metric.Float64Observable
	obs  metric.Observer
}

func (o *observerFloat64) Observe(value float64, options ...metric.ObserveOption) {
	o.obs.ObserveFloat64(o.inst, value, options...)
}
