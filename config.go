package filelogreceiver

import (
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
	"go.opentelemetry.io/collector/component"

	"github.com/otelfilelog/filelogreceiver/internal/match"
)

// Values of keys that are words.
const (
	startAtBeginning = "beginning"
	startAtEnd       = "end"

	maxLogSizeSplit    = "split"
	maxLogSizeTruncate = "truncate"

	compressionGzip = "gzip"
	compressionAuto = "auto"

	onTruncateIgnore    = "ignore"
	onTruncateReadWhole = "read_whole_file"
	onTruncateReadNew   = "read_new"

	fingerprintStorageContent = "content"
	fingerprintStorageHash    = "hash"

	fileAttributesOnRecord   = "record"
	fileAttributesOnResource = "resource"
)

// minFingerprintSize is the shortest beginning of a file that is taken as
// evidence of who it is.
const minFingerprintSize = 16

// maxFingerprintSize bounds it: that much of each file may be kept in memory.
const maxFingerprintSize = 1 << 30

// maxPollsToArchive bounds the archive: each of its slots is looked at when the
// receiver starts.
const maxPollsToArchive = 1_000_000

// maxWorkers bounds how many files are read at the same time: more than a machine
// has processors gain little, and each has its buffers.
const maxWorkers = 1024

// inputType is the default of the keys `id` and `type`.
const inputType = "file_input"

