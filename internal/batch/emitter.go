package batch

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
)

// emitterType is upstream's name of the last operator; configurations may name it in `output`.
const emitterType = "batching_log_emitter"

// feedContext carries the list that takes what a worker's own call brings out
// of the pipeline. So any number of workers share one pipeline, and each gets
// the records of its own files back.
type feedContext struct {
	context.Context
	out []*entry.Entry
}

type feedKey struct{}

// Value answers for the feedContext itself.
func (c *feedContext) Value(key any) any {
	if key == (feedKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// emitter is the last operator of a pipeline. What comes out during a worker's
// call goes to that worker; what operators let go on their own, on a timer or
// at their stop, goes to a shared list that any worker may take.
type emitter struct {
	helper.OutputOperator
	ledger *ledger // nil if no operator holds records
	ready  chan struct{}

	mu   sync.Mutex
	late []*entry.Entry // guarded by mu
}

func newEmitter(set component.TelemetrySettings, l *ledger) (*emitter, error) {
	output, err := helper.NewOutputConfig(emitterType, emitterType).Build(set)
	if err != nil {
		return nil, err
	}
	return &emitter{OutputOperator: output, ledger: l, ready: make(chan struct{}, 1)}, nil
}

// ProcessBatch takes what comes out of the pipeline.
func (e *emitter) ProcessBatch(ctx context.Context, entries []*entry.Entry) error {
	e.hold(entries)
	e.keep(ctx, entries)
	return nil
}

// hold counts a place for each entry: the batch that it will be in.
func (e *emitter) hold(entries []*entry.Entry) {
	if e.ledger == nil {
		return
	}
	e.ledger.mu.Lock()
	defer e.ledger.mu.Unlock()
	for _, ent := range entries {
		e.ledger.holdLocked(tagOf(ent))
	}
}

// keep puts entries into the list from which they are taken.
func (e *emitter) keep(ctx context.Context, entries []*entry.Entry) {
	if len(entries) == 0 {
		return
	}
	if feed, ok := ctx.Value(feedKey{}).(*feedContext); ok {
		feed.out = append(feed.out, entries...)
		return
	}
	e.mu.Lock()
	e.late = append(e.late, entries...)
	e.mu.Unlock()
	select {
	case e.ready <- struct{}{}:
	default:
	}
}

// Process takes one record that comes out of the pipeline.
func (e *emitter) Process(ctx context.Context, ent *entry.Entry) error {
	one := [1]*entry.Entry{ent}
	return e.ProcessBatch(ctx, one[:])
}

// takeLate appends the shared list to out and empties it.
func (e *emitter) takeLate(out []*entry.Entry) []*entry.Entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	out = append(out, e.late...)
	clear(e.late)
	e.late = e.late[:0]
	return out
}

// tagOf is the tag of a record in the ledger.
func tagOf(e *entry.Entry) int64 { return e.ObservedTimestamp.UnixNano() }
