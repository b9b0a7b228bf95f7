package tail

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

func manyLines(prefix string, n int) (text string, bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprintf("%s line %d", prefix, i))
	}
	return strings.Join(bodies, "\n") + "\n", bodies
}

// TestAFaultOfTheFileSystemAtAnyCallLosesNothing lets each kind of call fail at
// the first, the second, the third time and so on until a run passes without.
func TestAFaultOfTheFileSystemAtAnyCallLosesNothing(t *testing.T) {
	for _, fault := range []error{syscall.EIO, syscall.ESTALE, syscall.EACCES, syscall.ENFILE, syscall.ENOENT} {
		for _, call := range []string{"open", "stat", "fstat", "read"} {
			t.Run(fmt.Sprintf("%s at %s", fault, call), func(t *testing.T) {
				t.Parallel()
				for at := int64(1); ; at++ {
					if !faultAt(t, call, at, fault) {
						require.Greater(t, at, int64(1), "no call was made")
						return
					}
					require.Less(t, at, int64(500))
				}
			})
		}
	}
}

// failAt asks fail at each call of that kind whether it is to fail.
func failAt(layer *doubleLayer, call string, fail func() error) {
	switch call {
	case "open":
		layer.open = func(string) error { return fail() }
	case "stat":
		layer.stat = func(string, *source.Info) error { return fail() }
	case "fstat":
		layer.fstat = func(string, *source.Info) error { return fail() }
	case "read":
		layer.read = func(string, int, int64) error { return fail() }
	case "remove":
		layer.remove = func(string) error { return fail() }
	}
}

// faultAt does a rotation with a fault at one call and tells whether there was one.
func faultAt(t *testing.T, call string, at int64, fault error) bool {
	r := newRig(t)
	var calls atomic.Int64
	fail := func() error {
		if calls.Add(1) == at {
			return &os.PathError{Op: call, Path: "double", Err: fault}
		}
		return nil
	}
	failAt(r.layer, call, fail)
	first, expected := manyLines("first", 5)
	second, bodies := manyLines("second", 5)
	expected = append(expected, bodies...)
	third, bodies := manyLines("third", 5)
	expected = append(expected, bodies...)
	r.start().write("in/a", first).polls(2).write("in/a", second).polls(2)
	r.rename("in/a", "in/a.1").write("in/a", third).polls(30)
	r.stop()
	require.ElementsMatch(t, expected, r.sink.delivered(), "%s call %d: %s", call, at, fault)
	return calls.Load() >= at
}

func TestAStaleSizeRepeatsNothing(t *testing.T) {
	r := newRig(t)
	text, bodies := manyLines("a", 50)
	r.start().write("in/a", text).polls(2)
	stale := func(_ string, info *source.Info) error { info.Size -= 100; info.ModTime--; return nil }
	r.layer.stat, r.layer.fstat = stale, stale
	r.poll()
	r.layer.stat, r.layer.fstat = nil, nil
	r.polls(5).write("in/a", "more\n").polls(2)
	require.Equal(t, append(bodies, "more"), r.sink.delivered())
}

func TestAPollOverUnchangedFilesOpensAndReadsNothing(t *testing.T) {
	r := newRig(t)
	for i := range 1000 {
		require.NoError(t, os.WriteFile(r.path(fmt.Sprintf("in/%d", i)), []byte(fmt.Sprintf("line of file %d\n", i)), 0o644))
	}
	r.changed("in/0")
	r.start().polls(5)
	require.Len(t, r.sink.delivered(), 1000)
	opens, reads := r.layer.counts()
	r.polls(10)
	opensNow, readsNow := r.layer.counts()
	require.Equal(t, opens, opensNow, "files were opened")
	require.Equal(t, reads, readsNow, "files were read")
}

func TestAFileThatWasRenamedAndCannotBeOpenedIsNotForgotten(t *testing.T) {
	r := newRig(t).start().write("in/a", "one\n").polls(2).stop()
	r.rename("in/a", "in/a.1")
	r.layer.open = func(path string) error {
		return &os.PathError{Op: "open", Path: path, Err: syscall.EACCES}
	}
	r.start().polls(keepPolls + 20)
	r.layer.open = nil
	r.write("in/a.1", "two\n").polls(5).stop()
	require.Equal(t, []string{"one", "two"}, r.sink.delivered())
}
