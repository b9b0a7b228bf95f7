package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/featuregate"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/parser/container"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/transformer/recombine"
)

const (
	logtagKey = "logtag" // the attribute that the parser makes of a line's tag
	lastTag   = "F"      // the tag of a whole line, or of the last part of one
)

// heldContainer is stanza's container operator with its memory taken out. The
// parser joins partial lines of container runtimes in a recombine operator of
// its own, which nobody can look into. Here the parser gets to see whole lines
// only - the tag of a partial line is replaced before and put back after - so
// that it hands on every line at once, and the joining is done by a recombine
// operator under observation, configured as the parser configures its own.
//
// Lines in the form that runtimes write are parsed here, without the parser.
//
// The parser must not be called concurrently (it keeps the time layout of the
// line at hand), so there is one for each processor.
type heldContainer struct {
	helper.TransformerOperator // id, `if`, and the outputs for what is not joined
	config                     *container.Config
	onResource                 bool          // the path of a file is on the resource
	format                     runtimeFormat // of lines that need no parser
	paths                      podMetadataCache
	parsers                    chan operator.Operator
	all                        []operator.Operator // the same, to stop them
	merge                      *heldRecombine
}

type containerBuilder struct {
	*container.Config
	ledger     *ledger
	onResource bool // the attributes of files are on the resource
}

// Build builds parsers and recombine operator.
func (b containerBuilder) Build(set component.TelemetrySettings) (operator.Operator, error) {
	transformer, err := b.TransformerConfig.Build(set)
	if err != nil {
		return nil, err
	}
	c := &heldContainer{TransformerOperator: transformer, config: b.Config, onResource: b.onResource, format: newRuntimeFormat(b.Config)}
	count := runtime.GOMAXPROCS(0)
	c.parsers = make(chan operator.Operator, count)
	for range count {
		parser, err := c.buildParser(set)
		if err != nil {
			return nil, err
		}
		c.all = append(c.all, parser)
		c.parsers <- parser
	}
	join := recombine.NewConfigWithID("recombine_container_internal")
	join.IsLastEntry = "attributes." + logtagKey + " == '" + lastTag + "'"
	join.CombineField = entry.NewBodyField()
	join.CombineWith = ""
	join.SourceIdentifier = entry.NewAttributeField(logPathKey)
	join.MaxLogSize = b.MaxLogSize
	join.MaxBatchSize, join.MaxUnmatchedBatchSize = 0, 0 // the size of the line is the only limit
	if c.merge, err = buildRecombine(join, b.ledger, b.onResource, set); err != nil {
		return nil, fmt.Errorf("failed to create internal recombine config: %w", err)
	}
	return c, nil
}

func (c *heldContainer) buildParser(set component.TelemetrySettings) (operator.Operator, error) {
	config := *c.config
	config.IfExpr = ""          // decided here, on the line as it is
	config.MaxLogSize = 1 << 20 // without a meaning for whole lines; 0 would be warned about once per parser
	parser, err := buildSynchronously(&config, set)
	if err != nil {
		return nil, err
	}
	output, err := helper.NewOutputConfig("container_end", "container_end").Build(set)
	if err != nil {
		return nil, err
	}
	end := &containerEnd{OutputOperator: output, container: c}
	parser.SetOutputIDs([]string{end.ID()})
	if err := parser.SetOutputs([]operator.Operator{end}); err != nil {
		return nil, err
	}
	return parser, nil
}

// synchronousGate makes the container parser hand on lines in the call that
// brings them; without it they wait for a timer in a buffer of their own, out
// of sight. The gate is read while the parser is built, so it is switched on for
// that moment only.
const synchronousGate = "stanza.synchronousLogEmitter"

var synchronousGateMu sync.Mutex // guards the moment

