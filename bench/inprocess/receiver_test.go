//go:build unix

package inprocess

import (
	"fmt"
	"testing"
)

// lineSizes are sizes of lines with their line feed.
var lineSizes = []int{64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10}

// sizesCorpus is how many bytes are read whatever the size of a line.
const sizesCorpus = 32 << 20

// BenchmarkFiles reads 200,000 lines out of 1 to 10,000 files.
func BenchmarkFiles(b *testing.B) {
	for _, files := range []int{1, 10, 100, 1000, 10000} {
		corpus := writeCorpus(b, files, 200_000, usualLine)
		for _, c := range contenders {
			b.Run(fmt.Sprintf("receiver=%s/files=%d", c.name, files), func(b *testing.B) {
				readAll(b, c, corpus, map[string]any{"max_concurrent_files": 20480}, nil)
			})
		}
	}
}

// BenchmarkLineSize reads 32 MiB of lines of 64 bytes to 64 KiB out of 4 files.
func BenchmarkLineSize(b *testing.B) {
	for _, size := range lineSizes {
		corpus := writeCorpus(b, 4, sizesCorpus/size, size)
		for _, c := range contenders {
			b.Run(fmt.Sprintf("receiver=%s/line=%s", c.name, sizeName(size)), func(b *testing.B) {
				readAll(b, c, corpus, nil, nil)
			})
		}
	}
}

// BenchmarkWorkers is about what a second processor brings.
func BenchmarkWorkers(b *testing.B) {
	corpus := writeCorpus(b, 4, 400_000, usualLine)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("receiver=ours/workers=%d", workers), func(b *testing.B) {
			readAll(b, contenders[0], corpus, map[string]any{"workers": workers}, nil)
		})
	}
}
