package tail

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileThatGrewBetweenItsReadingAndTheAnswerIsNotDeletedYet(t *testing.T) {
	r := newRig(t)
	r.conf.DeleteAfterRead = true
	r.start()
	r.write("in/a", "one\n")
	r.sink.set(blocking)
	r.poll() // it was read, and the sink has not answered
	require.NoError(t, os.WriteFile(r.path("in/a"), []byte("one\ntwo\n"), 0o644))
	r.sink.set(accepting)
	r.settle() // the answer is taken in before a poll could see that it has grown
	require.FileExists(t, r.path("in/a"))
	r.polls(3)
	require.Equal(t, []string{"one", "two"}, r.sink.delivered())
	require.NoFileExists(t, r.path("in/a"))
}

func TestAFileThatTookTheNameIsNotDeletedForTheOneThatWasRead(t *testing.T) {
	r := newRig(t)
	r.conf.DeleteAfterRead = true
	r.start()
	r.write("in/a", "one\n")
	r.sink.set(blocking)
	r.poll()
	require.NoError(t, os.Rename(r.path("in/a"), r.path("out/a")))
	require.NoError(t, os.WriteFile(r.path("in/a"), []byte("another\n"), 0o644))
	r.sink.set(accepting)
	r.settle()
	require.FileExists(t, r.path("in/a"))
	require.FileExists(t, r.path("out/a"))
}
