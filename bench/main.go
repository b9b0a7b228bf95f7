// Command bench compares two distributions of the Collector as whole processes:
// the one with this receiver and the one with contrib's. Both read the same
// files, in turn (A B A B ...), so that a ratio holds where an absolute figure
// would be that of one noisy machine.
//
//	bench -ours PATH -upstream PATH [flags] [scenario ...]
//
// Without scenarios it runs all of them; `bench -list` says what each one does.
// It needs Linux: CPU time, memory and bytes written are read from the kernel.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// options are what the flags say.
type options struct {
	work     string
	out      string
	runs     int
	procs    int
	lines    int
	files    int
	duration time.Duration
	settings settings
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	ours := flags.String("ours", "", "binary of the distribution with this receiver")
	upstream := flags.String("upstream", "", "binary of the distribution with contrib's receiver")
	list := flags.Bool("list", false, "say what the scenarios are, and end")
	flags.StringVar(&o.work, "work", "", "directory for logs and storages (default: a new one below the system's temporary directory, removed at the end)")
	flags.StringVar(&o.out, "out", "", "file for the results as JSON, from which the plots are made")
	flags.IntVar(&o.runs, "runs", 3, "runs of each distribution and scenario")
	flags.IntVar(&o.procs, "gomaxprocs", 0, "GOMAXPROCS of the distributions; 0: as they choose")
	flags.IntVar(&o.lines, "lines", 2_000_000, "lines of the scenarios that read a backlog")
	flags.IntVar(&o.files, "files", 0, "files of the scenarios that watch files; 0: as the scenario says")
	flags.DurationVar(&o.duration, "duration", 15*time.Second, "how long quiet and busy files are watched")
	flags.StringVar(&o.settings.metrics, "metrics", "normal", "level of the Collector's own metrics: normal, detailed")
	flags.Float64Var(&o.settings.traces, "traces", -1, "share of the Collector's own spans to sample, 0 to 1; negative: no tracing")
	flags.StringVar(&o.settings.extra, "extra", "", "more keys for both receivers, as 'key: value; key: value'")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		for _, s := range scenarios {
			fmt.Fprintf(out, "%-10s %s\n", s.name, s.work)
		}
		return nil
	}
	if *ours == "" || *upstream == "" {
		return fmt.Errorf("both -ours and -upstream are needed (`make compare` builds them)")
	}
	chosen, err := choose(flags.Args())
	if err != nil {
		return err
	}
	if o.work == "" {
		if o.work, err = os.MkdirTemp("", "filelog-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.work)
	}
	contenders := []contender{{"ours", *ours}, {"upstream", *upstream}}
	results := results{
		Machine:    fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Runs:       o.runs,
		GoMaxProcs: o.procs,
		Metrics:    o.settings.metrics,
		Traces:     o.settings.traces,
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	for _, s := range chosen {
		measured := compared{Scenario: s.name, Work: s.describe(o), Runs: map[string][]figures{}}
		for n := range o.runs {
			// Whoever comes second finds warmer caches: take turns in that, too.
			order := slices.Clone(contenders)
			if n%2 == 1 {
				slices.Reverse(order)
			}
			for _, c := range order {
				f, err := s.measure(c, o)
				if err != nil {
					return fmt.Errorf("scenario %s, %s: %w", s.name, c.name, err)
				}
				measured.Runs[c.name] = append(measured.Runs[c.name], f)
				select {
				case <-interrupted:
					return fmt.Errorf("interrupted")
				default:
				}
			}
		}
		results.Scenarios = append(results.Scenarios, measured)
		measured.print(out)
		if o.out == "" {
			continue
		}
		if err := results.save(o.out); err != nil { // what is measured stays, whatever comes next
			return err
		}
	}
	return nil
}

// save writes the results for the plots.
func (r *results) save(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
