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

// inputType is the default of the keys `id` and `type`.
const inputType = "file_input"

// Config is the configuration of one receiver: one flat map of keys, those of
// contrib's file_log receiver and a few more (marked "new"). Each field says
// what it means, its unit, its default and what zero does. The README's table
// lists the same keys and a test holds the two together.
type Config struct {
	// Which files.

	// Include lists globs of the files to read, at least one. `**` stands for any
	// number of directories, `{a,b}` for alternatives. A relative glob gives
	// relative paths. No default.
	Include []string `mapstructure:"include"`
	// Exclude lists globs of files not to read. They are compared with the path
	// as an include glob gave it. Default: none.
	Exclude []string `mapstructure:"exclude"`
	// ExcludeOlderThan hides files that were not modified for longer than this.
	// Their positions are kept. Default 0: hides none. Negative: hides all.
	ExcludeOlderThan time.Duration `mapstructure:"exclude_older_than"`
	// OrderingCriteria sorts the files and limits how many are read. Default: by path, all.
	OrderingCriteria OrderingCriteria `mapstructure:"ordering_criteria"`

	// Where and how often.

	// StartAt is where to begin in files that are there at the very first poll
	// and of which nothing is remembered: `beginning` or `end`. Files that appear
	// later are read from their beginning. Default `end`.
	StartAt string `mapstructure:"start_at"`
	// PollInterval is the time between two looks at the files. Default 200ms, must be positive.
	PollInterval time.Duration `mapstructure:"poll_interval"`
	// MaxConcurrentFiles limits the files that are held open, and with
	// MaxBatches the files that one poll looks at. Default 1024, must be positive.
	MaxConcurrentFiles int `mapstructure:"max_concurrent_files"`
	// MaxBatches limits how many batches of MaxConcurrentFiles/2 files (at least
	// one) are looked at in one poll; the next poll goes on with the files behind
	// them. Default 0: no limit.
	MaxBatches int `mapstructure:"max_batches"`

	// Who a file is.

	// FingerprintSize is how many of a file's first bytes are evidence of who it
	// is. Default 1000 bytes, at least 16. It costs that much memory and storage
	// per file, unless FingerprintStorage is `hash`.
	FingerprintSize ByteSize `mapstructure:"fingerprint_size"`
	// FingerprintStorage (new) is how fingerprints are stored: `content` as bytes
	// of the log, which contrib's receiver can read back, or `hash` as length and
	// 128 bit hash, which keeps log text out of the storage and makes it a tenth
	// as large. Default `content`.
	FingerprintStorage string `mapstructure:"fingerprint_storage"`
	// OnTruncate is what to do with a file that became shorter than the position
	// in it: `ignore` waits until it is longer again, `read_whole_file` reads it
	// from the beginning, `read_new` goes on at its end. Default unset: the
	// content decides, so nothing is lost and nothing read twice.
	OnTruncate string `mapstructure:"on_truncate"`
	// PollsToArchive is how many sets of files that have been gone for three
	// polls are kept in the storage, so that a file that comes back goes on where
	// it stopped. Needs Storage. Default 0: none.
	PollsToArchive int `mapstructure:"polls_to_archive"`

	// Bytes into records.

	// Encoding is the character encoding of the files, an IANA name or one of
	// `utf-8`, `utf-8-raw`, `utf-16`, `ascii`, `nop`. Default `utf-8`, which is
	// also the meaning of the empty name.
	Encoding string `mapstructure:"encoding"`
	// Multiline says where a record begins or ends. Default: a record is a line.
	Multiline MultilineConfig `mapstructure:"multiline"`
	// PreserveLeadingWhitespaces keeps blanks, tabs and line ends before a record's text. Default false.
	PreserveLeadingWhitespaces bool `mapstructure:"preserve_leading_whitespaces"`
	// PreserveTrailingWhitespaces keeps them behind it. Default false.
	PreserveTrailingWhitespaces bool `mapstructure:"preserve_trailing_whitespaces"`
	// MaxLogSize is the size of the largest record, in bytes of the file before
	// decoding. Default 1MiB, must be positive. A worker may hold a few times this.
	MaxLogSize ByteSize `mapstructure:"max_log_size"`
	// MaxLogSizeBehavior is what becomes of a larger one: `split` makes several
	// records of it, `truncate` drops what is too much. Default `split`.
	MaxLogSizeBehavior string `mapstructure:"max_log_size_behavior"`
	// InitialBufferSize is the size that a read buffer starts with. Default 16KiB, must be positive.
	InitialBufferSize ByteSize `mapstructure:"initial_buffer_size"`
	// ForceFlushPeriod is how long an unfinished record may stand without growing
	// before it becomes a record as it is. Default 500ms. 0 or negative: it waits for its end.
	ForceFlushPeriod time.Duration `mapstructure:"force_flush_period"`
	// Header describes lines at the beginning of a file that describe the file. Default: none.
	Header *HeaderConfig `mapstructure:"header"`
	// Compression is how files are compressed: empty for not at all, `gzip` for
	// all, `auto` for those that begin like gzip does. Default empty.
	Compression string `mapstructure:"compression"`

	// What a record carries.

	// IncludeFileName adds the attribute log.file.name. Default true.
	IncludeFileName bool `mapstructure:"include_file_name"`
	// IncludeFilePath adds log.file.path. Default false, as all that follow.
	IncludeFilePath bool `mapstructure:"include_file_path"`
	// IncludeFileNameResolved adds log.file.name_resolved: the name behind symbolic links.
	IncludeFileNameResolved bool `mapstructure:"include_file_name_resolved"`
	// IncludeFilePathResolved adds log.file.path_resolved: the path behind symbolic links.
	IncludeFilePathResolved bool `mapstructure:"include_file_path_resolved"`
	// IncludeFileOwnerName adds log.file.owner.name. Not on Windows.
	IncludeFileOwnerName bool `mapstructure:"include_file_owner_name"`
	// IncludeFileOwnerGroupName adds log.file.owner.group.name. Not on Windows.
	IncludeFileOwnerGroupName bool `mapstructure:"include_file_owner_group_name"`
	// IncludeFilePermissions adds log.file.permissions, in octal. Not on Windows.
	IncludeFilePermissions bool `mapstructure:"include_file_permissions"`
	// IncludeFileRecordNumber adds log.file.record_number: which record of its file it is, from 1.
	IncludeFileRecordNumber bool `mapstructure:"include_file_record_number"`
	// IncludeFileRecordOffset adds log.file.record_offset: at which byte of its file it begins.
	IncludeFileRecordOffset bool `mapstructure:"include_file_record_offset"`
	// FileAttributesOn (new) is where attributes of the file go: on each `record`,
	// or once on their `resource`, which makes batches smaller. Default `record`.
	FileAttributesOn string `mapstructure:"file_attributes_on"`
	// Attributes are added to each record. A value may hold EXPR(...). Default: none.
	Attributes map[string]helper.ExprStringConfig `mapstructure:"attributes"`
	// Resource is added to each record's resource. A value may hold EXPR(...). Default: none.
	Resource map[string]helper.ExprStringConfig `mapstructure:"resource"`

	// Where records go.

	// Operators parse and change records on their way. Default: none, which is fastest.
	Operators []operator.Config `mapstructure:"operators"`
	// ID is the name of the input among the operators, and the prefix of its keys
	// in the storage: changing it forgets all positions. Default `file_input`,
	// which is also the meaning of the empty name.
	ID string `mapstructure:"id"`
	// Type is accepted for the sake of old configurations. Default `file_input`, must not be empty.
	Type string `mapstructure:"type"`
	// Output names the operators that the input feeds. Default: the first one.
	Output []string `mapstructure:"output"`
	// RetryOnFailure paces what happens when the next consumer refuses records.
	RetryOnFailure RetryConfig `mapstructure:"retry_on_failure"`
	// MaxBatchSize (new) is how many records go to the next consumer at once, at
	// most. Default 1000, must be positive.
	MaxBatchSize int `mapstructure:"max_batch_size"`
	// MaxBatchBytes (new) is how many bytes of log they come from, at most; a
	// larger record goes alone. Default 1MiB, must be positive.
	MaxBatchBytes ByteSize `mapstructure:"max_batch_bytes"`
	// Workers (new) is how many files are read at the same time. Each may hold a
	// batch and a buffer. Default 0: as many as there are processors (GOMAXPROCS).
	Workers int `mapstructure:"workers"`

	// What is remembered.

	// StorageID is the storage extension that remembers positions. Default none:
	// they are forgotten when the Collector stops.
	StorageID *component.ID `mapstructure:"storage"`

	// Manners.

	// DeleteAfterRead deletes a file when all of it was accepted. Needs
	// `start_at: beginning`. Default false.
	DeleteAfterRead bool `mapstructure:"delete_after_read"`
	// AcquireFSLock takes a shared advisory lock while a file is read, and leaves
	// it alone while another holds an exclusive one. Unix only. Default false.
	AcquireFSLock bool `mapstructure:"acquire_fs_lock"`
	// FileCacheAdvise tells the kernel that the pages read are not needed again. Linux only. Default false.
	FileCacheAdvise bool `mapstructure:"file_cache_advise"`
	// SkipUnmodifiedFiles is accepted and has no effect: files that did not change
	// are never opened. Default false.
	SkipUnmodifiedFiles bool `mapstructure:"skip_unmodified_files"`

	// prevents literals without keys
	_ struct{}
}

