package framing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHeaderLinesAreReadInTheFilesEncoding(t *testing.T) {
	plain := func(s string) string { return s }
	for _, c := range []struct {
		name   string
		config Config
		encode func(string) string
	}{
		{"UTF-8", Config{}, plain},
		{"nop", Config{Encoding: "nop"}, plain},
		{"ISO-8859-1", Config{Encoding: "iso-8859-1"}, plain},
		{"UTF-16LE", Config{Encoding: "utf-16le"}, func(s string) string { return utf16Of(s, false) }},
		{"UTF-16 with a mark", Config{Encoding: "utf-16"}, func(s string) string { return utf16Of(s, true) }},
		{"entries", Config{LineStartPattern: "^c", Encoding: "utf-16"}, func(s string) string { return utf16Of(s, false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.MaxLogSize = mebibyte
			f, err := New(c.config)
			require.NoError(t, err)
			mark := ""
			if c.config.Encoding == "utf-16" {
				mark = "\uFEFF"
			}
			content := []byte(c.encode(mark + "#a: 1 \r\n#b\ncontent"))
			r := f.NewFramer()
			r.Reset(Position{}, content)
			for _, want := range []string{"#a: 1 ", "#b"} {
				line, ok := r.HeaderLine(content[r.Position().Offset:])
				require.True(t, ok)
				assert.Equal(t, want, line)
			}
			_, ok := r.HeaderLine(content[r.Position().Offset:])
			assert.False(t, ok, "the line is not whole")
			assert.Equal(t, Position{Offset: int64(len(c.encode(mark + "#a: 1 \r\n#b\n")))}, r.Position())

			// The same framer goes on with the content.
			r.Feed(content[r.Position().Offset:], true)
			require.True(t, r.Next())
			assert.Equal(t, "content", r.Body())
			assert.Equal(t, int64(1), r.Number())
		})
	}
}

func TestALineThatIsNoHeaderIsReadAgainAsContent(t *testing.T) {
	f, err := New(Config{MaxLogSize: mebibyte})
	require.NoError(t, err)
	content := []byte("#a\nx\ny\n")
	r := f.NewFramer()
	r.Reset(Position{}, content)
	_, ok := r.HeaderLine(content)
	require.True(t, ok)
	begin := r.Position()
	line, ok := r.HeaderLine(content[begin.Offset:])
	require.True(t, ok)
	require.Equal(t, "x", line)
	r.Reset(begin, content)
	r.Feed(content[begin.Offset:], false)
	var bodies []string
	for r.Next() {
		bodies = append(bodies, r.Body())
	}
	assert.Equal(t, []string{"x", "y"}, bodies)
}

func TestALongHeaderLineComesInParts(t *testing.T) {
	f, err := New(Config{MaxLogSize: 4})
	require.NoError(t, err)
	content := []byte("#" + strings.Repeat("é", 4) + "\xff\n")
	r := f.NewFramer()
	r.Reset(Position{}, content)
	var lines []string
	for {
		line, ok := r.HeaderLine(content[r.Position().Offset:])
		if !ok {
			break
		}
		lines = append(lines, line)
	}
	assert.Equal(t, []string{"#é", "éé", "é\uFFFD"}, lines)
	assert.Equal(t, int64(len(content)), r.Position().Offset)
}
