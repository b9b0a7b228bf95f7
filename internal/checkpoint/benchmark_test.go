package checkpoint

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// benchmarkSizes are how many files are tracked.
var benchmarkSizes = []int{1, 10, 100, 1000, 10000}

// benchmarkStates makes States of the size that a usual file has: a fingerprint
// of 1,000 bytes, five attributes, evidence of its own.
func benchmarkStates(count int) []*fileid.State {
	states := make([]*fileid.State, count)
	for i := range states {
		head := make([]byte, 1000)
		for j := range head {
			head[j] = byte((i + j) % 256)
		}
		states[i] = &fileid.State{
			Fingerprint:  fileid.NewFingerprint(head),
			Locator:      fileid.Locator{Device: 2049, Inode: uint64(1_000_000 + i)},
			Path:         fmt.Sprintf("/var/log/app/app-%05d.log", i),
			RecordNumber: int64(i * 100),
			Attributes: map[string]any{
				"log.file.name": "app.log",
				"log.file.path": "/var/log/app/app.log",
				"host.name":     "server-001",
				"service.name":  "my-service",
				"environment":   "production",
			},
			HeaderDone: true,
			ModTime:    1_796_064_222_911_399_403,
		}
		benchmarkAdvance(states[i], 100_000+int64(i*1024))
	}
	return states
}

func benchmarkAdvance(s *fileid.State, n int64) {
	s.Offset += n
	s.RecordNumber++
	s.Size = s.Offset
	s.ModTime += 1e9
	s.Ladder.Advance(fileid.Frontier{Offset: s.Offset, Sum: uint64(s.Offset) * 0x9E3779B97F4A7C15})
}

// discard is a storage that takes everything and keeps nothing.
type discard struct{ *memoryStorage }

func (discard) Set(context.Context, string, []byte) error { return nil }

// lending is a storage that does not copy what it returns.
type lending struct{ *memoryStorage }

func (l lending) Get(_ context.Context, key string) ([]byte, error) { return l.values[key], nil }

func openBenchmark(b *testing.B, states []*fileid.State, o Options) *Store {
	o.Prefix = prefix
	if o.Client == nil {
		o.Client, o.Progress = discard{newMemoryStorage()}, discard{newMemoryStorage()}
	}
	s, _, err := Open(context.Background(), o)
	require.NoError(b, err)
	for _, state := range states {
		s.Add(state)
	}
	save(b, s)
	b.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// BenchmarkSnapshot is the encoding of a full save.
func BenchmarkSnapshot(b *testing.B) {
	for _, hash := range []bool{false, true} {
		for _, count := range benchmarkSizes {
			b.Run(fmt.Sprintf("hash=%v/files=%d", hash, count), func(b *testing.B) {
				states := benchmarkStates(count)
				s := openBenchmark(b, states, Options{HashFingerprints: hash})
				b.ReportAllocs()
				for b.Loop() {
					s.encodeSnapshot(&s.job)
				}
				b.ReportMetric(float64(len(s.job.known)), "bytes/save")
			})
		}
	}
}

// BenchmarkSave is a whole save of some files that went on, through the saver.
func BenchmarkSave(b *testing.B) {
	for _, c := range []struct{ files, advanced int }{
		{1, 1}, {10, 10}, {100, 10}, {100, 100}, {1000, 1}, {1000, 10}, {1000, 100}, {1000, 1000}, {10000, 10}, {10000, 10000},
	} {
		b.Run(fmt.Sprintf("files=%d/advanced=%d", c.files, c.advanced), func(b *testing.B) {
			states := benchmarkStates(c.files)
			s := openBenchmark(b, states, Options{})
			bytes, saves := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				for _, state := range states[:c.advanced] {
					benchmarkAdvance(state, 300)
					s.Changed(state)
				}
				r := save(b, s)
				bytes += r.Bytes
				saves++
			}
			b.ReportMetric(float64(bytes)/float64(saves), "bytes/save")
		})
	}
}

// BenchmarkEncodeDelta is the part of BenchmarkSave that the loop does itself.
func BenchmarkEncodeDelta(b *testing.B) {
	for _, c := range []struct{ files, advanced int }{{1000, 10}, {1000, 1000}} {
		b.Run(fmt.Sprintf("files=%d/advanced=%d", c.files, c.advanced), func(b *testing.B) {
			states := benchmarkStates(c.files)
			s := openBenchmark(b, states, Options{})
			for _, state := range states[:c.advanced] {
				benchmarkAdvance(state, 300)
				s.Changed(state)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.job.kind = 0
				if !s.encodeDelta(&s.job) {
					b.Fatal("a delta was expected")
				}
				s.surplus = 0
			}
			b.ReportMetric(float64(len(s.job.known)), "bytes/save")
		})
	}
}

// BenchmarkLoad is what a start costs.
func BenchmarkLoad(b *testing.B) {
	for _, count := range benchmarkSizes {
		b.Run(fmt.Sprintf("files=%d", count), func(b *testing.B) {
			st := newStores()
			s := openBenchmark(b, benchmarkStates(count), Options{Client: st.client, Progress: st.progress})
			require.NoError(b, s.Close(context.Background()))
			src := source{client: lending{st.client}, progress: st.progress, prefix: prefix}
			b.ReportAllocs()
			for b.Loop() {
				f, err := load(context.Background(), src)
				if err != nil || len(f.states) != count {
					b.Fatal("not loaded")
				}
			}
		})
	}
}
