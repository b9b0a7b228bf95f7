package tail

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// manyFiles makes a rig over more files than a snapshot may have to be saved at
// any moment.
func manyFiles(t *testing.T) *rig {
	r := newRig(t)
	for n := range 4200 {
		text := fmt.Sprintf("file %d\n", n)
		require.NoError(t, os.WriteFile(r.path(fmt.Sprintf("in/%d.log", n)), []byte(text), 0o644))
	}
	r.touch(r.path("in"))
	return r
}

func TestALargeSnapshotIsSavedWhenReadingPauses(t *testing.T) {
	r := manyFiles(t).start()
	r.poll()
	require.Empty(t, r.storage.values, "the first poll leaves files to read")
	r.poll()
	require.NotEmpty(t, r.storage.values)
}

func TestALargeSnapshotDoesNotWaitForReadingThatNeverPauses(t *testing.T) {
	r := manyFiles(t)
	r.sink.set(blocking)
	r.start()
	for begin := r.now; r.now.Sub(begin) < largeSaveWaits; {
		r.poll()
		require.Empty(t, r.storage.values)
	}
	r.pass(2 * r.conf.PollInterval)
	require.NotEmpty(t, r.storage.values)
}
