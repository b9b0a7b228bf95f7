package batch

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// Assembler builds batches of records that no operator touches. One worker
// owns it and uses it again for every batch; it is not safe for concurrent
// use. Records of one file should be added one after the other.
//
// What it costs per record is what pdata's own types cost: the record, the
// body's value, the attribute slice and a value for each attribute.
type Assembler struct {
	set     *Settings
	logs    plog.Logs
	records plog.LogRecordSlice
	file    *FileAttributes // whose resource records belongs to
	count   int
	bytes   int
	expect  int // size of the last batch, the best guess for the next
	extra   int // attributes that are computed per record
}

// NewAssembler makes an empty Assembler. The settings must not change while it is in use.
func (s *Settings) NewAssembler() *Assembler {
	return &Assembler{set: s, extra: s.extraAttributes()}
}

// Add appends one record with a text body. body is kept, not copied: when it
// is a part of a larger string, that string lives as long as the record.
// number and offset are used only if the settings ask for them.
func (a *Assembler) Add(f *FileAttributes, body string, observed pcommon.Timestamp, number, offset int64) {
	a.record(f, observed, number, offset).Body().SetStr(body)
	a.bytes += len(body)
}

// AddBytes appends one record whose body is bytes, which are copied.
func (a *Assembler) AddBytes(f *FileAttributes, body []byte, observed pcommon.Timestamp, number, offset int64) {
	a.record(f, observed, number, offset).Body().SetEmptyBytes().FromRaw(body)
	a.bytes += len(body)
}

// Len is the number of records in the batch under way.
func (a *Assembler) Len() int { return a.count }

// Bytes is the sum of the sizes of their bodies.
func (a *Assembler) Bytes() int { return a.bytes }

// Take hands over the batch and starts a new one. An empty batch has no ResourceLogs.
func (a *Assembler) Take() plog.Logs {
	if a.count == 0 {
		return plog.NewLogs()
	}
	logs := a.logs
	a.expect = a.count
	a.logs, a.records, a.file = plog.Logs{}, plog.LogRecordSlice{}, nil
	a.count, a.bytes = 0, 0
	return logs
}

func (a *Assembler) record(f *FileAttributes, observed pcommon.Timestamp, number, offset int64) plog.LogRecord {
	if a.count == 0 {
		a.logs = plog.NewLogs()
		a.open(f, a.expect)
	} else if a.file != f && a.set.FileAttributesOnResource {
		a.open(f, 0)
	}
	a.count++
	record := a.records.AppendEmpty()
	record.SetObservedTimestamp(observed)
	attributes := record.Attributes()
	if a.extra > 0 {
		attributes.EnsureCapacity(f.onRecord.pdata.Len() + a.extra)
	}
	f.onRecord.pdata.CopyTo(attributes)
	if a.set.RecordNumber {
		attributes.PutInt(RecordNumberKey, number)
	}
	if a.set.RecordOffset {
		attributes.PutInt(RecordOffsetKey, offset)
	}
	return record
}

// open begins a ResourceLogs; expect is how many records it will probably hold.
func (a *Assembler) open(f *FileAttributes, expect int) {
	resourceLogs := a.logs.ResourceLogs().AppendEmpty()
	f.onResource.pdata.CopyTo(resourceLogs.Resource().Attributes())
	scopeLogs := resourceLogs.ScopeLogs().AppendEmpty()
	a.set.setDefaultScope(scopeLogs)
	a.records = scopeLogs.LogRecords()
	a.records.EnsureCapacity(expect)
	a.file = f
}