// Config is the configuration of one receiver: one flat map of keys, those of
// contrib's file_log receiver and a few more (marked as new). Each field says
// what it means, its unit, what zero does, the rule it obeys, and, in a sentence
// of its own, its default. The README's table and config.schema.yaml are made
// from these comments (`make generate`), so they speak of keys, not of fields.
type Config struct {
	// Include lists globs of the files to read, at least one. `**` stands for any
	// number of directories, `{a,b}` for alternatives; `~` is not expanded. A
	// relative glob gives relative paths. No default.
	Include []string `mapstructure:"include"`
	// Exclude lists globs of files not to read. They are compared with the path
	// as an include glob gave it. Default none.
	Exclude []string `mapstructure:"exclude"`
	// ExcludeOlderThan hides files that were not modified for longer than this;
	// their positions are kept. 0 hides none, a negative duration all. Default 0.
	ExcludeOlderThan time.Duration `mapstructure:"exclude_older_than"`
	// OrderingCriteria sorts the files and limits how many are read. Without it,
	// all are read in the order of their paths. Default none.
	OrderingCriteria OrderingCriteria `mapstructure:"ordering_criteria"`
	// StartAt is where to begin in files that are there at the very first poll and
	// of which nothing is remembered: `beginning` or `end`. Files that appear
	// later are read from their beginning. Default `end`.
	StartAt string `mapstructure:"start_at"`
	// PollInterval is the time between two looks at the files. Must be positive.
	// Default 200ms.
	PollInterval time.Duration `mapstructure:"poll_interval"`
	// MaxConcurrentFiles limits how many files are held open, and with
	// `max_batches` how many one poll looks at. Must be positive. Default 1024.
	MaxConcurrentFiles int `mapstructure:"max_concurrent_files"`
	// MaxBatches limits how many batches of half of `max_concurrent_files` files
	// (at least one) a poll looks at; the next poll goes on with the files behind
	// them. 0 is no limit. Must not be negative. Default 0.
	MaxBatches int `mapstructure:"max_batches"`
	// FingerprintSize is how many of a file's first bytes are evidence of who it
	// is. It costs that much memory per file, or what the file has if that is less,
	// and as much storage unless `fingerprint_storage` is `hash`. At least 16, at
	// most 1GiB. Default 1000.
	FingerprintSize ByteSize `mapstructure:"fingerprint_size"`
	// FingerprintStorage is new: how fingerprints are stored. `content` stores the
	// bytes, which contrib's receiver can read back; `hash` stores length and 128
	// bit hash, which keeps log text out of the storage and takes less of it.
	// Default `content`.
	FingerprintStorage string `mapstructure:"fingerprint_storage"`
	// OnTruncate is what to do with a file that became shorter than the position
	// reached in it: `ignore` waits until it is longer again, `read_whole_file`
	// reads it from the beginning, `read_new` goes on at its end. Empty lets the
	// content decide: reading goes on where the content is known, else at the
	// beginning. Default empty.
	OnTruncate string `mapstructure:"on_truncate"`
	// PollsToArchive is how many sets of files that have gone away are kept in the
	// storage, so that a file that comes back late goes on where it stopped. 0
	// keeps none. Needs `storage`. At most 1000000. Default 0.
	PollsToArchive int `mapstructure:"polls_to_archive"`
	// Encoding is the character encoding of the files: an IANA name, `utf-8`,
	// `utf-8-raw` (bytes unchanged), `utf-16`, `ascii` or `nop` (no text: bodies
	// are bytes). Empty means `utf-8`. Default `utf-8`.
	Encoding string `mapstructure:"encoding"`
	// Multiline says where a record begins or ends. Without it a record is a line.
	// Default none.
	Multiline MultilineConfig `mapstructure:"multiline"`
	// PreserveLeadingWhitespaces keeps blanks, tabs and line ends before the text
	// of a record. Default false.
	PreserveLeadingWhitespaces bool `mapstructure:"preserve_leading_whitespaces"`
	// PreserveTrailingWhitespaces keeps blanks, tabs and line ends behind the text
	// of a record. Default false.
	PreserveTrailingWhitespaces bool `mapstructure:"preserve_trailing_whitespaces"`
	// MaxLogSize is the size of the largest record, in bytes of the file before
	// decoding. A worker's memory grows with it. Must be positive. Default 1MiB.
	MaxLogSize ByteSize `mapstructure:"max_log_size"`
	// MaxLogSizeBehavior is what becomes of a larger record: `split` makes several
	// of it, `truncate` drops what is too much. Default `split`.
	MaxLogSizeBehavior string `mapstructure:"max_log_size_behavior"`
	// InitialBufferSize is the size that a read buffer starts with. Must be
	// positive. Default 16KiB.
	InitialBufferSize ByteSize `mapstructure:"initial_buffer_size"`
	// ForceFlushPeriod is how long an unfinished record may stand without growing
	// before it becomes a record as it is. 0 or negative: it waits for its end.
	// Default 500ms.
	ForceFlushPeriod time.Duration `mapstructure:"force_flush_period"`
	// Header describes lines at the beginning of a file that tell about the file.
	// Needs `start_at: beginning`. Default none.
	Header *HeaderConfig `mapstructure:"header"`
	// Compression is how the files are compressed: empty for not at all, `gzip`
	// for all of them, `auto` for those that begin as gzip does. Default empty.
	Compression string `mapstructure:"compression"`
	// IncludeFileName adds the attribute `log.file.name`. Default true.
	IncludeFileName bool `mapstructure:"include_file_name"`
	// IncludeFilePath adds the attribute `log.file.path`. Default false.
	IncludeFilePath bool `mapstructure:"include_file_path"`
	// IncludeFileNameResolved adds the attribute `log.file.name_resolved`, the name
	// behind symbolic links. Default false.
	IncludeFileNameResolved bool `mapstructure:"include_file_name_resolved"`
	// IncludeFilePathResolved adds the attribute `log.file.path_resolved`, the path
	// behind symbolic links. Default false.
	IncludeFilePathResolved bool `mapstructure:"include_file_path_resolved"`
	// IncludeFileOwnerName adds the attribute `log.file.owner.name`. Not on
	// Windows. Default false.
	IncludeFileOwnerName bool `mapstructure:"include_file_owner_name"`
	// IncludeFileOwnerGroupName adds the attribute `log.file.owner.group.name`. Not
	// on Windows. Default false.
	IncludeFileOwnerGroupName bool `mapstructure:"include_file_owner_group_name"`
	// IncludeFilePermissions adds the attribute `log.file.permissions`, in octal.
	// Not on Windows. Default false.
	IncludeFilePermissions bool `mapstructure:"include_file_permissions"`
	// IncludeFileRecordNumber adds the attribute `log.file.record_number`: which
	// record of its file it is, from 1. Default false.
	IncludeFileRecordNumber bool `mapstructure:"include_file_record_number"`
	// IncludeFileRecordOffset adds the attribute `log.file.record_offset`: the byte
	// of its file at which it begins. Default false.
	IncludeFileRecordOffset bool `mapstructure:"include_file_record_offset"`
	// FileAttributesOn is new: where the attributes of a file go. `record` puts them
	// on each record, `resource` once on the resource, which makes batches
	// smaller. Default `record`.
	FileAttributesOn string `mapstructure:"file_attributes_on"`
	// Attributes are added to each record. A value may hold `EXPR(...)`. Default none.
	Attributes map[string]helper.ExprStringConfig `mapstructure:"attributes"`
	// Resource lists attributes of each record's resource. A value may hold
	// `EXPR(...)`. Default none.
	Resource map[string]helper.ExprStringConfig `mapstructure:"resource"`
	// Operators parse and change records on their way. Without any, lines go
	// straight into batches, which costs least. Default none.
	Operators []operator.Config `mapstructure:"operators"`
	// ID is the name of the input among the operators, and the prefix of its keys
	// in the storage, so that changing it forgets all positions. Empty means
	// `file_input`. Default `file_input`.
	ID string `mapstructure:"id"`
	// Type is accepted for the sake of old configurations and has no effect. Must
	// not be empty. Default `file_input`.
	Type string `mapstructure:"type"`
	// Output names the operators that the input feeds. Without it, that is the
	// first one. Default none.
	Output []string `mapstructure:"output"`
	// RetryOnFailure paces what happens when the next consumer refuses records. No
	// record is lost, whatever it says.
	RetryOnFailure RetryConfig `mapstructure:"retry_on_failure"`
	// MaxBatchSize is new: how many records go to the next consumer at once, at
	// most. Must be positive. Default 1000.
	MaxBatchSize int `mapstructure:"max_batch_size"`
	// MaxBatchBytes is new: how many bytes of log these come from, at most; a
	// larger record goes alone. Must be positive. Default 1MiB.
	MaxBatchBytes ByteSize `mapstructure:"max_batch_bytes"`
	// Workers is new: how many files are read at the same time. Each worker holds a
	// buffer and a batch. 0 is as many as there are processors (GOMAXPROCS). Must
	// not be negative. At most 1024. Default 0.
	Workers int `mapstructure:"workers"`
	// StorageID is the storage extension that remembers positions. Without one they
	// are forgotten when the Collector stops. Default none.
	StorageID *component.ID `mapstructure:"storage"`
	// DeleteAfterRead deletes a file when all of it was accepted. Needs
	// `start_at: beginning`. Default false.
	DeleteAfterRead bool `mapstructure:"delete_after_read"`
	// AcquireFSLock takes a shared advisory lock while a file is read, and leaves
	// the file alone while somebody holds an exclusive one. Unix only. Default false.
	AcquireFSLock bool `mapstructure:"acquire_fs_lock"`
	// FileCacheAdvise tells the kernel that pages that were read are not needed
	// again. Linux only. Default false.
	FileCacheAdvise bool `mapstructure:"file_cache_advise"`
	// SkipUnmodifiedFiles is accepted and has no effect: a file that did not change
	// is never opened. Default false.
	SkipUnmodifiedFiles bool `mapstructure:"skip_unmodified_files"`

	// prevents literals without keys
	_ struct{}
}

