package difftest

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// fault is something that contrib's receiver does wrong, or that was decided to
// be otherwise.
type fault struct {
	name   string
	reason string
	// may tells whether a trial can show it. A trial may show several.
	may func(t trial, file string) bool
	// forgive takes the difference out of the records of one file, theirs and
	// ours alike, and nothing else.
	forgive func(t trial, file string, theirs, own []shape) ([]shape, []shape)
}

var faults = []fault{
	{
		name:   "order of ways",
		reason: "contrib sends 100 records at once into each branch of the operators, and groups records by resource and scope; so records that go different ways change places within a batch, and our batches are larger",
		may: func(t trial, _ string) bool {
			return t.keys["operators"] != nil
		},
		forgive: func(_ trial, _ string, theirs, own []shape) ([]shape, []shape) {
			return byPlace(theirs), byPlace(own)
		},
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
}

// byPlace sorts records by where they stand in their file.
func byPlace(list []shape) []shape {
	return slices.SortedStableFunc(slices.Values(list), func(a, b shape) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Offset, b.Offset))
	})
}

// forgiveFlushedPattern takes the pattern out of those of contrib's records
// that stand at a place of which ours knows none or another body.
func forgiveFlushedPattern(t trial, _ string, theirs, own []shape) ([]shape, []shape) {
	start, _ := t.multiline("line_start_pattern").(string)
	end, _ := t.multiline("line_end_pattern").(string)
	pattern := regexp.MustCompile("(?m)" + start + end)
	ours := map[int64]string{}
	for _, s := range own {
		ours[s.Number] = s.Body
	}
	var changed []shape
	for _, s := range theirs {
		body, known := ours[s.Number]
		if body != s.Body {
			found := pattern.FindStringIndex(s.Body)
			if start != "" && found != nil && found[0] == 0 {
				s.Body = trimmed(t, s.Body[found[1]:])
			} else if end != "" && found != nil && found[1] == len(s.Body) {
				s.Body = trimmed(t, s.Body[:found[0]])
			}
			if !known && s.Body == "" {
				continue
			}
		}
		changed = append(changed, s)
	}
	return changed, own
}

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

var _ = bytes.Equal
