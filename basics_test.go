package filelogreceiver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/otelfilelog/filelogreceiver/internal/metadata"
)

// A1
func TestDefaultsReadFromTheEndTrimAndFlush(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"start_at": "end"})
	l.write("a.log", " one \n").start().watched(1)
	l.write("a.log", " two \n").expect("two")
	at := time.Now()
	l.write("a.log", " three ").await(2)
	require.GreaterOrEqual(t, time.Since(at), 500*time.Millisecond)
	require.Equal(t, []string{"two", "three"}, l.sink.bodies())
	require.Equal(t, map[string]any{"log.file.name": "a.log"}, l.find("three").attributes)
}

// A2 to A4, A14 to A16
func TestLinesArriveOnce(t *testing.T) {
	long := strings.Repeat("x", 40<<10)
	check(t, []content{
		{name: "lines that are there", steps: []string{"l1\nl2\n"}, want: []string{"l1", "l2"}},
		{name: "lines of a file that appears", steps: []string{"", "l1\n"}, want: []string{"l1"}},
		{name: "lines that are there and new ones", steps: []string{"l1\n", "l2\n"}, want: []string{"l1", "l2"}},
		{name: "a line in two writes", keys: map[string]any{"force_flush_period": 0}, steps: []string{"ab", "cd\n"}, want: []string{"abcd"}},
		{name: "a long line", steps: []string{strings.Repeat("y", 4097) + "\n"}, want: []string{strings.Repeat("y", 4097)}},
		{name: "a line longer than the buffer", steps: []string{long + "\nb"}, want: []string{long, "b"}},
	})
}

// A5 to A8
func TestStartAtEnd(t *testing.T) {
	end := map[string]any{"start_at": "end", "force_flush_period": 0}
	t.Run("lines that are there are not read", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, end)
		l.write("a.log", "old\n").start().watched(1)
		l.write("a.log", "new\n").expect("new")
	})
	t.Run("a file that appears later is read from its beginning", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, end)
		l.start().polls().write("a.log", "l1\nl2\n").expectInOrder("l1", "l2")
	})
	t.Run("the rest of a line that is there is a record", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, end)
		l.write("a.log", "foo").start().watched(1)
		l.write("a.log", "123\n").expect("123")
	})
	t.Run("an empty file is read from its beginning", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, end)
		l.write("a.log", "").start().polls().write("a.log", "l1\n").expect("l1")
	})
}

// A9, A11
func TestManyFilesThatAreThere(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	want := map[string][]string{}
	for i := range 10 {
		name := fmt.Sprintf("%d.log", i)
		for j := range 100 {
			want[name] = append(want[name], fmt.Sprintf("file %d line %d", i, j))
		}
		l.write(name, strings.Join(want[name], "\n")+"\n")
		if i == 4 {
			l.start()
		}
	}
	l.await(1000)
	l.still()
	for name, bodies := range want {
		require.Equal(t, bodies, l.fromFile(name))
	}
}

// A10, A12
func TestManyWritersAtOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil).start()
	var writers sync.WaitGroup
	for i := range 10 {
		writers.Go(func() {
			for j := range 100 {
				l.write(fmt.Sprintf("%d.log", i), fmt.Sprintf("file %d line %d\n", i, j))
			}
		})
	}
	writers.Wait()
	l.await(1000)
	l.still()
	for i := range 10 {
		var want []string
		for j := range 100 {
			want = append(want, fmt.Sprintf("file %d line %d", i, j))
		}
		require.Equal(t, want, l.fromFile(fmt.Sprintf("%d.log", i)))
	}
}

// A13
func TestEmptyFilesWaitForTheirFirstLine(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.write("a", "").write("b", "b1\n").write("c", "").write("d", "d1\n").start().expect("b1", "d1")
	l.write("a", "a1\n").write("c", "c1\n").expect("b1", "d1", "a1", "c1")
}

// A17, A18; the other wrong configurations are in testdata/config/refused.yaml.
func TestWrongConfigurationsMakeNoReceiver(t *testing.T) {
	for name, wrong := range map[string]struct {
		keys map[string]any
		err  string
	}{
		"no include":               {map[string]any{"include": []any{}}, "'include' must be specified"},
		"an unknown start":         {map[string]any{"start_at": "middle"}, "invalid start_at location 'middle'"},
		"a bad glob":               {map[string]any{"include": []any{"[a-z"}}, "include: parse glob: syntax error in pattern"},
		"no interval (U7)":         {map[string]any{"poll_interval": 0}, "'poll_interval' must be positive"},
		"a negative buffer (U7)":   {map[string]any{"initial_buffer_size": -1}, "'initial_buffer_size' must be positive"},
		"an input in header (U7)":  {map[string]any{"header": map[string]any{"pattern": "#", "metadata_operators": []any{map[string]any{"type": "file_input"}}}}, "cannot process entries"},
		"a bad order (U19)":        {map[string]any{"ordering_criteria": map[string]any{"regex": "("}}, "compile regex"},
		"an archive in no storage": {map[string]any{"polls_to_archive": 3}, "'polls_to_archive' needs a storage"}, // O24
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, newLab(t, wrong.keys).tryStart(), wrong.err)
		})
	}
}

// A19 to A22
func TestLifecycle(t *testing.T) {
	t.Run("a file that is missing at the start", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		l.keys["include"] = []any{l.path("later.log")}
		l.start().polls().write("later.log", "l1\nl2\n").expectInOrder("l1", "l2")
		l.stop()
	})
	t.Run("shutdown without a start", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		r, err := NewFactory().CreateLogs(context.Background(), receivertest.NewNopSettings(metadata.Type), l.config(), l.sink)
		require.NoError(t, err)
		require.NoError(t, r.Shutdown(context.Background()))
		require.NoError(t, r.Shutdown(context.Background()))
	})
	t.Run("a context of Start that ends does not end the receiver", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		r, err := NewFactory().CreateLogs(context.Background(), receivertest.NewNopSettings(metadata.Type), l.config(), l.sink)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		require.NoError(t, r.Start(ctx, componenttest.NewNopHost()))
		cancel()
		l.write("a.log", "l1\n")
		require.Eventually(t, func() bool { return l.sink.count() == 1 }, waitLimit, time.Millisecond)
		require.NoError(t, r.Shutdown(context.Background()))
	})
	t.Run("without a storage everything is read again", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		l.write("a.log", "l1\n").start().expect("l1")
		l.stop().write("a.log", "l2\n").start().expect("l1", "l1", "l2")
		l.stop().forget().write("a.log", "l3\n").start().expect("l1", "l2", "l3")
	})
}

// The first poll comes at once, not after an interval.
func TestTheFirstPollDoesNotWait(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"poll_interval": "1h"})
	l.write("a.log", "l1\n").start().await(1)
}