// OrderingCriteria is the key `ordering_criteria`.
type OrderingCriteria = match.OrderingCriteria

// SortRule is one item of the key `ordering_criteria.sort_by`.
type SortRule = match.SortRule

// MultilineConfig is the key `multiline`. At most one of the two patterns may be
// set; both are regular expressions (RE2) in multi-line mode.
type MultilineConfig struct {
	// LineStartPattern matches where a record begins. Not together with
	// `line_end_pattern`. Default empty.
	LineStartPattern string `mapstructure:"line_start_pattern"`
	// LineEndPattern matches where a record ends. Not together with
	// `line_start_pattern`. Default empty.
	LineEndPattern string `mapstructure:"line_end_pattern"`
	// OmitPattern leaves what the pattern matched out of the record. Default false.
	OmitPattern bool `mapstructure:"omit_pattern"`
}

// HeaderConfig is the key `header`.
type HeaderConfig struct {
	// Pattern matches the lines of a header (RE2); the first line that it does not
	// match ends the header. No default.
	Pattern string `mapstructure:"pattern"`
	// MetadataOperators make attributes of the file out of a header line. At least
	// one; each must pass on what it gets. No default.
	MetadataOperators []operator.Config `mapstructure:"metadata_operators"`
}

// RetryConfig is the key `retry_on_failure`. It paces how a refused batch is
// offered again; a batch that was let go is read again from its file later.
type RetryConfig struct {
	// Enabled offers a refused batch again. Otherwise it is let go at once, other
	// files get their turn, and this one is read again at a later poll. Default true.
	Enabled bool `mapstructure:"enabled"`
	// InitialInterval is the pause after the first refusal. Must not be negative.
	// Default 1s.
	InitialInterval time.Duration `mapstructure:"initial_interval"`
	// MaxInterval is the longest pause. Must not be negative. Default 30s.
	MaxInterval time.Duration `mapstructure:"max_interval"`
	// MaxElapsedTime is when a batch is let go. 0 is never. Must not be negative.
	// Default 0.
	MaxElapsedTime time.Duration `mapstructure:"max_elapsed_time"`
}

func createDefaultConfig() component.Config {
	return &Config{
		StartAt:            startAtEnd,
		PollInterval:       200 * time.Millisecond,
		MaxConcurrentFiles: 1024,
		FingerprintSize:    1000,
		FingerprintStorage: fingerprintStorageContent,
		Encoding:           "utf-8",
		MaxLogSize:         1 << 20,
		MaxLogSizeBehavior: maxLogSizeSplit,
		InitialBufferSize:  16 << 10,
		ForceFlushPeriod:   500 * time.Millisecond,
		IncludeFileName:    true,
		FileAttributesOn:   fileAttributesOnRecord,
		Operators:          []operator.Config{},
		ID:                 inputType,
		Type:               inputType,
		RetryOnFailure: RetryConfig{
			Enabled:         true,
			InitialInterval: time.Second,
			MaxInterval:     30 * time.Second,
		},
		MaxBatchSize:  1000,
		MaxBatchBytes: 1 << 20,
	}
}
