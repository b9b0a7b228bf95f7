package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// benchmarks are the results of Go benchmarks: figures by name and unit, one
// for each time that the benchmark was run.
type benchmarks map[string]map[string][]float64

// processors is what Go appends to the name of a benchmark.
var processors = regexp.MustCompile(`-\d+$`)

func readBenchmarks(r io.Reader) (benchmarks, error) {
	out := benchmarks{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(fields[0], "")
		if out[name] == nil {
			out[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("figure in %q: %w", lines.Text(), err)
			}
			out[name][fields[i+1]] = append(out[name][fields[i+1]], value)
		}
	}
	return out, lines.Err()
}

// curves makes a chart of medians.
func (b benchmarks) curves(c curveChart) curves {
	out := curves{title: c.title, x: c.x}
	for _, s := range c.series {
		line := curve{name: s.label}
		before, after, _ := strings.Cut(s.name, "*")
		for name, figures := range b {
			value, ok := strings.CutPrefix(name, before)
			if ok {
				value, ok = strings.CutSuffix(value, after)
			}
			if !ok || len(figures[c.unit]) == 0 {
				continue
			}
			if x, ok := parameter(value); ok {
				line.points = append(line.points, point{x, median(figures[c.unit])})
			}
		}
		slices.SortFunc(line.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		if len(line.points) > 1 {
			out.lines = append(out.lines, line)
		}
	}
	return out
}

// parameter reads the value of a parameter: a number, or a size such as 64B or 4KiB.
func parameter(s string) (float64, bool) {
	factor := 1.0
	if rest, ok := strings.CutSuffix(s, "KiB"); ok {
		s, factor = rest, 1024
	}
	value, err := strconv.ParseFloat(strings.TrimSuffix(s, "B"), 64)
	return value * factor, err == nil
}
