package main

import (
	"bufio"
	"fmt"
	"os"
)

// layout is how a line is written.
type layout int

const (
	plainLines layout = iota
	criLines
)

// text is a line of 226 bytes with its line feed, as a web service writes it;
// the number makes each of them, and with it each file's beginning, different.
const text = `2026-11-30T18:30:57.123456Z INFO  request served verb=GET path=/v2/shop/orders/%08d status=200 took_ms=9 sent_bytes=4312 agent="Mozilla/5.0 (X11; Linux x86_64)" span=00f067aa0ba902b7 trace=4bf92f3577b34da6a3ce929d0e0e4736` + "\n"

const criPrefix = "2026-11-30T18:30:57.123456789Z stdout F "

// logFile is a file that a distribution reads.
type logFile struct {
	path   string
	layout layout
}

// append writes count lines, numbered from first.
func (f *logFile) append(first, count int) (err error) {
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriterSize(file, 1<<20)
	if count == 1 {
		w = bufio.NewWriter(file)
	}
	for i := range count {
		if f.layout == criLines {
			_, _ = w.WriteString(criPrefix) // Flush returns the error
		}
		_, _ = fmt.Fprintf(w, text, first+i)
	}
	return w.Flush()
}