func buildSynchronously(builder operator.Builder, set component.TelemetrySettings) (operator.Operator, error) {
	synchronousGateMu.Lock()
	defer synchronousGateMu.Unlock()
	registry := featuregate.GlobalRegistry()
	enabled := false
	registry.VisitAll(func(gate *featuregate.Gate) {
		if gate.ID() == synchronousGate {
			enabled = gate.IsEnabled()
		}
	})
	if !enabled {
		if err := registry.Set(synchronousGate, true); err != nil {
			return nil, fmt.Errorf("operator '%s': its lines cannot be followed: %w", builder.ID(), err)
		}
		defer func() { _ = registry.Set(synchronousGate, false) }() // it could be set above, so it can be set here
	}
	return builder.Build(set)
}

// SetOutputs connects what is joined and what is not to the same outputs.
func (c *heldContainer) SetOutputs(all []operator.Operator) error {
	if err := c.TransformerOperator.SetOutputs(all); err != nil {
		return err
	}
	c.merge.SetOutputIDs(c.GetOutputIDs())
	return c.merge.SetOutputs(all)
}

// Start starts the joining; the parsers start what they need with the first line.
func (c *heldContainer) Start(persister operator.Persister) error {
	return c.merge.Start(persister)
}

// Stop stops the parsers and hands on what is not joined yet.
func (c *heldContainer) Stop() error {
	var errs []error
	for _, parser := range c.all {
		errs = append(errs, parser.Stop())
	}
	return errors.Join(append(errs, c.merge.Stop())...)
}

// Process parses one line.
func (c *heldContainer) Process(ctx context.Context, e *entry.Entry) error {
	one := [1]*entry.Entry{e}
	return c.ProcessBatch(ctx, one[:])
}

// processOthers parses and hands on lines with the help of stanza's parser.
func (c *heldContainer) processOthers(ctx context.Context, entries []*entry.Entry) error {
	call := containerCallPool.Get().(*containerCall)
	defer call.recycle()
	call.Context = ctx
	var errs []error
	partial := false
	for _, e := range entries {
		if line, ok := c.lineOf(e); ok {
			partial = partial || line.tag != lastTag
			call.lines = append(call.lines, line)
		}
	}
	join := partial || !c.merge.holdsNothing()
	if partial {
		for i := range call.lines {
			c.disguise(&call.lines[i])
		}
	}
	if c.onResource {
		call.lent = lendPaths(call.lent, entries)
	}
	parser := <-c.parsers
	err := parser.ProcessBatch(call, entries)
	c.parsers <- parser
	for _, e := range call.lent {
		delete(e.Attributes, logPathKey)
	}
	errs = append(errs, err)

	if !join {
		call.direct = append(call.direct, call.out...)
	} else {
		joinable := c.sort(call)
		if len(joinable) > 0 {
			errs = append(errs, c.merge.ProcessBatch(ctx, joinable))
		}
	}
	if len(call.direct) > 0 {
		errs = append(errs, c.WriteBatch(ctx, call.direct))
	}
	return errors.Join(errs...)
}

// containerLine is a line of a runtime that may part lines: "time stream tag text".
type containerLine struct {
	entry     *entry.Entry
	raw       string
	tag       string // part of raw
	at        int    // where in raw
	disguised string // raw with another tag, "" if it was not changed
}

// lineOf takes a line apart, as far as it is needed to find its tag.
func (c *heldContainer) lineOf(e *entry.Entry) (containerLine, bool) {
	value, _ := e.Get(c.config.ParseFrom)
	raw, ok := value.(string)
	if !ok || c.config.Format == "docker" || (c.config.Format == "" && strings.HasPrefix(raw, "{")) {
		return containerLine{}, false
	}
	stream := strings.IndexByte(raw, ' ') + 1
	if stream == 0 {
		return containerLine{}, false
	}
	length := strings.IndexByte(raw[stream:], ' ')
	if length < 0 {
		return containerLine{}, false
	}
	if s := raw[stream : stream+length]; s != "stdout" && s != "stderr" {
		return containerLine{}, false
	}
	at := stream + length + 1
	tag := raw[at:]
	if end := strings.IndexByte(tag, ' '); end >= 0 {
		tag = tag[:end]
	}
	return containerLine{entry: e, raw: raw, tag: tag, at: at}, true
}

