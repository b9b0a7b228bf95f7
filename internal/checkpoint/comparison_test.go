package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	checkpointpb "github.com/otelfilelog/filelogreceiver/internal/checkpoint/proto"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// Upstream's encoder is internal to its module and cannot be called from here.
// These benchmarks do what has to be done to write the same bytes with the same
// libraries: a copy of each fingerprint, encoding/json for the attributes, and
// generated protobuf code of a schema with the same fields; or encoding/json for
// everything, as versions before v0.156 wrote it.

func generatedEncode(states []*fileid.State) ([]byte, error) {
	list := &checkpointpb.MetadataList{Metadata: make([]*checkpointpb.Metadata, 0, len(states))}
	for _, s := range states {
		attributes, err := json.Marshal(s.Attributes)
		if err != nil {
			return nil, err
		}
		list.Metadata = append(list.Metadata, &checkpointpb.Metadata{
			Fingerprint:     &checkpointpb.Fingerprint{FirstBytes: bytes.Clone(s.Fingerprint.Head())},
			Offset:          s.Offset,
			RecordNum:       s.RecordNumber,
			FileAttributes:  attributes,
			HeaderFinalized: s.HeaderDone,
			FlushState:      &checkpointpb.FlushState{LastDataChangeUnixNano: s.ModTime, LastDataLength: 4096},
			TokenLenState:   &checkpointpb.TokenLenState{MinimumLength: 256},
		})
	}
	return proto.Marshal(list)
}

func generatedDecode(value []byte) (int, error) {
	var list checkpointpb.MetadataList
	if err := proto.Unmarshal(value, &list); err != nil {
		return 0, err
	}
	states := make([]*fileid.State, 0, len(list.Metadata))
	for _, m := range list.Metadata {
		s := &fileid.State{
			Fingerprint: fileid.NewFingerprint(bytes.Clone(m.Fingerprint.FirstBytes)),
			Offset:      m.Offset, RecordNumber: m.RecordNum, HeaderDone: m.HeaderFinalized,
			PartialSince: m.FlushState.LastDataChangeUnixNano, PartialLength: int64(m.FlushState.LastDataLength),
			MinTokenLength: int64(m.TokenLenState.MinimumLength),
		}
		if err := json.Unmarshal(m.FileAttributes, &s.Attributes); err != nil {
			return 0, err
		}
		states = append(states, s)
	}
	return len(states), nil
}

// jsonFile is an entry with the fields and the order of the old JSON.
type jsonFile struct {
	Fingerprint struct {
		FirstBytes []byte `json:"first_bytes"`
	}
	Offset          int64
	RecordNum       int64
	FileAttributes  map[string]any
	HeaderFinalized bool
	FlushState      struct {
		LastDataChange time.Time
		LastDataLength int
	}
	TokenLenState struct{ MinimumLength int }
	FileType      string
}

func jsonEncode(states []*fileid.State) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	if err := encoder.Encode(len(states)); err != nil {
		return nil, err
	}
	for _, s := range states {
		f := jsonFile{Offset: s.Offset, RecordNum: s.RecordNumber, FileAttributes: s.Attributes, HeaderFinalized: s.HeaderDone}
		f.Fingerprint.FirstBytes = s.Fingerprint.Head()
		f.FlushState.LastDataChange = time.Unix(0, s.ModTime)
		if err := encoder.Encode(&f); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// BenchmarkComparisonSave is a full save in the ways of upstream; BenchmarkSnapshot
// is ours.
func BenchmarkComparisonSave(b *testing.B) {
	for name, encode := range map[string]func([]*fileid.State) ([]byte, error){
		"json": jsonEncode, "generated-protobuf": generatedEncode,
	} {
		for _, count := range benchmarkSizes {
			b.Run(fmt.Sprintf("%s/files=%d", name, count), func(b *testing.B) {
				states := benchmarkStates(count)
				size := 0
				b.ReportAllocs()
				for b.Loop() {
					value, err := encode(states)
					if err != nil {
						b.Fatal(err)
					}
					size = len(value)
				}
				b.ReportMetric(float64(size), "bytes/save")
			})
		}
	}
}

// BenchmarkComparisonLoad decodes what BenchmarkComparisonSave encodes: JSON with
// our decoder, protobuf with generated code. BenchmarkLoad is ours.
func BenchmarkComparisonLoad(b *testing.B) {
	for _, count := range benchmarkSizes {
		states := benchmarkStates(count)
		old, err := jsonEncode(states)
		if err != nil {
			b.Fatal(err)
		}
		value, err := generatedEncode(states)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("json/files=%d", count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if l := decodeJSON(old); len(l.states) != count {
					b.Fatal("not loaded")
				}
			}
		})
		b.Run(fmt.Sprintf("generated-protobuf/files=%d", count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := generatedDecode(value); err != nil || n != count {
					b.Fatal("not loaded")
				}
			}
		})
	}
}

// TestHashesTakeTheRoomThatTheDocumentSays holds docs/checkpoint-format.md to
// its table.
func TestHashesTakeTheRoomThatTheDocumentSays(t *testing.T) {
	const files = 1000
	upstream, err := generatedEncode(benchmarkStates(files))
	require.NoError(t, err)
	for _, c := range []struct {
		name      string
		header    bool
		advances  int
		frontiers int
		share     float64
	}{
		{"one frontier", false, 0, 1, 0.085},
		{"two frontiers", false, 1, 2, 0.095},
		{"four frontiers", false, 50, 4, 0.115},
		{"one frontier, five attributes of a header", true, 0, 1, 0.09},
		{"four frontiers, five attributes of a header", true, 50, 4, 0.115},
	} {
		t.Run(c.name, func(t *testing.T) {
			states := benchmarkStates(files)
			for _, s := range states {
				if !c.header {
					s.Attributes, s.HeaderDone = nil, false
				}
				for range c.advances {
					benchmarkAdvance(s, 40_000)
				}
				require.Equal(t, c.frontiers, s.Ladder.Len())
			}
			value := appendList(nil, states, 1, true)
			share := float64(len(value)) / float64(len(upstream))
			t.Logf("%d bytes a file, %.3f of upstream's", len(value)/files, share)
			assert.LessOrEqual(t, share, c.share)
			assert.Greater(t, share, 0.9*c.share, "the document says too much")
		})
	}
}
