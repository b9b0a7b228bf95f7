package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMedianIsTheMiddleWhateverTheOrder(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v: %v, want %v", c.values, got, c.want)
		}
	}
}

func TestARatioAboveOneIsBetterForEveryMeasure(t *testing.T) {
	more, less := measure{more: true}, measure{}
	if r, ok := more.better(10, 5); !ok || r != 2 {
		t.Errorf("more records: %v %v", r, ok)
	}
	if r, ok := less.better(5, 10); !ok || r != 2 {
		t.Errorf("less CPU: %v %v", r, ok)
	}
	if _, ok := less.better(0, 10); ok {
		t.Error("a ratio to nothing")
	}
}

func TestCountersAreAddedUpOverTheirSeries(t *testing.T) {
	scraped := `# TYPE otelcol_receiver_accepted_log_records_total counter
otelcol_receiver_accepted_log_records_total{receiver="file_log",transport="a } b"} 2e+06
otelcol_receiver_accepted_log_records_total{receiver="file_log/2"} 5 1796064222911
otelcol_receiver_accepted_log_records_other 7
otelcol_receiver_refused_log_records_total{receiver="file_log"} 9
`
	got, err := sumOf(acceptedMetric, strings.NewReader(scraped))
	if err != nil || got != 2_000_005 {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := sumOf(acceptedMetric, strings.NewReader(acceptedMetric+"{} x\n")); err == nil {
		t.Error("a value that is no number was taken")
	}
}

func TestUsageIsTheDifferenceOfTwoMoments(t *testing.T) {
	a := usage{cpu: time.Second, peak: 1 << 20, written: 1 << 20, handed: 1 << 20, reads: 10}
	b := usage{cpu: 3 * time.Second, peak: 4 << 20, written: 3 << 20, handed: 5 << 20, reads: 15}
	want := figures{CPUSeconds: 2, WallSeconds: 4, CPUPercent: 50, PeakMiB: 4, WrittenMiB: 2, HandedMiB: 4, ReadCalls: 5, Records: 100, PerCPU: 50}
	if got := between(a, b, 4*time.Second, 100); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestLinesHaveTheSizeThatIsStatedAndDiffer(t *testing.T) {
	f := &logFile{path: filepath.Join(t.TempDir(), "a.log")}
	for n := range 3 {
		if err := f.append(n*10, 1+n); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(b) {
		if len(line) != 226 || seen[string(line)] {
			t.Errorf("line of %d bytes: %s", len(line), line)
		}
		seen[string(line)] = true
	}
	if len(seen) != 6 {
		t.Errorf("%d lines", len(seen))
	}
}

func TestUnknownScenariosAreRefused(t *testing.T) {
	if _, err := choose([]string{"plain", "nonsense"}); err == nil || !strings.Contains(err.Error(), `"nonsense"`) {
		t.Error(err)
	}
	if all, err := choose(nil); err != nil || len(all) != len(scenarios) {
		t.Error(err)
	}
	if some, err := choose([]string{"cri"}); err != nil || len(some) != 1 || some[0].lines != criLines {
		t.Error(err, some)
	}
}
