package endtoend

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// parseMetrics reads the text format of Prometheus, as far as it is needed here:
// a name, labels that are left out, and a value. Counters go without the suffix
// that a scrape may give them.
func parseMetrics(r io.Reader) (map[string]float64, error) {
	sums := map[string]float64{}
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		line := scanner.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		blank := strings.LastIndexByte(line, ' ')
		if blank < 0 {
			return nil, fmt.Errorf("no metric: %q", line)
		}
		value, err := strconv.ParseFloat(line[blank+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("no metric: %q: %w", line, err)
		}
		name, _, _ := strings.Cut(line[:blank], "{")
		sums[strings.TrimSuffix(name, "_total")] += value
	}
	return sums, scanner.Err()
}
