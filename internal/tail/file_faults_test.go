package tail

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fileCourse is what happens to files while the file system has its faults.
type fileCourse struct {
	name string
	// leaves: a file goes away for good. Three failed reads in a row could fall on
	// that moment, and then nobody is left who knows the file.
	leaves bool
	only   string // the kind of call that the course is about, "": all
	// set is done before the start.
	set func(r *rig)
	// run drives a started rig and returns the lines that have to come.
	run func(r *rig) []string
	// end, if set, checks what is left.
	end func(t *testing.T, r *rig)
}

// enough is time for a retry after a fault.
const enough = 1600 * time.Millisecond

var fileCourses = []fileCourse{
	{
		name:   "a file that is moved out of the pattern",
		leaves: true,
		run: func(r *rig) []string {
			first, expected := manyLines("first", 5)
			second, bodies := manyLines("second", 5)
			expected = append(expected, bodies...)
			third, bodies := manyLines("third", 5)
			expected = append(expected, bodies...)
			r.write("in/a", first).pass(enough)
			r.rename("in/a", "out/a").write("out/a", second).write("in/a", third).pass(enough)
			return expected
		},
	},
	{
		name:   "a file that is deleted before it was accepted",
		leaves: true,
		run: func(r *rig) []string {
			first, expected := manyLines("first", 5)
			second, bodies := manyLines("second", 5)
			expected = append(expected, bodies...)
			r.write("in/a", first).pass(enough)
			r.sink.set(refusing)
			r.write("in/a", second).poll()
			r.remove("in/a").poll()
			r.sink.set(accepting)
			r.pass(enough)
			return expected
		},
	},
	{
		name: "a long file",
		only: "read",
		set:  func(r *rig) { r.conf.MaxBatchRecords = 2000 },
		run: func(r *rig) []string {
			text, expected := manyLines(strings.Repeat("long ", 20), 4000) // four chunks
			r.write("in/a", text).pass(3 * enough)
			return expected
		},
	},
	{
		name: "compressed files that are deleted after they were read",
		set: func(r *rig) {
			r.conf.Compression, r.conf.DeleteAfterRead = CompressionAuto, true
		},
		run: func(r *rig) []string {
			first, expected := manyLines("first", 5)
			second, bodies := manyLines("second", 5)
			expected = append(expected, bodies...)
			r.write("in/a.gz", zipped(r.t, first)).write("in/b", second).pass(enough)
			for range 4 {
				r.now = r.now.Add(deleteAgain)
				r.polls(3)
			}
			return expected
		},
		end: func(t *testing.T, r *rig) {
			require.NoFileExists(t, r.path("in/a.gz"))
			require.NoFileExists(t, r.path("in/b"))
		},
	},
}

func zipped(t testing.TB, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

// TestAFaultOfTheFileSystemOnAnyWayOfAFileLosesNothing lets each kind of call
// fail at the first, the second, the third time and so on until a run passes
// without, and some kinds three times in a row.
func TestAFaultOfTheFileSystemOnAnyWayOfAFileLosesNothing(t *testing.T) {
	for _, course := range fileCourses {
		for _, fault := range []error{syscall.EIO, syscall.ESTALE, syscall.EACCES, syscall.ENFILE, syscall.ENOENT} {
			for _, call := range []string{"open", "stat", "fstat", "read", "remove"} {
				if course.end == nil && call == "remove" || course.only != "" && course.only != call {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s at %s", course.name, fault, call), func(t *testing.T) {
					t.Parallel()
					rows := []int64{1}
					if fault == syscall.EIO && !(course.leaves && call == "read") {
						rows = []int64{1, 3}
					}
					for _, row := range rows {
						for at := int64(1); fileFaultAt(t, course, call, at, row, fault); at++ {
							require.Less(t, at, int64(500))
						}
					}
				})
			}
		}
	}
}

// fileFaultAt runs a course with so many faults in a row from one call on, and
// tells whether there was one.
func fileFaultAt(t *testing.T, course fileCourse, call string, at, row int64, fault error) bool {
	r := newRig(t)
	var calls atomic.Int64
	fail := func() error {
		if n := calls.Add(1); n >= at && n < at+row {
			return &os.PathError{Op: call, Path: "double", Err: fault}
		}
		return nil
	}
	failAt(r.layer, call, fail)
	if course.set != nil {
		course.set(r)
	}
	expected := course.run(r.start())
	if course.end != nil {
		course.end(t, r)
	}
	r.stop()
	require.ElementsMatch(t, expected, r.sink.delivered(), "%s call %d to %d: %s; log: %v", call, at, at+row-1, fault, r.logs.All())
	require.Zero(t, r.lost, "bytes that are said to be lost")
	return calls.Load() >= at
}

