package deliver

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
)

// both is what two exporters of a pipeline answer.
func both(one, other func(plog.Logs) error) func(plog.Logs) error {
	return func(logs plog.Logs) error { return errors.Join(one(logs), other(logs)) }
}

func accepting(plog.Logs) error { return nil }

func partlyForGood(logs plog.Logs) error { return consumererror.NewPermanent(partly(logs)) }

func TestABatchForSeveralConsumersIsOfferedUntilNoneMayTakeItAnyMore(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []func(plog.Logs) error
		outcome Outcome
		offered []int // the sizes of what was offered
		dropped int
	}{
		{"one rejects, the other refuses once", []func(plog.Logs) error{both(permanent, busy), both(permanent, accepting)}, Dropped, []int{3, 3}, 3},
		{"one refuses once, the other rejects", []func(plog.Logs) error{both(busy, permanent), both(accepting, permanent)}, Dropped, []int{3, 3}, 3},
		{"one rejects until the other takes it", []func(plog.Logs) error{both(permanent, busy)}, Accepted, []int{3, 3}, 0},
		{"both reject", []func(plog.Logs) error{both(permanent, permanent)}, Dropped, []int{3}, 3},
		{"both reject, one of them in part", []func(plog.Logs) error{both(partlyForGood, permanent)}, Dropped, []int{3}, 3},
		{"one takes a part, the other nothing", []func(plog.Logs) error{both(partly, busy)}, Accepted, []int{3, 3}, 0},
		{"one takes nothing, the other a part", []func(plog.Logs) error{both(busy, partly)}, Accepted, []int{3, 3}, 0},
		{"each takes a part of its own", []func(plog.Logs) error{both(partly, partly)}, Accepted, []int{3, 3}, 0},
		{"three of which one takes a part", []func(plog.Logs) error{both(partly, both(partly, busy))}, Accepted, []int{3, 3}, 0},
		{"one takes a part, the other all", []func(plog.Logs) error{both(partly, accepting)}, Accepted, []int{3, 2}, 0},
		{"one takes a part, the other rejects", []func(plog.Logs) error{both(partly, permanent), both(accepting, permanent)}, Dropped, []int{3, 2}, 3},
		{"one is left with nothing, the other rejects", []func(plog.Logs) error{both(func(plog.Logs) error {
			return consumererror.NewLogs(errBusy, plog.NewLogs())
		}, permanent)}, Accepted, []int{3, 3}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(endless)
			var offered []int
			for _, answer := range append(c.answers, accepting) {
				b.answers = append(b.answers, func(logs plog.Logs) error {
					offered = append(offered, logs.LogRecordCount())
					return answer(logs)
				})
			}
			require.Equal(t, c.outcome, b.send("a", "b", "c"))
			require.Equal(t, c.offered, offered)
			require.Equal(t, c.dropped, b.dropped)
		})
	}
}

func TestAnErrorIsPermanentWhenAllOfItIs(t *testing.T) {
	perm := consumererror.NewPermanent(errBusy)
	rest := records("c")
	same := consumererror.NewLogs(errBusy, rest)
	for _, c := range []struct {
		name               string
		err                error
		permanent, partial bool
	}{
		{"plain", errBusy, false, false},
		{"permanent", perm, true, false},
		{"permanent below another", fmt.Errorf("exporter: %w", perm), true, false},
		{"a list below permanent", consumererror.NewPermanent(errors.Join(errBusy, errBusy)), true, false},
		{"a list of permanent ones below another", fmt.Errorf("exporters: %w", errors.Join(perm, perm)), true, false},
		{"a list within a list", errors.Join(perm, fmt.Errorf("exporters: %w", errors.Join(perm, errBusy))), false, false},
		{"partial", same, false, true},
		{"partial and permanent", consumererror.NewLogs(perm, rest), true, false},
		{"partial below permanent", consumererror.NewPermanent(same), true, false},
		{"partial for several of which one is permanent", consumererror.NewLogs(errors.Join(perm, errBusy), rest), false, true},
		{"partial for several that are permanent", consumererror.NewLogs(errors.Join(perm, perm), rest), true, false},
		{"the same part twice", errors.Join(same, fmt.Errorf("again: %w", same)), false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := read(c.err, 3)
			require.Equal(t, c.permanent, said.permanent)
			require.Equal(t, c.partial, said.partial)
			if c.partial {
				require.Equal(t, rest, said.rest)
			}
		})
	}
}
