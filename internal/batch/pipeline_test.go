package batch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.yaml.in/yaml/v3"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
)

// operatorsOf decodes `operators:` as the Collector does.
func operatorsOf(t testing.TB, text string) []operator.Config {
	t.Helper()
	var raw map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &raw))
	var holder struct {
		Operators []operator.Config `mapstructure:"operators"`
	}
	require.NoError(t, confmap.NewFromStringMap(raw).Unmarshal(&holder))
	return holder.Operators
}

func newPipeline(t testing.TB, operators string) *Pipeline {
	t.Helper()
	config := PipelineConfig{InputID: "file_input", InputType: "file_input", Operators: operatorsOf(t, operators)}
	return startPipeline(t, config)
}

func startPipeline(t testing.TB, config PipelineConfig) *Pipeline {
	t.Helper()
	if config.InputType == "" {
		config.InputType = "file_input"
	}
	p, err := config.Build(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	require.NoError(t, p.Start(componenttest.NewNopHost(), nil))
	t.Cleanup(func() { _ = p.Stop() })
	return p
}

// feed puts lines of a file in; line i begins at offset from+i.
func feed(t testing.TB, f *Feeder, file uint64, from int64, lines ...string) {
	t.Helper()
	attributes := f.p.NewFileAttributes(map[string]any{"log.file.path": fmt.Sprintf("/var/log/%d.log", file)})
	for i, line := range lines {
		at := from + int64(i)
		f.Add(file, attributes, line, Position{Offset: at}, at+1, at)
	}
	require.NoError(t, f.Process(context.Background()))
}

// bodies takes everything that came out and says that it was accepted.
func bodies(f *Feeder) []string {
	b := f.Take(0)
	defer b.Accepted()
	return bodiesOf(b.Logs)
}

func bodiesOf(logs plog.Logs) []string {
	var texts []string
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				texts = append(texts, r.Body().AsString())
			}
		}
	}
	return texts
}

func firstRecord(logs plog.Logs) plog.LogRecord {
	return logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
}

const noOperators = "operators: []"

func TestPipelineParsesTimeAndSeverity(t *testing.T) {
	p := newPipeline(t, `
operators:
  - type: regex_parser
    regex: '^(?P<time>\d{4}-\d{2}-\d{2}) (?P<sev>[A-Z]*) (?P<msg>.*)$'
    timestamp: {parse_from: attributes.time, layout: '%Y-%m-%d'}
    severity: {parse_from: attributes.sev}
  - {type: move, from: attributes.msg, to: body}
`)
	f := p.NewFeeder()
	feed(t, f, 1, 0, "2020-08-25 ERROR it broke", "2020-08-26 INFO it works")
	require.Equal(t, 2, f.Len())
	r := firstRecord(f.Take(0).Logs)
	assert.Equal(t, "it broke", r.Body().Str())
	assert.Equal(t, time.Date(2020, 8, 25, 0, 0, 0, 0, time.Local).UTC(), r.Timestamp().AsTime())
	assert.Equal(t, plog.SeverityNumberError, r.SeverityNumber())
	assert.Equal(t, "ERROR", r.SeverityText())
	assert.NotZero(t, r.ObservedTimestamp())
	assert.False(t, p.Holds(), "no operator of it holds records")
}

func TestPipelineWithExpressionsComputesThemBeforeFileAttributes(t *testing.T) {
	p := startPipeline(t, PipelineConfig{
		Settings: Settings{RecordNumber: true},
		Attributes: map[string]helper.ExprStringConfig{
			"site": "north", "tag": `EXPR("x" + body[:3])`, "log.file.path": `EXPR(body)`,
			"blind": `EXPR(attributes == nil ? "nothing yet" : "something")`,
		},
		Resource: map[string]helper.ExprStringConfig{"svc": "EXPR(body)", "from": `EXPR(attributes.tag)`, "fix": "1"},
	})
	f := p.NewFeeder()
	feed(t, f, 7, 0, "0123", "4567")
	logs := f.Take(0).Logs
	require.Equal(t, 2, logs.ResourceLogs().Len(), "a resource for each line")
	assert.Equal(t, map[string]any{"svc": "0123", "from": "x012", "fix": "1"}, logs.ResourceLogs().At(0).Resource().Attributes().AsRaw())
	assert.Equal(t, map[string]any{
		"site": "north", "tag": "x012", "blind": "nothing yet", "log.file.path": "/var/log/7.log", RecordNumberKey: int64(1),
	}, firstRecord(logs).Attributes().AsRaw())
}

