package batch

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
)

func whole(text string) string   { return "2024-04-13T07:59:37Z stdout F " + text }
func partial(text string) string { return "2024-04-13T07:59:37Z stdout P " + text }

func TestOnlyAPipelineOfNothingButAContainerOperatorHasAStraightWay(t *testing.T) {
	for operators, straight := range map[string]bool{
		"{type: container}": true,
		"{type: container, format: docker, on_error: drop}":                                     true,
		"{type: container}, {type: noop}":                                                       false,
		"{type: noop}, {type: container}":                                                       false,
		"{type: container, if: 'true'}":                                                         false,
		"{type: container, parse_from: attributes.x}":                                           false,
		"{type: container, parse_to: attributes.x}":                                             false,
		"{type: container, parse_to: body}":                                                     false,
		"{type: container, body: attributes.x}":                                                 false,
		"{type: container, severity: {parse_from: body}}":                                       false,
		"{type: container, scope_name: {parse_from: body}}":                                     false,
		"{type: container, trace: {span_id: {parse_from: body}}}":                               false,
		"{type: container, timestamp: {parse_from: body, layout_type: gotime, layout: '2006'}}": false,
		"{type: recombine, combine_field: body, is_last_entry: 'true'}":                         false,
	} {
		t.Run(operators, func(t *testing.T) {
			p := newPipeline(t, "operators: ["+operators+"]")
			require.Equal(t, straight, p.straight != nil)
		})
	}
	p := startPipeline(t, PipelineConfig{
		Operators:  operatorsOf(t, containerOperators),
		Attributes: map[string]helper.ExprStringConfig{"computed": "EXPR(body)"},
	})
	require.Nil(t, p.straight, "an attribute is computed from the line")
}

func TestFileWhoseLinesTheOperatorHasToSeeDoesNotGoStraight(t *testing.T) {
	for name, tc := range map[string]struct {
		own      map[string]any
		straight bool
	}{
		"path of a pod":                {map[string]any{logPathKey: podPaths[0]}, true},
		"path of a rotated file":       {map[string]any{logPathKey: podPaths[1]}, true},
		"path of anything else":        {map[string]any{logPathKey: "/var/log/1.log"}, false},
		"no path":                      {map[string]any{}, false},
		"path that is no text":         {map[string]any{logPathKey: 1}, false},
		"attribute that goes away":     {map[string]any{logPathKey: podPaths[0], "stream": "x"}, false},
		"attribute that is overridden": {map[string]any{logPathKey: podPaths[0], logtagKey: "x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(t, "operators: [{type: container}]")
			require.Equal(t, tc.straight, p.NewFileAttributes(tc.own).straight != nil)
		})
	}
}

func TestStraightRecordIsWhatTheOperatorMakes(t *testing.T) {
	config := PipelineConfig{
		Settings:   Settings{ScopeName: "scope", RecordNumber: true, RecordOffset: true},
		Attributes: map[string]helper.ExprStringConfig{"a": "b"},
		Resource:   map[string]helper.ExprStringConfig{"host": "h", "k8s.pod.name": "is overridden"},
	}
	lines := []string{whole("one"), `{"log":"two\n","stream":"stderr","time":"2024-04-13T07:59:37.5Z"}`, whole(""), "2024-04-13T07:59:37Z stderr F"}
	make := func(operators string) []map[string]any {
		config.Operators = operatorsOf(t, operators)
		p := startPipeline(t, config)
		f := p.NewFeeder()
		attributes := p.NewFileAttributes(map[string]any{logPathKey: podPaths[0], "log.file.name": "0.log"})
		for i, line := range lines {
			f.Add(1, attributes, line, Position{Offset: int64(i)}, int64(i), int64(i*100))
		}
		require.NoError(t, f.Process(context.Background()))
		require.Equal(t, p.straight != nil, f.lane != nil && f.lane.len() == len(lines))
		b := f.Take(0)
		defer b.Accepted()
		require.Equal(t, 1, b.Logs.ResourceLogs().Len())
		require.Equal(t, "scope", b.Logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Name())
		require.NotZero(t, firstRecord(b.Logs).ObservedTimestamp())
		return recordsOf(b.Logs)
	}
	straight := make("operators: [{type: container}]")
	require.Equal(t, make("operators: [{type: container}, {type: noop}]"), straight)
	require.Equal(t, map[string]any{
		"a": "b", logPathKey: podPaths[0], "log.file.name": "0.log", "log.iostream": "stderr",
		RecordNumberKey: int64(1), RecordOffsetKey: int64(100),
	}, straight[1]["attributes"])
	require.Equal(t, "pod", straight[1]["resource"].(map[string]any)["k8s.pod.name"])
}

