//go:build unix

package inprocess

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus is files full of lines.
type corpus struct {
	dir     string
	paths   []string
	records int
	bytes   int64
}

// usualLine is the size of a line, line feed included, where size is not what a
// benchmark is about.
const usualLine = 226

// writeCorpus writes lines of a size, spread evenly over files. Each line, and so
// each file's beginning, is different.
func writeCorpus(tb testing.TB, files, lines, size int) corpus {
	tb.Helper()
	c := corpus{dir: tb.TempDir()}
	const number = len("2026-11-30T18:30:57.123456Z INFO  12345678 ")
	padding := strings.Repeat("abcdefghijklmnopqrstuvwxyz 0123456789 ", size/38+1)[:size-number-1]
	for i := range files {
		path := filepath.Join(c.dir, fmt.Sprintf("app-%05d.log", i))
		file, err := os.Create(path)
		if err != nil {
			tb.Fatal(err)
		}
		w := bufio.NewWriterSize(file, 256<<10)
		for range lines / files {
			_, _ = fmt.Fprintf(w, "2026-11-30T18:30:57.123456Z INFO  %08d %s\n", c.records, padding)
			c.records++
			c.bytes += int64(size)
		}
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
		if err := file.Close(); err != nil {
			tb.Fatal(err)
		}
		c.paths = append(c.paths, path)
	}
	return c
}
