package match

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func top(n int) *int { return &n }

func TestOrdering(t *testing.T) {
	const (
		valueRegex = `.*(?P<value>\d)`
		dateRegex  = `file_(?P<date>\d{10})`
		threeRegex = `err\.(?P<letter>[a-zA-Z])\.(?P<number>\d+)\.(?P<time>\d{10})\.log`
	)
	eight := []string{
		"err.b.1.2023020601.log", "err.b.2.2023020601.log", "err.a.1.2023020601.log", "err.a.2.2023020601.log",
		"err.b.1.2023020602.log", "err.a.2.2023020602.log", "err.b.2.2023020602.log", "err.a.1.2023020602.log",
	}
	letter := SortRule{SortType: "alphabetical", RegexKey: "letter"}
	number := SortRule{SortType: "numeric", RegexKey: "number"}
	stamp := SortRule{SortType: "timestamp", RegexKey: "time", Layout: "%Y%m%d%H"}
	rising := func(r SortRule) SortRule { r.Ascending = true; return r }
	numeric := []SortRule{{SortType: "numeric", RegexKey: "value"}}
	dates := []SortRule{{SortType: "timestamp", RegexKey: "date", Layout: "%Y%m%d%H"}}

	for _, test := range []struct {
		name            string
		criteria        OrderingCriteria
		files, expected []string
	}{
		{"the largest number, one file by default", OrderingCriteria{Regex: valueRegex, SortBy: numeric},
			[]string{"a.log1", "a.log2"}, []string{"a.log2"}},
		{"numbers are compared as numbers", OrderingCriteria{Regex: `(?P<value>-?\d+)$`, TopN: top(0), SortBy: numeric},
			[]string{"a10", "a9", "a-3"}, []string{"a10", "a9", "a-3"}},
		{"the newest time", OrderingCriteria{Regex: dateRegex, SortBy: dates},
			[]string{"file_2023020602", "file_2023020603"}, []string{"file_2023020603"}},
		{"the oldest time", OrderingCriteria{Regex: dateRegex, SortBy: []SortRule{rising(dates[0])}},
			[]string{"file_2023020602", "file_2023020603", "file_2022020603"}, []string{"file_2022020603"}},
		{"top_n above the number of files", OrderingCriteria{Regex: valueRegex, TopN: top(3), SortBy: numeric},
			[]string{"a1", "a2"}, []string{"a2", "a1"}},
		{"text", OrderingCriteria{Regex: `(?P<letter>[a-z])$`, TopN: top(2), SortBy: []SortRule{letter}},
			[]string{"a", "b", "c", "d"}, []string{"d", "c"}},
		{"the last rule decides first", OrderingCriteria{Regex: threeRegex, TopN: top(4), SortBy: []SortRule{letter, number, stamp}},
			eight, []string{"err.b.2.2023020602.log", "err.a.2.2023020602.log", "err.b.1.2023020602.log", "err.a.1.2023020602.log"}},
		{"the last rule decides first, other way round", OrderingCriteria{Regex: threeRegex, TopN: top(3), SortBy: []SortRule{stamp, rising(number), rising(letter)}},
			eight, []string{"err.a.1.2023020602.log", "err.a.1.2023020601.log", "err.a.2.2023020602.log"}},
		{"equal files stay in the order of their paths", OrderingCriteria{Regex: `(?P<value>\d)$`, TopN: top(0), SortBy: numeric},
			[]string{"b1", "a1", "c1", "d2"}, []string{"d2", "a1", "b1", "c1"}},
		{"a path that does not match is left out", OrderingCriteria{Regex: dateRegex, TopN: top(0), SortBy: dates},
			[]string{"file_2023020602", "other"}, []string{"file_2023020602"}},
		{"what is no number is left out", OrderingCriteria{Regex: `(?P<value>..)$`, TopN: top(0), SortBy: numeric},
			[]string{"44", "66", "aa", "zz"}, []string{"66", "44"}},
		{"a lone file that is no number is left out", OrderingCriteria{Regex: `(?P<value>..)$`, SortBy: numeric},
			[]string{"aa"}, []string{}},
		{"what is no time is left out", OrderingCriteria{Regex: `(?P<date>\d+)$`, TopN: top(0), SortBy: dates},
			[]string{"2023020602", "2023029902"}, []string{"2023020602"}},
		{"a missing group is an empty text", OrderingCriteria{Regex: `.`, TopN: top(1), SortBy: []SortRule{{SortType: "alphabetical", RegexKey: "none"}}},
			[]string{"a", "b"}, []string{"a"}},
		{"each group is sorted and cut", OrderingCriteria{Regex: `(?P<value>\d+)$`, TopN: top(2), GroupBy: `/([a-z])\.\d$`, SortBy: numeric},
			[]string{"b.1", "a.3", "a.1", "a.2", "b.2", "ungrouped1"}, []string{"a.3", "a.2", "b.2", "b.1"}},
		{"a group of which nothing remains does not empty the others", OrderingCriteria{Regex: `(?P<value>\d+)$`, TopN: top(0), GroupBy: `/([a-z])`, SortBy: numeric},
			[]string{"a.x", "b.2"}, []string{"b.2"}},
		{"groups alone change nothing", OrderingCriteria{GroupBy: `/([a-z])\.\d$`},
			[]string{"b.1", "a.3", "ungrouped"}, []string{"a.3", "b.1", "ungrouped"}},
		{"top_n alone changes nothing", OrderingCriteria{TopN: top(1)},
			[]string{"a", "b"}, []string{"a", "b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			makeFiles(t, dir, test.files...)
			matcher := newMatcher(t, Config{Include: []string{dir + "/*"}, Ordering: test.criteria})
			result := matcher.Poll(later())
			assert.Equal(t, test.expected, found(t, dir, result))
			for _, name := range test.files {
				read := false
				for _, expected := range test.expected {
					read = read || name == expected
				}
				assert.Equal(t, !read, matcher.Hides(filepath.Join(dir, name)), name)
			}
		})
	}
}

