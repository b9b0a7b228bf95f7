package tail

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

func (r *rig) locator(name string) source.Info {
	info, err := source.OS.Stat(r.path(name))
	require.NoError(r.t, err)
	return info
}

// An editor that keeps a backup renames the file and writes a new one.
func TestAFileThatIsSavedAnewWithABackupGoesOn(t *testing.T) {
	text, bodies := manyLines("saved", 3000) // more than sharedShort
	r := newRig(t)
	r.start().write("in/a", text).polls(3)
	r.rename("in/a", "out/a.bak").write("in/a", text+"more\n").polls(3)
	require.Equal(t, append(bodies, "more"), r.sink.delivered())
	for _, b := range r.loop.bodies {
		if b.path == r.path("in/a") && !b.left {
			require.EqualValues(t, 3001, b.rec.State.RecordNumber)
		}
	}
	r.polls(60)
	require.Len(t, r.sink.delivered(), 3001)
}

func TestANewLogThatBeginsAsTheShortOneBeforeIsReadWhole(t *testing.T) {
	r := newRig(t)
	r.start().write("in/a", "banner\n").polls(3)
	r.rename("in/a", "out/a.1").write("in/a", "banner\nmore\n").polls(3)
	require.Equal(t, []string{"banner", "banner", "more"}, r.sink.delivered())
}

func TestACopyOfAFileThatWasOverwrittenInTheSamePollIsACopy(t *testing.T) {
	r := newRig(t)
	r.start().write("in/a", "one\ntwo\n").polls(3)
	r.rewriteInPlace("in/a", "three\nfour\nfive\n")
	r.write("in/a.1", "three\nfour\nfive\n").polls(3)
	r.truncate("in/a", 0).polls(3)
	r.write("in/a", "six\n").polls(60)
	require.Equal(t, []string{"one", "two", "three", "four", "five", "six"}, r.sink.delivered())
}

func TestACopyThatGetsTheInodeOfAFileThatWasNotOpenIsACopy(t *testing.T) {
	for range 50 {
		if copyWithInode(t) {
			return
		}
	}
	t.Skip("this file system does not give the inode of a deleted file to a new one at once")
}

// copyWithInode rotates a log into a copy and tells whether that has got the
// inode of the log that is deleted for it.
func copyWithInode(t *testing.T) bool {
	r := newRig(t)
	r.conf.MaxOpenFiles = 2
	text, bodies := manyLines("current", 40)
	r.start().write("in/app.2", "oldest\n").polls(2)
	r.write("in/app", text).write("in/other", "other\n").polls(2)
	r.write("in/other", "again\n").polls(2)
	before := r.locator("in/app.2").Locator
	r.remove("in/app.2").write("in/app.1", text)
	if r.locator("in/app.1").Locator != before {
		return false
	}
	for _, b := range r.loop.bodies {
		if b.path == r.path("in/app.2") {
			require.Nil(t, b.handle, "it is to be one that is not open")
		}
	}
	r.polls(1).truncate("in/app", 0).polls(60)
	require.Equal(t, append(append([]string{"oldest"}, bodies...), "other", "again"), r.sink.delivered())
	return true
}

func TestAFileThatBeginsLikeSeveralWaitsOnce(t *testing.T) {
	r := newRig(t)
	r.start()
	for _, name := range []string{"a", "b", "c", "d"} {
		r.write("in/"+name, "banner\n"+name+"\n")
	}
	r.write("in/e", "banner\n").polls(3)
	require.Len(t, r.sink.delivered(), 8)
	r.pass(twinGrace + 2*time.Second)
	require.Len(t, r.sink.delivered(), 9)
	require.Equal(t, "banner", r.sink.delivered()[8])
}
