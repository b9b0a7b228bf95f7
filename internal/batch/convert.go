package batch

import (
	"reflect"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
)

// converter turns stanza's entries into plog.Logs: one ResourceLogs for each
// distinct resource in order of first appearance, in it one ScopeLogs for each
// scope name. One worker owns it and uses it again.
//
// For each batch: begin, then what is to be in it, then finish.
type converter struct {
	set    *Settings
	logs   plog.Logs
	groups []resourceGroup
	byHash map[uint64]int // resource hash to group; collisions are found by comparing
}

type resourceGroup struct {
	resource map[string]any
	logs     plog.ResourceLogs
	scopes   []scopeGroup
}

type scopeGroup struct {
	name    string
	records plog.LogRecordSlice
}

func (c *converter) begin() { c.logs = plog.NewLogs() }

// finish hands over the batch.
func (c *converter) finish() plog.Logs {
	logs := c.logs
	c.logs = plog.Logs{}
	clear(c.groups)
	c.groups = c.groups[:0]
	clear(c.byHash)
	return logs
}

// add copies entries into the batch; it keeps nothing of them but their
// resources, until the batch is finished.
func (c *converter) add(entries []*entry.Entry) {
	var group *resourceGroup
	var records plog.LogRecordSlice
	var scope string
	for i, e := range entries {
		switch {
		case group == nil || !sameMap(group.resource, e.Resource):
			group = c.group(e.Resource)
			records = c.records(group, e.ScopeName, len(entries)-i)
		case scope != e.ScopeName:
			records = c.records(group, e.ScopeName, 0)
		}
		scope = e.ScopeName
		setRecord(records.AppendEmpty(), e)
	}
}

// group finds the place for records of a resource.
func (c *converter) group(resource map[string]any) *resourceGroup {
	hash := hashMap(resource)
	if i, ok := c.byHash[hash]; ok && sameMap(c.groups[i].resource, resource) {
		return &c.groups[i]
	} else if ok { // another resource has the same hash
		for i := range c.groups {
			if sameMap(c.groups[i].resource, resource) {
				return &c.groups[i]
			}
		}
	}
	if c.byHash == nil {
		c.byHash = make(map[uint64]int)
	}
	resourceLogs := c.logs.ResourceLogs().AppendEmpty()
	setMap(resourceLogs.Resource().Attributes(), resource)
	c.byHash[hash] = len(c.groups)
	c.groups = append(c.groups, resourceGroup{resource: resource, logs: resourceLogs})
	return &c.groups[len(c.groups)-1]
}

// records finds the place for records of a scope. expect is how many may follow;
// it is used for the first scope of the only resource, by far the most frequent case.
func (c *converter) records(group *resourceGroup, scope string, expect int) plog.LogRecordSlice {
	for i := range group.scopes {
		if group.scopes[i].name == scope {
			return group.scopes[i].records
		}
	}
	scopeLogs := group.logs.ScopeLogs().AppendEmpty()
	if scope == "" {
		c.set.setDefaultScope(scopeLogs)
	} else {
		scopeLogs.Scope().SetName(scope)
	}
	records := scopeLogs.LogRecords()
	if len(c.groups) == 1 {
		records.EnsureCapacity(expect)
	}
	group.scopes = append(group.scopes, scopeGroup{name: scope, records: records})
	return records
}

// severityTexts are the short names of the severity numbers.
var severityTexts = [...]string{
	"",
	"TRACE", "TRACE2", "TRACE3", "TRACE4",
	"DEBUG", "DEBUG2", "DEBUG3", "DEBUG4",
	"INFO", "INFO2", "INFO3", "INFO4",
	"WARN", "WARN2", "WARN3", "WARN4",
	"ERROR", "ERROR2", "ERROR3", "ERROR4",
	"FATAL", "FATAL2", "FATAL3", "FATAL4",
}

func setRecord(record plog.LogRecord, e *entry.Entry) {
	if !e.Timestamp.IsZero() {
		record.SetTimestamp(pcommon.NewTimestampFromTime(e.Timestamp))
	}
	record.SetObservedTimestamp(pcommon.NewTimestampFromTime(e.ObservedTimestamp))
	severityText := e.SeverityText
	if e.Severity > 0 && int(e.Severity) < len(severityTexts) {
		// Both number severities alike, from 1 (TRACE) to 24 (FATAL4).
		record.SetSeverityNumber(plog.SeverityNumber(e.Severity))
		if severityText == "" {
			severityText = severityTexts[e.Severity]
		}
	}
	record.SetSeverityText(severityText)
	setMap(record.Attributes(), e.Attributes)
	setValue(record.Body(), e.Body)
	if e.TraceID != nil {
		var id pcommon.TraceID
		copy(id[:], e.TraceID)
		record.SetTraceID(id)
	}
	if e.SpanID != nil {
		var id pcommon.SpanID
		copy(id[:], e.SpanID)
		record.SetSpanID(id)
	}
	if len(e.TraceFlags) > 0 {
		// W3C trace flags are one byte; the other bits of the field are reserved.
		record.SetFlags(plog.LogRecordFlags(e.TraceFlags[0]))
	}
}

// sameMap tells whether two resources are equal; an empty one equals a missing one.
func sameMap(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok {
			return false
		}
		if s, isText := v.(string); isText {
			if t, ok := w.(string); !ok || s != t {
				return false
			}
		} else if !reflect.DeepEqual(v, w) {
			return false
		}
	}
	return true
}

// hashMap hashes a resource without regard to the order of its keys. Values
// that are not text do not take part: equality is decided by sameMap.
func hashMap(m map[string]any) uint64 {
	var sum uint64
	for k, v := range m {
		h := xxhash.Sum64String(k)
		if s, ok := v.(string); ok {
			h = h*0x9E3779B97F4A7C15 + xxhash.Sum64String(s)
		}
		sum += h
	}
	return sum
}
