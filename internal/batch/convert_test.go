package batch

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
)

func convertInto(c *converter, entries []*entry.Entry) plog.Logs {
	c.begin()
	c.add(entries)
	return c.finish()
}

func convertAll(set *Settings, entries ...*entry.Entry) plog.Logs {
	c := &converter{set: set}
	convertInto(c, []*entry.Entry{{Resource: map[string]any{"left": "over"}, ScopeName: "s"}}) // it is used again
	return convertInto(c, entries)
}

func TestConversionMapsValues(t *testing.T) {
	type point struct{ X, Y int }
	for name, tc := range map[string]struct {
		in   any
		kind pcommon.ValueType
		want any
	}{
		"text":             {"a", pcommon.ValueTypeStr, "a"},
		"bytes":            {[]byte{1, 2}, pcommon.ValueTypeBytes, []byte{1, 2}},
		"true":             {true, pcommon.ValueTypeBool, true},
		"int":              {int(-1), pcommon.ValueTypeInt, int64(-1)},
		"int8":             {int8(-1), pcommon.ValueTypeInt, int64(-1)},
		"int16":            {int16(-1), pcommon.ValueTypeInt, int64(-1)},
		"int32":            {int32(-1), pcommon.ValueTypeInt, int64(-1)},
		"int64":            {int64(-1), pcommon.ValueTypeInt, int64(-1)},
		"uint":             {uint(1), pcommon.ValueTypeInt, int64(1)},
		"uint8":            {uint8(1), pcommon.ValueTypeInt, int64(1)},
		"uint16":           {uint16(1), pcommon.ValueTypeInt, int64(1)},
		"uint32":           {uint32(1), pcommon.ValueTypeInt, int64(1)},
		"uint64":           {uint64(1), pcommon.ValueTypeInt, int64(1)},
		"float32":          {float32(0.5), pcommon.ValueTypeDouble, 0.5},
		"float64":          {0.5, pcommon.ValueTypeDouble, 0.5},
		"nothing":          {nil, pcommon.ValueTypeEmpty, nil},
		"a list":           {[]any{"a", 1, nil}, pcommon.ValueTypeSlice, []any{"a", int64(1), nil}},
		"a list of texts":  {[]string{"a", "b"}, pcommon.ValueTypeSlice, []any{"a", "b"}},
		"a map":            {map[string]any{"a": map[string]any{"b": nil, "c": 1}}, pcommon.ValueTypeMap, map[string]any{"a": map[string]any{"b": nil, "c": int64(1)}}},
		"an empty map":     {map[string]any{}, pcommon.ValueTypeMap, map[string]any{}},
		"anything else":    {point{1, 2}, pcommon.ValueTypeStr, "{1 2}"},
		"a number as text": {json.Number("12"), pcommon.ValueTypeStr, "12"},
	} {
		t.Run(name, func(t *testing.T) {
			r := firstRecord(convertAll(&Settings{}, &entry.Entry{Body: tc.in, Attributes: map[string]any{"k": tc.in}}))
			assert.Equal(t, tc.kind, r.Body().Type())
			assert.Equal(t, tc.want, r.Body().AsRaw())
			assert.Equal(t, map[string]any{"k": tc.want}, r.Attributes().AsRaw())
		})
	}
}

func TestConversionGroupsByResourceThenByScope(t *testing.T) {
	a := func() map[string]any { return map[string]any{"x": "1", "y": []any{int64(2)}} }
	logs := convertAll(&Settings{ScopeName: "default", ScopeVersion: "1"},
		&entry.Entry{Body: "1", Resource: a()},
		&entry.Entry{Body: "2", Resource: map[string]any{}},
		&entry.Entry{Body: "3", Resource: a(), ScopeName: "own"},
		&entry.Entry{Body: "4"},
		&entry.Entry{Body: "5", Resource: a()},
		&entry.Entry{Body: "6", Resource: map[string]any{"x": "1", "y": []any{int64(3)}}}, // same hash, another value
		&entry.Entry{Body: "7", Resource: a(), ScopeName: "own"},
		&entry.Entry{Body: "8", Resource: map[string]any{"x": "1", "y": []any{int64(3)}}},
	)
	type scope struct {
		Name, Version string
		Bodies        []string
	}
	var got [][]scope
	for _, rl := range logs.ResourceLogs().All() {
		var scopes []scope
		for _, sl := range rl.ScopeLogs().All() {
			s := scope{Name: sl.Scope().Name(), Version: sl.Scope().Version()}
			for _, r := range sl.LogRecords().All() {
				s.Bodies = append(s.Bodies, r.Body().Str())
			}
			scopes = append(scopes, s)
		}
		got = append(got, scopes)
	}
	assert.Equal(t, [][]scope{
		{{"default", "1", []string{"1", "5"}}, {"own", "", []string{"3", "7"}}},
		{{"default", "1", []string{"2", "4"}}},
		{{"default", "1", []string{"6", "8"}}},
	}, got)
	assert.Equal(t, a(), logs.ResourceLogs().At(0).Resource().Attributes().AsRaw())
}

func TestConversionGivesSeveritiesTheirShortNames(t *testing.T) {
	for severity := entry.Default; severity <= entry.Fatal4; severity++ {
		number := plog.SeverityNumber(severity)
		text := severity.String()
		if severity == entry.Default {
			text = ""
		}
		r := firstRecord(convertAll(&Settings{}, &entry.Entry{Severity: severity}))
		assert.Equal(t, number, r.SeverityNumber())
		assert.Equal(t, text, r.SeverityText())
		r = firstRecord(convertAll(&Settings{}, &entry.Entry{Severity: severity, SeverityText: "mine"}))
		assert.Equal(t, "mine", r.SeverityText())
	}
	r := firstRecord(convertAll(&Settings{}, &entry.Entry{Severity: 25}))
	assert.Equal(t, plog.SeverityNumberUnspecified, r.SeverityNumber())
	assert.Empty(t, r.SeverityText())
}

func TestConversionSetsTimesAndTraceFields(t *testing.T) {
	at := time.Unix(1, 2)
	r := firstRecord(convertAll(&Settings{}, &entry.Entry{
		Timestamp: at, ObservedTimestamp: at.Add(1),
		TraceID: []byte("0123456789abcdef"), SpanID: []byte("01234567"), TraceFlags: []byte{1, 2},
	}))
	assert.EqualValues(t, 1_000_000_002, r.Timestamp())
	assert.EqualValues(t, 1_000_000_003, r.ObservedTimestamp())
	assert.Equal(t, pcommon.TraceID([]byte("0123456789abcdef")), r.TraceID())
	assert.Equal(t, pcommon.SpanID([]byte("01234567")), r.SpanID())
	assert.EqualValues(t, 1, r.Flags())

	r = firstRecord(convertAll(&Settings{}, &entry.Entry{TraceFlags: []byte{}, TraceID: []byte{7}, SpanID: []byte{}}))
	assert.Zero(t, r.Timestamp())
	assert.Zero(t, r.Flags())
	assert.Equal(t, pcommon.TraceID{7}, r.TraceID())
	assert.True(t, r.SpanID().IsEmpty())
}

func TestConversionOfNothingIsEmpty(t *testing.T) {
	require.Zero(t, convertAll(&Settings{}).ResourceLogs().Len())
}
