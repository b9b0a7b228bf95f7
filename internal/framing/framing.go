// Package framing turns the bytes of one file into records: it decodes them,
// splits them into lines or multi-line entries, applies the size limit and
// trims white space.
//
// A Framing is made once of a Config and shared. Each worker takes a Framer of
// it and uses that for one file after the other:
//
//	framer.Reset(position, head)        // where the file was left
//	framer.Feed(buf, false)             // the file's bytes from there on
//	for framer.Next() {
//		use(framer.Body(), framer.Start(), framer.After())
//	}
//	position = framer.Position()        // behind everything that was whole
//
// What stands behind that position is an unfinished record. It is fed again
// together with the bytes that follow it; the framer keeps nothing of its own
// that a later resume would need.
//
// A token is what lies between two boundaries. A token that is empty after
// trimming gives no record but counts in the record numbers, as upstream has it.
package framing

import (
	"errors"
	"math"
)

// Config says how a file is cut into records. The zero value of every field
// but MaxLogSize is valid.
type Config struct {
	// Encoding is the name of the file's character encoding, in any case:
	// "utf-8" (also if empty), "utf-8-raw", "utf-16", "nop", or an IANA name.
	Encoding string
	// LineStartPattern is a regular expression that begins a record,
	// LineEndPattern one that ends it; at most one of them may be set. With
	// neither, a record is a line.
	LineStartPattern string
	LineEndPattern   string
	// OmitPattern leaves what the pattern matched out of the record.
	OmitPattern bool
	// PreserveLeading and PreserveTrailing keep the blanks, tabs, carriage
	// returns and newlines at that side of a record.
	PreserveLeading  bool
	PreserveTrailing bool
	// MaxLogSize is the most bytes of a record, counted in the file's encoding,
	// before trimming and without an omitted pattern. It must be positive.
	MaxLogSize int
	// TruncateOversize drops what a record has beyond MaxLogSize. Otherwise the
	// rest becomes further records.
	TruncateOversize bool
}

// Position is a place between two tokens of a file. It is all that has to be
// remembered to go on from there.
type Position struct {
	// Offset is the logical byte position of the next token's first byte.
	Offset int64
	// RecordNumber is how many tokens come before it, empty ones included.
	RecordNumber int64
	// Skipping tells that Offset is inside an oversized record whose rest is
	// being dropped.
	Skipping bool
}

// splitKind is the rule by which the bytes are cut into tokens.
type splitKind uint8

const (
	splitLines  splitKind = iota // at newlines
	splitStarts                  // in front of what the pattern matches
	splitEnds                    // behind what the pattern matches
	splitNothing
)

// Framing is a checked Config. It never changes and may be shared.
type Framing struct {
	charset          charset
	split            splitKind
	pattern          *pattern // for splitStarts and splitEnds
	omit             bool
	preserveLeading  bool
	preserveTrailing bool
	truncate         bool
	limit            int // MaxLogSize
	lookahead        int // bytes beyond the limit that are awaited before a record is cut, so that a pattern is not
	maxBuffer        int
}

// largestLimit keeps sums of a limit and a few lookaheads within an int.
const largestLimit = math.MaxInt / 16

// Validate tells what is wrong with the configuration, in upstream's words.
func (c Config) Validate() error {
	_, err := New(c)
	return err
}

// New makes the Framing that c describes.
func New(c Config) (*Framing, error) {
	if c.MaxLogSize <= 0 {
		return nil, errors.New("'max_log_size' must be positive")
	}
	cs, err := lookupCharset(c.Encoding)
	if err != nil {
		return nil, err
	}
	f := &Framing{
		charset:          cs,
		omit:             c.OmitPattern,
		preserveLeading:  c.PreserveLeading,
		preserveTrailing: c.PreserveTrailing,
		truncate:         c.TruncateOversize,
		limit:            min(c.MaxLogSize, largestLimit),
	}
	if err := f.chooseSplit(c); err != nil {
		return nil, err
	}
	f.maxBuffer = f.boundBuffer()
	return f, nil
}

func (f *Framing) chooseSplit(c Config) error {
	var err error
	switch {
	case f.charset.kind == opaque && c.LineEndPattern != "":
		return errors.New("line_end_pattern should not be set when using nop encoding")
	case f.charset.kind == opaque && c.LineStartPattern != "":
		return errors.New("line_start_pattern should not be set when using nop encoding")
	case f.charset.kind == opaque:
		f.split = splitNothing
	case c.LineStartPattern != "" && c.LineEndPattern != "":
		return errors.New("only one of line_start_pattern or line_end_pattern can be set")
	case c.LineStartPattern != "":
		f.split = splitStarts
		f.pattern, err = compilePattern("line start", c.LineStartPattern)
	case c.LineEndPattern != "":
		f.split = splitEnds
		f.pattern, err = compilePattern("line end", c.LineEndPattern)
	}
	if f.pattern != nil {
		f.lookahead = min(f.pattern.longest, longestAwaited) + utf8Slack
		if f.charset.decodes() {
			f.lookahead *= 2 // a character of one byte in UTF-8 has two in UTF-16
		}
	}
	return err
}

const (
	// utf8Slack is room for a character that lies across a limit.
	utf8Slack = 8
	// lineSlack is room for that, CR, LF and a byte order mark in any encoding.
	lineSlack = 24
)

func (f *Framing) boundBuffer() int {
	switch f.split {
	case splitNothing:
		return f.limit
	case splitLines:
		return f.limit + lineSlack
	default:
		size := f.limit + f.lookahead + lineSlack
		if f.omit {
			// The omitted pattern does not count, but stands in the buffer.
			size += f.limit + f.lookahead
		}
		return size
	}
}

// Bytes tells whether bodies are to become byte values and not strings, which
// is the case for the encoding nop.
func (f *Framing) Bytes() bool { return f.charset.kind == opaque }

// MaxBuffer is a size of buffer with which Feed always makes progress: fed so
// many bytes, the framer consumes some of them. So a caller never has to hold
// more than this of a file.
func (f *Framing) MaxBuffer() int { return f.maxBuffer }