// disguise makes a partial line look whole.
func (c *heldContainer) disguise(line *containerLine) {
	if line.tag == lastTag {
		return
	}
	disguised := line.raw[:line.at] + lastTag + line.raw[line.at+len(line.tag):]
	if line.entry.Set(c.config.ParseFrom, disguised) == nil {
		line.disguised = disguised
	}
}

// sort gives lines their own tags back and returns those that are to be joined.
// The others - docker's, and those that could not be parsed - go directly.
func (c *heldContainer) sort(call *containerCall) []*entry.Entry {
	joinable := make([]*entry.Entry, 0, len(call.out))
	next := 0
	for _, e := range call.out {
		line := call.lineOf(e, &next)
		if line == nil {
			call.direct = append(call.direct, e)
			continue
		}
		if line.disguised != "" {
			if value, _ := e.Get(c.config.ParseFrom); value == line.disguised {
				_ = e.Set(c.config.ParseFrom, line.raw) // it could be set before
			}
			if e.Attributes[logtagKey] == lastTagValue {
				e.Attributes[logtagKey] = line.tag
			}
		}
		if c.wasParsed(e) {
			joinable = append(joinable, e)
		} else {
			call.direct = append(call.direct, e)
		}
	}
	return joinable
}

// wasParsed tells whether a line went through the parser without an error:
// what the parser does last has been done.
func (c *heldContainer) wasParsed(e *entry.Entry) bool {
	if _, ok := e.Attributes[logtagKey]; !ok {
		return false
	}
	if _, unfinished := e.Attributes["time"]; unfinished {
		return false
	}
	if _, ok := e.Attributes["log.iostream"]; !ok {
		return false
	}
	if !c.config.AddMetadataFromFilePath {
		return true
	}
	_, ok := e.Resource["k8s.container.restart_count"]
	return ok
}

// containerCall is one call of a container operator. It carries itself to the
// parser's end in the context, where the parsed lines are put into it.
type containerCall struct {
	context.Context
	lines  []containerLine
	out    []*entry.Entry // what the parser handed on
	lent   []*entry.Entry // those that carry the path of their file for the parser only
	direct []*entry.Entry // what goes to the outputs without being joined
	run    containerRun
}

type containerKey struct{}

var containerCallPool = sync.Pool{New: func() any { return new(containerCall) }}

// Value answers for the containerCall itself.
func (c *containerCall) Value(key any) any {
	if key == (containerKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func (c *containerCall) recycle() {
	c.run.kind, c.run.source, c.run.metadata = straightLine, "", nil
	c.run.line = runtimeLine{buffer: c.run.line.buffer}
	clear(c.lines)
	clear(c.out)
	clear(c.lent)
	clear(c.direct)
	c.Context, c.lines, c.out, c.lent, c.direct = nil, c.lines[:0], c.out[:0], c.lent[:0], c.direct[:0]
	containerCallPool.Put(c)
}

// lineOf finds the line of an entry. Entries come out in the order in which they
// went in, save for those that could not be parsed; next is where to look first.
func (c *containerCall) lineOf(e *entry.Entry, next *int) *containerLine {
	for i := range c.lines {
		if at := (*next + i) % len(c.lines); c.lines[at].entry == e {
			*next = at + 1
			return &c.lines[at]
		}
	}
	return nil
}

// containerEnd is the only output of the parsers. It never stands in the
// pipeline, so no configuration can name it.
type containerEnd struct {
	helper.OutputOperator
	container *heldContainer
}

// ProcessBatch keeps the lines for the call that brought them.
func (x *containerEnd) ProcessBatch(ctx context.Context, entries []*entry.Entry) error {
	if call, ok := ctx.Value(containerKey{}).(*containerCall); ok {
		call.out = append(call.out, entries...)
		return nil
	}
	return x.container.WriteBatch(ctx, entries)
}

// Process keeps one line for the call that brought it.
func (x *containerEnd) Process(ctx context.Context, e *entry.Entry) error {
	one := [1]*entry.Entry{e}
	return x.ProcessBatch(ctx, one[:])
}
