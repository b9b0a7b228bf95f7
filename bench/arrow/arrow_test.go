//go:build unix

package arrow

import (
	"encoding/json"
	"syscall"
	"testing"
	"time"

	"github.com/open-telemetry/otel-arrow/go/pkg/otel/arrow_record"
	"go.opentelemetry.io/collector/pdata/plog"
	"google.golang.org/protobuf/proto"
)

// BenchmarkArrow encodes the batches of each shape, one stream for all of them,
// as an exporter does. One operation is the whole of them; the figures are per
// record, and CPU time because wall time would be that of a busy machine. otlp-B is what the same batches take as OTLP, uncompressed.
func BenchmarkArrow(b *testing.B) {
	dir := writeLogs(b)
	for _, s := range shapes {
		batches := s.batchesOf(b, dir)
		b.Run("shape="+s.name, func(b *testing.B) {
			size := 0
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				size = encode(b, batches, nil)
			}
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N)/allLines, "cpu-ns/record")
			b.ReportMetric(float64(size)/allLines, "B/record")
			b.ReportMetric(float64(sizeAsOTLP(b, batches))/allLines, "otlp-B/record")
			b.ReportMetric(allLines/float64(len(batches)), "records/batch")
		})
	}
}

// encode encodes all batches with one producer and returns their size on the
// wire. each, if set, decodes what the producer has made of a batch.
func encode(tb testing.TB, batches []plog.Logs, each func(batch plog.Logs, wire []byte)) (size int) {
	tb.Helper()
	producer := arrow_record.NewProducer()
	defer producer.Close()
	for _, batch := range batches {
		message, err := producer.BatchArrowRecordsFromLogs(batch)
		if err != nil {
			tb.Fatal(err)
		}
		wire, err := proto.Marshal(message)
		if err != nil {
			tb.Fatal(err)
		}
		size += len(wire)
		if each != nil {
			each(batch, wire)
		}
	}
	return size
}

// cpuTime is the CPU time of this process so far.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func sizeAsOTLP(tb testing.TB, batches []plog.Logs) (size int) {
	tb.Helper()
	for _, batch := range batches {
		b, err := (&plog.ProtoMarshaler{}).MarshalLogs(batch)
		if err != nil {
			tb.Fatal(err)
		}
		size += len(b)
	}
	return size
}

// flat is a record with all that it inherits, as text: how a batch groups its
// records is nothing that an encoder has to keep.
func flat(tb testing.TB, logs plog.Logs) []string {
	tb.Helper()
	var out []string
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				text, err := json.Marshal([]any{
					rl.Resource().Attributes().AsRaw(), sl.Scope().Name(), sl.Scope().Version(), r.Body().AsRaw(), r.Attributes().AsRaw(),
					r.Timestamp(), r.ObservedTimestamp(), r.SeverityNumber(), r.SeverityText(), r.Flags(),
				})
				if err != nil {
					tb.Fatal(err)
				}
				out = append(out, string(text))
			}
		}
	}
	return out
}
