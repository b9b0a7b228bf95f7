package batch

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/parser/container"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/transformer/recombine"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/pipeline"
)

// PipelineConfig describes what happens to records between the file and the consumer.
type PipelineConfig struct {
	// Settings are what records have in common. Its Attributes and Resource are
	// filled in from the fields of the same names here; what is in them is left.
	Settings Settings

	InputID   string   // `id`, the operator id of the input; "" is the type
	InputType string   // `type`; "" is an error, as upstream has it
	Output    []string // `output`, operator ids; none is the first of Operators

	// Attributes and Resource are put on each record; values may hold EXPR(...).
	Attributes map[string]helper.ExprStringConfig
	Resource   map[string]helper.ExprStringConfig

	Operators []operator.Config
}

// IsDirect tells whether records need no pipeline: no operators, no other
// output than the consumer, and nothing to compute for each record. They can go
// through an Assembler made from Constants.
func (c *PipelineConfig) IsDirect() bool {
	return len(c.Operators) == 0 && len(c.Output) == 0 && !hasExpression(c.Attributes) && !hasExpression(c.Resource)
}

// Constants are the settings with those attributes and resource attributes that are the same for all records.
func (c *PipelineConfig) Constants() Settings {
	set := c.Settings
	set.Attributes = constants(set.Attributes, c.Attributes)
	set.Resource = constants(set.Resource, c.Resource)
	return set
}

func constants(have map[string]string, values map[string]helper.ExprStringConfig) map[string]string {
	all := maps.Clone(have)
	for k, v := range values {
		if isExpression(v) {
			continue
		}
		if all == nil {
			all = make(map[string]string)
		}
		all[k] = string(v)
	}
	return all
}

// isExpression errs on the side of yes: what only looks like an expression is rendered as the text it is.
func isExpression(v helper.ExprStringConfig) bool { return strings.Contains(string(v), "EXPR(") }

func hasExpression(values map[string]helper.ExprStringConfig) bool {
	for _, v := range values {
		if isExpression(v) {
			return true
		}
	}
	return false
}

// Pipeline is a chain of stanza operators between workers and batches. Any
// number of workers feed it, each through a Feeder of its own.
//
// Call order: Start, then feeding; when the workers have stopped feeding, Stop,
// which makes operators let go of what they hold; then one Drain by any Feeder,
// whose batch is delivered like the others. After that nothing is held. Held,
// Resume, Forget, Rest, Expect, GiveBack and Ready may be called at any time by anybody.
type Pipeline struct {
	set       Settings
	exprs     expressions
	input     *helper.InputOperator
	emitter   *emitter
	graph     *pipeline.DirectedPipeline
	ledger    *ledger // nil if no operator holds records: then a record is settled when it was accepted
	strangers []*stranger
	straight  *straightWay // nil: every record goes through the operators
	recycles  bool         // an entry that came out is nobody else's, so it may be used again
	started   bool         // Start has succeeded
}

// Build builds the operators. Its errors are upstream's. It changes the ids of
// operators of equal types, as upstream does; building twice is harmless. A
// pipeline that is never started has to be abandoned.
func (c *PipelineConfig) Build(set component.TelemetrySettings) (_ *Pipeline, err error) {
	p := &Pipeline{set: c.Constants()}
	input, operators := c.operators()
	if p.ledger, err = c.observe(operators); err != nil {
		return nil, err
	}
	var built []operator.Operator
	note(operators, &built)
	defer func() {
		if err != nil {
			_ = abandon(built)
		}
	}()
	if p.emitter, err = newEmitter(set, p.ledger); err != nil {
		return nil, err
	}
	if p.graph, err = (pipeline.Config{Operators: operators, DefaultOutput: p.emitter}).Build(set); err != nil {
		return nil, err
	}
	if p.exprs, err = newExpressions(c); err != nil { // the input has checked them, too
		return nil, err
	}
	p.recycles = true
	for _, op := range p.graph.Operators() {
		if op.Type() == "router" {
			p.recycles = false
		}
		switch op := op.(type) {
		case *helper.InputOperator:
			if op.ID() == input.ID() {
				p.input = op
			}
		case *stranger:
			p.strangers = append(p.strangers, op)
			p.recycles = false
		}
	}
	if p.input == nil {
		return nil, fmt.Errorf("operator '%s' is not part of the pipeline", input.ID())
	}
	p.straight = newStraightWay(p)
	return p, nil
}

