//go:build unix

package inprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// BenchmarkFloor is the least that any receiver has to do with the corpus of
// BenchmarkLineSize: read it, cut it into lines, put them into pdata with one
// attribute each. It follows nothing, remembers nothing, checks no encoding and
// reports no metric.
func BenchmarkFloor(b *testing.B) {
	for _, size := range lineSizes {
		corpus := writeCorpus(b, 4, sizesCorpus/size, size)
		b.Run(fmt.Sprintf("line=%s", sizeName(size)), func(b *testing.B) { readFloor(b, corpus) })
	}
}

// BenchmarkFloorUsual is the same with the lines of BenchmarkFiles.
func BenchmarkFloorUsual(b *testing.B) { readFloor(b, writeCorpus(b, 1, 200_000, usualLine)) }

func readFloor(b *testing.B, corpus corpus) {
	b.Helper()
	buffer := make([]byte, 128<<10)
	m := newMeter(b, corpus)
	for b.Loop() {
		next := newCounter(corpus.records)
		began := time.Now()
		for _, path := range corpus.paths {
			if err := floor(path, buffer, next); err != nil {
				b.Fatal(err)
			}
		}
		next.await(b)
		m.wall += time.Since(began)
	}
	m.report()
}

// floor hands the lines of a file to next, 1,000 or what 1 MiB holds at a time.
func floor(path string, buffer []byte, next consumer.Logs) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	name := filepath.Base(path)
	var logs plog.Logs
	var records plog.LogRecordSlice
	begin := func() {
		logs = plog.NewLogs()
		records = logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		records.EnsureCapacity(1000)
	}
	begin()
	observed := pcommon.NewTimestampFromTime(time.Now())
	kept, inBatch := 0, 0
	for {
		n, err := file.Read(buffer[kept:])
		if n == 0 && errors.Is(err, io.EOF) {
			return next.ConsumeLogs(context.Background(), logs)
		}
		if err != nil {
			return err
		}
		end := bytes.LastIndexByte(buffer[:kept+n], '\n') + 1
		text := string(buffer[:end])
		for len(text) > 0 {
			var line string
			line, text, _ = strings.Cut(text, "\n")
			record := records.AppendEmpty()
			record.SetObservedTimestamp(observed)
			record.Body().SetStr(line)
			record.Attributes().EnsureCapacity(1)
			record.Attributes().PutStr("log.file.name", name)
			if inBatch += len(line); records.Len() == 1000 || inBatch >= 1<<20 {
				if err := next.ConsumeLogs(context.Background(), logs); err != nil {
					return err
				}
				begin()
				inBatch = 0
			}
		}
		kept = copy(buffer, buffer[end:kept+n])
	}
}