func TestRecordGoesWithoutAnAttributeThatCannotBeComputed(t *testing.T) {
	p := startPipeline(t, PipelineConfig{Attributes: map[string]helper.ExprStringConfig{"bad": `EXPR(1 + 1)`, "good": "EXPR(body)"}})
	f := p.NewFeeder()
	f.Add(1, p.NewFileAttributes(nil), "x", Position{}, 0, 0)
	err := f.Process(context.Background())
	require.ErrorContains(t, err, "'bad' in 'attributes'")
	require.ErrorContains(t, err, "embedded expression returned non-string 2")
	assert.Equal(t, map[string]any{"good": "x"}, firstRecord(f.Take(0).Logs).Attributes().AsRaw())
}

func TestDirectIsOnlyWhatNeedsNoPipeline(t *testing.T) {
	for name, tc := range map[string]struct {
		config PipelineConfig
		want   bool
	}{
		"nothing configured":       {PipelineConfig{}, true},
		"constants":                {PipelineConfig{Attributes: map[string]helper.ExprStringConfig{"a": "b"}}, true},
		"an attribute is computed": {PipelineConfig{Attributes: map[string]helper.ExprStringConfig{"a": "EXPR(body)"}}, false},
		"the resource is computed": {PipelineConfig{Resource: map[string]helper.ExprStringConfig{"a": "EXPR(body)"}}, false},
		"an output is named":       {PipelineConfig{Output: []string{"x"}}, false},
		"there are operators":      {PipelineConfig{Operators: make([]operator.Config, 1)}, false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, tc.config.IsDirect()) })
	}
	config := PipelineConfig{Attributes: map[string]helper.ExprStringConfig{"a": "b", "c": "EXPR(body)"}}
	assert.Equal(t, map[string]string{"a": "b"}, config.Constants().Attributes)
}

func TestPipelineConfigErrorsAreUpstreams(t *testing.T) {
	for name, tc := range map[string]struct {
		operators string
		change    func(*PipelineConfig)
		want      string
	}{
		"empty type": {noOperators, func(c *PipelineConfig) { c.InputType, c.InputID = "", "" }, "missing required `type` field."},
		"bad attribute expression": {noOperators, func(c *PipelineConfig) {
			c.Attributes = map[string]helper.ExprStringConfig{"a": "EXPR(((()"}
		}, "compile embedded expression: "},
		"bad resource expression": {noOperators, func(c *PipelineConfig) {
			c.Resource = map[string]helper.ExprStringConfig{"a": "EXPR(((()"}
		}, "compile embedded expression: "},
		"output that does not exist": {noOperators, func(c *PipelineConfig) { c.Output = []string{"nowhere"} }, "operator 'nowhere' does not exist"},
		"duplicate id":               {"operators: [{type: noop, id: a}, {type: noop, id: a}]", nil, "operator with id 'a' already exists in pipeline"},
		"operator output to unknown": {"operators: [{type: noop, output: [b]}]", nil, "operator 'b' does not exist"},
		"a second file input":        {"operators: [{type: file_input, include: [x]}]", nil, "operator 'file_input1' can not process entries"},
		"a cycle":                    {"operators: [{type: noop, id: a, output: [b]}, {type: noop, id: b, output: [a]}]", nil, "pipeline has a circular dependency"},
		"recombine without a rule":   {"operators: [{type: recombine, combine_field: body}]", nil, "one of is_first_entry and is_last_entry must be set"},
		"recombine without a field":  {"operators: [{type: recombine, is_first_entry: 'true'}]", nil, "missing required argument 'combine_field'"},
		"recombine that never flushes": {
			"operators: [{type: recombine, combine_field: body, is_first_entry: 'true', force_flush_period: 0s}]", nil,
			"operator 'recombine': 'force_flush_period' must be positive",
		},
		"container with a bad format": {"operators: [{type: container, format: foo}]", nil, "operator config has an invalid `format` field."},
		"container with a bad if":     {"operators: [{type: container, if: '((('}]", nil, "failed to compile expression '((('"},
		"bad on_error":                {"operators: [{type: noop, on_error: later}]", nil, "operator config has an invalid `on_error` field."},
	} {
		t.Run(name, func(t *testing.T) {
			config := PipelineConfig{InputID: "file_input", InputType: "file_input", Operators: operatorsOf(t, tc.operators)}
			if tc.change != nil {
				tc.change(&config)
			}
			for range 2 { // building must not spoil the configuration
				_, err := config.Build(componenttest.NewNopTelemetrySettings())
				require.ErrorContains(t, err, tc.want)
			}
		})
	}
}

