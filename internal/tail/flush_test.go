package tail

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A flush that is due may have to wait for a worker. What counts is whether the
// file has grown when the worker reads it.
func TestAPartialRecordThatGrowsWhileItsFlushWaitsForAWorkerIsNotFlushed(t *testing.T) {
	r := newRig(t)
	r.conf.FlushPeriod = 500 * time.Millisecond
	r.start().write("in/a", "whole\npar").polls(2)
	r.sink.set(blocking)
	r.write("in/b", "b\n").pass(time.Second) // the only worker waits for an answer, the flush for the worker
	r.write("in/a", "tial")
	r.sink.set(accepting)
	r.settle() // the worker reads before a poll could see the growth
	r.poll()
	require.Equal(t, []string{"whole", "b"}, r.sink.delivered(), "it was flushed although it grew")
	r.pass(time.Second)
	require.Equal(t, []string{"whole", "b", "partial"}, r.sink.delivered(), "it rests and has to be flushed")
	r.write("in/a", " more\n").polls(2)
	require.Equal(t, []string{"whole", "b", "partial", "more"}, r.sink.delivered())
}

func TestAPartialRecordThatGrowsAllTheTimeIsFlushedOnlyWhenItRests(t *testing.T) {
	r := newRig(t)
	r.conf.FlushPeriod = 500 * time.Millisecond
	r.start().write("in/a", "whole\n")
	record := ""
	for _, piece := range []string{"a", "record", "that", "comes", "in", "pieces", "for", "several", "periods"} {
		r.write("in/a", piece+" ").polls(2) // 400 ms
		record += piece + " "
		require.Equal(t, []string{"whole"}, r.sink.delivered(), "flushed before it rested")
	}
	r.pass(time.Second)
	require.Equal(t, []string{"whole", strings.TrimSpace(record)}, r.sink.delivered())
}
