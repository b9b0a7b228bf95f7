package checkpoint

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// crashed is a storage as a kill leaves it: a snapshot of some files, and a delta
// that moves half of them on, removes one and adds one. saved are the States at
// the snapshot, now those at the delta, by path.
func crashed(t testing.TB, files int) (st stores, saved, now map[string]fileid.State) {
	st = newStores()
	s, _ := open(t, st.options())
	states := make([]*fileid.State, files)
	for n := range states {
		states[n] = state(n)
		s.Add(states[n])
	}
	save(t, s)
	saved = snapshotOf(states)
	for n := 0; n < files/2; n++ {
		advance(states[n], 4000)
		s.Changed(states[n])
	}
	s.Remove(states[files-1])
	states[files-1] = state(files)
	s.Add(states[files-1])
	require.Equal(t, KindDelta, save(t, s).Kind)
	return st.clone(), saved, snapshotOf(states)
}

// requireNothingAhead fails if a State is none of those that were ever saved.
func requireNothingAhead(t testing.TB, got []*fileid.State, allowed ...map[string]fileid.State) {
	t.Helper()
	for path, s := range snapshotOf(got) {
		for _, a := range allowed {
			if want, ok := a[path]; ok && assert.ObjectsAreEqual(want, s) {
				path = ""
				break
			}
		}
		if path != "" {
			t.Fatalf("%s is at %d, where it never was", path, s.Offset)
		}
	}
}

func TestADamagedDeltaCostsWhatItHeld(t *testing.T) {
	const files = 6
	st, saved, _ := crashed(t, files)
	value := st.progress.values[prefix+keyProgress]
	check := func(t *testing.T, damaged []byte) {
		st := st.clone()
		st.progress.values[prefix+keyProgress] = damaged
		s, loaded, err := Open(context.Background(), st.options())
		require.NoError(t, err)
		require.Len(t, loaded.States, len(saved))
		require.Equal(t, saved, snapshotOf(loaded.States))
		require.Len(t, loaded.Damaged, 1)
		assert.Equal(t, prefix+keyProgress, loaded.Damaged[0].Key)
		assert.True(t, loaded.Damaged[0].Quarantined)
		assert.Equal(t, damaged, st.progress.values[prefix+keyProgress+quarantineSuffix])
		require.NoError(t, s.Close(context.Background()))
	}
	t.Run("cut at any length", func(t *testing.T) {
		for n := 1; n < len(value); n++ {
			check(t, value[:n])
		}
	})
	t.Run("any byte changed", func(t *testing.T) {
		for n := range value {
			damaged := bytes.Clone(value)
			damaged[n] ^= 1 << (n % 8)
			check(t, damaged)
		}
	})
	t.Run("zeros", func(t *testing.T) { check(t, make([]byte, 100)) })
	t.Run("a newer version", func(t *testing.T) {
		newer := appendInt(nil, progressVersion, formatVersion+1)
		check(t, appendProgressTail(newer, nil))
	})
	t.Run("positions beyond the snapshot", func(t *testing.T) {
		generation := binary.LittleEndian.Uint64(value[3:11])
		var w stepWriter
		odd := w.append(appendProgressHead(nil, generation), files, &fileid.Ladder{}, state(1))
		check(t, appendProgressTail(odd, nil))
		check(t, appendProgressTail(appendProgressHead(nil, generation), []int32{files}))
	})
}

func TestADamagedSnapshotIsSalvagedEntryByEntry(t *testing.T) {
	const files = 5
	st, saved, now := crashed(t, files)
	var later map[string]fileid.State
	value := st.client.values[prefix+keyKnownFiles]
	// Of an entry that a single fault hits, nothing can be had; all others are whole.
	check := func(t *testing.T, damaged []byte, atLeast int) {
		t.Helper()
		st := st.clone()
		st.client.values[prefix+keyKnownFiles] = damaged
		s, loaded, err := Open(context.Background(), st.options())
		require.NoError(t, err)
		requireNothingAhead(t, loaded.States, saved, now, later)
		require.GreaterOrEqual(t, len(loaded.States), atLeast)
		require.NotEmpty(t, loaded.Damaged)
		assert.Equal(t, prefix+keyKnownFiles, loaded.Damaged[0].Key)
		assert.Equal(t, damaged, st.client.values[prefix+keyKnownFiles+quarantineSuffix])
		require.Equal(t, KindSnapshot, save(t, s).Kind, "it is written anew soon")
		require.NoError(t, s.Close(context.Background()))
		s, again, err := Open(context.Background(), st.options())
		require.NoError(t, err)
		require.Empty(t, again.Damaged, "and then is good again")
		requireSame(t, loaded.States, again.States)
		require.NoError(t, s.Close(context.Background()))
	}
	t.Run("any bit changed", func(t *testing.T) {
		for n := range value {
			damaged := bytes.Clone(value)
			damaged[n] ^= 1 << (n % 8)
			check(t, damaged, files-1)
		}
	})
	t.Run("cut at any length", func(t *testing.T) {
		var ends []int
		for at := 0; at < len(value); {
			f, ok := nextField(value, at)
			require.True(t, ok)
			ends = append(ends, f.end)
			at = f.end
		}
		for n := 1; n < len(value); n++ {
			whole := 0
			for _, end := range ends[:files] {
				if end <= n {
					whole++
				}
			}
			check(t, value[:n], whole)
		}
	})
	t.Run("a hole of zeros", func(t *testing.T) {
		damaged := bytes.Clone(value)
		clear(damaged[len(value)/3 : len(value)/2])
		check(t, damaged, files-3)
	})
	t.Run("the first half of the new one, the second half of the old one", func(t *testing.T) {
		st := st.clone()
		delete(st.progress.values, prefix+keyProgress)
		s, loaded := open(t, st.options())
		for _, state := range loaded.States {
			state.ModTime++
			s.Changed(state)
		}
		require.Equal(t, KindSnapshot, save(t, s).Kind)
		newer := st.client.values[prefix+keyKnownFiles]
		require.Len(t, newer, len(value))
		later = snapshotOf(loaded.States)
		torn := append(bytes.Clone(newer[:len(newer)/2]), value[len(newer)/2:]...)
		check(t, torn, files-1)
	})
}

