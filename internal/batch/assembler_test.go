package batch

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

func TestDirectRecordCarriesBodyTimeAndAttributes(t *testing.T) {
	set := &Settings{
		ScopeName: "scope", ScopeVersion: "1.2",
		Attributes: map[string]string{"site": "north"}, Resource: map[string]string{"svc": "a"},
		RecordNumber: true, RecordOffset: true,
	}
	a := set.NewAssembler()
	file := set.NewFileAttributes(map[string]any{"log.file.name": "a.log", "year": int64(2026)})
	a.Add(file, "hello", 77, 5, 100)
	a.AddBytes(file, []byte{0xff, 0}, 78, 6, 106)
	assert.Equal(t, 2, a.Len())
	assert.Equal(t, 7, a.Bytes())
	logs := a.Take()
	assert.Zero(t, a.Len())
	assert.Zero(t, a.Bytes())

	require.Equal(t, 1, logs.ResourceLogs().Len())
	rl := logs.ResourceLogs().At(0)
	assert.Equal(t, map[string]any{"svc": "a"}, rl.Resource().Attributes().AsRaw())
	require.Equal(t, 1, rl.ScopeLogs().Len())
	sl := rl.ScopeLogs().At(0)
	assert.Equal(t, "scope", sl.Scope().Name())
	assert.Equal(t, "1.2", sl.Scope().Version())
	require.Equal(t, 2, sl.LogRecords().Len())
	text, raw := sl.LogRecords().At(0), sl.LogRecords().At(1)
	assert.Equal(t, "hello", text.Body().AsRaw())
	assert.Equal(t, map[string]any{
		"site": "north", "log.file.name": "a.log", "year": int64(2026),
		RecordNumberKey: int64(5), RecordOffsetKey: int64(100),
	}, text.Attributes().AsRaw())
	assert.EqualValues(t, 77, text.ObservedTimestamp())
	assert.Zero(t, text.Timestamp())
	assert.Equal(t, plog.SeverityNumberUnspecified, text.SeverityNumber())
	assert.Equal(t, []byte{0xff, 0}, raw.Body().AsRaw())
}

func TestDirectAttributesOfAFileWinOverConstants(t *testing.T) {
	for name, onResource := range map[string]bool{"on the record": false, "on the resource": true} {
		t.Run(name, func(t *testing.T) {
			set := &Settings{
				Attributes:               map[string]string{"log.file.name": "constant", "site": "north"},
				Resource:                 map[string]string{"log.file.name": "constant"},
				FileAttributesOnResource: onResource,
			}
			a := set.NewAssembler()
			a.Add(set.NewFileAttributes(map[string]any{"log.file.name": "a.log"}), "x", 1, 0, 0)
			rl := a.Take().ResourceLogs().At(0)
			record, resource := rl.ScopeLogs().At(0).LogRecords().At(0).Attributes().AsRaw(), rl.Resource().Attributes().AsRaw()
			if onResource {
				assert.Equal(t, map[string]any{"log.file.name": "constant", "site": "north"}, record)
				assert.Equal(t, map[string]any{"log.file.name": "a.log"}, resource)
				return
			}
			assert.Equal(t, map[string]any{"log.file.name": "a.log", "site": "north"}, record)
			assert.Equal(t, map[string]any{"log.file.name": "constant"}, resource)
		})
	}
}

func TestDirectBatchHasAResourcePerFileOnlyWhenFileAttributesAreThere(t *testing.T) {
	for name, tc := range map[string]struct {
		onResource bool
		want       []int
	}{
		"attributes on the record share one resource": {false, []int{4}},
		"attributes on the resource part it by file":  {true, []int{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			set := &Settings{FileAttributesOnResource: tc.onResource}
			a := set.NewAssembler()
			first, second := set.NewFileAttributes(map[string]any{"f": "1"}), set.NewFileAttributes(map[string]any{"f": "2"})
			for _, f := range []*FileAttributes{first, first, second, second} {
				a.Add(f, "x", 1, 0, 0)
			}
			var got []int
			for _, rl := range a.Take().ResourceLogs().All() {
				got = append(got, rl.ScopeLogs().At(0).LogRecords().Len())
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestDirectBatchesAreIndependent(t *testing.T) {
	set := &Settings{}
	a := set.NewAssembler()
	file := set.NewFileAttributes(nil)
	assert.Zero(t, a.Take().ResourceLogs().Len(), "nothing was added")
	a.Add(file, "one", 1, 0, 0)
	first := a.Take()
	a.Add(file, "two", 1, 0, 0)
	first.ResourceLogs().RemoveIf(func(plog.ResourceLogs) bool { return true }) // the consumer owns it
	second := a.Take()
	require.Equal(t, 1, second.LogRecordCount())
	assert.Equal(t, "two", second.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str())
}
