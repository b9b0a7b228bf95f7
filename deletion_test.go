package filelogreceiver

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// errRefused is a temporary error of the next consumer.
var errRefused = errors.New("refused")

// gone waits until a file does not exist any more.
func (l *lab) gone(name string) *lab {
	l.t.Helper()
	require.Eventually(l.t, func() bool {
		_, err := os.Stat(l.path(name))
		return os.IsNotExist(err)
	}, waitLimit, time.Millisecond, name)
	return l
}

// N1
func TestFilesAreDeletedWhenTheyWereAccepted(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"delete_after_read": true})
	var want []string
	for round := range 2 {
		for file := range 10 {
			text, bodies := "", []string{}
			for line := range 10 {
				bodies = append(bodies, fmt.Sprintf("round %d file %d line %d", round, file, line))
			}
			text = strings.Join(bodies, "\n") + "\n"
			want = append(want, bodies...)
			l.replace(fmt.Sprintf("%d.log", file), text)
		}
		if round == 0 {
			l.start()
		}
		for file := range 10 {
			l.gone(fmt.Sprintf("%d.log", file))
		}
	}
	l.expect(want...)
	require.Empty(t, l.complaints())
}

// N2, N3
func TestAFileIsNotDeletedBeforeItWasAccepted(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"delete_after_read": true, "max_batch_size": 10}).stored()
	text, bodies := lines(1, 100)
	l.sink.setAnswer(func(logs plog.Logs) error {
		if strings.Contains(logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str(), "line") {
			return errRefused
		}
		return nil
	})
	l.write("short.log", "short\n").start().gone("short.log")
	l.write("long.log", text).still()
	l.stop()
	require.FileExists(t, l.path("long.log"))
	l.sink.setAnswer(nil)
	l.start().gone("long.log").expect(append(bodies, "short")...)
}

// N6, U9
func TestALastLineWithoutNewlineIsReadBeforeItsFileIsDeleted(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"delete_after_read": true, "force_flush_period": "150ms"})
	l.write("a.log", "complete\nlast").start().await(1)
	require.FileExists(t, l.path("a.log"))
	l.gone("a.log").expectInOrder("complete", "last")
}

// U9
func TestAFileThatTookTheNameIsNotDeletedUnread(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"delete_after_read": true})
	gate := make(chan struct{})
	l.sink.setAnswer(waitFor(gate))
	l.write("a.log", "old\n").start().polls().replace("a.log", "new one\n").polls()
	require.FileExists(t, l.path("a.log"))
	close(gate)
	l.gone("a.log").expect("old", "new one")
}

// N7
func TestALockedFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"acquire_fs_lock": true})
	l.write("a.log", "line\n")
	unlock := lockFile(t, l.path("a.log"))
	l.write("b.log", "other\n").start().expect("other")
	unlock()
	l.expect("other", "line")
	require.Empty(t, l.complaints())
}

// N8
func TestAdviceAboutTheCacheChangesNoRecord(t *testing.T) {
	check(t, []content{{name: "ten lines", keys: map[string]any{"file_cache_advise": true}, steps: []string{"1\n2\n3\n4\n5\n", "6\n7\n8\n9\n10\n"},
		want: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}}})
}

// N9 to N12, U8
func TestSkippingUnmodifiedFilesSkipsNoLine(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"skip_unmodified_files": true, "force_flush_period": "60ms"})
	l.write("a.log", "line\n").start().expect("line")
	l.write("a.log", "complete\npartial").expectInOrder("line", "complete", "partial") // N12
	l.rename("a.log", "a.log.1").write("a.log", "new\n")
	at := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(l.path("a.log.1"), at, at)) // N11
	l.expectInOrder("line", "complete", "partial", "new")
}
