package batch

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/pipeline"
)

const (
	benchParser = `
operators:
  - type: regex_parser
    regex: '^(?P<time>\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}) (?P<sev>[A-Z]*) (?P<msg>.*)$'
    timestamp: {parse_from: attributes.time, layout: '%Y-%m-%d %H:%M:%S'}
    severity: {parse_from: attributes.sev}
  - {type: move, from: attributes.msg, to: body}`
	benchParserLine = "2026-01-02 03:04:05 INFO a line of log text"
)

// BenchmarkPipelineRecord is the whole cost of a record through operators; one
// operation is one record, batches of 1,000. "stanza alone" beside it is what the
// same operators cost without anything of ours.
func BenchmarkPipelineRecord(b *testing.B) {
	for _, bc := range []struct{ name, operators, line string }{
		{"noop", "operators: [{type: noop}]", benchParserLine},
		{"regex, time, severity, move", benchParser, benchParserLine},
		{"container", "operators: [{type: container}]", "2026-01-02T03:04:05.123456789Z stdout F a line of log text"},
		{"recombine", `operators: [{type: recombine, combine_field: body, is_first_entry: 'body matches "^2"'}]`, benchParserLine},
	} {
		b.Run(bc.name, func(b *testing.B) {
			p := newPipeline(b, bc.operators)
			f := p.NewFeeder()
			attributes := p.NewFileAttributes(map[string]any{"log.file.name": "0.log", "log.file.path": "/var/log/pods/ns_pod_49cc7c1f/app/0.log"})
			b.ReportAllocs()
			n := int64(0)
			for b.Loop() {
				f.Add(1, attributes, bc.line, Position{Offset: n}, n, n)
				n++
				if f.Added() == 1000 {
					if err := f.Process(context.Background()); err != nil {
						b.Fatal(err)
					}
					for f.Len() > 0 {
						f.Take(0).Accepted()
					}
				}
			}
		})
		b.Run(bc.name+", stanza alone", func(b *testing.B) {
			end, err := newEmitter(componenttest.NewNopTelemetrySettings(), nil)
			require.NoError(b, err)
			operators := append([]operator.Config{operator.NewConfig(newInputConfig("in", "in"))}, operatorsOf(b, bc.operators)...)
			graph, err := pipeline.Config{Operators: operators, DefaultOutput: end}.Build(componenttest.NewNopTelemetrySettings())
			require.NoError(b, err)
			require.NoError(b, graph.Start(storage.NewNopClient()))
			defer func() { _ = graph.Stop() }()
			first := graph.Operators()[1]
			b.ReportAllocs()
			feed := &feedContext{Context: context.Background()}
			entries := make([]*entry.Entry, 0, 1000)
			for b.Loop() {
				e := entry.New()
				e.Body = bc.line
				e.Attributes = map[string]any{"log.file.name": "0.log", "log.file.path": "/var/log/pods/ns_pod_49cc7c1f/app/0.log"}
				if entries = append(entries, e); len(entries) == 1000 {
					_ = first.ProcessBatch(feed, entries)
					entries, feed.out = entries[:0], feed.out[:0]
				}
			}
		})
	}
}

// BenchmarkConversion is the cost of turning one entry into a pdata record.
func BenchmarkConversion(b *testing.B) {
	for _, resources := range []int{1, 10, 1000} {
		b.Run(fmt.Sprintf("resources=%d", resources), func(b *testing.B) {
			var entries []*entry.Entry
			for i := range 1000 {
				entries = append(entries, &entry.Entry{
					Body:       benchParserLine,
					Attributes: map[string]any{"log.file.name": "0.log", "log.iostream": "stdout"},
					Resource: map[string]any{
						"k8s.namespace.name": "ns", "k8s.pod.name": "pod", "k8s.container.name": "app",
						"k8s.pod.uid": fmt.Sprint(i * resources / 1000), "k8s.container.restart_count": "0",
					},
				})
			}
			c := &converter{set: &Settings{}}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n++; n == len(entries) {
					n = 0
					convertInto(c, entries)
				}
			}
		})
	}
}