func TestEveryUpstreamOperatorTypeIsThere(t *testing.T) {
	types := strings.Fields(`file_input file_output stdout container csv_parser json_array_parser json_parser
		key_value_parser otelcol regex_parser scope_name_parser severity_parser syslog_parser time_parser trace_parser
		uri_parser add assign_keys copy filter flatten move noop recombine regex_replace remove retain router
		sanitize_utf8 unquote`)
	for _, typ := range types {
		_, ok := operator.Lookup(typ)
		assert.True(t, ok, typ)
		if typ != "recombine" && typ != "container" {
			assert.True(t, passingTypes[typ], typ)
		}
	}
	assert.Len(t, passingTypes, len(types)-2)
}

func TestTypesRepeatedAreRenamedAndOutputIsHonoured(t *testing.T) {
	p := startPipeline(t, PipelineConfig{
		InputID: "in", Output: []string{"add1"},
		Operators: operatorsOf(t, `operators: [{type: add, field: attributes.a, value: 1}, {type: add, field: attributes.b, value: 2}]`),
	})
	f := p.NewFeeder()
	feed(t, f, 1, 0, "x")
	attributes := firstRecord(f.Take(0).Logs).Attributes().AsRaw()
	assert.NotContains(t, attributes, "a")
	assert.EqualValues(t, 2, attributes["b"])
}

func TestFilteredAndFailingRecordsAreGoneWithoutATrace(t *testing.T) {
	p := newPipeline(t, `
operators:
  - {type: filter, expr: 'body matches "^drop"'}
  - {type: json_parser, on_error: drop_quiet}
  - {type: recombine, combine_field: body, is_last_entry: 'true'}
`)
	require.True(t, p.Holds())
	f := p.NewFeeder()
	feed(t, f, 1, 0, "drop me", `{"a":"b"}`, "no json")
	assert.Equal(t, []string{`{"a":"b"}`}, bodies(f))
	_, held := p.Held(1)
	assert.False(t, held, "filter and drop count as delivered")
}

func TestRecordGetsNothingFromTheRecordBefore(t *testing.T) {
	p := newPipeline(t, `
operators:
  - {type: regex_parser, regex: '^(?P<key>[a-z]+)=(?P<value>.*)$', on_error: send_quiet}
  - {type: move, if: 'attributes.key == "body"', from: attributes.value, to: body}`)
	f := p.NewFeeder()
	var earlier []plog.Logs
	for range 3 {
		feed(t, f, 1, 0, "a=b", "nothing", "body=moved", "nothing more")
		earlier = append(earlier, takeAccepted(f, 0))
	}
	path := map[string]any{"log.file.path": "/var/log/1.log"}
	for _, logs := range earlier {
		records := recordsOf(logs)
		require.Equal(t, map[string]any{"log.file.path": "/var/log/1.log", "key": "a", "value": "b"}, records[0]["attributes"])
		require.Equal(t, path, records[1]["attributes"])
		require.Equal(t, map[string]any{"log.file.path": "/var/log/1.log", "key": "body"}, records[2]["attributes"])
		require.Equal(t, "moved", records[2]["body"])
		require.Equal(t, path, records[3]["attributes"])
	}
}

func TestWorkersShareAPipelineAndGetTheirOwnRecordsBack(t *testing.T) {
	p := newPipeline(t, `operators: [{type: json_parser}, {type: recombine, combine_field: body, is_last_entry: 'true'}, {type: container, on_error: send_quiet}]`)
	const workers, turns, lines = 4, 20, 50
	errs := make(chan error, workers)
	for w := range workers {
		go func() {
			f := p.NewFeeder()
			attributes := p.NewFileAttributes(map[string]any{"log.file.path": fmt.Sprint(w)})
			for turn := range turns {
				for i := range lines {
					f.Add(uint64(w), attributes, fmt.Sprintf(`{"w":"%d","n":"%d"}`, w, turn*lines+i), Position{}, 0, 0)
				}
				_ = f.Process(context.Background())
				b := f.Take(0)
				if b.Records != lines {
					errs <- fmt.Errorf("worker %d got %d records", w, b.Records)
					return
				}
				for i, body := range bodiesOf(b.Logs) {
					if want := fmt.Sprintf(`{"w":"%d","n":"%d"}`, w, turn*lines+i); body != want {
						errs <- fmt.Errorf("got %s, want %s", body, want)
						return
					}
				}
				b.Accepted()
				if at, held := p.Held(uint64(w)); held {
					errs <- fmt.Errorf("worker %d: held at %v", w, at)
					return
				}
			}
			errs <- nil
		}()
	}
	for range workers {
		require.NoError(t, <-errs)
	}
	assert.Empty(t, p.ledger.files)
	assert.Empty(t, p.ledger.absorbed)
}

