package batch

import (
	"go.opentelemetry.io/collector/component"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/parser/regex"
)

// notingBuilder notes what was built, so that it can be abandoned should another
// operator fail.
type notingBuilder struct {
	operator.Builder
	built *[]operator.Operator
}

// Build builds the operator.
func (b notingBuilder) Build(set component.TelemetrySettings) (operator.Operator, error) {
	op, err := b.Builder.Build(set)
	if err == nil {
		*b.built = append(*b.built, op)
	}
	return op, err
}

// note makes the operators note in built what is built of them.
func note(operators []operator.Config, built *[]operator.Operator) {
	for i, config := range operators {
		operators[i].Builder = notingBuilder{config.Builder, built}
	}
}

// Abandon gives up a pipeline that was not fed: whether it was started or not,
// nothing of it runs afterwards. It takes the place of Stop.
func (p *Pipeline) Abandon() error {
	if p.started {
		return p.Stop()
	}
	return abandon(p.graph.Operators())
}

// Abandon gives up a parser that was not started. It takes the place of Stop.
func (h *HeaderParser) Abandon() error { return abandon(h.graph.Operators()) }

// abandon stops what already runs when it is built, which is the cache of
// regex_parser. Others are not asked to stop: not all of them can without having
// been started.
func abandon(operators []operator.Operator) error {
	for _, op := range operators {
		if parser, ok := op.(*regex.Parser); ok {
			if err := parser.Stop(); err != nil {
				return err
			}
		}
	}
	return nil
}
