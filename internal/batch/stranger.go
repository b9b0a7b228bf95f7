package batch

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
)

// strangerPatience is how long a record that went into an operator of unknown
// type is taken to be in it, unless it comes out before. It is twice the time
// after which stanza's own operators let go of what they hold.
const strangerPatience = 10 * time.Second

// stranger watches an operator of a type that another module registered. It is
// not known whether such an operator holds, combines or drops records, so what
// went in counts as held until it comes out or its time is over.
type stranger struct {
	operator.Operator
	ledger *ledger

	mu     sync.Mutex
	inside map[int64]time.Time // tag to the end of patience; guarded by mu
}

type strangerBuilder struct {
	operator.Builder
	ledger *ledger
}

// Build builds the operator and puts it under watch.
func (b strangerBuilder) Build(set component.TelemetrySettings) (operator.Operator, error) {
	op, err := b.Builder.Build(set)
	if err != nil {
		return nil, err
	}
	return &stranger{Operator: op, ledger: b.ledger, inside: make(map[int64]time.Time)}, nil
}

// SetHost hands the host on, if the operator wants it.
func (s *stranger) SetHost(host component.Host) {
	if setter, ok := s.Operator.(operator.HostSetter); ok {
		setter.SetHost(host)
	}
}

// SetOutputs puts an exit before the last output: what was handed to that one
// was handed to all.
func (s *stranger) SetOutputs(all []operator.Operator) error {
	ids := s.GetOutputIDs()
	exits := make([]operator.Operator, len(all))
	for i, op := range all {
		exits[i] = op
		if len(ids) > 0 && op.ID() == ids[len(ids)-1] {
			exits[i] = &strangerExit{Operator: op, stranger: s}
		}
	}
	return s.Operator.SetOutputs(exits)
}

// ProcessBatch takes note of the entries and hands them on.
func (s *stranger) ProcessBatch(ctx context.Context, entries []*entry.Entry) error {
	s.enter(entries)
	return s.Operator.ProcessBatch(ctx, entries)
}

// Process takes note of the entry and hands it on.
func (s *stranger) Process(ctx context.Context, e *entry.Entry) error {
	one := [1]*entry.Entry{e}
	s.enter(one[:])
	return s.Operator.Process(ctx, e)
}

func (s *stranger) enter(entries []*entry.Entry) {
	end := time.Now().Add(strangerPatience)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		tag := tagOf(e)
		if _, again := s.inside[tag]; !again {
			s.ledger.hold(tag)
		}
		s.inside[tag] = end
	}
}

// expire lets go of what was inside for too long.
func (s *stranger) expire(now time.Time) {
	s.mu.Lock()
	var over []int64
	for tag, end := range s.inside {
		if now.After(end) {
			over = append(over, tag)
			delete(s.inside, tag)
		}
	}
	s.mu.Unlock()
	s.ledger.release(over)
}

// strangerExit stands between a stranger and its last output.
type strangerExit struct {
	operator.Operator
	stranger *stranger
}

// ProcessBatch hands on entries that come out.
func (x *strangerExit) ProcessBatch(ctx context.Context, entries []*entry.Entry) error {
	defer x.stranger.ledger.release(x.left(entries))
	return x.Operator.ProcessBatch(ctx, entries)
}

// Process hands on an entry that comes out.
func (x *strangerExit) Process(ctx context.Context, e *entry.Entry) error {
	one := [1]*entry.Entry{e}
	defer x.stranger.ledger.release(x.left(one[:]))
	return x.Operator.Process(ctx, e)
}

func (x *strangerExit) left(entries []*entry.Entry) []int64 {
	s := x.stranger
	s.mu.Lock()
	defer s.mu.Unlock()
	var tags []int64
	for _, e := range entries {
		if tag := tagOf(e); !s.inside[tag].IsZero() {
			delete(s.inside, tag)
			tags = append(tags, tag)
		}
	}
	return tags
}
