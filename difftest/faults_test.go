package difftest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// fault is something that contrib's receiver does wrong, or that was decided to
// be otherwise.
type fault struct {
	name   string
	reason string
	// may tells whether a file of a trial can show it.
	may func(t trial, file string) bool
	// forgive takes what it explains, and nothing else, out of the records that
	// contrib's receiver and ours made of the file.
	forgive func(t trial, file string, theirs, own []shape) ([]shape, []shape)
}

// faults are tried one after the other until the records are alike. Numbers are
// those of the list of contrib's faults in docs/design.md.
var faults = []fault{
	{
		name:   "order of ways",
		reason: "contrib sends up to 100 records at once into each branch of the operators and groups them by resource and scope, so records that go different ways change places within a batch; our batches are larger",
		may: func(t trial, _ string) bool {
			return t.keys["operators"] != nil || t.keys["resource"] != nil
		},
		forgive: func(_ trial, _ string, theirs, own []shape) ([]shape, []shape) {
			return byPlace(theirs), byPlace(own)
		},
	},
	{
		name:   "U10",
		reason: "contrib searches and trims the bytes of UTF-16, not its characters",
		may: func(t trial, _ string) bool {
			return strings.HasPrefix(strings.ToLower(t.text("encoding")), "utf-16") || strings.EqualFold(t.text("encoding"), "utf16")
		},
		forgive: forgiveBytewiseTrimming,
	},
	{
		name:   "U13",
		reason: "a forced flush of contrib's leaves the pattern in the record although it is to be omitted",
		may: func(t trial, _ string) bool {
			omit, _ := t.multiline("omit_pattern").(bool)
			return omit
		},
		forgive: forgiveFlushedPattern,
	},
	{
		name:   "carriage return at the limit",
		reason: "of a line that is one byte shorter than the limit and ends in CR LF, contrib keeps the CR, if its buffer ends there",
		may:    func(t trial, file string) bool { return t.number("max_log_size") > 0 && t.oversized(file) },
		forgive: func(t trial, _ string, theirs, own []shape) ([]shape, []shape) {
			return adjusted(theirs, own, func(s *shape, ours shape) {
				if len(s.Body) == t.number("max_log_size") && s.Body == ours.Body+"\r" {
					s.Body = ours.Body
				}
			}), own
		},
	},
	{
		name:   "U17",
		reason: "the offset that contrib gives to a record behind a dropped rest points into that rest",
		may: func(t trial, file string) bool {
			return t.text("max_log_size_behavior") == "truncate" && t.oversized(file)
		},
		forgive: forgiveOffsets,
	},
	{
		name:    "U21",
		reason:  "a line of exactly the limit takes two record numbers, if contrib's buffer has a certain size",
		may:     func(t trial, file string) bool { return t.number("max_log_size") > 0 && t.oversized(file) },
		forgive: forgiveNumbers,
	},
	{
		name:   "U16",
		reason: "contrib stops dropping an oversized line at the end of the file, and makes a record of what is appended to the same line",
		may: func(t trial, file string) bool {
			return t.text("max_log_size_behavior") == "truncate" && t.oversized(file) && len(t.stages) > 1
		},
		forgive: trustTruth,
	},
	{
		name:   "U22",
		reason: "contrib cuts characters in two at the size limit",
		may: func(t trial, file string) bool {
			return t.number("max_log_size") > 0 && t.oversized(file) && slices.ContainsFunc(t.content(file), func(b byte) bool { return b >= utf8.RuneSelf })
		},
		forgive: trustTruth,
	},
	{
		name:    "offsets in appended members",
		reason:  "where members are appended to a gzip file, the offset of contrib's is the compressed size of the earlier ones and the decompressed position in the last: the place of nothing",
		may:     func(t trial, _ string) bool { return t.keys["compression"] != nil && len(t.stages) > 1 },
		forgive: forgiveMemberOffsets,
	},
}

// forgiveMemberOffsets gives contrib's records our offsets, if the two are those
// of the same place in a stage: theirs behind the compressed earlier stages, ours
// behind the decompressed.
func forgiveMemberOffsets(t trial, file string, theirs, own []shape) ([]shape, []shape) {
	return adjusted(theirs, own, func(s *shape, ours shape) {
		var compressed, plain int64
		for _, st := range t.stages {
			if s.Offset-compressed == ours.Offset-plain {
				s.Offset = ours.Offset
				return
			}
			for name, data := range st {
				if filepath.Base(name) == file {
					compressed += int64(len(data))
					plain += decompressedSize(data)
				}
			}
		}
	}), own
}

