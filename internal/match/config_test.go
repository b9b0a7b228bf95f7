package match

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValidate(t *testing.T) {
	sortBy := func(rules ...SortRule) OrderingCriteria {
		return OrderingCriteria{Regex: `(?P<key>\d+)`, SortBy: rules}
	}
	for _, test := range []struct {
		name   string
		config Config
		errs   []string // nil: valid
	}{
		{"the least", Config{}, nil},
		{"all kinds of rules", Config{AllowMtimeSort: true, Ordering: sortBy(
			SortRule{SortType: "numeric", RegexKey: "key"}, SortRule{SortType: "alphabetical", RegexKey: "key", Ascending: true},
			SortRule{SortType: "timestamp", RegexKey: "key", Layout: "%Y%m%d", Location: "Europe/Vienna"}, SortRule{SortType: "mtime"})}, nil},
		{"by modification time without a regex", Config{AllowMtimeSort: true, Ordering: OrderingCriteria{SortBy: []SortRule{{SortType: "mtime"}}}}, nil},
		{"no include", Config{Include: []string{}}, []string{"'include' must be specified"}},
		{"a bad include", Config{Include: []string{"[a-z"}}, []string{`include: parse glob: syntax error in pattern: "[a-z"`}},
		{"a bad exclude", Config{Exclude: []string{"ok", "[a-z"}}, []string{`exclude: parse glob: syntax error in pattern: "[a-z"`}},
		{"braces that do not end", Config{Include: []string{"{a,b"}}, []string{"include: parse glob: syntax error in pattern"}},
		{"a byte that no name holds", Config{Include: []string{"a\x00b"}}, []string{"include: parse glob: syntax error in pattern"}},
		{"braces that multiply beyond reason", Config{Include: []string{"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"}},
			[]string{"include: parse glob: too many combinations of alternatives"}},
		{"a bad group_by", Config{Ordering: OrderingCriteria{GroupBy: "("}}, []string{"compile group_by regex: error parsing regexp: missing closing )"}},
		{"a group_by without a group, where it counts", Config{ExcludeOlderThan: time.Hour, Ordering: OrderingCriteria{GroupBy: "a"}},
			[]string{"'group_by' must have a capture group"}},
		{"a group_by without a group, where it does not", Config{Ordering: OrderingCriteria{GroupBy: "a"}}, nil},
		{"a bad regex without rules", Config{Ordering: OrderingCriteria{Regex: "("}}, []string{"compile regex: error parsing regexp"}},
		{"a negative top_n without rules", Config{Ordering: OrderingCriteria{TopN: top(-1)}}, []string{"'top_n' must not be negative"}},
		{"an unset top_n under the gate", Config{RequireExplicitTopN: true, Ordering: sortBy(SortRule{SortType: "numeric", RegexKey: "key"})},
			[]string{"'top_n' must be set explicitly when 'ordering_criteria.sort_by' is configured (use 0 to match all files)"}},
		{"an unset top_n under the gate without rules", Config{RequireExplicitTopN: true}, nil},
		{"no regex", Config{Ordering: OrderingCriteria{SortBy: []SortRule{{SortType: "numeric", RegexKey: "key"}}}},
			[]string{"'regex' must be specified when 'sort_by' is specified"}},
		{"no regex key", Config{Ordering: sortBy(SortRule{SortType: "numeric"}, SortRule{SortType: "alphabetical"}, SortRule{SortType: "timestamp"})},
			[]string{
				"numeric sort: regex key must be specified (ordering_criteria.sort_by[0])",
				"alphabetical sort: regex key must be specified (ordering_criteria.sort_by[1])",
				"timestamp sort: regex key must be specified", "layout must be specified (ordering_criteria.sort_by[2])",
			}},
		{"a key that is no group", Config{Ordering: sortBy(SortRule{SortType: "numeric", RegexKey: "kex"})}, []string{`numeric sort: 'regex' has no group named "kex"`}},
		{"no layout", Config{Ordering: sortBy(SortRule{SortType: "timestamp", RegexKey: "key"})}, []string{"timestamp sort: layout must be specified"}},
		{"digits in a layout", Config{Ordering: sortBy(SortRule{SortType: "timestamp", RegexKey: "key", Layout: "%Y2"})},
			[]string{"timestamp sort: format string should not contain decimals"}},
		{"a zone that does not exist", Config{Ordering: sortBy(SortRule{SortType: "timestamp", RegexKey: "key", Layout: "%Y", Location: "Not/There"})},
			[]string{"timestamp sort: load location UTC: failed to load location Not/There: unknown time zone Not/There"}},
		{"mtime without its gate", Config{Ordering: sortBy(SortRule{SortType: "mtime"})},
			[]string{`the "filelog.mtimeSortType" feature gate must be enabled to use "mtime" sort type`}},
		{"no sort type, and an unknown one", Config{Ordering: sortBy(SortRule{RegexKey: "key"}, SortRule{SortType: "size"})},
			[]string{"'sort_type' must be specified (ordering_criteria.sort_by[0])", "'sort_type' must be specified (ordering_criteria.sort_by[1])"}},
		{"several faults at once", Config{Include: []string{"["}, Exclude: []string{"["}, Ordering: OrderingCriteria{TopN: top(-1), Regex: "("}},
			[]string{"include: parse glob", "exclude: parse glob", "'top_n' must not", "compile regex"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.config.Include == nil {
				test.config.Include = []string{"*.log"}
			}
			err := test.config.Validate()
			_, newErr := New(test.config)
			if test.errs == nil {
				require.NoError(t, err)
				require.NoError(t, newErr)
				return
			}
			require.Error(t, err)
			for _, expected := range test.errs {
				assert.Contains(t, err.Error(), expected)
			}
			require.EqualError(t, newErr, err.Error())
		})
	}
}