// operators are the input and, behind it, the configured ones.
func (c *PipelineConfig) operators() (input *inputConfig, all []operator.Config) {
	input = newInputConfig(c.InputID, c.InputType)
	input.OutputIDs = c.Output
	input.Attributes, input.Resource = c.Attributes, c.Resource
	all = make([]operator.Config, 0, 1+len(c.Operators))
	all = append(all, operator.NewConfig(input))
	return input, append(all, c.Operators...)
}

// observe puts those operators under observation that may hold records, and
// guards all against panics while they are built. Without such an operator
// there is no ledger.
func (c *PipelineConfig) observe(operators []operator.Config) (*ledger, error) {
	var l *ledger
	need := func() *ledger {
		if l == nil {
			l = newLedger()
		}
		return l
	}
	for i, config := range operators {
		if config.Builder == nil {
			return nil, fmt.Errorf("operator %d has no configuration", i)
		}
		builder := config.Builder
		switch b := builder.(type) {
		case *recombine.Config:
			builder = recombineBuilder{b, need(), c.Settings.FileAttributesOnResource}
		case *container.Config:
			builder = containerBuilder{b, need(), c.Settings.FileAttributesOnResource}
		default:
			if !passingTypes[b.Type()] && b.Type() != "" && i > 0 {
				builder = strangerBuilder{b, need()}
			}
		}
		operators[i].Builder = guardedBuilder{builder}
	}
	return l, nil
}

// guardedBuilder turns a panic into an error: a configuration never ends the process.
type guardedBuilder struct{ operator.Builder }

// Build builds the operator.
func (b guardedBuilder) Build(set component.TelemetrySettings) (op operator.Operator, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			op, err = nil, fmt.Errorf("operator '%s' cannot be built from its configuration: %v", b.ID(), cause)
		}
	}()
	return b.Builder.Build(set)
}

// Start starts the operators, the last first. Each gets a scope of its own,
// "<operator id>.", in the persister; nil stands for one that keeps nothing.
func (p *Pipeline) Start(host component.Host, persister operator.Persister) error {
	if persister == nil {
		persister = storage.NewNopClient()
	}
	for _, op := range p.graph.Operators() {
		if setter, ok := op.(operator.HostSetter); ok {
			setter.SetHost(host)
		}
	}
	if err := p.graph.Start(persister); err != nil {
		return err
	}
	p.started = true
	return nil
}

// Stop stops the operators, the first one first. What they held comes out; it
// waits for the next Drain.
func (p *Pipeline) Stop() error { return p.graph.Stop() }

// Ready has an element when operators let go of records on their own and no
// Feeder has taken them yet: somebody should Drain.
func (p *Pipeline) Ready() <-chan struct{} { return p.emitter.ready }

// NewFileAttributes prepares the attributes of a file for this pipeline.
func (p *Pipeline) NewFileAttributes(own map[string]any) *FileAttributes {
	a := p.set.NewFileAttributes(own)
	if p.straight != nil {
		a.straight = p.straight.file(a)
	}
	return a
}

// Holds tells whether any operator may hold records at all. If not, Held always says no.
func (p *Pipeline) Holds() bool { return p.ledger != nil }

// Held returns the position before the oldest record of a file that is not
// accepted, dropped or combined into an accepted one. Unless held is false, the
// file's committed position must not be behind it.
func (p *Pipeline) Held(file uint64) (oldest Position, held bool) {
	if p.ledger == nil {
		return Position{}, false
	}
	if len(p.strangers) > 0 {
		now := time.Now()
		for _, s := range p.strangers {
			s.expire(now)
		}
	}
	return p.ledger.held(file)
}

// Resume has to be asked before a file's next turn. When records of the file
// were refused, it returns where to go on reading, once; what the pipeline still
// holds of the records from there on is then left out when it comes.
func (p *Pipeline) Resume(file uint64) (at Position, again bool) {
	if p.ledger == nil {
		return Position{}, false
	}
	return p.ledger.resume(file)
}

// Forget is for a file that will not be read any more: a refusal of its records
// is not remembered. What is held of it still comes out.
func (p *Pipeline) Forget(file uint64) {
	if p.ledger != nil {
		p.ledger.resume(file)
		p.ledger.rest(file, true)
	}
}
