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

// Settings say what every record of a receiver has in common. They must not
// change once an Assembler or a Pipeline is made from them.
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
	// to their resource: one ResourceLogs per file, and fewer attributes on each
	// record. It changes where a reader, or an operator, finds log.file.name, so
	// it has to be chosen.
	FileAttributesOnResource bool
}

// extraAttributes is how many attributes are computed for each record.
func (s *Settings) extraAttributes() (n int) {
	if s.RecordNumber {
		n++
	}
	if s.RecordOffset {
		n++
	}
	return n
}

// FileAttributes are the attributes that all records of one file share,
// prepared once per file (and again when they change) and read by any number
// of workers. They are never changed after creation.
type FileAttributes struct {
	onRecord   layer
	onResource layer
	straight   *straightFile // nil: records go through the operators
}

// layer is one of the two places where attributes go.
type layer struct {
	own   map[string]any // the file's own
	all   map[string]any // the file's own over the constants
	pdata pcommon.Map    // the same as all
}

func newLayer(constants map[string]string, own map[string]any) layer {
	l := layer{own: own, all: make(map[string]any, len(constants)+len(own)), pdata: pcommon.NewMap()}
	for k, v := range constants {
		l.all[k] = v
	}
	maps.Copy(l.all, own)
	setMap(l.pdata, l.all)
	return l
}

// NewFileAttributes prepares the attributes of a file. Values are of the kinds
// that a header's operators produce; a key of own wins over a constant. own must
// not change afterwards.
func (s *Settings) NewFileAttributes(own map[string]any) *FileAttributes {
	if s.FileAttributesOnResource {
		return &FileAttributes{onRecord: newLayer(s.Attributes, nil), onResource: newLayer(s.Resource, own)}
	}
	return &FileAttributes{onRecord: newLayer(s.Attributes, own), onResource: newLayer(s.Resource, nil)}
}

// setDefaultScope writes the scope of records that have none of their own.
func (s *Settings) setDefaultScope(sl plog.ScopeLogs) {
	sl.Scope().SetName(s.ScopeName)
	sl.Scope().SetVersion(s.ScopeVersion)
}