func TestALocationSaysWhatATimestampMeans(t *testing.T) {
	utc, err := newTimestampParser("%Y-%m-%d", "")
	require.NoError(t, err)
	newYork, err := newTimestampParser("%Y-%m-%d", "America/New_York")
	require.NoError(t, err)
	inUTC, err := utc.parse("2024-01-15")
	require.NoError(t, err)
	inNewYork, err := newYork.parse("2024-01-15")
	require.NoError(t, err)
	assert.Equal(t, time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC), inUTC.UTC())
	assert.Equal(t, 5*time.Hour, inNewYork.Sub(inUTC))
}

func TestFilesAreOrderedByModificationTime(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a", "b", "c")
	touch := func(name string, age time.Duration) {
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(-age)))
	}
	touch("a", 2*time.Hour)
	touch("b", 3*time.Hour)
	touch("c", time.Hour)
	c := Config{Include: []string{dir + "/*"}, AllowMtimeSort: true}
	c.Ordering = OrderingCriteria{TopN: top(2), SortBy: []SortRule{{SortType: "mtime"}}}
	newest := newMatcher(t, c)
	assert.Equal(t, []string{"c", "a"}, found(t, dir, newest.Poll(later())))
	c.Ordering = OrderingCriteria{SortBy: []SortRule{{SortType: "mtime", Ascending: true}}}
	oldest := newMatcher(t, c)
	assert.Equal(t, []string{"b"}, found(t, dir, oldest.Poll(later())))
	assert.True(t, oldest.Hides(filepath.Join(dir, "a")))

	// No directory changes by this.
	touch("b", 0)
	result := newest.Poll(later())
	assert.Equal(t, []string{"b", "c"}, found(t, dir, result))
	assert.True(t, result.Changed)
	assert.Equal(t, []string{"b"}, relisted(t, dir, result), "nobody followed it while it was hidden")
	assert.False(t, newest.Poll(later()).Changed)
	assert.Equal(t, []string{"a"}, found(t, dir, oldest.Poll(later())))
}

