//go:build unix

package arrow

import (
	"slices"
	"testing"

	"github.com/open-telemetry/otel-arrow/go/api/experimental/arrow/v1"
	"github.com/open-telemetry/otel-arrow/go/pkg/otel/arrow_record"
	"go.opentelemetry.io/collector/pdata/plog"
	"google.golang.org/protobuf/proto"
)

func TestBatchesComeOutOfTheArrowEncoderAsTheyWentIn(t *testing.T) {
	dir := writeLogs(t)
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			consumer := arrow_record.NewConsumer()
			defer consumer.Close()
			records := 0
			encode(t, s.batchesOf(t, dir), func(batch plog.Logs, wire []byte) {
				var message v1.BatchArrowRecords
				if err := proto.Unmarshal(wire, &message); err != nil {
					t.Fatal(err)
				}
				decoded, err := consumer.LogsFrom(&message)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, logs := range decoded {
					got = append(got, flat(t, logs)...)
				}
				want := flat(t, batch)
				// The encoder may sort records by their resource and attributes.
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("a batch of %d records came out as %d records, or as others:\n%s\n%s", len(want), len(got), want[0], append(got, "")[0])
				}
				records += len(got)
			})
			if records != allLines {
				t.Errorf("%d of %d records", records, allLines)
			}
		})
	}
}

func TestBatchesAreOfTheSizeThatIsAskedFor(t *testing.T) {
	dir := writeLogs(t)
	for _, s := range shapes {
		if s.name != "ours" && s.name != "ours,on-resource" {
			continue
		}
		full := 0
		batches := s.batchesOf(t, dir)
		for _, b := range batches {
			switch n := b.LogRecordCount(); {
			case n == 1000:
				full++
			case n > 1000:
				t.Errorf("%s: a batch of %d records", s.name, n)
			}
		}
		if full < len(batches)/2 {
			t.Errorf("%s: %d of %d batches are full", s.name, full, len(batches))
		}
	}
}
