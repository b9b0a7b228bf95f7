package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const someBenchmarks = `goos: linux
BenchmarkLineSize/receiver=ours/line=64B-2     	10	100 ns/op	 200 cpu-ns/record
BenchmarkLineSize/receiver=ours/line=64B-2     	10	100 ns/op	 400 cpu-ns/record
BenchmarkLineSize/receiver=ours/line=64B-2     	10	100 ns/op	 300 cpu-ns/record
BenchmarkLineSize/receiver=ours/line=4KiB-2    	10	100 ns/op	 900 cpu-ns/record
BenchmarkPoll/files=1/changed=0-2              	10	7 ns/op
BenchmarkPoll/files=10/changed=0-2             	10	8 ns/op
BenchmarkPoll/files=10/changed=5-2             	10	9 ns/op
BenchmarkLoad/files=10-2                       	10	100 ns/op	 5 B/op
PASS
`

const someProcesses = `{"scenarios": [{"scenario": "idle", "runs": {
  "ours": [{"cpu_percent": 1}, {"cpu_percent": 3}], "upstream": [{"cpu_percent": 40}]}}]}`

func TestCurvesAreMediansInTheOrderOfTheirParameter(t *testing.T) {
	b, err := readBenchmarks(strings.NewReader(someBenchmarks))
	if err != nil {
		t.Fatal(err)
	}
	c := b.curves(curveCharts[0])
	if len(c.lines) != 1 || c.lines[0].name != "ours" {
		t.Fatalf("%+v", c.lines)
	}
	p := c.lines[0].points
	if len(p) != 2 || p[0] != (point{64, 300}) || p[1] != (point{4096, 900}) {
		t.Errorf("%+v", p)
	}
}

func TestFiguresThatAreNoNumbersAreRefused(t *testing.T) {
	if _, err := readBenchmarks(strings.NewReader("BenchmarkX-2 10 many ns/op\n")); err == nil {
		t.Error("no error")
	}
	if _, err := readProcesses(strings.NewReader("{")); err == nil {
		t.Error("no error")
	}
}

func TestPlotsAreWellFormedAndOnlyOfWhatWasMeasured(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	out := filepath.Join(dir, "plots")
	if err := draw(write("c.json", someProcesses), write("b.txt", someBenchmarks), out); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		b, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(string(b)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", e.Name(), err)
			}
		}
	}
	if got := strings.Join(names, " "); got != "line-size.svg poll.svg watching.svg" {
		t.Errorf("plots: %s", got)
	}
}