// A file that becomes shorter while a worker reads it keeps what it still has,
// and what it gets then, whichever read it happens at.
func TestAFileThatShrinksWhileItIsReadLosesOnlyWhatWasCutOff(t *testing.T) {
	for _, c := range []struct {
		name string
		kept int // of 4000 lines
	}{
		{"to its half", 2000},
		{"to a few lines", 3},
		{"to nothing", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for at := 1; shrinkAt(t, c.kept, at); at++ {
				require.Less(t, at, 500)
			}
		})
	}
}

// shrinkAt cuts a file just before one of the reads, and tells whether there was
// one.
func shrinkAt(t *testing.T, kept, at int) bool {
	r := newRig(t)
	r.conf.MaxBatchRecords = 500
	text, bodies := manyLines(strings.Repeat("long ", 20), 4000)
	size := int64(len(strings.Join(bodies[:kept], "\n")))
	if kept > 0 {
		size++ // the newline
	}
	reads, cut := 0, false
	r.layer.read = func(string, int, int64) error {
		if reads++; reads == at {
			cut = true
			return os.Truncate(r.path("in/a"), size)
		}
		return nil
	}
	r.start().write("in/a", text).polls(3)
	r.layer.read = nil
	r.changed("in/a")
	r.polls(3)
	more, later := manyLines("later", 5)
	r.write("in/a", more).pass(enough)
	r.stop()
	delivered := map[string]int{}
	for _, body := range r.sink.delivered() {
		delivered[body]++
	}
	known := map[string]bool{}
	for i, body := range append(bodies[:len(bodies):len(bodies)], later...) {
		known[body] = true
		if i < kept || i >= len(bodies) {
			require.NotZero(t, delivered[body], "read %d: %q is lost", at, body)
		}
		if i >= len(bodies) {
			require.Equal(t, 1, delivered[body], "read %d: %q", at, body)
		}
	}
	for body := range delivered {
		require.True(t, known[body], "read %d: %q is no line", at, body)
	}
	return cut
}

// A read may give a part of what was asked for, and an error.
func TestAReadThatEndsEarlyWithAnErrorLosesNothing(t *testing.T) {
	for at := 1; ; at++ {
		r := newRig(t)
		reads := 0
		r.layer.part = func(_ string, n int) (int, error) {
			if reads++; reads == at {
				return n / 3, syscall.EIO
			}
			return n, nil
		}
		text, expected := manyLines(strings.Repeat("long ", 20), 4000)
		r.start().write("in/a", text).pass(enough)
		r.stop()
		require.ElementsMatch(t, expected, r.sink.delivered(), "read %d", at)
		if reads < at {
			require.Greater(t, at, 4)
			return
		}
	}
}

func TestAFileThatLeavesWhileItCannotBeReadIsReadWhenItCan(t *testing.T) {
	r := newRig(t)
	first, expected := manyLines("first", 5)
	second, bodies := manyLines("second", 5)
	r.start().write("in/a", first).polls(2)
	r.layer.open = func(string) error { return syscall.EIO }
	r.layer.read = func(string, int, int64) error { return syscall.EIO }
	r.write("in/a", second).poll()
	r.rename("in/a", "out/a").pass(leftQuiet / 2)
	require.Equal(t, expected, r.sink.delivered())
	r.layer.open, r.layer.read = nil, nil
	r.pass(enough)
	require.Equal(t, append(expected, bodies...), r.sink.delivered())
	require.Zero(t, r.lost)
}

func TestAFileThatLeftAndCannotBeReadForLongIsCountedAsLost(t *testing.T) {
	r := newRig(t)
	text, bodies := manyLines("first", 5)
	r.start().write("in/a", text).polls(2)
	r.layer.read = func(string, int, int64) error { return syscall.EIO }
	r.write("in/a", "second\n").poll()
	r.rename("in/a", "out/a").pass(leftQuiet + enough)
	require.Equal(t, bodies, r.sink.delivered())
	require.EqualValues(t, len("second\n"), r.lost)
	require.Empty(t, r.loop.left)
}
