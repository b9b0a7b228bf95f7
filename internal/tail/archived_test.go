package tail

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// header is longer than the fingerprints of archiving: all files that begin with it
// begin alike.
const header = "a header of more than 16 bytes"

// archiving is a rig that archives what is gone.
func archiving(t *testing.T) *rig {
	r := newRig(t)
	r.slots, r.conf.FingerprintSize = 2, 16
	return r.start()
}

// gone lets the States of files without a name get into the archive.
func (r *rig) gone() *rig {
	r.polls(60)
	require.Empty(r.t, r.loop.bodies)
	return r
}

func TestAFileThatComesBackGoesOnThoughOneThatBeginsAlikeWasArchivedLater(t *testing.T) {
	r := archiving(t)
	r.write("in/a", header+"\none\ntwo\n").polls(3)
	r.rename("in/a", "out/a").gone()
	r.write("in/b", header+"\n").polls(3)
	r.rename("in/b", "out/b").gone()
	delivered := r.sink.delivered()
	r.rename("out/a", "in/a").write("in/a", "three\n").polls(3)
	require.Equal(t, append(delivered, "three"), r.sink.delivered())
}

func TestACopyOfATruncatedFileIsNotTakenForAnArchivedOneThatOnlyBeginsAlike(t *testing.T) {
	r := archiving(t)
	r.write("in/b", header+"\n").polls(3)
	r.write("in/a", header+"\none\ntwo\n").polls(3)
	r.rename("in/b", "out/b").polls(60)
	// The original grows after it was copied: its copy has less than was read.
	r.write("in/a.1", header+"\none\ntwo\n").poll()
	r.write("in/a", "three\n").polls(3)
	r.truncate("in/a", 0).polls(3)
	r.polls(60)
	require.Equal(t, []string{header, header, "one", "two", "three"}, r.sink.delivered())
}
