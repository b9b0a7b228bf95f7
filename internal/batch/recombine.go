package batch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/transformer/recombine"
)

// heldRecombine is stanza's recombine operator under observation. The operator
// reads its source_identifier and its combine_field through entry.Field, an
// interface, and does so at exactly the moments that matter: it reads the
// source to choose a group, reads the combine_field when a record joins the
// group, and sets it on the record that stands for the whole group when it lets
// go of it. Fields of our own see all three, whether a record, a size limit, a
// timer or the stop is the cause. The operator calls them under its own lock.
type heldRecombine struct {
	operator.Operator
	transit *transit
	ledger  *ledger
	source  entry.Field   // as configured
	combine entry.Field   // as configured
	period  time.Duration // after which the operator's timer lets a group go

	// groups are the operator's groups with the tags of their members. Both are
	// guarded by the operator's lock, under which the fields are called.
	groups map[string]*heldGroup
	next   *heldGroup // the group that the record at hand will join

	open atomic.Int64 // groups that have members

	sourcesMu sync.Mutex
	sources   map[string]int // groups that have members by source, guarded by sourcesMu
}

type heldGroup struct {
	key      string
	source   string
	members  []int64
	expected time.Time // when the timer came and the rest of the group was still to be read; zero: never
}

// recombineBuilder builds a heldRecombine in the place of a recombine operator.
type recombineBuilder struct {
	*recombine.Config
	ledger     *ledger
	onResource bool // the attributes of files are on the resource
}

// Build checks what would make the operator panic, and builds it.
func (b recombineBuilder) Build(set component.TelemetrySettings) (operator.Operator, error) {
	return buildRecombine(b.Config, b.ledger, b.onResource, set)
}

func buildRecombine(config *recombine.Config, l *ledger, onResource bool, set component.TelemetrySettings) (*heldRecombine, error) {
	// A fifth of it is the operator's timer, which has to be positive.
	if config.ForceFlushTimeout < 5*time.Nanosecond {
		return nil, fmt.Errorf("operator '%s': 'force_flush_period' must be positive", config.ID())
	}
	h := &heldRecombine{
		transit: &transit{ledger: l},
		ledger:  l,
		source:  config.SourceIdentifier,
		combine: config.CombineField,
		period:  config.ForceFlushTimeout,
		groups:  make(map[string]*heldGroup),
		sources: make(map[string]int),
	}
	observed := *config
	if h.source.FieldInterface == nil {
		h.source = entry.NewAttributeField(logPathKey)
	}
	if onResource {
		h.source = orOnResource(h.source)
	}
	observed.SourceIdentifier = entry.Field{FieldInterface: sourceField{h.source.FieldInterface, h}}
	if h.combine.FieldInterface != nil {
		observed.CombineField = entry.Field{FieldInterface: combineField{h.combine.FieldInterface, h}}
	}
	set.Logger = withoutExpected(set.Logger)
	op, err := observed.Build(set)
	if err != nil {
		return nil, err
	}
	h.Operator = op
	return h, nil
}

// SetOutputs puts an outlet before each output.
func (h *heldRecombine) SetOutputs(all []operator.Operator) error {
	return h.transit.connect(h.Operator, all)
}

// ProcessBatch feeds the operator.
func (h *heldRecombine) ProcessBatch(ctx context.Context, entries []*entry.Entry) error {
	return h.Operator.ProcessBatch(ctx, entries)
}

// Process feeds the operator with one record.
func (h *heldRecombine) Process(ctx context.Context, e *entry.Entry) error {
	return h.Operator.Process(ctx, e)
}

// Stop makes the operator let go of everything.
func (h *heldRecombine) Stop() error { return h.Operator.Stop() }

// sourceOf is the source of a record.
func (h *heldRecombine) sourceOf(e *entry.Entry) (source string) {
	value, _ := h.source.Get(e)
	switch value := value.(type) {
	case string:
		source = value
	case []byte:
		source = string(value)
	}
	if source == "" {
		return recombine.DefaultSourceIdentifier
	}
	return source
}

