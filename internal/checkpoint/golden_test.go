package checkpoint

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// update writes the golden folders anew. Only a new format version may need it,
// and then own-1 stays as it is and own-2 is added.
var update = flag.Bool("update", false, "write the golden folders of our own format")

// goldenState is a State as expected.json of our own folders has it.
type goldenState struct {
	Path          string
	Offset        int64
	RecordNumber  int64
	Fingerprint   int    // length
	Digest        string // of the fingerprint, hexadecimal
	Hashed        bool
	Device, Inode uint64
	Frontiers     []fileid.Frontier
	Compressed    bool  `json:",omitempty"`
	Base, BaseAt  int64 `json:",omitempty"`
	Attributes    map[string]any
	HeaderDone    bool  `json:",omitempty"`
	Skipping      bool  `json:",omitempty"`
	PartialLength int64 `json:",omitempty"`
	PartialSince  int64 `json:",omitempty"`
	MinToken      int64 `json:",omitempty"`
	Size, ModTime int64
}

func goldenOf(states []*fileid.State) []goldenState {
	golden := []goldenState{}
	for _, s := range states {
		digest := s.Fingerprint.Digest()
		g := goldenState{
			Path: s.Path, Offset: s.Offset, RecordNumber: s.RecordNumber,
			Fingerprint: s.Fingerprint.Len(), Digest: hex.EncodeToString(digest[:]), Hashed: s.Fingerprint.IsHashed(),
			Device: s.Locator.Device, Inode: s.Locator.Inode,
			Compressed: s.Compressed, Base: s.Base, BaseAt: s.BaseAt, Attributes: s.Attributes, HeaderDone: s.HeaderDone,
			Skipping: s.Skipping, PartialLength: s.PartialLength, PartialSince: s.PartialSince, MinToken: s.MinTokenLength,
			Size: s.Size, ModTime: s.ModTime,
		}
		for i := range s.Ladder.Len() {
			g.Frontiers = append(g.Frontiers, s.Ladder.At(i))
		}
		golden = append(golden, g)
	}
	return golden
}

// goldenLife makes the storage of own-1, and that of one save earlier.
func goldenLife(t *testing.T) (before, after stores) {
	st := newStores()
	o := st.options()
	o.Now = func() time.Time { return time.Unix(1_800_000_000, 123) }
	s, _ := open(t, o)
	plain, compressed, hashed, gone, rewritten := state(1), state(2), state(3), state(4), state(5)
	compressed.Path += ".gz"
	compressed.Compressed, compressed.Base, compressed.BaseAt = true, 300, 900
	hashed.Fingerprint = fileid.HashedFingerprint(43, hashed.Fingerprint.Digest())
	plain.Skipping, plain.MinTokenLength = true, 12
	for _, state := range []*fileid.State{plain, compressed, hashed, gone, rewritten} {
		s.Add(state)
	}
	save(t, s)
	before = st.clone()
	advance(plain, 200_000)
	plain.Skipping = false
	s.Changed(plain)
	rewritten.Offset, rewritten.Ladder = 0, fileid.Ladder{}
	advance(rewritten, 5000)
	s.Changed(rewritten)
	s.Remove(gone)
	added := state(6)
	s.Add(added)
	require.Equal(t, KindDelta, save(t, s).Kind)
	return before, st.clone()
}

func TestTheEncoderMakesTheGoldenBytes(t *testing.T) {
	_, after := goldenLife(t)
	folder := fixtures + "/own-1"
	if *update {
		writeGolden(t, folder, after, "")
	}
	golden, _ := loadFolder(t, folder)
	assert.Equal(t, golden.client.values, after.client.values)
	assert.Equal(t, golden.progress.values, after.progress.values)
}

func TestGoldenFoldersAreReadAsTheySay(t *testing.T) {
	if *update {
		writeDamaged(t)
	}
	folders, err := filepath.Glob(fixtures + "/damaged-*")
	require.NoError(t, err)
	require.Len(t, folders, 7)
	for _, folder := range append(folders, fixtures+"/own-1", fixtures+"/own-1-hashes") {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var want struct {
				Damaged []string
				States  []json.RawMessage
			}
			readJSON(t, folder+"/expected.json", &want)
			st, _ := loadFolder(t, folder)
			_, loaded := open(t, st.options())
			causes := []string{}
			for _, d := range loaded.Damaged {
				causes = append(causes, d.Error())
			}
			assert.Equal(t, want.Damaged, causes)
			got := goldenOf(loaded.States)
			require.Len(t, got, len(want.States))
			for i := range got {
				text, err := json.Marshal(got[i])
				require.NoError(t, err)
				assert.JSONEq(t, string(want.States[i]), string(text))
			}
		})
	}
}