// OrderingCriteria is the key `ordering_criteria`.
type OrderingCriteria = match.OrderingCriteria

// SortRule is one item of the key `ordering_criteria.sort_by`.
type SortRule = match.SortRule

// MultilineConfig is the key `multiline`. At most one of the two patterns may be
// set, both are regular expressions (RE2) in multi-line mode.
type MultilineConfig struct {
	// LineStartPattern matches where a record begins. Default: none.
	LineStartPattern string `mapstructure:"line_start_pattern"`
	// LineEndPattern matches where a record ends. Default: none.
	LineEndPattern string `mapstructure:"line_end_pattern"`
	// OmitPattern leaves what matched out of the record. Default false.
	OmitPattern bool `mapstructure:"omit_pattern"`
}

// HeaderConfig is the key `header`. It needs `start_at: beginning`.
type HeaderConfig struct {
	// Pattern matches the lines of a header; the first line that does not match ends it. No default.
	Pattern string `mapstructure:"pattern"`
	// MetadataOperators make attributes of a header line. At least one.
	MetadataOperators []operator.Config `mapstructure:"metadata_operators"`
}

// RetryConfig is the key `retry_on_failure`. It paces how a refused batch is
// offered again; whatever it says, a batch that was let go is read again later.
type RetryConfig struct {
	// Enabled offers a refused batch again. Otherwise it is let go at once, other
	// files get their turn, and this one is read again at a later poll. Default true.
	Enabled bool `mapstructure:"enabled"`
	// InitialInterval is the pause after the first refusal. Default 1s, must not
	// be negative.
	InitialInterval time.Duration `mapstructure:"initial_interval"`
	// MaxInterval is the longest pause. Default 30s, must not be negative.
	MaxInterval time.Duration `mapstructure:"max_interval"`
	// MaxElapsedTime is when a batch is let go. Default 0: never.
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
