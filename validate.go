package filelogreceiver

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	nooptrace "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/batch"
	"github.com/otelfilelog/filelogreceiver/internal/match"
	"github.com/otelfilelog/filelogreceiver/internal/metadata"
)

// Validate reports everything that is wrong with the configuration, so that it
// shows before the Collector starts. Texts that contrib's receiver has for the
// same mistake are kept word for word and followed by the value.
func (c *Config) Validate() error {
	return errors.Join(
		c.validateMatching(),
		c.validateFraming(),
		c.validateLimits(),
		c.validateWords(),
		c.validateOperators(),
		c.validateHeader(),
		c.validateDeletion(),
		c.validateStorage(),
		c.RetryOnFailure.validate(),
		c.validatePlatform(runtime.GOOS),
	)
}

// matching is the part of the configuration that says which files to read,
// under the feature gates as they stand now.
func (c *Config) matching() match.Config {
	return match.Config{
		Include:             c.Include,
		Exclude:             c.Exclude,
		ExcludeOlderThan:    c.ExcludeOlderThan,
		Ordering:            c.OrderingCriteria,
		CaseInsensitive:     runtime.GOOS == "windows" && gateEnabled(gateWindowsCaseInsensitive),
		RequireExplicitTopN: gateEnabled(gateRequireExplicitTopN),
		AllowMtimeSort:      gateEnabled(gateMtimeSortType),
	}
}

