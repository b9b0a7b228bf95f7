package tail

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// statuses makes the rig's loop report to a list: true for a trouble, false for
// its end.
func (r *rig) statuses() *[]bool {
	var told []bool
	r.status = func(_ string, err error) { told = append(told, err != nil) }
	return &told
}

func TestTheEndOfAReadErrorIsTold(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"it is over":                                   func(*rig) {},
		"the file grows meanwhile":                     func(r *rig) { r.write("in/a", "three\n") },
		"the file gets another name meanwhile":         func(r *rig) { r.rename("in/a", "in/b") },
		"the file leaves the pattern and is given up":  func(r *rig) { r.rename("in/a", "out/a").pass(20 * time.Second) },
		"the file is deleted and given up":             func(r *rig) { r.remove("in/a").pass(20 * time.Second) },
		"the file is rewritten":                        func(r *rig) { r.truncate("in/a", 0).write("in/a", "another\n") },
		"the file leaves, and another one is not read": func(r *rig) { r.write("in/z", "z\n").rename("in/a", "out/a").pass(20 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			told := r.statuses()
			r.start().write("in/a", "one\n").polls(2)
			r.layer.read = func(string, int, int64) error { return syscall.EIO }
			r.write("in/a", "two\n").pass(3 * time.Second)
			require.Equal(t, []bool{true}, *told)
			require.Equal(t, 1, r.logs.FilterMessage("Failed to read file").Len())
			r.write("in/a", "it grows\n").pass(3 * time.Second)
			require.Equal(t, 1, r.logs.FilterMessage("Failed to read file").Len(), "once while it lasts")
			end(r)
			r.layer.read = nil
			r.pass(20 * time.Second)
			require.Equal(t, false, (*told)[len(*told)-1], "%v", *told)
		})
	}
}

func TestACorruptGzipFileIsNotDecompressedAgainAndAgain(t *testing.T) {
	r := newRig(t)
	r.conf.Compression = CompressionAuto
	told := r.statuses()
	whole := []byte(zipped(t, strings.Repeat("a line\n", 100_000)))
	whole[len(whole)/2] ^= 0xff
	var read atomic.Int64
	r.layer.read = func(_ string, n int, _ int64) error {
		read.Add(int64(n))
		return nil
	}
	r.start().write("in/a.gz", string(whole)).pass(10 * time.Second)
	require.Equal(t, []bool{true}, *told)
	before := read.Load()
	r.pass(time.Minute)
	require.Equal(t, before, read.Load())
	r.truncate("in/a.gz", 0).write("in/a.gz", zipped(t, "good\n")).pass(10 * time.Second)
	delivered := r.sink.delivered()
	require.Equal(t, "good", delivered[len(delivered)-1], "it is read when it has changed")
	require.Equal(t, []bool{true, false}, *told)
}
