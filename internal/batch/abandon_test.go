package batch

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/goleak"
)

// A regex_parser with a cache runs from the moment it is built.
const cachedRegex = `operators:
  - {type: regex_parser, regex: '^(?P<key>.*)$', cache: {size: 16}}
  - {type: recombine, combine_field: body, is_first_entry: 'true'}
  - {type: container}`

func TestNothingRunsOfAnAbandonedPipeline(t *testing.T) {
	for name, start := range map[string]bool{"built": false, "started": true} {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			config := PipelineConfig{InputType: "file_input", Operators: operatorsOf(t, cachedRegex)}
			p, err := config.Build(componenttest.NewNopTelemetrySettings())
			require.NoError(t, err)
			if start {
				require.NoError(t, p.Start(componenttest.NewNopHost(), nil))
			}
			require.NoError(t, p.Abandon())
			goleak.VerifyNone(t, before)
		})
	}
}

func TestNothingRunsOfAnAbandonedHeaderParser(t *testing.T) {
	before := goleak.IgnoreCurrent()
	config := HeaderConfig{Pattern: "^#", MetadataOperators: operatorsOf(t, cachedRegex)}
	h, err := config.Build(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	require.NoError(t, h.Abandon())
	goleak.VerifyNone(t, before)
}
