package batch

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/pipeline"
)

// stanzaAlone runs lines of one file through operators without anything of ours
// and returns bodies and attributes of what has come out at the end.
func stanzaAlone(t testing.TB, operators string, lines ...string) (out []map[string]any) {
	t.Helper()
	set := componenttest.NewNopTelemetrySettings()
	end, err := newEmitter(set, nil)
	require.NoError(t, err)
	all := append([]operator.Config{operator.NewConfig(newInputConfig("in", "in"))}, operatorsOf(t, operators)...)
	graph, err := pipeline.Config{Operators: all, DefaultOutput: end}.Build(set)
	require.NoError(t, err)
	require.NoError(t, graph.Start(storage.NewNopClient()))
	var entries []*entry.Entry
	for _, line := range lines {
		e := entry.New()
		e.Body, e.Attributes = line, map[string]any{"log.file.path": "/var/log/1.log"}
		entries = append(entries, e)
	}
	_ = graph.Operators()[1].ProcessBatch(context.Background(), entries)
	require.NoError(t, graph.Stop())
	for _, e := range end.takeLate(nil) {
		out = append(out, map[string]any{"body": e.Body, "attributes": e.Attributes, "time": e.Timestamp.UnixNano()})
	}
	return out
}

// FuzzContainerIsWhatStanzaMakesOfIt compares the container operator under
// observation with stanza's own.
func FuzzContainerIsWhatStanzaMakesOfIt(f *testing.F) {
	const at = "2024-04-13T07:59:37.505201169Z "
	for _, seed := range [][3]string{
		{at + "stdout F a", at + "stdout P b", at + "stderr F c"},
		{at + "stdout P a", "garbage", at + "stdout F b"},
		{at + "stdout P a", `{"log":"hi","stream":"stdout","time":"2024-04-13T07:59:37Z","logtag":"P"}`, at + "stdout F b"},
		{"x stdout P a", at + "stdout P", at + "stdout F"},
		{"2024-04-13T07:59:37.5-07:00 stdout P a", "2024-04-13T07:59:37.5 stdout F b", ""},
		{at + "stdout", at + "stdout ", at + " stdout F x"},
		{"Z stdout P:q  a ", "{ stdout P a", at + "stderr FF x"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	const operators = "operators: [{type: container, add_metadata_from_filepath: false, on_error: send_quiet}]"
	f.Fuzz(func(t *testing.T, a, b, c string) {
		want := stanzaAlone(t, operators, a, b, c)
		p := newPipeline(t, operators)
		feeder := p.NewFeeder()
		feed(t, feeder, 1, 0, a, b, c)
		require.NoError(t, p.Stop())
		feeder.Drain()
		var got []map[string]any
		for _, e := range feeder.feed.out {
			got = append(got, map[string]any{"body": e.Body, "attributes": e.Attributes, "time": e.Timestamp.UnixNano()})
		}
		feeder.Take(0).Accepted()
		requireNothingHeld(t, p, 1)
		require.Len(t, got, len(want))
		for _, record := range want { // the order differs between lines that are joined and lines that are not
			assert.True(t, slices.ContainsFunc(got, func(g map[string]any) bool { return assert.ObjectsAreEqual(record, g) }), "%v is not among %v", record, got)
		}
	})
}
