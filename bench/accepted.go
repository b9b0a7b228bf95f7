package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// acceptedMetric counts the records that the next component has accepted; both
// distributions have it from the Collector.
const acceptedMetric = "otelcol_receiver_accepted_log_records"

var scraper = http.Client{Timeout: 3 * time.Second}

// accepted asks the process how many records were accepted so far.
func (p *process) accepted() (int, error) {
	r, err := scraper.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", p.port))
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("metrics: %s", r.Status)
	}
	return sumOf(acceptedMetric, r.Body)
}

// sumOf adds up all series of a counter in Prometheus' text format. The name may
// have the suffix _total there.
func sumOf(name string, r io.Reader) (int, error) {
	sum := 0.0
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok {
			continue
		}
		rest = strings.TrimPrefix(rest, "_total")
		if strings.HasPrefix(rest, "{") {
			rest = rest[strings.LastIndexByte(rest, '}')+1:]
		} else if !strings.HasPrefix(rest, " ") {
			continue // another metric whose name begins alike
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			return 0, fmt.Errorf("no value in %q", lines.Text())
		}
		value, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return 0, fmt.Errorf("value in %q: %w", lines.Text(), err)
		}
		sum += value
	}
	return int(sum), lines.Err()
}
