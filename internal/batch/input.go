package batch

import (
	"go.opentelemetry.io/collector/component"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
)

// inputType is the operator type, and the default id, of the file input.
const inputType = "file_input"

// inputConfig builds the first operator of a pipeline: the place where workers
// put records in. It exists as an operator so that `id` and `output` mean what
// they mean upstream.
type inputConfig struct {
	helper.InputConfig `mapstructure:",squash"`
}

func newInputConfig(id, typ string) *inputConfig {
	return &inputConfig{InputConfig: helper.NewInputConfig(id, typ)}
}

// Build checks type, attributes and resource, in upstream's order.
func (c *inputConfig) Build(set component.TelemetrySettings) (operator.Operator, error) {
	input, err := c.InputConfig.Build(set)
	if err != nil {
		return nil, err
	}
	return &input, nil
}
