package filelogreceiver

import (
	"fmt"
	"testing"
)

// K1, K2
func TestMoreFilesThanMayBeOpenAreAllRead(t *testing.T) {
	for _, limit := range []int{1, 20} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"max_concurrent_files": limit})
			var want []string
			more := func(round int) {
				for file := range 100 {
					text := ""
					for line := range 10 {
						want = append(want, fmt.Sprintf("file %d line %d", file, 10*round+line))
						text += want[len(want)-1] + "\n"
					}
					l.write(fmt.Sprintf("%d.log", file), text)
				}
			}
			more(0)
			l.start().await(len(want))
			more(1)
			l.expect(want...)
		})
	}
}

// K3
func TestStartAtEndIsForAllFilesOfTheFirstPoll(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"start_at": "end", "max_concurrent_files": 2})
	for i := range 10 {
		l.write(fmt.Sprintf("old%d.log", i), fmt.Sprintf("old %d\n", i))
	}
	l.start().watched(10)
	var want []string
	for i := range 10 {
		want = append(want, fmt.Sprintf("more of old %d", i), fmt.Sprintf("new %d", i))
		l.write(fmt.Sprintf("new%d.log", i), fmt.Sprintf("new %d\n", i))
		l.write(fmt.Sprintf("old%d.log", i), fmt.Sprintf("more of old %d\n", i))
	}
	l.expect(want...)
}

// K4, U3
func TestALimitOfFilesPerPollStarvesNobody(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"max_concurrent_files": 20, "max_batches": 2}).stored()
	var want []string
	for file := range 50 {
		for line := range 10 {
			want = append(want, fmt.Sprintf("file %d line %d", file, line))
			l.write(fmt.Sprintf("%02d.log", file), want[len(want)-1]+"\n")
		}
	}
	l.start().expect(want...)
	l.restart().write("49.log", "more\n").expect(append(want, "more")...) // positions are saved all the same
}

// K5, U3
func TestALimitOfFilesPerPollDoesNotSkipNewLinesAtTheEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"start_at": "end", "max_concurrent_files": 4, "max_batches": 1})
	for i := range 7 {
		l.write(fmt.Sprintf("%d.log", i), fmt.Sprintf("old %d\n", i))
	}
	l.start().watched(7)
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("new %d", i))
		l.write(fmt.Sprintf("%d.log", i), want[i]+"\n")
	}
	l.expect(want...)
}
