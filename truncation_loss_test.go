package filelogreceiver

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

func TestBytesThatWereCutOffUnreadAreCountedAsLostOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"retry_on_failure": map[string]any{"enabled": false, "initial_interval": "10ms"}})
	l.write("a.log", "first line\n").start().expect("first line")
	l.sink.setAnswer(func(plog.Logs) error { return errors.New("not now") })
	l.write("a.log", "second, which is never delivered\n")
	l.waitLogged("The next consumer refuses records; reading waits for it and nothing is lost")
	l.still() // the growth is seen
	l.truncate("a.log", 0).write("a.log", "other\n")
	l.sink.setAnswer(nil)
	l.expect("first line", "other")
	l.waitLogged("Bytes are lost that were not read before they went away")
	lost := l.logs.FilterMessage("Bytes are lost that were not read before they went away").All()
	require.Len(t, lost, 1)
	require.EqualValues(t, len("second, which is never delivered\n"), lost[0].ContextMap()["bytes"])
}
