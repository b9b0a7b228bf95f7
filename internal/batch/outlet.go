package batch

import (
	"context"
	"sync"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
)

// transit are records that an operator has let go and that are not yet where
// they go to next. The operator owns it; its outlets empty it.
type transit struct {
	ledger *ledger
	mu     sync.Mutex
	tags   []int64 // in the order in which they were let go
}

func (t *transit) add(tag int64) {
	t.mu.Lock()
	t.tags = append(t.tags, tag)
	t.mu.Unlock()
}

// take removes and returns the tags of those entries that are in transit.
func (t *transit) take(entries []*entry.Entry) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.tags) == 0 {
		return nil
	}
	var taken []int64
	at, kept := 0, 0
	for _, e := range entries { // both are in the same order, save for records that passed through
		tag := tagOf(e)
		for i := at; i < len(t.tags); i++ {
			if t.tags[i] == tag {
				kept += copy(t.tags[kept:], t.tags[at:i])
				at = i + 1
				taken = append(taken, tag)
				break
			}
		}
	}
	kept += copy(t.tags[kept:], t.tags[at:])
	t.tags = t.tags[:kept]
	return taken
}

// outlet stands before an output of an operator that holds records. Only when
// the last output has done its work is a record no longer in transit: then it
// is in another operator, in a batch, or gone for good.
type outlet struct {
	operator.Operator
	transit *transit
	last    bool
}

// ProcessBatch hands entries on.
func (o *outlet) ProcessBatch(ctx context.Context, entries []*entry.Entry) error {
	if !o.last {
		return o.Operator.ProcessBatch(ctx, entries)
	}
	taken := o.transit.take(entries) // before: who gets an entry may change it
	if end, ok := o.Operator.(*emitter); ok {
		// A worker may take what a timer lets go as soon as it is there: nothing
		// but its batch may count as a place then.
		end.hold(entries)
		o.transit.ledger.release(taken)
		end.keep(ctx, entries)
		return nil
	}
	defer o.transit.ledger.release(taken)
	return o.Operator.ProcessBatch(ctx, entries)
}

// Process hands one entry on.
func (o *outlet) Process(ctx context.Context, e *entry.Entry) error {
	if !o.last {
		return o.Operator.Process(ctx, e)
	}
	one := [1]*entry.Entry{e}
	if _, ok := o.Operator.(*emitter); ok {
		return o.ProcessBatch(ctx, one[:])
	}
	taken := o.transit.take(one[:])
	defer o.transit.ledger.release(taken)
	return o.Operator.Process(ctx, e)
}

// connect gives an operator its outputs, each behind an outlet.
func (t *transit) connect(op operator.Operator, all []operator.Operator) error {
	ids := op.GetOutputIDs()
	outlets := make([]operator.Operator, 0, len(all))
	for _, output := range all {
		last := len(ids) > 0 && output.ID() == ids[len(ids)-1]
		outlets = append(outlets, &outlet{Operator: output, transit: t, last: last})
	}
	return op.SetOutputs(outlets)
}
