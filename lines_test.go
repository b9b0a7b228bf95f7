package filelogreceiver

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// B, D, E and F are tested in internal/framing, case by case. What is tested
// here is that each key reaches it, and what takes more than one look at a file.
func TestKeysOfRecordsAreHeeded(t *testing.T) {
	utf16 := "\x20\x00t\x00\n\x00" // " t\n"
	check(t, []content{
		{name: "empty lines give no record (B1 to B5)", steps: []string{"\nl1\n\n", "\r\n", "l2\r\n"}, want: []string{"l1", "l2"}},
		{name: "leading blanks are kept (B8)", keys: map[string]any{"preserve_leading_whitespaces": true}, steps: []string{"  x  \n"}, want: []string{"  x"}},
		{name: "trailing blanks are kept (B9)", keys: map[string]any{"preserve_trailing_whitespaces": true}, steps: []string{"  x  \n"}, want: []string{"x  "}},
		{name: "no newline at the end (B15)", keys: map[string]any{"force_flush_period": "1ns"}, steps: []string{"l1\nl2"}, want: []string{"l1", "l2"}},
		{name: "a byte order mark is removed (B16)", steps: []string{"\uFEFFhello\n"}, want: []string{"hello"}},
		{name: "a long line is split (D1)", keys: map[string]any{"max_log_size": 10}, steps: []string{strings.Repeat("a", 22) + "\naaa\n"}, want: []string{"aaaaaaaaaa", "aaaaaaaaaa", "aa", "aaa"}},
		{name: "a long line is cut (D6)", keys: map[string]any{"max_log_size": 10, "max_log_size_behavior": "truncate"}, steps: []string{"Very long line here.\nShort.\n"}, want: []string{"Very long", "Short."}},
		{name: "a long line without an end is cut (D8)", keys: map[string]any{"max_log_size": 10, "max_log_size_behavior": "truncate", "force_flush_period": "60ms"}, steps: []string{strings.Repeat("a", 40)}, want: []string{"aaaaaaaaaa"}},
		{name: "a start pattern (E14)", keys: map[string]any{"multiline": map[string]any{"line_start_pattern": "^S"}, "force_flush_period": "200ms"}, steps: []string{"S1 a\nS2 b"}, want: []string{"S1 a", "S2 b"}},
		{name: "an end pattern (E9)", keys: map[string]any{"multiline": map[string]any{"line_end_pattern": `END\d`, "omit_pattern": true}}, steps: []string{"log1 END1log2 ", "END2 "}, want: []string{"log1", "log2"}},
		{name: "another encoding (F8)", keys: map[string]any{"encoding": "big5"}, steps: []string{"\xA7\xE9\n"}, want: []string{"折"}},
		{name: "raw bytes (F3)", keys: map[string]any{"encoding": "utf8-raw"}, steps: []string{"\xC5\n"}, want: []string{"\xC5"}},
		{name: "invalid bytes are replaced (F2)", steps: []string{"\xC5\n"}, want: []string{"\uFFFD"}},
		{name: "UTF-16 in pieces (F14)", keys: map[string]any{"encoding": "utf-16le", "force_flush_period": 0}, steps: []string{utf16[:1], utf16[1:3], utf16[3:]}, want: []string{"t"}},
	})
}

// C1
func TestAPartialLineWaitsForTheFlushPeriod(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"force_flush_period": "300ms"})
	at := time.Now()
	l.write("a.log", "done\npart").start().await(1)
	l.await(2)
	require.GreaterOrEqual(t, time.Since(at), 300*time.Millisecond)
	require.Equal(t, []string{"done", "part"}, l.sink.bodies())
}

// C3, C5
func TestGrowthStartsTheFlushPeriodAnew(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20<<10)
	for _, parts := range [][2]string{{"ab", "cd"}, {long, long[:1024]}} {
		l := newLab(t, map[string]any{"force_flush_period": "600ms"})
		l.write("a.log", parts[0]).start().watched(1)
		time.Sleep(200 * time.Millisecond) // a part of the period
		at := time.Now()
		l.write("a.log", parts[1]).await(1)
		require.GreaterOrEqual(t, time.Since(at), 600*time.Millisecond)
		l.expect(parts[0] + parts[1])
	}
}

// C2, C4, C6, C9, C11
func TestWhatIsFlushed(t *testing.T) {
	long := strings.Repeat("x", 20<<10)
	check(t, []content{
		{name: "nothing without a period", keys: map[string]any{"force_flush_period": 0}, steps: []string{"done\nnever", "", ""}, want: []string{"done"}},
		{name: "a long partial line", keys: map[string]any{"force_flush_period": "60ms"}, steps: []string{long}, want: []string{long}},
		{name: "blanks are none", keys: map[string]any{"force_flush_period": "10ms"}, steps: []string{"done\n   "}, want: []string{"done"}},
		{name: "nop does not wait", keys: map[string]any{"force_flush_period": "1h", "encoding": "nop"}, steps: []string{"abc"}, want: []string{"YWJj"}},
	})
	t.Run("what follows a flushed line is a new record", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, map[string]any{"force_flush_period": "60ms"})
		l.write("a.log", "part").start().expect("part")
		l.write("a.log", "ial\n").expectInOrder("part", "ial")
	})
}

// C7
func TestOtherFilesDoNotDelayTheFlush(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"force_flush_period": "100ms", "max_concurrent_files": 1})
	l.write("a.log", "a\npart").write("b.log", "b\n").start().await(2)
	l.write("b.log", "b2\n")
	l.expect("a", "b", "part", "b2")
}

// C8, C10
func TestAPartialLineOverARestart(t *testing.T) {
	t.Run("is not flushed at the stop", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, map[string]any{"force_flush_period": "1h"}).stored()
		l.write("a.log", "done\npart").start().expect("done")
		l.stop().write("a.log", "ial\n").start().expectInOrder("done", "partial")
	})
	t.Run("is flushed at the first poll when the period has passed", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, map[string]any{"force_flush_period": "1200ms"}).stored()
		l.write("a.log", "full\npart").start().expect("full")
		l.stop()
		time.Sleep(1200 * time.Millisecond) // the period passes while nobody looks
		at := time.Now()
		l.start().await(2)
		require.Less(t, time.Since(at), time.Second)
		l.expectInOrder("full", "part")
	})
}

// D4
func TestALineIsSplitFromWhereReadingBegan(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"start_at": "end", "max_log_size": 4, "force_flush_period": 0})
	l.write("a.log", "foo").start().watched(1)
	l.write("a.log", "1234567890\nbar\nhelloworld\n").expectInOrder("1234", "5678", "90", "bar", "hell", "owor", "ld")
}

// F1
func TestNopGivesBytes(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"encoding": "nop"})
	l.write("a.log", "\xC5\n").start().await(1)
	value := l.sink.all()[0].value
	require.Equal(t, pcommon.ValueTypeBytes, value.Type())
	require.Equal(t, []byte("\xC5\n"), value.Bytes().AsRaw())
}
