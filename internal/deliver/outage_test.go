package deliver

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// tells checks what was reported so far, and that as much was logged.
func (b *bench) tells(t *testing.T, status ...error) {
	t.Helper()
	require.Equal(t, status, b.status)
	require.Equal(t, len(status), b.logs.Len(), "%v", b.logs.All())
}

func (b *bench) answer(t *testing.T, answer func(plog.Logs) error, outcome Outcome) {
	t.Helper()
	b.answers = []func(plog.Logs) error{answer}
	require.Equal(t, outcome, b.send("a", "b"))
}

func TestAnOutageEndsWhenWhatWasRefusedIsAccepted(t *testing.T) {
	b := newBench(endless, busy, busy, busy)
	require.Equal(t, Accepted, b.send("a"))
	b.tells(t, errBusy, nil)
	b.answers = []func(plog.Logs) error{busy}
	require.Equal(t, Accepted, b.send("a"))
	b.tells(t, errBusy, nil, errBusy, nil)
}

// Another worker is served while the batch of this one is refused.
func TestAnOutageLastsWhileAnyBatchIsRefused(t *testing.T) {
	b := newBench(endless, busy, busy, busy, busy)
	b.target.Pause = func(context.Context, time.Duration) error {
		b.pass(time.Minute)
		refusals := b.answers
		b.answers = nil
		require.Equal(t, Accepted, b.send("b"))
		b.tells(t, errBusy)
		b.answers = refusals
		return nil
	}
	require.Equal(t, Accepted, b.send("a"))
	b.tells(t, errBusy, nil)
}

func TestATroubleThatComesAgainAndAgainIsToldOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		retry   Retry
		mutates bool
		answer  func(plog.Logs) error
		outcome Outcome
		want    func(plog.Logs) error
	}{
		{"rejected", endless, false, permanent, Dropped, permanent},
		{"let go", Retry{}, false, busy, LetGo, busy},
		{"to be built anew", endless, true, busy, Rebuild, busy},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(c.retry)
			b.mutates = c.mutates
			trouble := c.want(plog.Logs{})
			for range 50 {
				b.answer(t, c.answer, c.outcome)
				b.pass(time.Second)
				require.Equal(t, Accepted, b.send("a"))
				b.pass(quietTime - 2*time.Second)
				require.Equal(t, Accepted, b.send("a"))
			}
			b.tells(t, trouble)
			b.pass(time.Second - 1)
			b.tells(t, trouble)
			b.pass(1) // nothing more is sent: the end is told all the same
			b.tells(t, trouble, nil)
			b.pass(time.Hour)
			b.answer(t, c.answer, c.outcome)
			b.tells(t, trouble, nil, trouble)
		})
	}
}

func TestATroubleDoesNotEndWithoutAnAcceptance(t *testing.T) {
	b := newBench(endless)
	require.Equal(t, Accepted, b.send("a"))
	b.answer(t, permanent, Dropped)
	b.pass(time.Hour)
	b.answer(t, permanent, Dropped)
	b.pass(time.Hour)
	require.Len(t, b.status, 1)
	require.Equal(t, Accepted, b.send("a"))
	require.Len(t, b.status, 2)
	require.NoError(t, b.status[1])
	require.EqualValues(t, 4, b.logs.All()[1].ContextMap()["dropped_items"])
	require.Equal(t, 4, b.dropped)
}

func TestAnOutageOutlastsThePauseOfWhatWasLetGo(t *testing.T) {
	b := newBench(Retry{})
	b.target.Outage.Again = time.Minute
	for range 5 {
		b.answer(t, busy, LetGo)
		require.Equal(t, Accepted, b.send("a"))
		b.pass(time.Minute)
	}
	b.tells(t, errBusy)
	b.pass(time.Minute)
	b.tells(t, errBusy, nil)
}

func TestNothingIsToldAfterTheStop(t *testing.T) {
	b := newBench(Retry{})
	b.answer(t, busy, LetGo)
	require.Equal(t, Accepted, b.send("a"))
	require.NotNil(t, b.timer)
	b.target.Outage.Stop()
	require.Nil(t, b.timer)
	b.pass(time.Hour)
	require.Equal(t, Accepted, b.send("a"))
	b.answer(t, permanent, Dropped)
	b.tells(t, errBusy)
}
