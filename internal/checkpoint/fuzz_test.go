package checkpoint

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// seed adds the stored values of all golden folders whose key ends in suffix.
func seed(f *testing.F, suffix string) {
	files, err := filepath.Glob(fixtures + "/*/*.bin")
	require.NoError(f, err)
	for _, file := range files {
		if strings.Contains(filepath.Base(file), suffix) {
			value, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(value)
		}
	}
}

// fuzzList decodes a value, and what was decoded has to survive our own format.
func fuzzList(t *testing.T, value []byte) {
	l := decodeList(value, &entryDecoder{})
	if len(l.states) > len(value) {
		t.Fatalf("%d states of %d bytes", len(l.states), len(value))
	}
	for _, s := range l.states {
		if s.Offset < 0 || s.Base < 0 || s.BaseAt < 0 || s.RecordNumber < 0 || s.Size < 0 {
			t.Fatalf("a position below zero: %+v", s)
		}
	}
	if len(value) > 0 && len(l.states) == 0 && l.err == nil && value[0] != '0' && !l.json {
		// Only fields that nobody knows.
		return
	}
	for _, hashed := range []bool{false, true} {
		again := decodeList(appendList(nil, l.states, 0, hashed), &entryDecoder{})
		require.NoError(t, again.err)
		require.Len(t, again.states, len(l.states))
		for i, s := range l.states {
			got := again.states[i]
			require.Equal(t, s.Offset, got.Offset)
			require.Equal(t, s.RecordNumber, got.RecordNumber)
			require.True(t, s.Fingerprint.Equal(got.Fingerprint))
			require.Equal(t, s.Ladder, got.Ladder)
			require.Equal(t, s.Base, got.Base)
			require.Equal(t, AttributesText(s.Attributes), AttributesText(got.Attributes))
		}
	}
}

func FuzzDecodeSnapshot(f *testing.F) {
	seed(f, keyKnownFiles)
	f.Fuzz(fuzzList)
}

func FuzzDecodeJSON(f *testing.F) {
	seed(f, keyKnownFiles)
	f.Add([]byte("1\n{\"Fingerprint\":{\"first_bytes\":\"YQ==\"},\"Offset\":1,\"FileAttributes\":{\"a\":[1,{\"b\":null}]}}\n"))
	f.Fuzz(func(t *testing.T, value []byte) {
		// The first byte would keep most inputs from the JSON decoder.
		fuzzList(t, append([]byte("3\n"), value...))
		decodeJSON(value)
	})
}

func FuzzDecodeDelta(f *testing.F) {
	seed(f, keyProgress)
	snapshot, err := os.ReadFile(fixtures + "/own-1/" + prefix + keyKnownFiles + ".bin")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, value []byte) {
		// With a right check, too, since random bytes hardly ever have one.
		for _, v := range [][]byte{value, appendProgressTail(value[:max(0, len(value)-progressCheckSize):max(0, len(value)-progressCheckSize)], nil)} {
			p, err := decodeDelta(v, &entryDecoder{})
			if err != nil {
				continue
			}
			if len(p.steps)+len(p.removed)+len(p.added) > len(v) {
				t.Fatalf("%d changes of %d bytes", len(p.steps)+len(p.removed)+len(p.added), len(v))
			}
			l := decodeList(snapshot, &entryDecoder{})
			states, _, err := p.apply(l.states)
			if err != nil {
				continue
			}
			for _, s := range states {
				if s.Offset < 0 || s.Size < 0 {
					t.Fatalf("a position below zero: %+v", s)
				}
			}
		}
	})
}

// FuzzLoad starts from arbitrary values under all keys: it has to start, and the
// next start has to find what this one saved.
func FuzzLoad(f *testing.F) {
	for _, folder := range []string{"own-1", "damaged-bit-flip", "damaged-torn-delta", "damaged-zeros"} {
		known, err := os.ReadFile(fixtures + "/" + folder + "/" + prefix + keyKnownFiles + ".bin")
		require.NoError(f, err)
		progress, err := os.ReadFile(fixtures + "/" + folder + "/" + prefix + keyProgress + ".bin")
		require.NoError(f, err)
		f.Add(known, progress, []byte("1\n"))
	}
	f.Fuzz(func(t *testing.T, known, progress, index []byte) {
		st := newStores()
		st.client.values[prefix+keyKnownFiles] = known
		st.client.values[prefix+slotKey(0)] = known
		st.client.values[prefix+keyArchiveIndex] = index
		st.progress.values[prefix+keyProgress] = progress
		o := st.options()
		o.ArchiveSlots = 2
		s, loaded, err := Open(context.Background(), o)
		require.NoError(t, err)
		for _, state := range loaded.States {
			s.Changed(state)
		}
		require.NoError(t, s.Close(context.Background()))
		s, again, err := Open(context.Background(), o)
		require.NoError(t, err)
		require.Empty(t, again.Damaged)
		require.Len(t, again.States, len(loaded.States))
		require.NoError(t, s.Close(context.Background()))
	})
}
