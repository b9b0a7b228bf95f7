package tail

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/batch"
	"github.com/otelfilelog/filelogreceiver/internal/deliver"
	"github.com/otelfilelog/filelogreceiver/internal/framing"
	"github.com/otelfilelog/filelogreceiver/internal/match"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// mute takes what the loop reports and does nothing.
type mute struct{}

func (mute) Files(int, int, int, int)                              {}
func (mute) Read(int64, int64)                                     {}
func (mute) Lost(int64, string)                                    {}
func (mute) Rotations(int64)                                       {}
func (mute) Truncations(int64)                                     {}
func (mute) Forgotten(int64, string)                               {}
func (mute) Decision(string)                                       {}
func (mute) Saved(string, int, time.Duration, error)               {}
func (mute) StartLogsOp(ctx context.Context) context.Context       { return ctx }
func (mute) EndLogsOp(_ context.Context, _ string, _ int, _ error) {}

// measuredLoop makes a loop on the files of dir, with its workers, without a
// storage; stop ends it.
func measuredLoop(b *testing.B, dir string) (l *Loop, stop func()) {
	matcher, err := match.New(match.Config{Include: []string{filepath.Join(dir, "*")}})
	require.NoError(b, err)
	frames, err := framing.New(framing.Config{MaxLogSize: 1 << 20})
	require.NoError(b, err)
	logger := zap.NewNop()
	l = New(Config{
		PollInterval: 200 * time.Millisecond, FingerprintSize: 1000, MaxOpenFiles: 20480, Workers: 2,
		MaxBatchRecords: 1000, MaxBatchBytes: 1 << 20,
	}, Rooms{
		Matcher: matcher, Registry: registry.New(1 << 18), Layer: source.OS, Framing: frames, Batches: &batch.Settings{},
		Target: &deliver.Target{
			Next: consumertest.NewNop(), Reporter: mute{}, Logger: logger,
			Outage:    deliver.NewOutage(logger, func(error) {}),
			OnDropped: func(context.Context, int) {}, Pause: deliver.Sleep,
		},
		Observer: NewObserver(mute{}, func(string, error) {}, logger), Logger: logger, Now: time.Now,
	}, nil, true)
	done := l.startWorkers()
	return l, func() { require.NoError(b, l.shutdown(context.Background(), done)) }
}

// pollAndRead polls and waits until all that was found is read.
func (l *Loop) pollAndRead() {
	l.poll()
	for l.busy > 0 {
		l.apply(<-l.reports)
		l.dispatch()
	}
}

// writeMany writes files of ten lines; alike ones have their first 2,000 bytes in common.
func writeMany(b *testing.B, count int, alike bool) (dir string, paths []string) {
	dir = b.TempDir()
	head := ""
	if alike {
		head = strings.Repeat("the same beginning\n", 2000/19+1)
	}
	for i := range count {
		path := filepath.Join(dir, fmt.Sprintf("app-%05d.log", i))
		text := head + strings.Repeat(fmt.Sprintf("line of file %d, as long as lines of a log are\n", i), 10)
		require.NoError(b, os.WriteFile(path, []byte(text), 0o644))
		paths = append(paths, path)
	}
	return dir, paths
}

// BenchmarkPoll is a poll over files of which some have got a line since the
// last one; that these are read and delivered is part of it.
func BenchmarkPoll(b *testing.B) {
	for _, c := range []struct{ files, changed int }{
		{1, 0}, {10, 0}, {100, 0}, {1000, 0}, {10000, 0}, {10000, 1}, {10000, 10}, {10000, 100}, {10000, 1000},
	} {
		b.Run(fmt.Sprintf("files=%d/changed=%d", c.files, c.changed), func(b *testing.B) {
			dir, paths := writeMany(b, c.files, false)
			l, stop := measuredLoop(b, dir)
			defer stop()
			l.pollAndRead()
			var open []*os.File
			for _, path := range paths[:c.changed] {
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				require.NoError(b, err)
				defer f.Close()
				open = append(open, f)
			}
			l.pollAndRead()
			b.ReportAllocs()
			for b.Loop() {
				if c.changed > 0 {
					b.StopTimer()
					for _, f := range open {
						_, _ = f.WriteString("another line, as long as lines of a log are\n")
					}
					b.StartTimer()
				}
				l.pollAndRead()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.files), "ns/file")
		})
	}
}

// BenchmarkFirstPoll finds, identifies and reads new files. The cost per file
// should not grow with their number.
func BenchmarkFirstPoll(b *testing.B) {
	for _, c := range []struct {
		files int
		alike bool
	}{{10, false}, {100, false}, {1000, false}, {10000, false}, {10, true}, {30, true}, {100, true}, {1000, true}, {5000, true}} {
		b.Run(fmt.Sprintf("alike=%v/files=%d", c.alike, c.files), func(b *testing.B) {
			dir, _ := writeMany(b, c.files, c.alike)
			for b.Loop() {
				l, stop := measuredLoop(b, dir)
				l.pollAndRead()
				b.StopTimer()
				stop()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.files), "ns/file")
		})
	}
}
