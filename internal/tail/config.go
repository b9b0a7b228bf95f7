package tail

import "time"

// OnTruncate says where reading goes on in a file that became shorter than the
// position that was reached in it.
type OnTruncate string

const (
	// TruncateByContent goes on behind what is still the same, else at 0.
	TruncateByContent OnTruncate = ""
	// TruncateIgnore waits until the file is longer than the position again.
	TruncateIgnore OnTruncate = "ignore"
	// TruncateReadWhole goes on at 0.
	TruncateReadWhole OnTruncate = "read_whole_file"
	// TruncateReadNew goes on at the end as it is when the truncation is noticed.
	TruncateReadNew OnTruncate = "read_new"
)

// Compression says which files are read through a decompressor.
type Compression string

const (
	// CompressionNone: none.
	CompressionNone Compression = ""
	// CompressionGzip: all; what is no gzip is not read.
	CompressionGzip Compression = "gzip"
	// CompressionAuto: those that begin like gzip.
	CompressionAuto Compression = "auto"
)

// Config is how the loop works. The bounds of memory stand together at the end.
type Config struct {
	PollInterval    time.Duration
	FlushPeriod     time.Duration // a partial record is emitted when its file has not grown for so long; <= 0: never
	FingerprintSize int
	StartAtEnd      bool // files of the first poll without a saved State begin at their end
	Compression     Compression
	OnTruncate      OnTruncate
	DeleteAfterRead bool
	LockFiles       bool // shared advisory lock while reading
	DropCache       bool // give up cached pages before reading
	Attributes      FileAttributes

	Archiving bool // States of files that are gone go into the archive

	MaxOpenFiles int // handles; the least recently active are closed first
	WatchFrom    int // so many files are worth watching their directories for hints; 0: never
	FilesPerPoll int // files looked at in one poll, the next one goes on behind them; 0: all
	Workers      int

	MaxBatchRecords int
	MaxBatchBytes   int
}

// Bounds of memory and of waiting, and why they are so.
const (
	// turnBytes is what a worker reads of one file before another gets its
	// turn: large enough that scheduling costs nothing, small enough that a
	// backlog of many files moves everywhere.
	turnBytes = 1 << 20
	// turnTime ends a turn at the next accepted batch when the destination is slow.
	turnTime = 200 * time.Millisecond
	// chunkBytes is one read. Larger ones fall out of the second-level cache
	// between reading and framing.
	chunkBytes = 128 << 10
	// smallUnread is up to how much a file counts as small: several of them go
	// into one turn and one batch, ahead of files with a backlog.
	smallUnread = 64 << 10
	// packFiles bounds the small files of one turn.
	packFiles = 1024
	// keepAttributes is up to how many files keep their prepared attributes
	// between turns.
	keepAttributes = 2000
	// keepBuffer is the largest read buffer a worker keeps between turns.
	keepBuffer = 2 << 20
	// compareBytes is how much of a twin is compared with its original per poll.
	compareBytes = 4 << 20
	// firstCompare is how much is compared before anything else.
	firstCompare = 4 << 10
	// inlineDecompress is up to where a compressed file is decompressed by the
	// loop itself, to find out whose content it has: about five milliseconds.
	inlineDecompress = 1 << 20
	// keepFresh is how many files may wait for their turn while the decompressor
	// is kept that found out who they are: each takes about 80 KiB.
	keepFresh = 64
	// incompleteGrace is how long a compressed file that is not whole may rest
	// before it is taken as it is.
	incompleteGrace = 5 * time.Second
	// twinGrace is how long a file that looks like a copy of a live one is held.
	twinGrace = 5 * time.Second
	// sharedShort is up to where two files may begin alike without one being
	// taken for a copy of the other.
	sharedShort = 16 << 10
	// leftQuiet is how long the handle of a file that left the pattern is kept
	// after it was read and has stopped growing; deletedQuiet the same for a
	// file without a name.
	leftQuiet    = 10 * time.Second
	deletedQuiet = 250 * time.Millisecond
	// keepPolls is for how many polls a State is left alone once its hidden
	// file was seen to exist.
	keepPolls = 50
	// shutdownGrace is how long a call to the next consumer may still take at
	// shutdown before it is cancelled.
	shutdownGrace = 3 * time.Second
	// lastAnswer is how long a call may take that was cancelled because the time
	// for the shutdown is over.
	lastAnswer = 200 * time.Millisecond
	// retryRead is the pause after a file could not be read; retryCorrupt the one
	// after a compressed file was not what gzip makes, while it does not change: to
	// find out again costs as much as to decompress it.
	retryRead    = time.Second
	retryCorrupt = 10 * time.Minute
	// deleteAgain is the pause after a file that was read could not be deleted.
	deleteAgain = 10 * time.Second
	// progressEvery is how often a long turn reports what was accepted.
	progressEvery = 100 * time.Millisecond
)