func (c *Config) validateLimits() error {
	var errs []error
	if c.FingerprintSize < minFingerprintSize {
		errs = append(errs, fmt.Errorf("'fingerprint_size' must be at least %d bytes, is %d", minFingerprintSize, c.FingerprintSize))
	}
	if c.FingerprintSize > maxFingerprintSize {
		errs = append(errs, fmt.Errorf("'fingerprint_size' must be at most %d bytes (1GiB), is %d", maxFingerprintSize, c.FingerprintSize))
	}
	if c.MaxBatches < 0 {
		errs = append(errs, fmt.Errorf("'max_batches' must not be negative, is %d", c.MaxBatches))
	}
	if c.Workers < 0 {
		errs = append(errs, fmt.Errorf("'workers' must not be negative, is %d", c.Workers))
	}
	if c.Workers > maxWorkers {
		errs = append(errs, fmt.Errorf("'workers' must be at most %d, is %d", maxWorkers, c.Workers))
	}
	if c.PollInterval <= 0 {
		errs = append(errs, fmt.Errorf("'poll_interval' must be positive, is %s", c.PollInterval))
	}
	for _, limit := range []struct {
		key   string
		value int64
	}{
		{"max_concurrent_files", int64(c.MaxConcurrentFiles)},
		{"initial_buffer_size", int64(c.InitialBufferSize)},
		{"max_batch_size", int64(c.MaxBatchSize)},
		{"max_batch_bytes", int64(c.MaxBatchBytes)},
	} {
		if limit.value <= 0 {
			errs = append(errs, fmt.Errorf("'%s' must be positive, is %d", limit.key, limit.value))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) validateWords() error {
	var errs []error
	if c.StartAt != startAtBeginning && c.StartAt != startAtEnd {
		errs = append(errs, fmt.Errorf("invalid start_at location '%s': 'start_at' must be either '%s' or '%s'",
			c.StartAt, startAtBeginning, startAtEnd))
	}
	if c.MaxLogSizeBehavior != maxLogSizeSplit && c.MaxLogSizeBehavior != maxLogSizeTruncate {
		errs = append(errs, fmt.Errorf("'max_log_size_behavior' must be either '%s' or '%s', is '%s'",
			maxLogSizeSplit, maxLogSizeTruncate, c.MaxLogSizeBehavior))
	}
	for _, word := range []struct {
		key, value string
		mayBeEmpty bool
		allowed    []string
	}{
		{"on_truncate", c.OnTruncate, true, []string{onTruncateIgnore, onTruncateReadWhole, onTruncateReadNew}},
		{"compression", c.Compression, true, []string{compressionGzip, compressionAuto}},
		{"fingerprint_storage", c.FingerprintStorage, false, []string{fingerprintStorageContent, fingerprintStorageHash}},
		{"file_attributes_on", c.FileAttributesOn, false, []string{fileAttributesOnRecord, fileAttributesOnResource}},
	} {
		if err := oneOf(word.key, word.value, word.mayBeEmpty, word.allowed); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func oneOf(key, value string, mayBeEmpty bool, allowed []string) error {
	if value == "" && mayBeEmpty {
		return nil
	}
	for _, word := range allowed {
		if value == word {
			return nil
		}
	}
	unset := ""
	if mayBeEmpty {
		unset = ", or empty"
	}
	return fmt.Errorf("'%s' must be one of: %s%s, is '%s'", key, strings.Join(allowed, ", "), unset, value)
}

func (c *Config) validateDeletion() error {
	if !c.DeleteAfterRead {
		return nil
	}
	var errs []error
	if !gateEnabled(gateAllowFileDeletion) {
		errs = append(errs, fmt.Errorf("'delete_after_read' requires feature gate '%s'", gateAllowFileDeletion))
	}
	if c.StartAt == startAtEnd {
		errs = append(errs, errors.New("'delete_after_read' cannot be used with 'start_at: end'"))
	}
	return errors.Join(errs...)
}

// processing is the part of the configuration that says what happens to records
// on their way to the next consumer; scopeVersion is the version of the scope of
// those that have none of their own.
func (c *Config) processing(scopeVersion string) batch.PipelineConfig {
	settings := batch.Settings{
		RecordNumber:             c.IncludeFileRecordNumber,
		RecordOffset:             c.IncludeFileRecordOffset,
		FileAttributesOnResource: c.FileAttributesOn == fileAttributesOnResource,
	}
	if gateEnabled(gateAddDefaultScopeName) {
		settings.ScopeName, settings.ScopeVersion = metadata.ScopeName, scopeVersion
	}
	return batch.PipelineConfig{
		Settings:   settings,
		InputID:    c.ID,
		InputType:  c.Type,
		Output:     c.Output,
		Attributes: c.Attributes,
		Resource:   c.Resource,
		Operators:  c.Operators,
	}
}

func (c *Config) validateOperators() error {
	processing := c.processing("")
	return processing.Validate(silentTelemetry())
}

func silentTelemetry() component.TelemetrySettings {
	return component.TelemetrySettings{
		Logger:         zap.NewNop(),
		MeterProvider:  noopmetric.NewMeterProvider(),
		TracerProvider: nooptrace.NewTracerProvider(),
		Resource:       pcommon.NewResource(),
	}
}

func (c *Config) validateHeader() error {
	if c.Header == nil {
		return nil
	}
	var errs []error
	if !gateEnabled(gateAllowHeaderMetadataParsing) {
		errs = append(errs, fmt.Errorf("'header' requires feature gate '%s'", gateAllowHeaderMetadataParsing))
	}
	if c.StartAt == startAtEnd {
		errs = append(errs, errors.New("'header' cannot be specified with 'start_at: end'"))
	}
	header := c.header()
	return errors.Join(append(errs, header.Validate(silentTelemetry()))...)
}

// header is the part of the configuration that describes the header of files; it
// must not be asked for when there is none.
func (c *Config) header() batch.HeaderConfig {
	return batch.HeaderConfig{Pattern: c.Header.Pattern, MetadataOperators: c.Header.MetadataOperators}
}

func (c *Config) validateStorage() error {
	var errs []error
	if c.PollsToArchive > maxPollsToArchive {
		errs = append(errs, fmt.Errorf("'polls_to_archive' must be at most %d, is %d", maxPollsToArchive, c.PollsToArchive))
	}
	if c.PollsToArchive > 0 && c.StorageID == nil {
		errs = append(errs, errors.New("'polls_to_archive' needs a storage extension to keep the archive in: set 'storage', or remove 'polls_to_archive'"))
	}
	return errors.Join(errs...)
}

// validate is not called Validate, so that the Collector does not call it a second time.
func (r RetryConfig) validate() error {
	var errs []error
	if r.InitialInterval < 0 {
		errs = append(errs, fmt.Errorf("'retry_on_failure.initial_interval' must not be negative, is %s", r.InitialInterval))
	}
	if r.MaxInterval < 0 {
		errs = append(errs, fmt.Errorf("'retry_on_failure.max_interval' must not be negative, is %s", r.MaxInterval))
	}
	if r.MaxElapsedTime < 0 {
		errs = append(errs, fmt.Errorf("'retry_on_failure.max_elapsed_time' must not be negative, is %s", r.MaxElapsedTime))
	}
	return errors.Join(errs...)
}

func (c *Config) validatePlatform(goos string) error {
	if goos != "windows" {
		return nil
	}
	var errs []error
	if c.IncludeFileOwnerName || c.IncludeFileOwnerGroupName {
		errs = append(errs, errors.New("'include_file_owner_name' or 'include_file_owner_group_name' it's not supported on Windows"))
	}
	if c.IncludeFilePermissions {
		errs = append(errs, errors.New("'include_file_permissions' is not supported on Windows"))
	}
	return errors.Join(errs...)
}