// key is the name of the group that a record of this source belongs to. Records
// that are read again after a refusal do not mix with what is left from the first time.
func (h *heldRecombine) key(source string, e *entry.Entry) string {
	if epoch := h.ledger.epochOf(tagOf(e)); epoch > 0 {
		return source + "\x00" + strconv.FormatUint(uint64(epoch), 10)
	}
	return source
}

func (h *heldRecombine) group(source, key string) *heldGroup {
	if h.next != nil && h.next.key == key {
		return h.next
	}
	g := h.groups[key]
	if g == nil {
		g = &heldGroup{key: key, source: source}
		h.groups[key] = g
	}
	return g
}

// joined takes note that the operator holds a record from now on.
func (h *heldRecombine) joined(e *entry.Entry) {
	tag := tagOf(e)
	h.ledger.hold(tag)
	if len(h.next.members) == 0 {
		h.opened(h.next, 1)
	}
	h.next.members = append(h.next.members, tag)
}

// letGo takes note that the operator hands on the group of which base is the record.
func (h *heldRecombine) letGo(key string, base int64) {
	g := h.groups[key]
	if g == nil || len(g.members) == 0 {
		return
	}
	h.transit.add(base)
	others := slices.DeleteFunc(g.members, func(tag int64) bool { return tag == base })
	if len(others) > 0 {
		h.ledger.absorb(base, others)
	}
	g.members, g.expected = g.members[:0], time.Time{}
	h.opened(g, -1)
	if g != h.next {
		delete(h.groups, key)
	}
}

// opened takes note that one group more, or one less, has members.
func (h *heldRecombine) opened(g *heldGroup, more int) {
	h.sourcesMu.Lock()
	defer h.sourcesMu.Unlock()
	h.open.Add(int64(more))
	if h.sources[g.source] += more; h.sources[g.source] == 0 {
		delete(h.sources, g.source)
	}
}

// isOpen tells whether a group of this source has members, be it that of
// records which will be read again. Between calls that feed records of the
// source it can only become false.
func (h *heldRecombine) isOpen(source string) bool {
	if h.holdsNothing() {
		return false
	}
	h.sourcesMu.Lock()
	defer h.sourcesMu.Unlock()
	return h.sources[source] > 0
}

// holdsNothing tells whether no group has members. Between calls that feed the
// operator it can only become true: by a timer that lets a group go.
func (h *heldRecombine) holdsNothing() bool { return h.open.Load() == 0 }

// sourceField is the source_identifier under observation.
type sourceField struct {
	entry.FieldInterface
	h *heldRecombine
}

// Get is called when the operator looks for the group of a record.
func (f sourceField) Get(e *entry.Entry) (any, bool) {
	source := f.h.sourceOf(e)
	key := f.h.key(source, e)
	g := f.h.group(source, key)
	if last := f.h.next; last != nil && last != g && len(last.members) == 0 {
		delete(f.h.groups, last.key)
	}
	f.h.next = g
	if key != source {
		return key, true
	}
	return f.FieldInterface.Get(e)
}

// combineField is the combine_field under observation.
type combineField struct {
	entry.FieldInterface
	h *heldRecombine
}

// Get is called when a record joins the group that was looked for last.
func (f combineField) Get(e *entry.Entry) (any, bool) {
	f.h.joined(e)
	return f.FieldInterface.Get(e)
}

// Set is called when the group is let go, with the record that stands for it.
func (f combineField) Set(e *entry.Entry, value any) error {
	key := f.h.key(f.h.sourceOf(e), e) // before the value changes: it may be the source, too
	if f.h.keeps(f.h.groups[key]) {
		return errExpected
	}
	base := tagOf(e)
	if err := f.FieldInterface.Set(e, value); err != nil {
		return err
	}
	f.h.letGo(key, base)
	return nil
}
