package batch

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
)

func newHeader(t *testing.T, pattern, operators string) *HeaderParser {
	t.Helper()
	config := HeaderConfig{Pattern: pattern, MetadataOperators: operatorsOf(t, operators)}
	h, err := config.Build(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	require.NoError(t, h.Start())
	t.Cleanup(func() { require.NoError(t, h.Stop()) })
	return h
}

const headerRegex = `operators: [{type: regex_parser, regex: '^#(?P<header_key>[A-Za-z]+): (?P<header_value>[A-Za-z]+)'}]`

func TestHeaderLineGivesAttributes(t *testing.T) {
	h := newHeader(t, "^#", headerRegex)
	attributes, matched, err := h.Line(context.Background(), "#headerField: headerValue")
	require.NoError(t, err)
	assert.True(t, matched)
	assert.Equal(t, map[string]any{"header_key": "headerField", "header_value": "headerValue"}, attributes)

	attributes, matched, err = h.Line(context.Background(), "testlog")
	require.NoError(t, err)
	assert.False(t, matched)
	assert.Nil(t, attributes)
}

func TestHeaderLineThatCannotBeParsedGivesNoneAndIsHeaderAllTheSame(t *testing.T) {
	h := newHeader(t, "^#", headerRegex)
	attributes, matched, err := h.Line(context.Background(), "# nothing of the kind")
	require.Error(t, err)
	assert.True(t, matched)
	assert.Empty(t, attributes)
	attributes, _, err = h.Line(context.Background(), "#a: b")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"header_key": "a", "header_value": "b"}, attributes, "the line before left nothing")
}

func TestHeaderLineThatAnOperatorDropsDoesNotBlock(t *testing.T) {
	h := newHeader(t, "^#", `operators: [{type: json_parser, on_error: drop_quiet}]`)
	attributes, matched, err := h.Line(context.Background(), "# no json")
	require.NoError(t, err)
	assert.True(t, matched)
	assert.Nil(t, attributes)
}

func TestHeaderOperatorsWorkOneAfterTheOther(t *testing.T) {
	h := newHeader(t, "^#", `
operators:
  - {type: regex_parser, regex: '^#(?P<line>.*)', parse_to: body}
  - {type: key_value_parser, parse_from: body.line, delimiter: ':'}
  - {type: recombine, combine_field: attributes.foo, is_first_entry: 'true', force_flush_period: 50ms}`)
	attributes, _, err := h.Line(context.Background(), "# foo:bar")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"foo": "bar"}, attributes, "held back for a moment, then let go")
}

func TestHeaderLineEndsWithItsContext(t *testing.T) {
	h := newHeader(t, "^#", `operators: [{type: recombine, combine_field: body, is_first_entry: 'true', force_flush_period: 1h}]`)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, matched, err := h.Line(ctx, "# x")
	assert.True(t, matched)
	require.ErrorIs(t, err, context.Canceled)
}

func TestHeaderConfigErrorsAreUpstreams(t *testing.T) {
	const good = `operators: [{type: noop}]`
	for name, tc := range map[string]struct{ pattern, operators, want string }{
		"no operators":                {"^#", `operators: []`, "invalid config for 'header': at least one operator must be specified for `metadata_operators`"},
		"bad pattern":                 {"(", good, "invalid config for 'header': failed to compile `pattern`: "},
		"filter":                      {"^#", `operators: [{type: filter, expr: 'true'}]`, "invalid config for 'header': operator of type filter is not allowed in `metadata_operators`"},
		"an output":                   {"^#", `operators: [{type: stdout}]`, "invalid config for 'header': operator 'stdout' in `metadata_operators` does not propagate entries"},
		"an input":                    {"^#", `operators: [{type: file_input, include: [x]}]`, "invalid config for 'header': operator 'file_input' in `metadata_operators` cannot process entries"},
		"an input behind another":     {"^#", `operators: [{type: noop}, {type: file_input}]`, "invalid config for 'header': failed to build pipelines: operator 'file_input' can not process entries"},
		"an operator with an error":   {"^#", `operators: [{type: regex_parser, regex: '('}]`, "invalid config for 'header': failed to build pipelines: "},
		"a recombine without a limit": {"^#", `operators: [{type: recombine, combine_field: body, is_first_entry: 'true', force_flush_period: 0s}]`, "invalid config for 'header': failed to build pipelines: operator 'recombine': 'force_flush_period' must be positive"},
	} {
		t.Run(name, func(t *testing.T) {
			config := HeaderConfig{Pattern: tc.pattern, MetadataOperators: operatorsOf(t, tc.operators)}
			_, err := config.Build(componenttest.NewNopTelemetrySettings())
			require.ErrorContains(t, err, tc.want)
		})
	}
}
