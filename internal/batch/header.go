package batch

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/parser/container"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/transformer/recombine"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/pipeline"
)

// HeaderConfig describes the lines at the beginning of a file that say
// something about the file instead of being records.
type HeaderConfig struct {
	Pattern           string            // `header.pattern`: a line that matches belongs to the header
	MetadataOperators []operator.Config // `header.metadata_operators`: they make attributes of such a line
}

var errNoMetadataOperators = errors.New("at least one operator must be specified for `metadata_operators`")

// headerEmitterType is upstream's name of the last operator of a header's pipeline.
const headerEmitterType = "header_log_emitter"

// headerPatience is how much longer than an operator's own limit a header line
// is waited for, when there is an operator that holds lines back.
const headerPatience = 2 * time.Second

// HeaderParser makes attributes of the header lines of files. It is safe for
// concurrent use; lines are parsed one at a time, for there are few of them.
// Call order: Start, Line as often as needed, Stop.
type HeaderParser struct {
	pattern *regexp.Regexp
	graph   *pipeline.DirectedPipeline
	first   operator.Operator
	end     *headerEnd
	wait    time.Duration // how long operators may hold a line back; 0: none of them does

	mu sync.Mutex // one line at a time
}

// Build builds the operators. Its errors are upstream's. A parser that is never
// started has to be abandoned.
func (c *HeaderConfig) Build(set component.TelemetrySettings) (*HeaderParser, error) {
	h, err := c.build(set)
	if err != nil {
		return nil, fmt.Errorf("invalid config for 'header': %w", err)
	}
	return h, nil
}

func (c *HeaderConfig) build(set component.TelemetrySettings) (_ *HeaderParser, err error) {
	if len(c.MetadataOperators) == 0 {
		return nil, errNoMetadataOperators
	}
	output, err := helper.NewOutputConfig(headerEmitterType, headerEmitterType).Build(set)
	if err != nil {
		return nil, err
	}
	h := &HeaderParser{end: &headerEnd{OutputOperator: output, records: make(chan *entry.Entry, 1)}}
	operators := make([]operator.Config, 0, len(c.MetadataOperators))
	for _, config := range c.MetadataOperators {
		if config.Builder == nil {
			return nil, errors.New("failed to build pipelines: an operator has no configuration")
		}
		switch b := config.Builder.(type) {
		case *recombine.Config:
			if b.ForceFlushTimeout < 5*time.Nanosecond {
				return nil, fmt.Errorf("failed to build pipelines: operator '%s': 'force_flush_period' must be positive", b.ID())
			}
			h.wait += b.ForceFlushTimeout + b.ForceFlushTimeout/5 + headerPatience
		case *container.Config:
			h.wait += 6*time.Second + headerPatience // its own limit cannot be set
		}
		operators = append(operators, operator.NewConfig(guardedBuilder{config.Builder}))
	}
	var built []operator.Operator
	note(operators, &built)
	defer func() {
		if err != nil {
			_ = abandon(built)
		}
	}()
	h.graph, err = pipeline.Config{Operators: operators, DefaultOutput: h.end}.Build(set)
	if err != nil {
		return nil, fmt.Errorf("failed to build pipelines: %w", err)
	}
	all := h.graph.Operators()
	for _, op := range all {
		if op.Type() == headerEmitterType {
			continue
		}
		if err := unfitForHeader(op); err != nil {
			return nil, err
		}
	}
	h.first = all[0]
	if h.pattern, err = regexp.Compile(c.Pattern); err != nil {
		return nil, fmt.Errorf("failed to compile `pattern`: %w", err)
	}
	return h, nil
}

// unfitForHeader tells why an operator cannot be in a header's pipeline, if so.
func unfitForHeader(op operator.Operator) error {
	switch {
	case !op.CanProcess():
		return fmt.Errorf("operator '%s' in `metadata_operators` cannot process entries", op.ID())
	case !op.CanOutput():
		return fmt.Errorf("operator '%s' in `metadata_operators` does not propagate entries", op.ID())
	case op.Type() == "filter":
		return errors.New("operator of type filter is not allowed in `metadata_operators`")
	}
	return nil
}

// Start starts the operators. They have no storage.
func (h *HeaderParser) Start() error {
	if err := h.graph.Start(storage.NewNopClient()); err != nil {
		return fmt.Errorf("failed to start header pipeline: %w", err)
	}
	return nil
}

// Stop stops the operators.
func (h *HeaderParser) Stop() error { return h.graph.Stop() }

// Line tells whether line, without its line ending, belongs to the header, and
// which attributes it gives. With matched false the header is over and the line
// is content. An error tells what operators could not do with the line; they
// have logged it, and attributes are what they made of it nevertheless. An
// operator that drops the line leaves no attributes.
func (h *HeaderParser) Line(ctx context.Context, line string) (attributes map[string]any, matched bool, err error) {
	if !h.pattern.MatchString(line) {
		return nil, false, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end.discard() // what an earlier line may have left
	e := entry.New()
	e.Body = line
	err = h.first.Process(ctx, e)
	record := h.end.poll()
	if record == nil && h.wait > 0 {
		record = h.end.await(ctx, h.wait)
	}
	if record == nil {
		return nil, true, errors.Join(err, ctx.Err())
	}
	return record.Attributes, true, err
}

// headerEnd is the last operator of a header's pipeline. It keeps the first
// record that a line makes; an operator may report an error and hand on the
// record nevertheless, or hand on several.
type headerEnd struct {
	helper.OutputOperator
	records chan *entry.Entry
}

// ProcessBatch keeps the first of the entries.
func (o *headerEnd) ProcessBatch(ctx context.Context, entries []*entry.Entry) error {
	for _, e := range entries {
		_ = o.Process(ctx, e)
	}
	return nil
}

// Process keeps the entry, unless there is one already.
func (o *headerEnd) Process(_ context.Context, e *entry.Entry) error {
	select {
	case o.records <- e:
	default:
	}
	return nil
}

func (o *headerEnd) discard() { o.poll() }

func (o *headerEnd) poll() *entry.Entry {
	select {
	case e := <-o.records:
		return e
	default:
		return nil
	}
}

func (o *headerEnd) await(ctx context.Context, limit time.Duration) *entry.Entry {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case e := <-o.records:
		return e
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}