func TestAge(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	for _, test := range []struct {
		name     string
		limit    time.Duration
		ages     map[string]time.Duration
		expected []string
	}{
		{"older files are hidden", 3 * time.Hour, map[string]time.Duration{"a": 2 * time.Hour, "b": 3*time.Hour + 1000}, []string{"a"}},
		{"a file exactly of that age is read", time.Minute, map[string]time.Duration{"a": time.Minute}, []string{"a"}},
		{"a negative limit hides all", -time.Nanosecond, map[string]time.Duration{"a": 0}, []string{}},
		{"no limit hides none", 0, map[string]time.Duration{"a": 1e6 * time.Hour}, []string{"a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, age := range test.ages {
				makeFiles(t, dir, name)
				require.NoError(t, os.Chtimes(filepath.Join(dir, name), time.Time{}, now.Add(-age)))
			}
			matcher := newMatcher(t, Config{Include: []string{dir + "/*"}, ExcludeOlderThan: test.limit})
			result := matcher.Poll(now)
			assert.Equal(t, test.expected, found(t, dir, result))
			for name := range test.ages {
				assert.Equal(t, len(result.Paths) == 0 || result.Paths[0].Name != filepath.Join(dir, name),
					matcher.Hides(filepath.Join(dir, name)))
			}
		})
	}
}

func TestAFileAgesAndIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a", "b")
	now := time.Now().Truncate(time.Second)
	a := filepath.Join(dir, "a")
	require.NoError(t, os.Chtimes(a, time.Time{}, now))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "b"), time.Time{}, now.Add(time.Hour)))
	matcher := newMatcher(t, Config{Include: []string{dir + "/*"}, ExcludeOlderThan: time.Minute})
	assert.Equal(t, []string{"a", "b"}, found(t, dir, matcher.Poll(now.Add(time.Minute))))

	result := matcher.Poll(now.Add(time.Minute + 1))
	assert.Equal(t, []string{"b"}, found(t, dir, result))
	assert.True(t, result.Changed)
	assert.True(t, matcher.Hides(a))
	assert.False(t, matcher.Poll(now.Add(2*time.Minute)).Changed)

	require.NoError(t, os.Chtimes(a, time.Time{}, now.Add(time.Minute)))
	assert.Equal(t, []string{"a", "b"}, found(t, dir, matcher.Poll(now.Add(2*time.Minute))))

	// One that keeps being written never leaves in between.
	require.NoError(t, os.Chtimes(a, time.Time{}, now.Add(2*time.Minute)))
	assert.False(t, matcher.Poll(now.Add(2*time.Minute+1)).Changed)

	require.NoError(t, os.Remove(a))
	assert.Equal(t, []string{"b"}, found(t, dir, matcher.Poll(now.Add(2*time.Minute))))
	assert.False(t, matcher.Hides(a), "it is gone")
}

func TestAnAgeLimitDoesNotEmptyGroupsThatHaveYoungFiles(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "a.1", "b.1", "b.2", "c.1")
	require.NoError(t, os.Chtimes(filepath.Join(dir, "b.1"), time.Time{}, time.Now().Add(-time.Hour)))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "c.1"), time.Time{}, time.Now().Add(-time.Hour)))
	matcher := newMatcher(t, Config{
		Include: []string{dir + "/*"}, ExcludeOlderThan: time.Minute, Ordering: OrderingCriteria{GroupBy: `/([a-z])\.`},
	})
	assert.Equal(t, []string{"a.1", "b.2"}, found(t, dir, matcher.Poll(time.Now())))
}

// When there are too many old files to ask at every poll, they take turns, and all
// get theirs.
func TestManyOldFilesTakeTurns(t *testing.T) {
	now := time.Now()
	files := make([]*file, 3*maxHiddenAsked)
	dir := t.TempDir()
	makeFiles(t, dir, "old")
	path := newPathName(filepath.Join(dir, "old"))
	require.NoError(t, os.Chtimes(path.String(), time.Time{}, now.Add(-time.Hour)))
	for i := range files {
		files[i] = &file{path: path}
	}
	f := &filter{limit: time.Minute, ordering: &ordering{}}
	f.observe(files, now)
	assert.Equal(t, len(files), f.hidden)

	require.NoError(t, os.Chtimes(path.String(), time.Time{}, now))
	f.observe(files, now)
	assert.Less(t, f.hidden, len(files))
	assert.Positive(t, f.hidden)
	for range 3 {
		f.observe(files, now)
	}
	assert.Zero(t, f.hidden)
}
