package batch

import (
	"context"
	"errors"
	"maps"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
)

// lineKind is the way that a line goes through a container operator.
type lineKind uint8

const (
	straightLine lineKind = iota // parsed, and whole: to the outputs
	partLine                     // parsed, and to be joined to others
	otherLine                    // for stanza's parser
)

// containerRun is a row of lines of one kind that follow each other. Kinds take
// turns run by run, so that lines keep their order. Stanza's parser puts lines
// of CRI before all others that it gets in one call; the few odd lines among
// common ones go to it one by one.
type containerRun struct {
	kind    lineKind
	entries []*entry.Entry
	line    runtimeLine

	// What was found out about the last lines:
	path     string // of the file
	metadata map[string]any
	source   string // which group lines are joined in
	joining  bool   // lines of the source are joined until one is the last
}

// values that would be allocated for each line otherwise
var (
	stdoutValue  any = stdoutName
	stderrValue  any = stderrName
	lastTagValue any = lastTag
)

// ProcessBatch parses lines, joins those of runtimes that part them, and hands them on.
func (c *heldContainer) ProcessBatch(ctx context.Context, entries []*entry.Entry) error {
	call := containerCallPool.Get().(*containerCall)
	defer call.recycle()
	run := &call.run
	var errs []error
	add := func(kind lineKind, e *entry.Entry) {
		if len(run.entries) > 0 && (kind != run.kind || kind == otherLine && c.format.any()) {
			errs = append(errs, c.endRun(ctx, run))
		}
		run.kind = kind
		run.entries = append(run.entries, e)
	}
	for _, e := range entries {
		skip := false
		if c.IfExpr != nil {
			var err error
			if skip, err = c.Skip(ctx, e); err != nil {
				errs = append(errs, c.HandleEntryErrorWithWrite(ctx, e, err, func(_ context.Context, e *entry.Entry) error {
					add(straightLine, e)
					return nil
				}))
				continue
			}
		}
		switch {
		case skip:
			add(straightLine, e)
		case !c.parse(e, run):
			add(otherLine, e)
		default:
			add(c.kindOf(ctx, e, run, &errs), e)
		}
	}
	if len(run.entries) > 0 {
		errs = append(errs, c.endRun(ctx, run))
	}
	return errors.Join(errs...)
}

func (c *heldContainer) endRun(ctx context.Context, run *containerRun) (err error) {
	switch run.kind {
	case straightLine:
		err = c.WriteBatch(ctx, run.entries)
	case partLine:
		err = c.merge.ProcessBatch(ctx, run.entries)
	default:
		err = c.processOthers(ctx, run.entries)
		run.source = "" // they may have begun or ended something
	}
	clear(run.entries)
	run.entries = run.entries[:0]
	return err
}

// parse does to an entry what stanza's parser does, if its line is in the common form.
func (c *heldContainer) parse(e *entry.Entry, run *containerRun) bool {
	raw, ok := e.Body.(string)
	if !ok || !c.format.parse(raw, &run.line) {
		return false
	}
	if c.config.AddMetadataFromFilePath {
		path, ok := c.pathOf(e)
		if !ok {
			return false
		}
		if path != run.path || run.metadata == nil {
			run.path, run.metadata = path, c.paths.of(path)
		}
		if run.metadata == nil {
			return false
		}
		if len(e.Resource) == 0 {
			e.Resource = maps.Clone(run.metadata)
		} else {
			maps.Copy(e.Resource, run.metadata)
		}
	}
	line := &run.line
	if e.Attributes == nil {
		e.Attributes = make(map[string]any, 2)
	}
	for _, key := range runtimeKeys {
		delete(e.Attributes, key)
	}
	e.Attributes[iostreamKey] = stdoutValue
	if line.stderr {
		e.Attributes[iostreamKey] = stderrValue
	}
	switch {
	case line.docker:
	case line.tag == lastTag:
		e.Attributes[logtagKey] = lastTagValue
	default:
		e.Attributes[logtagKey] = line.tag
	}
	e.Body = line.text
	e.Timestamp = line.at.time()
	return true
}

// runtimeKeys are the attributes that the parser puts a line's fields into, to
// take them out again. What a record had there is gone then.
var runtimeKeys = [...]string{"time", "stream", "log"}

// kindOf tells whether a line that was parsed is to be joined. What went before
// and may have begun something to join it to goes through first.
func (c *heldContainer) kindOf(ctx context.Context, e *entry.Entry, run *containerRun, errs *[]error) lineKind {
	if run.line.docker {
		return straightLine
	}
	if run.kind == otherLine && len(run.entries) > 0 {
		*errs = append(*errs, c.endRun(ctx, run))
	}
	if source := c.merge.sourceOf(e); source != run.source {
		if run.kind == partLine && len(run.entries) > 0 {
			*errs = append(*errs, c.endRun(ctx, run))
		}
		run.source, run.joining = source, c.merge.isOpen(source)
	}
	if run.line.tag != lastTag {
		run.joining = true
		return partLine
	}
	if run.joining {
		run.joining = false
		return partLine
	}
	return straightLine
}
