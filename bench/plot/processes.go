package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// processes are the results of whole processes.
type processes struct {
	Scenarios []struct {
		Scenario string                          `json:"scenario"`
		Runs     map[string][]map[string]float64 `json:"runs"`
	} `json:"scenarios"`
}

func readProcesses(r io.Reader) (*processes, error) {
	var p processes
	if err := json.NewDecoder(r).Decode(&p); err != nil {
		return nil, err
	}
	return &p, nil
}

// contenders are drawn in this order.
var contenders = []string{"upstream", "ours"}

// bars makes a chart of medians. Scenarios that were not run are left out.
func (p *processes) bars(c barChart) bars {
	out := bars{title: c.title, names: contenders, format: c.format}
	for _, name := range c.scenarios {
		for _, s := range p.Scenarios {
			if s.Scenario != name {
				continue
			}
			g := group{name: name}
			measured := false
			for _, contender := range contenders {
				var values []float64
				for _, run := range s.Runs[contender] {
					if v, ok := run[c.figure]; ok {
						values, measured = append(values, v), true
					}
				}
				g.values = append(g.values, median(values))
			}
			if measured {
				out.groups = append(out.groups, g)
			}
		}
	}
	return out
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

// label is a value as it is written beside its mark.
func label(format string, v float64) string {
	switch {
	case v >= 1e9:
		return fmt.Sprintf("%.3g G", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.3g M", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3g k", v/1e3)
	}
	return fmt.Sprintf(format, v)
}
