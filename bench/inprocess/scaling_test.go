//go:build unix

package inprocess

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkScaling reads the same lines in 4 files on one processor and on all:
// with each receiver, and with as many goroutines of the floor as there are
// processors. The floor shares nothing, so what it does not gain is the machine's
// (memory, the collector of garbage) and not the receiver's. Additions, which need
// no memory, show what the processors alone gain.
func BenchmarkScaling(b *testing.B) {
	corpus := writeCorpus(b, 4, 4_000_000, usualLine)
	all := runtime.GOMAXPROCS(0)
	for _, processors := range []int{1, all} {
		run := func(name string, f func(b *testing.B)) {
			b.Run(fmt.Sprintf("%s/processors=%d", name, processors), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				f(b)
			})
		}
		run("additions", func(b *testing.B) { additions(b, processors) })
		run("floor", func(b *testing.B) { readFloorParallel(b, corpus, processors) })
		for _, c := range contenders {
			run(c.name, func(b *testing.B) { readAll(b, c, corpus, nil, nil) })
		}
		if all == 1 {
			return
		}
	}
}

// additions makes as many additions, in eight chains that do not wait for each
// other, on as many goroutines.
func additions(b *testing.B, goroutines int) {
	const rounds = 200_000_000
	for b.Loop() {
		var group sync.WaitGroup
		for range goroutines {
			group.Go(func() {
				var x [8]uint64
				for i := range uint64(rounds / goroutines) {
					for chain := range x {
						x[chain] += i ^ uint64(chain)
					}
				}
				sum.Add(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7])
			})
		}
		group.Wait()
	}
}

// sum keeps the additions from being left out.
var sum atomic.Uint64

// readFloorParallel is readFloor with goroutines that share the files.
func readFloorParallel(b *testing.B, corpus corpus, goroutines int) {
	b.Helper()
	m := newMeter(b, corpus)
	for b.Loop() {
		next := newCounter(corpus.records)
		paths := make(chan string, len(corpus.paths))
		for _, path := range corpus.paths {
			paths <- path
		}
		close(paths)
		began := time.Now()
		var group sync.WaitGroup
		for range goroutines {
			group.Go(func() {
				buffer := make([]byte, 128<<10)
				for path := range paths {
					if err := floor(path, buffer, next); err != nil {
						b.Error(err)
					}
				}
			})
		}
		next.await(b)
		m.wall += time.Since(began)
		group.Wait()
	}
	m.report()
}
