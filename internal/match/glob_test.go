package match

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGlobsAreSplitIntoABaseAndSegments(t *testing.T) {
	for _, test := range []struct {
		pattern string
		globs   []string // base > segments
	}{
		{"/var/log/*.log", []string{"/var/log > *.log"}},
		{"*.log", []string{". > *.log"}},
		{"/*", []string{"/ > *"}},
		{"/var/log/syslog", []string{"/var/log/syslog"}},
		{"app.log", []string{"app.log"}},
		{"../logs/**/*.log", []string{"../logs > ** *.log"}},
		{"/a/{b,c/d}/*.{log,txt}", []string{"/a/b > *.log", "/a/b > *.txt", "/a/c/d > *.log", "/a/c/d > *.txt"}},
		{"/a/{,b/}*.log", []string{"/a > *.log", "/a/b > *.log"}},
		{`/a\*b/c*`, []string{"/a*b > c*"}},
		{`/a/\[b\].log`, []string{"/a/[b].log"}},
		{"", nil},
	} {
		t.Run(test.pattern, func(t *testing.T) {
			globs, err := compileGlob(test.pattern, false)
			require.NoError(t, err)
			var got []string
			for _, g := range globs {
				text := g.base
				for i, s := range g.segments {
					if i == 0 {
						text += " >"
					}
					text += " " + s.text
				}
				got = append(got, text)
			}
			assert.Equal(t, test.globs, got)
		})
	}
}

// Multiplying the braces out must not change what a pattern matches.
func FuzzBraces(f *testing.F) {
	f.Add("{a,b}.log", "a.log")
	f.Add("x{,a{b,c}}*", "xabc")
	f.Add("{a[,}]b,c}", "a,b")
	f.Add(`{a\,b,c\}}`, "a,b")
	f.Add("{{a,b},{c}}d", "cd")
	f.Add("[{]a}", "{a}")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 40 || !doublestar.ValidatePattern(pattern) || validateGlob(pattern) != nil {
			t.Skip("no pattern that a configuration can have, or one too long to multiply out")
		}
		alternatives, err := expandBraces(pattern, nil)
		if err != nil {
			t.Skip("it has more alternatives than are allowed, so it is refused and matches nothing")
		}
		expected := doublestar.MatchUnvalidated(pattern, name)
		matched := false
		for _, alternative := range alternatives {
			matched = matched || doublestar.MatchUnvalidated(alternative, name)
		}
		if matched != expected && !strings.Contains(pattern, "/") {
			t.Errorf("%q: %v, its alternatives %q: %v", pattern, expected, alternatives, matched)
		}
	})
}
