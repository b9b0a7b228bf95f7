package main

import (
	"fmt"
	"io"
	"slices"
)

// results are all scenarios of one call.
type results struct {
	Machine    string     `json:"machine"`
	Runs       int        `json:"runs"`
	GoMaxProcs int        `json:"gomaxprocs"` // 0: as many as there are processors
	Metrics    string     `json:"metrics"`
	Traces     float64    `json:"traces"`
	Scenarios  []compared `json:"scenarios"`
}

// compared is one scenario: the runs of each distribution.
type compared struct {
	Scenario string               `json:"scenario"`
	Work     string               `json:"work"`
	Runs     map[string][]figures `json:"runs"`
}

// measure is a figure and which way it should go.
type measure struct {
	name   string
	format string
	more   bool // the larger, the better
	of     func(figures) float64
}

var measures = []measure{
	{"records per CPU s", "%.0f", true, func(f figures) float64 { return f.PerCPU }},
	{"CPU s", "%.3f", false, func(f figures) float64 { return f.CPUSeconds }},
	{"% of a processor", "%.2f", false, func(f figures) float64 { return f.CPUPercent }},
	{"wall s", "%.2f", false, func(f figures) float64 { return f.WallSeconds }},
	{"peak MiB", "%.1f", false, func(f figures) float64 { return f.PeakMiB }},
	{"written MiB", "%.2f", false, func(f figures) float64 { return f.WrittenMiB }},
	{"write calls MiB", "%.2f", false, func(f figures) float64 { return f.HandedMiB }},
	{"read calls", "%.0f", false, func(f figures) float64 { return f.ReadCalls }},
}

// print writes a table of the medians and of how many times better ours is.
func (c *compared) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s\n", c.Scenario, c.Work)
	fmt.Fprintf(w, "  %-18s %14s %14s %10s   %s\n", "median of", "ours", "upstream", "times", "ours, run by run")
	for _, m := range measures {
		ours, upstream := c.median("ours", m), c.median("upstream", m)
		if ours == 0 && upstream == 0 {
			continue
		}
		times := "-"
		if r, ok := m.better(ours, upstream); ok {
			times = fmt.Sprintf("%.2f", r)
		}
		fmt.Fprintf(w, "  %-18s %14s %14s %10s  ", m.name, fmt.Sprintf(m.format, ours), fmt.Sprintf(m.format, upstream), times)
		for _, f := range c.Runs["ours"] {
			fmt.Fprintf(w, " "+m.format, m.of(f))
		}
		fmt.Fprintln(w)
	}
}

// median is the middle of a distribution's runs.
func (c *compared) median(name string, m measure) float64 {
	var values []float64
	for _, f := range c.Runs[name] {
		values = append(values, m.of(f))
	}
	return median(values)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

// better is how many times better ours is than upstream: above 1 is better,
// below 1 worse. There is no such number when one of them is zero.
func (m *measure) better(ours, upstream float64) (float64, bool) {
	if ours == 0 || upstream == 0 {
		return 0, false
	}
	if m.more {
		return ours / upstream, true
	}
	return upstream / ours, true
}