// decompressedSize is 0 for what is no gzip.
func decompressedSize(data []byte) int64 {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0
	}
	n, err := io.Copy(io.Discard, r)
	if err != nil {
		return 0
	}
	return n
}

// trustTruth takes our records for contrib's if they are what they have to be.
func trustTruth(t trial, file string, theirs, own []shape) ([]shape, []shape) {
	if truth, known := t.truthOf(file); known && slices.Equal(placesOf(own), truth) {
		return own, own
	}
	return theirs, own
}

// byPlace sorts records by where they stand in their file.
func byPlace(list []shape) []shape {
	return slices.SortedStableFunc(slices.Values(list), func(a, b shape) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Offset, b.Offset))
	})
}

// oversized tells whether a file has a line of the limit or, with its end, more.
func (t trial) oversized(file string) bool {
	for line := range strings.Lines(string(t.content(file))) {
		if len(line) > t.number("max_log_size") {
			return true
		}
	}
	return false
}

// forgiveOffsets gives contrib's records our offsets, one by one.
func forgiveOffsets(_ trial, _ string, theirs, own []shape) ([]shape, []shape) {
	return adjusted(theirs, own, func(s *shape, ours shape) { s.Offset = ours.Offset }), own
}

// forgiveNumbers gives contrib's records our numbers, if theirs are the larger
// ones.
func forgiveNumbers(_ trial, _ string, theirs, own []shape) ([]shape, []shape) {
	return adjusted(theirs, own, func(s *shape, ours shape) { s.Number = min(s.Number, ours.Number) }), own
}

func adjusted(theirs, own []shape, adjust func(s *shape, ours shape)) []shape {
	if len(theirs) != len(own) {
		return theirs
	}
	changed := slices.Clone(theirs)
	for i := range changed {
		adjust(&changed[i], own[i])
	}
	return changed
}

// forgiveBytewiseTrimming looks at each record that differs in nothing but its
// body, and takes ours if it is what stands at its place, decoded and trimmed.
// Where newlines were found in the middle of characters, the truth has to
// decide.
func forgiveBytewiseTrimming(t trial, file string, theirs, own []shape) ([]shape, []shape) {
	if t.keys["multiline"] == nil {
		return trustTruth(t, file, theirs, own)
	}
	content := t.content(file)
	next := int64(len(content))
	changed := slices.Clone(theirs)
	for i := len(own) - 1; i >= 0 && len(own) == len(theirs); i-- {
		s := own[i]
		if changed[i].Body != s.Body {
			text, err := codec(t.text("encoding")).NewDecoder().Bytes(content[s.Offset:next])
			if err == nil && trimmed(t, withoutPattern(t, string(text))) == s.Body {
				changed[i].Body = s.Body
			}
		}
		next = s.Offset
	}
	return changed, own
}

// withoutPattern takes the pattern off an entry, if it is to be omitted.
func withoutPattern(t trial, entry string) string {
	if omit, _ := t.multiline("omit_pattern").(bool); !omit {
		return entry
	}
	start, _ := t.multiline("line_start_pattern").(string)
	end, _ := t.multiline("line_end_pattern").(string)
	found := regexp.MustCompile("(?m)" + start + end).FindStringIndex(entry)
	switch {
	case start != "" && found != nil && found[0] == 0:
		return entry[found[1]:]
	case end != "" && found != nil && found[1] == len(entry):
		return entry[:found[0]]
	default:
		return entry
	}
}

// forgiveFlushedPattern takes the pattern off those of contrib's records that
// ours has another body for, or none.
func forgiveFlushedPattern(t trial, _ string, theirs, own []shape) ([]shape, []shape) {
	ours := map[int64]string{}
	for _, s := range own {
		ours[s.Number] = s.Body
	}
	var changed []shape
	for _, s := range theirs {
		body, known := ours[s.Number]
		if body != s.Body {
			s.Body = trimmed(t, withoutPattern(t, s.Body))
		}
		if known || s.Body != "" {
			changed = append(changed, s)
		}
	}
	return changed, own
}

// trimmed is a text without white space at the sides that do not preserve it.
func trimmed(t trial, body string) string {
	const blanks = " \t\r\n"
	if !t.flag("preserve_leading_whitespaces") {
		body = strings.TrimLeft(body, blanks)
	}
	if !t.flag("preserve_trailing_whitespaces") {
		body = strings.TrimRight(body, blanks)
	}
	return body
}
