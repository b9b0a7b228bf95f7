package batch

import (
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// BenchmarkDirectRecord is the whole cost of a record without operators; one
// operation is one record, batches of 1,000.
func BenchmarkDirectRecord(b *testing.B) {
	for _, bc := range []struct {
		name string
		set  Settings
		own  map[string]any
	}{
		{"file name only", Settings{}, map[string]any{"log.file.name": "app.log"}},
		{"name, path, number, offset", Settings{RecordNumber: true, RecordOffset: true}, map[string]any{"log.file.name": "app.log", "log.file.path": "/var/log/app.log"}},
		{"file attributes on the resource", Settings{FileAttributesOnResource: true}, map[string]any{"log.file.name": "app.log", "log.file.path": "/var/log/app.log"}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			file := bc.set.NewFileAttributes(bc.own)
			a := bc.set.NewAssembler()
			b.ReportAllocs()
			n := int64(0)
			for b.Loop() {
				a.Add(file, "2026-01-02 03:04:05 INFO a line of log text", 1, n, n*44)
				n++
				if a.Len() == 1000 {
					a.Take()
				}
			}
		})
	}
}

// BenchmarkDirectFloor is what pdata itself costs per record with one text
// attribute, by the two ways of filling the attributes.
func BenchmarkDirectFloor(b *testing.B) {
	shared := pcommon.NewMap()
	shared.PutStr("log.file.name", "app.log")
	for name, fill := range map[string]func(pcommon.Map){
		"copy": func(m pcommon.Map) { shared.CopyTo(m) },
		"put":  func(m pcommon.Map) { m.EnsureCapacity(1); m.PutStr("log.file.name", "app.log") },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			records := plog.NewLogRecordSlice()
			n := 0
			for b.Loop() {
				if n%1000 == 0 {
					records = plog.NewLogRecordSlice()
					records.EnsureCapacity(1000)
				}
				n++
				record := records.AppendEmpty()
				record.SetObservedTimestamp(1)
				record.Body().SetStr("2026-01-02 03:04:05 INFO a line of log text")
				fill(record.Attributes())
			}
		})
	}
}