func TestTakeBoundsABatch(t *testing.T) {
	p := newPipeline(t, "operators: [{type: noop}]")
	f := p.NewFeeder()
	feed(t, f, 1, 0, "a", "b", "c", "d", "e")
	var sizes []int
	var all []string
	for f.Len() > 0 {
		b := f.Take(2)
		sizes = append(sizes, b.Records)
		all = append(all, bodiesOf(b.Logs)...)
	}
	assert.Equal(t, []int{2, 2, 1}, sizes)
	assert.Equal(t, []string{"a", "b", "c", "d", "e"}, all)
	feed(t, f, 1, 5, "f")
	assert.Equal(t, []string{"f"}, bodies(f), "entries are used again")
}

func TestRouterThatHandsOnOneEntryTwiceSpoilsNothing(t *testing.T) {
	p := newPipeline(t, `
operators:
  - {type: router, routes: [{expr: 'true', output: [one, two]}]}
  - {type: noop, id: one, output: batching_log_emitter}
  - {type: noop, id: two}
`)
	f := p.NewFeeder()
	for i := range 3 {
		feed(t, f, 1, int64(i), fmt.Sprint("line ", i))
		assert.Equal(t, []string{fmt.Sprint("line ", i), fmt.Sprint("line ", i)}, append(bodiesOf(f.Take(1).Logs), bodiesOf(f.Take(1).Logs)...))
	}
}

type scopedStore struct {
	operator.Persister
	keys []string
}

func (s *scopedStore) Set(_ context.Context, key string, _ []byte) error {
	s.keys = append(s.keys, key)
	return nil
}

type hostWatcher struct {
	operator.Operator
	host      component.Host
	persister operator.Persister
}

func (h *hostWatcher) SetHost(host component.Host) { h.host = host }
func (h *hostWatcher) Start(p operator.Persister) error {
	h.persister = p
	return h.Operator.Start(p)
}

type hostWatcherBuilder struct {
	operator.Builder
	built *hostWatcher
}

func (b *hostWatcherBuilder) Build(set component.TelemetrySettings) (operator.Operator, error) {
	op, err := b.Builder.Build(set)
	b.built = &hostWatcher{Operator: op}
	return b.built, err
}

func TestOperatorsGetTheHostAndAScopeInTheStorage(t *testing.T) {
	for name, typ := range map[string]string{"known type": "noop", "unknown type": "visitor"} {
		t.Run(name, func(t *testing.T) {
			inner := operatorsOf(t, "operators: [{type: noop, id: mine}]")[0].Builder
			watcher := &hostWatcherBuilder{Builder: typedBuilder{inner, typ}}
			config := PipelineConfig{InputType: "file_input", Operators: []operator.Config{operator.NewConfig(watcher)}}
			p, err := config.Build(componenttest.NewNopTelemetrySettings())
			require.NoError(t, err)
			host, store := componenttest.NewNopHost(), &scopedStore{}
			require.NoError(t, p.Start(host, store))
			defer func() { require.NoError(t, p.Stop()) }()
			assert.Equal(t, host, watcher.built.host)
			require.NoError(t, watcher.built.persister.Set(context.Background(), "k", nil))
			assert.Equal(t, []string{"mine.k"}, store.keys)
		})
	}
}

type typedBuilder struct {
	operator.Builder
	typ string
}

func (b typedBuilder) Type() string { return b.typ }

type panickingBuilder struct{ operator.Builder }

func (panickingBuilder) Build(component.TelemetrySettings) (operator.Operator, error) { panic("boom") }

func TestPanicWhileBuildingIsAnError(t *testing.T) {
	inner := operatorsOf(t, "operators: [{type: noop, id: mine}]")[0].Builder
	config := PipelineConfig{InputType: "file_input", Operators: []operator.Config{operator.NewConfig(panickingBuilder{inner})}}
	_, err := config.Build(componenttest.NewNopTelemetrySettings())
	require.EqualError(t, err, "operator 'mine' cannot be built from its configuration: boom")
}
