package filelogreceiver

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The faults U1 to U22 that were found in contrib's receiver must not be ours.
// Those that belong to a subject are tested there: U1 in resume_test.go and
// storage_test.go, U2 in delivery_test.go, U3 in batching_test.go, U5 in
// unreadable_linux_test.go, U6 in finding_test.go, U7 and U19 in basics_test.go
// and storage_test.go, U8 and U9 in deletion_test.go, U11 in gzip_test.go, U14 in
// identity_test.go, U18 in finding_test.go, gzip_test.go and storage_test.go, U20
// in storage_test.go. The others are here.

// U4
func TestU4AnEndPatternOfNoWidthDoesNotStopEverything(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"multiline": map[string]any{"line_end_pattern": "$"}, "include_file_record_number": true})
	l.write("a.log", "a\nb\n").write("b.log", "c\n").start().expect("a", "b", "c")
	l.write("b.log", "d\n").expect("a", "b", "c", "d")
	require.LessOrEqual(t, l.find("d").attributes["log.file.record_number"], int64(4))
	at := time.Now()
	l.stop()
	require.Less(t, time.Since(at), 2*time.Second)
}

// U10
func TestU10CharactersOfTwoBytesAreNotTakenApart(t *testing.T) {
	little := func(s string) string {
		var b strings.Builder
		for _, r := range s {
			b.WriteByte(byte(r))
			b.WriteByte(byte(r >> 8))
		}
		return b.String()
	}
	big := func(s string) string {
		var b strings.Builder
		for _, r := range s {
			b.WriteByte(byte(r >> 8))
			b.WriteByte(byte(r))
		}
		return b.String()
	}
	check(t, []content{
		{name: "a leading blank", keys: map[string]any{"encoding": "utf-16le"}, steps: []string{little("one\n two\n")}, want: []string{"one", "two"}},
		{name: "a trailing blank", keys: map[string]any{"encoding": "utf-16be"}, steps: []string{big("one \ntwo\n")}, want: []string{"one", "two"}},
		{name: "a first character like a newline", keys: map[string]any{"encoding": "utf-16le"}, steps: []string{little("\u010Ax\n")}, want: []string{"\u010Ax"}},
		{name: "newline bytes of two characters (LE)", keys: map[string]any{"encoding": "utf-16le"}, steps: []string{little("p\u0A05\u0100q\n")}, want: []string{"p\u0A05\u0100q"}},
		{name: "newline bytes of two characters (BE)", keys: map[string]any{"encoding": "utf-16be"}, steps: []string{big("p\u0A00\u0A61q\n")}, want: []string{"p\u0A00\u0A61q"}},
	})
}

// U12, U13, U22
func TestU12U13U22PiecesAreWhatIsInTheFile(t *testing.T) {
	omit := map[string]any{"line_start_pattern": ">>>", "omit_pattern": true}
	check(t, []content{
		{name: "U12 no byte comes twice", keys: map[string]any{"multiline": omit, "max_log_size": 10, "force_flush_period": 0},
			steps: []string{">>>0123456789ABCDEF\n>>>x\n>>>"}, want: []string{"0123456789", "ABCDEF", "x"}},
		{name: "U13 a flushed entry goes without its pattern", keys: map[string]any{"multiline": omit, "force_flush_period": "60ms"},
			steps: []string{">>>only one entry\n"}, want: []string{"only one entry"}},
		{name: "U22 no character is cut", keys: map[string]any{"max_log_size": 4}, steps: []string{"日本語\n"}, want: []string{"日", "本", "語"}},
	})
}

// U15, G15
func TestU15AnAttributeThatWasSwitchedOffIsGone(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"include_file_path": true}).stored()
	l.write("a.log", "l1\n").start().expect("l1")
	l.stop()
	l.keys["include_file_path"] = false
	l.write("a.log", "l2\n").start().expect("l1", "l2")
	require.Equal(t, map[string]any{"log.file.name": "a.log"}, l.find("l2").attributes)
}

// U16, D19
func TestU16DroppingGoesOnToTheEndOfTheLine(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %t", restart), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"max_log_size": 20, "max_log_size_behavior": "truncate", "force_flush_period": 0}).stored()
			l.write("a.log", strings.Repeat("A", 50)).start().polls()
			if restart {
				l.restart()
			}
			l.write("a.log", strings.Repeat("B", 30)+"\nnext\n").expectInOrder(strings.Repeat("A", 20), "next")
		})
	}
}

// U17, G14, D11
func TestU17TheOffsetBehindADroppedRestIsRight(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"max_log_size": 20480, "max_log_size_behavior": "truncate", "include_file_record_offset": true})
	l.write("a.log", strings.Repeat("q", 70000)+"\nz\n").start().expect(strings.Repeat("q", 20480), "z")
	require.Equal(t, int64(70001), l.find("z").attributes["log.file.record_offset"])
}

// U21
func TestU21ALineOfExactlyTheLimitTakesOneNumber(t *testing.T) {
	for _, buffer := range []int{10, 1 << 14} {
		t.Run(fmt.Sprint(buffer), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"max_log_size": 10, "initial_buffer_size": buffer, "include_file_record_number": true})
			l.write("a.log", "0123456789\nnext\n").start().expect("0123456789", "next")
			require.Equal(t, int64(2), l.find("next").attributes["log.file.record_number"])
		})
	}
}

// H17: a file that vanishes between two looks is no reason to complain.
func TestFilesThatComeAndGoCostNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil).start()
	for i := range 50 {
		l.write(fmt.Sprintf("%d.log", i), "")
		require.NoError(t, os.Remove(l.path(fmt.Sprintf("%d.log", i))))
	}
	l.write("stays.log", "line\n").expect("line")
	require.Empty(t, l.complaints())
}