func TestStraightRecordsDoNotOvertakeOrFallBehind(t *testing.T) {
	p := newPipeline(t, containerOperators)
	f := p.NewFeeder()
	feed(t, f, 1, 0, whole("a"), partial("b"), whole("c"), whole("d"))
	require.Equal(t, 1, f.lane.len())
	require.Equal(t, []string{"a", "bc", "d"}, bodies(f))
	feed(t, f, 1, 4, partial("e"))
	feed(t, f, 2, 0, whole("other"))
	require.Equal(t, 1, f.lane.len(), "a file whose line is open delays no other")
	feed(t, f, 1, 5, whole("f"), whole("g"))
	require.Equal(t, []string{"other", "ef", "g"}, bodies(f))
	feed(t, f, 1, 7, whole("h"))
	feed(t, f, 1, 8, whole("i"))
	require.Equal(t, 2, f.Len())
	require.Equal(t, []string{"h", "i"}, bodies(f))
	requireNothingHeld(t, p, 1, 2)
}

func TestWhatWasLetGoBeforeGoesBeforeStraightRecords(t *testing.T) {
	p := newPipeline(t, containerOperators)
	f := p.NewFeeder()
	feed(t, f, 1, 0, partial("a"))
	require.NoError(t, p.Stop()) // lets go of it, as its timer does
	feed(t, f, 1, 1, whole("b"), "2024-04-13T07:59:37Z stdout F c", `{"log":"d","stream":"stdout","time":"2024-04-13T07:59:37Z","attrs":{}}`)
	require.Equal(t, 2, f.lane.len())
	for _, want := range []string{"a", "b", "c", "d"} {
		require.Equal(t, []string{want}, bodiesOf(takeAccepted(f, 1)))
	}
	requireNothingHeld(t, p, 1)
}

func TestStraightBatchIsPartedAndRefusedInParts(t *testing.T) {
	p := newPipeline(t, containerOperators)
	f := p.NewFeeder()
	feed(t, f, 1, 10, whole("a"), whole("b"), whole("c"), whole("d"), whole("e"))
	first, second, third := f.Take(2), f.Take(2), f.Take(2)
	require.Zero(t, f.Len())
	require.Equal(t, []string{"c", "d"}, bodiesOf(second.Logs))
	requireHeld(t, p, 1, 10)
	require.Equal(t, []uint64{1}, first.Accepted())
	requireHeld(t, p, 1, 12)
	require.Equal(t, []uint64{1}, second.Refused())
	third.Accepted()
	requireHeld(t, p, 1, 12)
	at, again := p.Resume(1)
	require.True(t, again)
	require.Equal(t, Position{Offset: 12}, at)
	feed(t, f, 1, 12, whole("c"), whole("d"), whole("e"))
	require.Equal(t, []string{"c", "d", "e"}, bodies(f))
	requireNothingHeld(t, p, 1)
	require.Empty(t, p.ledger.files)
}

func TestStraightRecordsOfARefusedFileAreReadAgain(t *testing.T) {
	p := newPipeline(t, containerOperators)
	f := p.NewFeeder()
	feed(t, f, 1, 0, whole("a"), whole("b"), whole("c"))
	feed(t, f, 2, 0, whole("x"))
	f.Take(1).Refused()
	b := f.Take(0)
	require.Equal(t, []string{"x"}, bodiesOf(b.Logs), "b and c will come again")
	require.Equal(t, 1, b.Records)
	b.Accepted()
	requireHeld(t, p, 1, 0)
	requireNothingHeld(t, p, 2)
}

func TestStraightBatchHasOneResourceForEachContainer(t *testing.T) {
	p := newPipeline(t, "operators: [{type: container}]")
	f := p.NewFeeder()
	for i, path := range []string{podPaths[0], podPaths[2], podPaths[1]} {
		attributes := p.NewFileAttributes(map[string]any{logPathKey: path})
		f.Add(uint64(i), attributes, whole(fmt.Sprint(i)), Position{}, 0, 0)
		f.Add(uint64(i), attributes, whole(fmt.Sprint(i)), Position{}, 0, 0)
	}
	require.NoError(t, f.Process(context.Background()))
	b := f.Take(0)
	defer b.Accepted()
	require.Equal(t, 2, b.Logs.ResourceLogs().Len())
	assert.Equal(t, []string{"0", "0", "2", "2", "1", "1"}, bodiesOf(b.Logs))
}
