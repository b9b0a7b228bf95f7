package checkpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	checkpointpb "github.com/otelfilelog/filelogreceiver/internal/checkpoint/proto"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

func TestTheSchemaHasTheFieldNumbersOfTheCode(t *testing.T) {
	for message, fields := range map[proto.Message]map[string]protowire.Number{
		&checkpointpb.MetadataList{}: {"metadata": listEntry, "seal": listSeal},
		&checkpointpb.Metadata{}: {
			"fingerprint": entryFingerprint, "offset": entryOffset, "record_num": entryRecordNum,
			"file_attributes": entryAttributes, "header_finalized": entryHeaderDone, "flush_state": entryFlush,
			"token_len_state": entryTokenLength, "file_type": entryFileType, "place": entryPlace,
			"hashed_fingerprint": entryHashedFingerprint, "base_at": entryBaseAt, "logical_offset": entryLogicalOffset,
			"evidence": entryEvidence, "skipping": entrySkipping, "same_attributes": entrySameAttributes, "check": entryCheck,
		},
		&checkpointpb.Fingerprint{}:   {"first_bytes": fingerprintBytes},
		&checkpointpb.FlushState{}:    {"last_data_change_unix_nano": flushSince, "last_data_length": flushLength},
		&checkpointpb.TokenLenState{}: {"minimum_length": tokenMinimum},
		&checkpointpb.Seal{}: {
			"version": sealVersion, "generation": sealGeneration, "count": sealCount, "part": sealPart,
			"parts": sealParts, "side": sealSide, "check": sealCheck,
		},
		&checkpointpb.Progress{}: {
			"version": progressVersion, "generation": progressGeneration, "step": progressStep,
			"removed": progressRemoved, "added": progressAdded, "check": progressCheck,
		},
		&checkpointpb.Step{}: {
			"position": stepPosition, "offset": stepOffset, "record_num": stepRecordNum, "sum": stepSum,
			"frontier_offset": stepFrontierOffset, "ladder": stepLadder, "size_beyond": stepSizeBeyond,
			"mod_time": stepModTime, "partial_length": stepPartialLength, "partial_since": stepPartialSince,
			"min_token_length": stepMinTokenLength, "skipping": stepSkipping,
		},
	} {
		descriptor := message.ProtoReflect().Descriptor()
		assert.Equal(t, len(fields), descriptor.Fields().Len(), descriptor.Name())
		for name, number := range fields {
			f := descriptor.Fields().ByName(protoreflect.Name(name))
			if assert.NotNil(t, f, "%s.%s", descriptor.Name(), name) {
				assert.Equal(t, number, f.Number(), "%s.%s", descriptor.Name(), name)
			}
		}
	}
}

// requireKnown fails if a message holds a field that the schema does not have.
func requireKnown(t *testing.T, message protoreflect.Message) {
	t.Helper()
	require.Empty(t, message.GetUnknown(), message.Descriptor().Name())
	message.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() != protoreflect.MessageKind:
		case f.IsList():
			for i := range v.List().Len() {
				requireKnown(t, v.List().Get(i).Message())
			}
		default:
			requireKnown(t, v.Message())
		}
		return true
	})
}

