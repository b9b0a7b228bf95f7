package difftest

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// shape is everything of a record that both receivers have to agree on, in a
// form that can be compared. The observed time is not: it is the clock's.
type shape struct {
	Type       string // of the body
	Body       string
	Number     int64 // record number, 0 without
	Offset     int64 // record offset, -1 without
	Attributes string
	Resource   string
	Scope      string
	Severity   string
	Time       uint64
	Trace      string
}

const (
	numberAttribute = "log.file.record_number"
	offsetAttribute = "log.file.record_offset"
	nameAttribute   = "log.file.name"
	pathAttribute   = "log.file.path"
	defaultScope    = "(the receiver's)"
)

// shapesByFile takes records apart. A file is named by its attribute, the name or
// else the path; without one all records are those of one file.
func shapesByFile(batches []plog.Logs) map[string][]shape {
	files := map[string][]shape{}
	for _, logs := range batches {
		for _, rl := range logs.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					s := shapeOf(rl.Resource(), sl, lr)
					name := fileOf(lr.Attributes())
					files[name] = append(files[name], s)
				}
			}
		}
	}
	return files
}

func fileOf(attributes pcommon.Map) string {
	for _, key := range []string{nameAttribute, pathAttribute} {
		if name, ok := attributes.Get(key); ok {
			return name.AsString()
		}
	}
	return ""
}

func shapeOf(resource pcommon.Resource, sl plog.ScopeLogs, lr plog.LogRecord) shape {
	s := shape{
		Type:     lr.Body().Type().String(),
		Body:     textOf(lr.Body()),
		Offset:   -1,
		Resource: mapOf(resource.Attributes()),
		Scope:    scopeOf(sl.Scope().Name()),
		Severity: fmt.Sprintf("%d %q", lr.SeverityNumber(), lr.SeverityText()),
		Time:     uint64(lr.Timestamp()),
		Trace:    fmt.Sprintf("%s %s %d", lr.TraceID(), lr.SpanID(), lr.Flags()),
	}
	rest := pcommon.NewMap()
	for key, value := range lr.Attributes().All() {
		switch key {
		case numberAttribute:
			s.Number = value.Int()
		case offsetAttribute:
			s.Offset = value.Int()
		default:
			value.CopyTo(rest.PutEmpty(key))
		}
	}
	s.Attributes = mapOf(rest)
	return s
}

// scopeOf is a scope's name; each receiver has a default of its own.
func scopeOf(name string) string {
	if name == "" || strings.HasSuffix(name, "/filelogreceiver") {
		return defaultScope
	}
	return name
}

func textOf(v pcommon.Value) string {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return v.Str()
	case pcommon.ValueTypeBytes:
		return string(v.Bytes().AsRaw())
	case pcommon.ValueTypeMap:
		return mapOf(v.Map())
	default:
		return fmt.Sprintf("%#v", v.AsRaw())
	}
}

// mapOf writes a map with its keys sorted and the types of its values.
func mapOf(m pcommon.Map) string {
	typed := map[string]any{}
	for key, value := range m.All() {
		switch value.Type() {
		case pcommon.ValueTypeMap:
			typed[key] = mapOf(value.Map())
		default:
			typed[key] = fmt.Sprintf("%s %q", value.Type(), value.AsString())
		}
	}
	text, err := json.Marshal(typed)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