func TestValuesOfNoFormatAreDamageAndNothingElse(t *testing.T) {
	random := make([]byte, 120)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	random[0] = 0x80
	for _, c := range []struct {
		name   string
		value  []byte
		states int
		cause  error
	}{
		{"zeros", make([]byte, 100), 0, ErrUnknownFormat},
		{"random bytes", random, 0, ErrUnknownFormat},
		{"text", []byte("hello"), 0, ErrUnknownFormat},
		{"a count without files", []byte("1\n"), 0, ErrIncomplete},
		{"a count larger than the files", []byte("3\n{\"Offset\":5}\n"), 1, ErrIncomplete},
		{"a huge count", []byte("9223372036854775807\n{\"Offset\":5}\n"), 1, ErrIncomplete},
		{"a count beyond any integer", []byte("99999999999999999999\n{\"Fingerprint\":{\"first_bytes\":\"YQ==\"},\"Offset\":5}\n"), 1, ErrMalformed},
		{"a negative count", []byte("-1\n{\"Fingerprint\":{\"first_bytes\":\"YQ==\"},\"Offset\":5}\n"), 1, ErrUnknownFormat},
		{"a negative offset", []byte("1\n{\"Offset\":-5}\n"), 1, ErrNegativePosition},
		{"an object cut in the middle", []byte("2\n{\"Offset\":5}\n{\"Offs"), 1, ErrMalformed},
		{"an object with a broken middle", []byte("3\n{\"Offset\":1}\n{\"Off\x00\n{\"Fingerprint\":{\"first_bytes\":\"YQ==\"},\"Offset\":3}\n"), 2, ErrMalformed},
		{"a field of a wrong type", []byte("2\n{\"Offset\":\"one\"}\n{\"Offset\":3}\n"), 1, ErrMalformed},
		{"header attributes of a wrong type", []byte(`1` + "\n" + `{"Offset":7,"FileAttributes":{"HeaderAttributes":3}}` + "\n"), 1, ErrHeaderAttributes},
		{"upstream's protobuf with a negative offset", []byte{0x0A, 11, 0x10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, 1, ErrNegativePosition},
		{"upstream's protobuf with broken attributes", []byte{0x0A, 3, 0x22, 1, '{', 0x0A, 2, 0x10, 5}, 1, ErrMalformed},
		{"upstream's protobuf cut in the middle", []byte{0x0A, 2, 0x10, 5, 0x0A, 9, 0x10}, 1, ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newStores()
			st.client.values[prefix+keyKnownFiles] = c.value
			_, loaded := open(t, st.options())
			require.Len(t, loaded.Damaged, 1)
			assert.ErrorIs(t, loaded.Damaged[0], c.cause)
			assert.Len(t, loaded.States, c.states)
			assert.Equal(t, c.states > 0, loaded.Resumed)
			for _, s := range loaded.States {
				assert.GreaterOrEqual(t, s.Offset, int64(0))
			}
			assert.Equal(t, c.value, st.client.values[prefix+keyKnownFiles+quarantineSuffix])
		})
	}
}

func TestASnapshotOfANewerVersionIsUsedAndReported(t *testing.T) {
	var w entryWriter
	var static encodedStatic
	static.build(state(1), false)
	value, check := w.append(nil, listEntry, &static, state(1))
	message := appendInt(nil, sealVersion, formatVersion+1)
	sum := sumCheck(0, check)
	message = appendFixed32(message, sealCheck, updateSum(sum, message))
	value = append(appendLength(value, listSeal, len(message)), message...)
	st := newStores()
	st.client.values[prefix+keyKnownFiles] = value
	_, loaded := open(t, st.options())
	require.Len(t, loaded.Damaged, 1)
	assert.ErrorIs(t, loaded.Damaged[0], ErrNewerVersion)
	requireSame(t, []*fileid.State{state(1)}, loaded.States)
}