func TestASnapshotIsReadByGeneratedCode(t *testing.T) {
	states := []*fileid.State{state(1), state(2), {Fingerprint: fileid.HashedFingerprint(77, fileid.Digest{1, 2, 3})}, {Offset: 1}}
	states[1].Compressed, states[1].Base, states[1].BaseAt = true, 300, 900
	states[1].Skipping, states[1].MinTokenLength = true, 12
	value := appendList(nil, states, 0, false)
	var list checkpointpb.MetadataList
	require.NoError(t, proto.Unmarshal(value, &list))
	requireKnown(t, list.ProtoReflect())
	require.Len(t, list.Metadata, len(states))
	first, second := list.Metadata[0], list.Metadata[1]
	assert.Equal(t, states[0].Fingerprint.Head(), first.Fingerprint.FirstBytes)
	assert.Equal(t, states[0].Offset, first.Offset)
	assert.Equal(t, states[0].RecordNumber, first.RecordNum)
	assert.Equal(t, states[0].PartialSince, first.FlushState.LastDataChangeUnixNano)
	assert.Equal(t, states[0].PartialLength, int64(first.FlushState.LastDataLength))
	assert.JSONEq(t, `{"author":"author 1","year":1901,"share":0.5}`, string(first.FileAttributes))
	place := protowire.AppendVarint(nil, states[0].Locator.Device)
	place = protowire.AppendVarint(place, states[0].Locator.Inode)
	assert.Equal(t, append(place, states[0].Path...), first.Place)
	evidence := protowire.AppendVarint(nil, protowire.EncodeZigZag(states[0].Size-states[0].Offset))
	evidence = protowire.AppendFixed64(evidence, uint64(states[0].ModTime))
	assert.Equal(t, append(evidence, ladderBytes(states[0])...), first.Evidence)
	assert.Equal(t, int64(300), second.Offset, "upstream goes on in the compressed file")
	assert.Equal(t, states[1].Offset, second.LogicalOffset)
	assert.Equal(t, int64(900), second.BaseAt)
	assert.Equal(t, ".gz", second.FileType)
	assert.Equal(t, int32(12), second.TokenLenState.MinimumLength)
	assert.True(t, second.Skipping)
	assert.Nil(t, list.Metadata[2].Fingerprint)
	digest := fileid.Digest{1, 2, 3}
	assert.Equal(t, append([]byte{77}, digest[:]...), list.Metadata[2].HashedFingerprint)
	assert.Equal(t, int32(len(states)), list.Seal.Count)

	canonical, err := proto.MarshalOptions{Deterministic: true}.Marshal(&list)
	require.NoError(t, err)
	assert.Len(t, canonical, len(value), "nothing is encoded longer than it needs to be")
}

// ladderBytes is a ladder as the schema says it.
func ladderBytes(s *fileid.State) []byte {
	var b []byte
	for i := range s.Ladder.Len() {
		f := s.Ladder.At(i)
		distance := protowire.EncodeZigZag(s.Offset - f.Offset)
		if i > 0 {
			distance = uint64(s.Ladder.At(i-1).Offset - f.Offset)
		}
		b = protowire.AppendVarint(b, distance)
		b = protowire.AppendFixed64(b, f.Sum)
	}
	return b
}

func TestADeltaIsReadByGeneratedCode(t *testing.T) {
	st := newStores()
	s, _ := open(t, st.options())
	var states []*fileid.State
	for n := range 4 {
		states = append(states, state(n))
		s.Add(states[n])
	}
	save(t, s)
	advance(states[1], 100)
	states[1].Skipping, states[1].MinTokenLength = true, 3
	s.Changed(states[1])
	states[2].Offset, states[2].Ladder = 2000, fileid.LadderOf(fileid.Frontier{Offset: 2000, Sum: 9})
	s.Changed(states[2])
	s.Remove(states[3])
	s.Add(state(4))
	save(t, s)
	var p checkpointpb.Progress
	require.NoError(t, proto.Unmarshal(st.progress.values[prefix+keyProgress], &p))
	requireKnown(t, p.ProtoReflect())
	require.Len(t, p.Step, 2)
	assert.Equal(t, int32(1), p.Step[0].Position)
	assert.Equal(t, states[1].Offset, p.Step[0].Offset)
	assert.Equal(t, states[1].Ladder.At(0).Sum, p.Step[0].GetSum())
	assert.Equal(t, int64(7), p.Step[0].SizeBeyond)
	assert.Equal(t, states[1].PartialSince, p.Step[0].PartialSince)
	assert.Equal(t, int64(3), p.Step[0].MinTokenLength)
	assert.True(t, p.Step[0].Skipping)
	assert.Equal(t, ladderBytes(states[2]), p.Step[1].Ladder, "a rewritten file has its whole ladder written")
	assert.Nil(t, p.Step[1].Sum)
	assert.Equal(t, []int32{3}, p.Removed)
	require.Len(t, p.Added, 1)
	assert.Equal(t, "/var/log/app-00004.log", string(p.Added[0].Place[len(p.Added[0].Place)-22:]))
}

