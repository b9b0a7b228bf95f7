package deliver

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBusy = errors.New("busy")

// bench is a Target whose consumer, clock and reporter a test sees.
type bench struct {
	mutates  bool
	answers  []func(plog.Logs) error // one a call, then nil
	accepted []string
	pauses   []time.Duration
	dropped  int
	reported []error
	status   []error
	logs     *observer.ObservedLogs
	target   *Target

	now   time.Time // the clock of the outage
	timer func()    // what it wants to be called at due, if that is not nil
	due   time.Time
}

func newBench(retry Retry, answers ...func(plog.Logs) error) *bench {
	b := &bench{answers: answers}
	core, logs := observer.New(zap.InfoLevel)
	b.logs = logs
	logger := zap.New(core)
	b.target = &Target{
		Next: b, Reporter: b, Retry: retry, Logger: logger,
		Outage:    NewOutage(logger, func(err error) { b.status = append(b.status, err) }),
		OnDropped: func(_ context.Context, n int) { b.dropped += n },
		Pause: func(ctx context.Context, d time.Duration) error {
			b.pauses = append(b.pauses, d)
			return ctx.Err()
		},
	}
	b.now = time.Unix(1_700_000_000, 0)
	b.target.Outage.now = func() time.Time { return b.now }
	b.target.Outage.after = func(d time.Duration, f func()) func() bool {
		b.timer, b.due = f, b.now.Add(d)
		return func() bool { was := b.timer != nil; b.timer = nil; return was }
	}
	return b
}

// pass lets time pass.
func (b *bench) pass(d time.Duration) {
	end := b.now.Add(d)
	for b.timer != nil && !b.due.After(end) {
		f := b.timer
		b.now, b.timer = b.due, nil
		f()
	}
	b.now = end
}

func (b *bench) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: b.mutates}
}

func (b *bench) StartLogsOp(ctx context.Context) context.Context { return ctx }

func (b *bench) EndLogsOp(_ context.Context, _ string, _ int, err error) {
	b.reported = append(b.reported, err)
}

func (b *bench) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	if len(b.answers) > 0 {
		answer := b.answers[0]
		b.answers = b.answers[1:]
		if err := answer(logs); err != nil {
			return err
		}
	}
	b.accepted = append(b.accepted, bodies(logs)...)
	return nil
}

func bodies(logs plog.Logs) (out []string) {
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				out = append(out, lr.Body().Str())
			}
		}
	}
	return out
}

func records(texts ...string) plog.Logs {
	logs := plog.NewLogs()
	sl := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	for _, s := range texts {
		sl.LogRecords().AppendEmpty().Body().SetStr(s)
	}
	return logs
}

func (b *bench) send(texts ...string) Outcome {
	return b.target.NewSender().Send(context.Background(), context.Background(), records(texts...))
}

func busy(plog.Logs) error      { return errBusy }
func permanent(plog.Logs) error { return consumererror.NewPermanent(errBusy) }
func panicking(plog.Logs) error { panic("out of order") }

// partly refuses all but the first record.
func partly(logs plog.Logs) error {
	all := bodies(logs)
	return consumererror.NewLogs(errBusy, records(all[1:]...))
}

var endless = Retry{Enabled: true, InitialInterval: time.Second, MaxInterval: 30 * time.Second}

