package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// headed are States with the attributes that header says for each.
func headed(count int, header func(n int) map[string]any) []*fileid.State {
	states := make([]*fileid.State, count)
	for n := range states {
		states[n] = state(n)
		states[n].Attributes = header(n)
	}
	return states
}

func sameHeader(int) map[string]any { return map[string]any{"service": "orders", "zone": "b"} }

const sameHeaderText = `{"service":"orders","zone":"b"}`

// requireAttributes fails unless the States that were read are some of those
// that were written, in order, with their attributes.
func requireAttributes(t *testing.T, written, read []*fileid.State) {
	t.Helper()
	at := 0
	for _, got := range read {
		for at < len(written) && written[at].Path != got.Path {
			at++
		}
		require.Less(t, at, len(written), got.Path)
		require.Equal(t, written[at].Attributes, got.Attributes, got.Path)
		require.Equal(t, written[at].Ladder, got.Ladder, got.Path)
	}
}

func TestAttributesThatManyFilesHaveAreStoredOnceForAHundredAndTwentyEight(t *testing.T) {
	for _, c := range []struct {
		name   string
		header func(int) map[string]any
		texts  int // of sameHeaderText
	}{
		{"all have the same", sameHeader, 3},
		{"some have none", func(n int) map[string]any {
			if n%3 == 0 {
				return nil
			}
			return sameHeader(n)
		}, 2},
		{"each second has others", func(n int) map[string]any {
			if n%2 == 0 {
				return map[string]any{"service": "bills"}
			}
			return sameHeader(n)
		}, 150},
	} {
		t.Run(c.name, func(t *testing.T) {
			states := headed(300, c.header)
			value := appendList(nil, states, 1, true)
			assert.Equal(t, c.texts, bytes.Count(value, []byte(sameHeaderText)))
			l := decodeList(value, &entryDecoder{})
			require.NoError(t, l.err)
			require.True(t, l.sealed)
			require.Len(t, l.states, len(states))
			requireAttributes(t, states, l.states)
		})
	}
}

func TestUpstreamFindsItsAttributesInEachFile(t *testing.T) {
	value := appendList(nil, headed(20, sameHeader), 1, false)
	assert.Equal(t, 20, bytes.Count(value, []byte(sameHeaderText)))
}

func TestDamageCostsNoMoreThanTheFilesThatReferToIt(t *testing.T) {
	states := headed(200, sameHeader)
	value := appendList(nil, states, 1, true)
	first, _ := nextField(value, 0)
	for at := 0; at < len(value); at++ {
		if at > first.end {
			at += 96 // the others are like one another, and no multiple of this
		}
		if at >= len(value) {
			break
		}
		damaged := bytes.Clone(value)
		damaged[at] ^= 0x10
		l := decodeList(damaged, &entryDecoder{})
		require.Error(t, l.err, "byte %d", at)
		require.GreaterOrEqual(t, len(l.states), len(states)-(1+maxLent), "byte %d", at)
		requireAttributes(t, states, l.states)
	}
}

// Without the file whose attributes they refer to, files are not taken to have
// those of another.
func TestAFileDoesNotTakeTheAttributesOfAnother(t *testing.T) {
	states := headed(30, func(n int) map[string]any { return map[string]any{"service": fmt.Sprint("service ", n/10)} })
	value := appendList(nil, states, 1, true)
	at := 0
	for range 10 {
		f, ok := nextField(value, at)
		require.True(t, ok)
		at = f.end
	}
	first, _ := nextField(value, at)
	cut := append(bytes.Clone(value[:at]), value[first.end:]...)
	l := decodeList(cut, &entryDecoder{})
	require.Error(t, l.err)
	require.Len(t, l.states, 20)
	requireAttributes(t, states, l.states)
}

func TestASnapshotOfHashesInPartsIsReadWholly(t *testing.T) {
	st := newStores()
	o := st.options()
	o.HashFingerprints = true
	st.client.before = refuseOver(20 << 10)
	s, _ := open(t, o)
	s.o.Now = fastClock()
	states := headed(1000, sameHeader)
	for _, state := range states {
		s.Add(state)
	}
	for s.Save() {
		s.Applied(<-s.Results())
	}
	require.Greater(t, len(st.client.values), 3)
	require.NoError(t, s.Close(context.Background()))
	_, loaded := open(t, st.clone().options())
	require.Empty(t, loaded.Damaged)
	require.Len(t, loaded.States, len(states))
	requireAttributes(t, states, loaded.States)
}

func TestAddedFilesOfADeltaBringTheirOwnAttributes(t *testing.T) {
	st := newStores()
	o := st.options()
	o.HashFingerprints = true
	s, _ := open(t, o)
	states := headed(200, sameHeader)
	for _, state := range states[:198] {
		s.Add(state)
	}
	save(t, s)
	for _, state := range states[198:] {
		s.Add(state)
	}
	require.Equal(t, KindDelta, save(t, s).Kind)
	assert.Equal(t, 2, bytes.Count(st.progress.values[prefix+keyProgress], []byte(sameHeaderText)))
	_, loaded := open(t, st.clone().options())
	require.Empty(t, loaded.Damaged)
	require.Len(t, loaded.States, len(states))
	requireAttributes(t, states, loaded.States)
}