func TestADeltaIsUsedOnlyWithItsOwnSnapshot(t *testing.T) {
	st, saved, now := crashed(t, 20)
	delta := st.progress.values[prefix+keyProgress]
	t.Run("an older delta is a trace of a crash and no damage", func(t *testing.T) {
		st := st.clone()
		s, loaded := open(t, st.options())
		require.Equal(t, now, snapshotOf(loaded.States))
		advance(loaded.States[3], 10)
		s.Changed(loaded.States[3])
		require.Equal(t, KindSnapshot, save(t, s).Kind)
		want := snapshotOf(loaded.States)
		st.progress.values[prefix+keyProgress] = delta
		_, loaded = open(t, st.options())
		assert.Empty(t, loaded.Damaged)
		assert.Equal(t, want, snapshotOf(loaded.States))
	})
	t.Run("a newer delta tells that the snapshot is an old copy", func(t *testing.T) {
		later := st.clone()
		s, loaded := open(t, later.options())
		s.Changed(loaded.States[0])
		save(t, s)
		advance(loaded.States[0], 10)
		s.Changed(loaded.States[0])
		require.Equal(t, KindDelta, save(t, s).Kind)
		mixed := stores{st.client.clone(), later.progress.clone()}
		_, loaded = open(t, mixed.options())
		require.Len(t, loaded.Damaged, 1)
		assert.ErrorIs(t, loaded.Damaged[0], ErrOutdated)
		assert.Equal(t, saved, snapshotOf(loaded.States))
	})
	t.Run("a delta without its snapshot gives the files that it holds wholly", func(t *testing.T) {
		st := st.clone()
		delete(st.client.values, prefix+keyKnownFiles)
		_, loaded := open(t, st.options())
		require.Len(t, loaded.Damaged, 1)
		assert.ErrorIs(t, loaded.Damaged[0], ErrMissing)
		requireSame(t, []*fileid.State{state(20)}, loaded.States)
	})
	t.Run("a delta beside what upstream wrote later is of the past", func(t *testing.T) {
		st := st.clone()
		st.client.values[prefix+keyKnownFiles] = []byte{0x0A, 2, 0x10, 5}
		_, loaded := open(t, st.options())
		require.Empty(t, loaded.Damaged)
		require.Len(t, loaded.States, 1)
		assert.Equal(t, int64(5), loaded.States[0].Offset)
	})
	t.Run("a snapshot without its delta is good", func(t *testing.T) {
		st := st.clone()
		delete(st.progress.values, prefix+keyProgress)
		_, loaded := open(t, st.options())
		assert.Empty(t, loaded.Damaged)
		assert.Equal(t, saved, snapshotOf(loaded.States))
	})
}

func TestDamageIsLoggedOnce(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	st := newStores()
	st.client.values[prefix+keyKnownFiles] = []byte("garbage")
	st.client.values[prefix+keyArchiveIndex] = []byte("garbage")
	st.client.values[prefix+slotKey(0)] = []byte("garbage")
	st.progress.values[prefix+keyProgress] = []byte("garbage")
	o := st.options()
	o.Logger, o.ArchiveSlots = zap.New(core), 2
	_, loaded := open(t, o)
	assert.Len(t, loaded.Damaged, 4)
	require.Equal(t, 1, logs.Len())
	assert.Equal(t, zapcore.ErrorLevel, logs.All()[0].Level)
	assert.Len(t, logs.All()[0].ContextMap()["keys"], 4)
}

func TestDamageThatCannotBeKeptIsNoFailure(t *testing.T) {
	st := newStores()
	st.client.values[prefix+keyKnownFiles] = []byte("garbage")
	st.client.before = func(operation, _ string, _ []byte) error {
		if operation == "set" {
			return errors.New("read-only")
		}
		return nil
	}
	_, loaded := open(t, st.options())
	require.Len(t, loaded.Damaged, 1)
	assert.False(t, loaded.Damaged[0].Quarantined)
}

func TestDecodingBrokenBytesTakesLinearTime(t *testing.T) {
	for name, piece := range map[string]string{
		"beginnings of entries": "\x0a\xff\xff\x03",
		"ends of entries":       "\x0a\x07\x00\xfd\x07\x01\x02",
		"nested objects":        "{\"a\":\n",
		"unknown fields":        "\x12\x01\x00",
	} {
		t.Run(name, func(t *testing.T) {
			for _, first := range []string{"\x0a", "7\n", "\x00"} {
				value := []byte(first + strings.Repeat(piece, 256<<10/len(piece)))
				start := time.Now()
				decodeList(value, &entryDecoder{})
				assert.Less(t, time.Since(start), 3*time.Second, fmt.Sprintf("%q", first))
			}
		})
	}
}

func TestTheSumOfChecksIsAChecksum(t *testing.T) {
	sum := uint32(0)
	var all []byte
	for n := range uint32(100) {
		check := n * 2654435761
		sum = sumCheck(sum, check)
		all = binary.LittleEndian.AppendUint32(all, check)
	}
	assert.Equal(t, checksumOf(all), sum)
}

func updateSum(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }
