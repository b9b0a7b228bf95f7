package batch

import (
	"maps"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// Names of the attributes that are computed for each record.
const (
	RecordNumberKey = "log.file.record_number"
	RecordOffsetKey = "log.file.record_offset"
)

// Settings say what every record of a receiver has in common.
type Settings struct {
	// ScopeName and ScopeVersion are the scope of records that have no scope
	// name of their own. Both empty: such records get an empty scope.
	ScopeName    string
	ScopeVersion string

	// Attributes are put on every record, unless the file has an attribute of
	// the same key. Resource becomes the resource of every record.
	Attributes map[string]string
	Resource   map[string]string

	RecordNumber bool // put RecordNumberKey on each record
	RecordOffset bool // put RecordOffsetKey on each record

	// FileAttributesOnResource moves the attributes of a file from its records
	// to their resource: one ResourceLogs per file, and records an attribute
	// set smaller. It changes where a reader finds log.file.name, so it is an
	// explicit choice.
	FileAttributesOnResource bool
}

// FileAttributes are the attributes that all records of one file share,
// prepared once per file (and again when they change) and read by any number
// of workers. They are never changed after creation.
type FileAttributes struct {
	shared   pcommon.Map    // what goes on each record: constants and the file's own
	resource pcommon.Map    // what goes on the resource: constants, and the file's own if that is chosen
	raw      map[string]any // the same as shared, for entries
	own      map[string]any // the file's own attributes as far as they belong on a record
}

// NewFileAttributes prepares the attributes of a file. Values are of the kinds
// that a header's operators produce; a key of own wins over a constant.
func (s *Settings) NewFileAttributes(own map[string]any) *FileAttributes {
	f := &FileAttributes{
		shared:   pcommon.NewMap(),
		resource: pcommon.NewMap(),
		raw:      make(map[string]any, len(s.Attributes)+len(own)),
		own:      own,
	}
	for k, v := range s.Attributes {
		f.raw[k] = v
	}
	for k, v := range s.Resource {
		f.resource.PutStr(k, v)
	}
	if s.FileAttributesOnResource {
		f.own = nil
		for k, v := range own {
			setValue(f.resource.PutEmpty(k), v)
			delete(f.raw, k)
		}
	} else {
		maps.Copy(f.raw, own)
	}
	setMap(f.shared, f.raw)
	return f
}

// setDefaultScope writes the scope of records that have none of their own.
func (s *Settings) setDefaultScope(sl plog.ScopeLogs) {
	sl.Scope().SetName(s.ScopeName)
	sl.Scope().SetVersion(s.ScopeVersion)
}
