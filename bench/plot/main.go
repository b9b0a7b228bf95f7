// Command plot draws the plots of BENCHMARKS.md: SVG files made from what
// `make compare` and `make bench` have left.
//
//	plot -compare build/compare.json -bench build/bench.txt -out plots
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	compare := flag.String("compare", "", "results of `make compare`, JSON")
	bench := flag.String("bench", "", "output of Go benchmarks, text")
	out := flag.String("out", "plots", "directory for the plots")
	flag.Parse()
	if err := draw(*compare, *bench, *out); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

// draw writes all plots for which there are figures.
func draw(compare, bench, out string) error {
	plots := map[string]string{}
	if compare != "" {
		f, err := os.Open(compare)
		if err != nil {
			return err
		}
		defer f.Close()
		processes, err := readProcesses(f)
		if err != nil {
			return fmt.Errorf("%s: %w", compare, err)
		}
		for _, c := range barCharts {
			if p := processes.bars(c); len(p.groups) > 0 {
				plots[c.file] = p.svg()
			}
		}
	}
	if bench != "" {
		f, err := os.Open(bench)
		if err != nil {
			return err
		}
		defer f.Close()
		benchmarks, err := readBenchmarks(f)
		if err != nil {
			return fmt.Errorf("%s: %w", bench, err)
		}
		for _, c := range curveCharts {
			if p := benchmarks.curves(c); len(p.lines) > 0 {
				plots[c.file] = p.svg()
			}
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, svg := range plots {
		if err := os.WriteFile(filepath.Join(out, name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}