func TestABatchEndsAsItsConsumerAnswers(t *testing.T) {
	for _, c := range []struct {
		name     string
		retry    Retry
		mutates  bool
		answers  []func(plog.Logs) error
		outcome  Outcome
		accepted []string
		dropped  int
		pauses   int
	}{
		{"accepted at once", endless, false, nil, Accepted, []string{"a", "b", "c"}, 0, 0},
		{"accepted after refusals", endless, false, []func(plog.Logs) error{busy, busy, busy}, Accepted, []string{"a", "b", "c"}, 0, 3},
		{"accepted after a panic", endless, false, []func(plog.Logs) error{panicking}, Accepted, []string{"a", "b", "c"}, 0, 1},
		{"only the rest is sent again after a partial refusal", endless, false, []func(plog.Logs) error{partly, partly}, Accepted, []string{"c"}, 0, 2},
		{"also to a consumer that changes the data", endless, true, []func(plog.Logs) error{partly}, Accepted, []string{"b", "c"}, 0, 1},
		{"what a consumer may have changed is read again", endless, true, []func(plog.Logs) error{busy}, Rebuild, nil, 0, 1},
		{"let go without retry", Retry{}, false, []func(plog.Logs) error{busy}, LetGo, nil, 0, 0},
		{"dropped for good", endless, false, []func(plog.Logs) error{permanent}, Dropped, nil, 3, 0},
		{"only what is rejected is counted when the rest was accepted", endless, false, []func(plog.Logs) error{func(logs plog.Logs) error {
			return consumererror.NewPermanent(partly(logs))
		}}, Dropped, nil, 2, 0},
		{"dropped for good after refusals", endless, false, []func(plog.Logs) error{busy, permanent}, Dropped, nil, 3, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(c.retry, c.answers...)
			b.mutates = c.mutates
			require.Equal(t, c.outcome, b.send("a", "b", "c"))
			require.Equal(t, c.accepted, b.accepted)
			require.Equal(t, c.dropped, b.dropped)
			require.Len(t, b.pauses, c.pauses)
			require.Len(t, b.reported, 1, "one report for each batch, however often it is offered")
			require.Equal(t, c.outcome == Accepted, b.reported[0] == nil)
		})
	}
}

func TestAnEmptyBatchIsNotOffered(t *testing.T) {
	b := newBench(endless, permanent)
	require.Equal(t, Accepted, b.send())
	require.Len(t, b.answers, 1)
	require.Empty(t, b.reported)
}

func TestTheElapsedTimeCountsFromTheFirstRefusalAlsoOverRebuilds(t *testing.T) {
	retry := endless
	retry.MaxElapsedTime = time.Nanosecond
	b := newBench(retry, busy, busy, busy)
	b.mutates = true
	s := b.target.NewSender()
	outcome := Rebuild
	for n := 0; outcome == Rebuild; n++ {
		require.Less(t, n, 3)
		outcome = s.Send(context.Background(), context.Background(), records("a"))
	}
	require.Equal(t, LetGo, outcome)
}

func TestPausesGrowByHalfUpToTheLargest(t *testing.T) {
	var answers []func(plog.Logs) error
	for range 20 {
		answers = append(answers, busy)
	}
	b := newBench(endless, answers...)
	require.Equal(t, Accepted, b.send("a"))
	expected := float64(time.Second)
	for _, pause := range b.pauses {
		require.InDelta(t, expected, float64(pause), expected/2+1)
		expected = min(expected*1.5, float64(30*time.Second))
	}
}

func TestAStopEndsThePausesAndNothingIsDropped(t *testing.T) {
	b := newBench(endless, busy)
	pace, stop := context.WithCancel(context.Background())
	stop()
	require.Equal(t, Cancelled, b.target.NewSender().Send(context.Background(), pace, records("a")))
	require.Zero(t, b.dropped)
	require.Empty(t, b.accepted)
}

func TestNothingIsOfferedWhenTheTimeForCallsIsOver(t *testing.T) {
	call, stop := context.WithCancel(context.Background())
	stop()
	b := newBench(endless)
	require.Equal(t, Cancelled, b.target.NewSender().Send(call, context.Background(), records("a")))
	require.Empty(t, b.accepted)
	require.Zero(t, b.dropped)
}

func TestAnAnswerThatComesDuringAStopCounts(t *testing.T) {
	pace, stop := context.WithCancel(context.Background())
	b := newBench(endless, func(plog.Logs) error { stop(); return nil })
	require.Equal(t, Accepted, b.target.NewSender().Send(context.Background(), pace, records("a")))
}

func TestTheSizeOfABatchIsTakenBeforeItIsGivenAway(t *testing.T) {
	b := newBench(endless, func(logs plog.Logs) error {
		logs.ResourceLogs().RemoveIf(func(plog.ResourceLogs) bool { return true })
		return consumererror.NewPermanent(errBusy)
	})
	require.Equal(t, Dropped, b.send("a", "b"))
	require.Equal(t, 2, b.dropped)
}

func TestSleepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, Sleep(ctx, time.Hour), context.Canceled)
	require.NoError(t, Sleep(context.Background(), time.Nanosecond))
}