func TestAttributesKeepTheirKinds(t *testing.T) {
	deep := any("bottom")
	for range maxDepth + 2 {
		deep = []any{deep}
	}
	for _, c := range []struct {
		name      string
		in, after map[string]any
	}{
		{"none", nil, nil},
		{"plain text", map[string]any{"a": "b", "c": ""}, nil},
		{"text that needs escapes", map[string]any{"ключ\n": "a\"b\\c\x00<&>ß\u2028"}, nil},
		{"invalid UTF-8 is replaced", map[string]any{"a": "b\xff"}, map[string]any{"a": "b\ufffd"}},
		{"whole numbers of both kinds", map[string]any{"i": int64(5), "f": float64(5), "m": int64(math.MinInt64)}, nil},
		{"large and small floats", map[string]any{"f": 1e300, "g": -2.5e-9, "h": math.MaxFloat64}, nil},
		{"int becomes int64", map[string]any{"i": 5}, map[string]any{"i": int64(5)}},
		{"null, bools and nesting", map[string]any{"n": nil, "t": true, "l": []any{int64(1), "x", []any{}}, "m": map[string]any{"k": false}}, nil},
		{"what JSON cannot say is left out", map[string]any{"nan": math.NaN(), "inf": []any{math.Inf(1)}, "c": make(chan int), "deep": deep, "ok": "yes"}, map[string]any{"ok": "yes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.after == nil {
				c.after = c.in
			}
			text := appendAttributes(nil, c.in)
			require.True(t, json.Valid(text), string(text))
			got, complaint, err := (&attributeDecoder{}).decode(text, true)
			require.NoError(t, err)
			require.NoError(t, complaint)
			assert.Equal(t, c.after, got)
		})
	}
}

func TestAttributesOfUpstream(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       map[string]any
		complaint  error
	}{
		{"numbers are floats, as upstream reads them", `{"n": 5}`, map[string]any{"n": float64(5)}, nil},
		{"those of the file are dropped", `{"log.file.name":"a","log.file.path":"b","log.file.name_resolved":"c","log.file.path_resolved":"d","log.file.owner.name":"e","log.file.owner.group.name":"f","log.file.permissions":"g"}`, nil, nil},
		{"those of the header stay", `{"log.file.name":"a","vessel":"Skua"}`, map[string]any{"vessel": "Skua"}, nil},
		{"very old ones move up", `{"HeaderAttributes":{"vessel":"Skua"},"x":"y"}`, map[string]any{"vessel": "Skua", "x": "y"}, nil},
		{"very old ones of a wrong kind are left out", `{"HeaderAttributes":"Skua","x":"y"}`, map[string]any{"x": "y"}, ErrHeaderAttributes},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complaint, err := (&attributeDecoder{}).decode([]byte(c.text), false)
			require.NoError(t, err)
			assert.Equal(t, c.complaint, complaint)
			assert.Equal(t, c.want, got)
		})
	}
	_, _, err := (&attributeDecoder{}).decode([]byte(`{"a":`), false)
	assert.ErrorIs(t, err, ErrMalformed)
}

func TestSharedTextsAreBounded(t *testing.T) {
	var d attributeDecoder
	for n := range 3 * maxShared {
		text := fmt.Appendf(nil, `{"name%d":"value%d"}`, n, n)
		got, _, err := d.decode(text, true)
		require.NoError(t, err)
		require.Equal(t, map[string]any{fmt.Sprintf("name%d", n): fmt.Sprintf("value%d", n)}, got)
	}
	assert.LessOrEqual(t, len(d.names), maxShared)
	assert.LessOrEqual(t, len(d.values), maxShared)
}
