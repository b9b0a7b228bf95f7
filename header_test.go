package filelogreceiver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// headerKeys are of a header of lines that begin with a hash: key and value.
func headerKeys(regex string) map[string]any {
	return map[string]any{"header": map[string]any{
		"pattern":            "^#",
		"metadata_operators": []any{map[string]any{"type": "regex_parser", "regex": regex}},
	}}
}

const keyAndValue = `^# ?(?P<header_key>\w+): (?P<header_value>.*)$`

// M1, M2
func TestAHeaderGivesAttributes(t *testing.T) {
	t.Parallel()
	l := newLab(t, headerKeys(keyAndValue)).stored()
	want := map[string]any{"header_key": "headerField", "header_value": "headerValue", "log.file.name": "a.log"}
	l.write("a.log", "#headerField: headerValue\ntestlog\n").start().expect("testlog")
	require.Equal(t, want, l.find("testlog").attributes)
	l.stop().write("a.log", "log line 2\n").start().expect("testlog", "log line 2")
	require.Equal(t, want, l.find("log line 2").attributes)
}

// M3
func TestAStopWithinAHeaderKeepsWhatWasRead(t *testing.T) {
	t.Parallel()
	l := newLab(t, headerKeys(`^# first: (?P<first>.*)$`)).stored()
	l.write("a.log", "# first: 1\n").start().watched(1)
	l.polls().stop()
	for k, v := range headerKeys(`^# second: (?P<second>.*)$`) {
		l.keys[k] = v
	}
	l.write("a.log", "# second: 2\nline\n").start().expect("line")
	require.Equal(t, map[string]any{"first": "1", "second": "2", "log.file.name": "a.log"}, l.find("line").attributes)
}

// M4
func TestHeaderBytesTellWhoAFileIs(t *testing.T) {
	t.Parallel()
	l := newLab(t, headerKeys(keyAndValue)).stored()
	l.keys["max_log_size"] = 10
	l.write("a.log", "# k: a\nline a\n").write("b.log", "# k: b\nline b\n").start().expect("line a", "line b")
	l.stop().rename("a.log", "c.log").write("c.log", "more a\n").start().expect("line a", "line b", "more a")
	require.Equal(t, "a", l.find("more a").attributes["header_value"])
}

// M5 to M9
func TestWhatIsAHeader(t *testing.T) {
	for _, c := range []struct {
		name       string
		steps      []string
		want       []string
		attributes map[string]any // of the first record, without the file's name
	}{
		{"a line that the parser does not take gives nothing (M5)", []string{"# alone\n# k: v\nline\n"}, []string{"line"}, map[string]any{"header_key": "k", "header_value": "v"}},
		{"a later line wins (M6)", []string{"# k: v\n# l: w\nline\n"}, []string{"line"}, map[string]any{"header_key": "l", "header_value": "w"}},
		{"a header is at the beginning only (M7)", []string{"# k: v\nline\n# x: y\n"}, []string{"line", "# x: y"}, map[string]any{"header_key": "k", "header_value": "v"}},
		{"a header may come in pieces (M8)", []string{"# k", ": v\n", "line\n"}, []string{"line"}, map[string]any{"header_key": "k", "header_value": "v"}},
		{"there may be none (M9)", []string{"just a line\n"}, []string{"just a line"}, map[string]any{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, headerKeys(keyAndValue))
			l.write("a.log", c.steps[0]).start()
			for _, step := range c.steps[1:] {
				l.polls().write("a.log", step)
			}
			l.expectInOrder(c.want...)
			c.attributes["log.file.name"] = "a.log"
			require.Equal(t, c.attributes, l.find(c.want[0]).attributes)
		})
	}
}

// M10 to M12 are in testdata/config/refused.yaml and config_test.go.

// M13
func TestAHeaderWinsOnceOverTheFilesOwnAttributes(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"header": map[string]any{
		"pattern": "^#",
		"metadata_operators": []any{
			map[string]any{"type": "add", "field": `attributes["log.file.name"]`, "value": "of the header"},
		},
	}})
	l.write("a.log", "# h\nx\n").start().expect("x")
	l.write("a.log", "y\n").expect("x", "y")
	require.Equal(t, "of the header", l.find("x").attributes["log.file.name"])
	require.Equal(t, "a.log", l.find("y").attributes["log.file.name"])
}
