package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

const fixtures = "../../testdata/checkpoints"

// fixture is what expected.json of a folder says.
type fixture struct {
	Keys map[string]struct {
		Format  string
		Entries []fixtureEntry
	}
}

type fixtureEntry struct {
	Offset       int64          `json:"offset"`
	RecordNum    int64          `json:"record_num"`
	Length       int            `json:"fingerprint_len"`
	SHA256       string         `json:"fingerprint_sha256"`
	Name         string         `json:"file_name"`
	Attributes   map[string]any `json:"file_attributes"`
	Header       bool           `json:"header_finalized"`
	LastChange   string         `json:"flush_last_data_change"`
	LastLength   int64          `json:"flush_last_data_length"`
	MinimumToken int64          `json:"token_minimum_length"`
	FileType     string         `json:"file_type"`
}

// lastChange is the time of the last change in nanoseconds, as either format has it.
func (e fixtureEntry) lastChange(t *testing.T) int64 {
	if e.LastChange == "" {
		return 0
	}
	if nanos, ok := strings.CutPrefix(e.LastChange, "unix_nano:"); ok {
		n, err := strconv.ParseInt(nanos, 10, 64)
		require.NoError(t, err)
		return n
	}
	at, err := time.Parse(time.RFC3339Nano, e.LastChange)
	require.NoError(t, err)
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

func upstreamFolders(t testing.TB) []string {
	folders, err := filepath.Glob(fixtures + "/v0.*")
	require.NoError(t, err)
	require.Len(t, folders, 23)
	return folders
}

// loadFolder puts the values of a folder into stores and returns them with the
// prefix that their keys have.
func loadFolder(t testing.TB, folder string) (stores, string) {
	st := newStores()
	files, err := filepath.Glob(folder + "/*.bin")
	require.NoError(t, err)
	prefix := ""
	for _, file := range files {
		value, err := os.ReadFile(file)
		require.NoError(t, err)
		key := strings.TrimSuffix(filepath.Base(file), ".bin")
		prefix = key[:strings.LastIndex(key, ".")+1]
		if strings.HasSuffix(key, keyProgress) {
			st.progress.values[key] = value
		} else {
			st.client.values[key] = value
		}
	}
	return st, prefix
}

func readJSON(t testing.TB, file string, into any) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// requireEntry holds a loaded State to what the fixture says.
func requireEntry(t *testing.T, want fixtureEntry, got *fileid.State) {
	t.Helper()
	assert.Equal(t, want.Length, got.Fingerprint.Len())
	sum := sha256.Sum256(got.Fingerprint.Head())
	assert.Equal(t, want.SHA256, hex.EncodeToString(sum[:]), want.Name)
	assert.Equal(t, want.RecordNum, got.RecordNumber)
	assert.Equal(t, want.Header, got.HeaderDone)
	assert.Equal(t, want.lastChange(t), got.PartialSince)
	assert.Equal(t, want.LastLength, got.PartialLength)
	assert.Equal(t, want.MinimumToken, got.MinTokenLength)
	if want.FileType == ".gz" {
		assert.True(t, got.Compressed)
		assert.Equal(t, want.Offset, got.Base)
		assert.Zero(t, got.BaseAt)
		assert.Zero(t, got.Offset)
	} else {
		assert.False(t, got.Compressed)
		assert.Equal(t, want.Offset, got.Offset)
	}
	attributes := map[string]any{}
	for key, value := range want.Attributes {
		if !strings.HasPrefix(key, "log.file.") {
			attributes[key] = value
		}
	}
	if len(attributes) == 0 {
		assert.Nil(t, got.Attributes)
	} else {
		assert.Equal(t, attributes, got.Attributes)
	}
	assert.Empty(t, got.Path)
	assert.True(t, got.Locator.IsZero())
	assert.Zero(t, got.Ladder.Len())
}

func TestWhatUpstreamWroteIsRead(t *testing.T) {
	for _, folder := range upstreamFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var expected fixture
			readJSON(t, folder+"/expected.json", &expected)
			st, prefix := loadFolder(t, folder)
			slots := 0
			if strings.HasSuffix(folder, "archive3") {
				slots = 3
			}
			before := st.clone()
			o := st.options()
			o.Prefix, o.ArchiveSlots = prefix, slots
			s, loaded := open(t, o)
			require.Empty(t, loaded.Damaged)
			known := expected.Keys[prefix+keyKnownFiles]
			require.Len(t, loaded.States, len(known.Entries))
			require.Equal(t, len(known.Entries) > 0, loaded.Resumed)
			for i, want := range known.Entries {
				requireEntry(t, want, loaded.States[i])
			}
			for slot := range slots {
				for _, want := range expected.Keys[prefix+slotKey(slot)].Entries {
					head, err := os.ReadFile(folder + "/logs-removed/" + want.Name)
					require.NoError(t, err)
					found := s.FindArchived(append(head, "and more\n"...))
					require.Len(t, found, 1, want.Name)
					requireEntry(t, want, found[0])
				}
			}
			assert.Equal(t, before.client.values, st.client.values, "reading changes nothing")
			if known.Format == "json-lines" {
				require.Equal(t, KindSnapshot, save(t, s).Kind, "old JSON is rewritten at the next save")
				value := st.client.values[prefix+keyKnownFiles]
				require.True(t, len(value) == 0 || value[0] == 0x0A)
			} else {
				require.False(t, s.Save(), "protobuf of upstream is good as it is")
			}
		})
	}
}

func TestEveryFixtureLogContinuesItsState(t *testing.T) {
	for _, folder := range upstreamFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var expected fixture
			readJSON(t, folder+"/expected.json", &expected)
			st, prefix := loadFolder(t, folder)
			o := st.options()
			o.Prefix = prefix
			_, loaded := open(t, o)
			for i, want := range expected.Keys[prefix+keyKnownFiles].Entries {
				if want.FileType == ".gz" {
					continue // the fingerprint is of the decompressed content
				}
				head, err := os.ReadFile(folder + "/logs/" + want.Name)
				require.NoError(t, err)
				assert.True(t, loaded.States[i].Fingerprint.IsPrefixOf(head), want.Name)
				assert.LessOrEqual(t, loaded.States[i].Offset, int64(len(head)))
			}
		})
	}
}

func TestJSONThatProtobufWouldAcceptIsReadAsJSON(t *testing.T) {
	st, prefix := loadFolder(t, fixtures+"/v0.140.0-misparse")
	value := st.client.values[prefix+keyKnownFiles]
	for at := 0; at < len(value); {
		f, ok := nextField(value, at)
		require.True(t, ok, "the fixture is well-formed protobuf")
		require.NotEqual(t, listEntry, f.number, "and has no entry")
		at = f.end
	}
	l := decodeList(value, &entryDecoder{})
	require.Len(t, l.states, 1)
	assert.Equal(t, int64(94), l.states[0].Offset)
	assert.Equal(t, int64(179), l.states[0].PartialLength)
}

func TestAnUpstreamStateSurvivesTheWayThroughOurFormat(t *testing.T) {
	for _, folder := range upstreamFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			st, prefix := loadFolder(t, folder)
			o := st.options()
			o.Prefix = prefix
			s, loaded := open(t, o)
			for _, state := range loaded.States {
				s.Changed(state)
			}
			require.NoError(t, s.Close(context.Background()))
			_, again := open(t, o)
			require.Empty(t, again.Damaged)
			require.Len(t, again.States, len(loaded.States))
			for i, want := range loaded.States {
				w, g := *want, *again.States[i]
				w.Slot, g.Slot = 0, 0
				assert.Equal(t, w, g)
			}
		})
	}
}