// writeDamaged makes the folders of own-1 after disasters.
func writeDamaged(t *testing.T) {
	before, after := goldenLife(t)
	known, progress := prefix+keyKnownFiles, prefix+keyProgress
	change := func(name, readme string, f func(st stores)) {
		st := after.clone()
		f(st)
		writeGolden(t, fixtures+"/damaged-"+name, st, readme)
	}
	hashes := newStores()
	o := hashes.options()
	o.Now, o.HashFingerprints = func() time.Time { return time.Unix(1_800_000_000, 123) }, true
	s, _ := open(t, o)
	for _, state := range headed(3, sameHeader) {
		s.Add(state)
	}
	save(t, s)
	writeGolden(t, fixtures+"/own-1-hashes", hashes.clone(), "`fingerprint_storage: hash`. The second and the third file refer to the attributes of the first.")
	change("torn-delta", "The delta was written half. All files are as the snapshot has them; the added one is lost.", func(st stores) {
		value := st.progress.values[progress]
		st.progress.values[progress] = value[:len(value)/2]
	})
	change("bit-flip", "One bit of the second entry's offset is wrong. That file is lost, and since the snapshot is not whole, the delta gives only the file that it holds wholly.", func(st stores) {
		value := bytes.Clone(st.client.values[known])
		first, _ := nextField(value, 0)
		second, _ := nextField(value, first.end)
		value[second.end-40] ^= 4
		st.client.values[known] = value
	})
	change("length-flip", "The length of the second entry is wrong, so that it seems to end elsewhere. The third is found all the same.", func(st stores) {
		value := bytes.Clone(st.client.values[known])
		first, _ := nextField(value, 0)
		value[first.end+2] ^= 1
		st.client.values[known] = value
	})
	change("cut-snapshot", "The snapshot ends in the fourth entry.", func(st stores) {
		value := st.client.values[known]
		at := 0
		for range 3 {
			f, _ := nextField(value, at)
			at = f.end
		}
		st.client.values[known] = value[:at+50]
	})
	change("zeros", "Both values are zero bytes. Nothing can be had.", func(st stores) {
		st.client.values[known] = make([]byte, 100)
		st.progress.values[progress] = make([]byte, 100)
	})
	change("missing-snapshot", "The snapshot is gone. The delta gives the file that it holds wholly.", func(st stores) {
		delete(st.client.values, known)
	})
	change("old-snapshot", "The snapshot is of an older copy of the storage. It is used; the delta belongs to another one and is not.", func(st stores) {
		old := newStores()
		o := old.options()
		o.Now = func() time.Time { return time.Unix(1_700_000_000, 0) }
		s, _ := open(t, o)
		s.Add(state(1))
		save(t, s)
		st.client.values[known] = old.client.clone().values[known]
	})
	require.NotEqual(t, before.progress.values, after.progress.values)
}

// writeGolden writes a folder: the values, and what is loaded of them.
func writeGolden(t *testing.T, folder string, st stores, readme string) {
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, values := range []map[string][]byte{st.client.values, st.progress.values} {
		for key, value := range values {
			require.NoError(t, os.WriteFile(filepath.Join(folder, key+".bin"), value, 0o644))
		}
	}
	s, loaded, err := Open(context.Background(), st.clone().options())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close(context.Background())) }()
	causes := []string{}
	for _, d := range loaded.Damaged {
		causes = append(causes, d.Error())
	}
	text, err := json.MarshalIndent(map[string]any{"Damaged": causes, "States": goldenOf(loaded.States)}, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(folder+"/expected.json", append(text, '\n'), 0o644))
	if readme != "" {
		require.NoError(t, os.WriteFile(folder+"/README.md", fmt.Appendf(nil, "# %s\n\n%s\n", filepath.Base(folder), readme), 0o644))
	}
}
