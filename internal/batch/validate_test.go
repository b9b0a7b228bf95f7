package batch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/parser/regex"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/transformer/noop"
)

// cachingParser is an operator of which something runs as soon as it is built.
func cachingParser(id, expression string) operator.Config {
	c := regex.NewConfigWithID(id)
	c.Regex = expression
	c.Cache.Size = 10
	return operator.NewConfig(c)
}

func passing(id string, outputs ...string) operator.Config {
	c := noop.NewConfigWithID(id)
	c.OutputIDs = outputs
	return operator.NewConfig(c)
}

// What is left running shows when the tests of the package end.
func TestValidationTellsEveryFaultOfTheOperatorsAndLeavesNothingRunning(t *testing.T) {
	for _, c := range []struct {
		name   string
		config PipelineConfig
		faults []string
	}{
		{name: "nothing is wrong", config: PipelineConfig{
			Output:    []string{"b"},
			Operators: []operator.Config{cachingParser("a", "(?P<x>.*)"), passing("b")},
		}},
		{name: "some cannot be built", config: PipelineConfig{
			Operators:  []operator.Config{cachingParser("a", "("), cachingParser("b", "(?P<x>.*)"), cachingParser("c", ")")},
			Attributes: map[string]helper.ExprStringConfig{"x": "EXPR(", "y": "EXPR(1 +)"},
		}, faults: []string{"'attributes.y' is 'EXPR(1 +)': compile", "operators[0] (regex_parser): ", "operators[2] (regex_parser): "}},
		{name: "some cannot be connected", config: PipelineConfig{
			Output:    []string{"nowhere", "file_input"},
			Operators: []operator.Config{cachingParser("a", "(?P<x>.*)"), passing("b", "c"), passing("b", "file_input")},
		}, faults: []string{
			"output: operator 'nowhere' does not exist",
			"output: operator 'file_input' can not process entries",
			"operators[1] (noop): operator 'c' does not exist",
			"operators[2] (noop): operator with id 'b' already exists in pipeline",
			"operators[2] (noop): operator 'file_input' can not process entries",
		}},
		{name: "a circle", config: PipelineConfig{
			Operators: []operator.Config{passing("a", "b"), passing("b", "a")},
		}, faults: []string{"pipeline has a circular dependency"}},
		{name: "no configuration", config: PipelineConfig{
			Operators: []operator.Config{{}},
		}, faults: []string{"operator 1 has no configuration"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.InputID, c.config.InputType = "file_input", "file_input"
			err := c.config.Validate(componenttest.NewNopTelemetrySettings())
			if c.faults == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			for _, text := range c.faults {
				assert.Equal(t, 1, strings.Count(err.Error(), text), "%s in %s", text, err)
			}
		})
	}
}

func TestValidationTellsEveryFaultOfAHeader(t *testing.T) {
	set := componenttest.NewNopTelemetrySettings()
	c := HeaderConfig{Pattern: "(", MetadataOperators: []operator.Config{cachingParser("a", "("), passing("b"), cachingParser("c", ")")}}
	err := c.Validate(set)
	for _, text := range []string{
		"invalid config for 'header': failed to build pipelines: header.metadata_operators[0] (regex_parser): ",
		"invalid config for 'header': failed to build pipelines: header.metadata_operators[2] (regex_parser): ",
		"invalid config for 'header': failed to compile `pattern`: ",
	} {
		require.ErrorContains(t, err, text)
	}
	c = HeaderConfig{Pattern: "^#", MetadataOperators: []operator.Config{cachingParser("a", "(?P<x>.*)"), {}}}
	require.ErrorContains(t, c.Validate(set), "operator 1 of `metadata_operators` has no configuration")
	c = HeaderConfig{Pattern: "^#", MetadataOperators: []operator.Config{cachingParser("a", "(?P<x>.*)")}}
	require.NoError(t, c.Validate(set))
}
