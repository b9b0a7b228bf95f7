package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// settings are what is the same for both distributions.
type settings struct {
	metrics string  // level of the Collector's own metrics
	traces  float64 // share of sampled spans; negative: no tracing
	extra   string  // more keys for the receiver
}

// yaml is the configuration of a distribution on the logs and storage below dir.
func (s settings) yaml(dir, keys string, port int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "receivers:\n  file_log:\n    include: ['%s']\n    start_at: beginning\n    storage: file_storage\n%s",
		filepath.Join(dir, "logs", "*.log"), keys)
	for line := range strings.SplitSeq(s.extra, ";") {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	fmt.Fprintf(&b, `exporters:
  nop:
extensions:
  file_storage:
    directory: '%s'
    create_directory: true
service:
  extensions: [file_storage]
  pipelines:
    logs:
      receivers: [file_log]
      exporters: [nop]
  telemetry:
    logs:
      level: warn
    metrics:
      level: %s
      readers:
        - pull:
            exporter:
              prometheus:
                host: 127.0.0.1
                port: %d
`, filepath.Join(dir, "storage"), s.metrics, port)
	if s.traces < 0 {
		b.WriteString("    traces:\n      level: none\n")
	} else {
		// Spans go to a port where nobody listens; what cannot be sent is dropped.
		fmt.Fprintf(&b, `    traces:
      sampler:
        trace_id_ratio_based:
          ratio: %g
      processors:
        - batch:
            exporter:
              otlp:
                protocol: http/protobuf
                endpoint: http://127.0.0.1:9
`, s.traces)
	}
	return b.String()
}
