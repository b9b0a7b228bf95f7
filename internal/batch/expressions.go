package batch

import (
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
)

// expressions are the attributes and resource attributes that have to be
// computed for each record, from its body and from each other, before the
// attributes of its file are laid over them.
type expressions struct {
	constantAttributes map[string]any
	constantResource   map[string]any
	attributes         []expression
	resource           []expression
}

type expression struct {
	key   string
	value *helper.ExprString
}

func newExpressions(c *PipelineConfig) (x expressions, err error) {
	set := c.Constants()
	x.constantAttributes = asAny(set.Attributes)
	x.constantResource = asAny(set.Resource)
	if x.attributes, err = buildExpressions(c.Attributes); err != nil {
		return expressions{}, err
	}
	x.resource, err = buildExpressions(c.Resource)
	return x, err
}

func asAny(constants map[string]string) map[string]any {
	m := make(map[string]any, len(constants))
	for k, v := range constants {
		m[k] = v
	}
	return m
}

func buildExpressions(values map[string]helper.ExprStringConfig) ([]expression, error) {
	var list []expression
	for key, v := range values {
		if !isExpression(v) {
			continue
		}
		value, err := v.Build()
		if err != nil {
			return nil, err
		}
		list = append(list, expression{key, value})
	}
	return list, nil
}

// none tells whether nothing has to be computed.
func (x *expressions) none() bool { return len(x.attributes) == 0 && len(x.resource) == 0 }

// evaluate fills in what is computed. An attribute that cannot be computed is
// left out, and the error says which; the record is worth more than the attribute.
func (x *expressions) evaluate(e *entry.Entry) error {
	failed := evaluate(x.attributes, e, "attributes", func() map[string]any {
		e.Attributes = cloneMap(x.constantAttributes, len(x.attributes))
		return e.Attributes
	})
	if err := evaluate(x.resource, e, "resource", func() map[string]any {
		e.Resource = cloneMap(x.constantResource, len(x.resource))
		return e.Resource
	}); failed == nil {
		failed = err
	}
	return failed
}

func evaluate(list []expression, e *entry.Entry, what string, open func() map[string]any) (failed error) {
	env := helper.GetExprEnv(e) // sees the entry as it is before any of the list is set
	defer helper.PutExprEnv(env)
	dest := open()
	for i := range list {
		text, err := list[i].value.Render(env)
		if err != nil {
			if failed == nil {
				failed = fmt.Errorf("the value of '%s' in '%s' cannot be computed, records go without it: %w", list[i].key, what, err)
			}
			continue
		}
		dest[list[i].key] = text
	}
	return failed
}
