package filelogreceiver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/pdata/plog"
)

// exampleLab makes a lab of the receiver of an example, with its paths below the
// lab's folder.
func exampleLab(t *testing.T, example, receiver string) *lab {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examplesDirectory, example))
	require.NoError(t, err)
	l := newLab(t, nil)
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(strings.ReplaceAll(string(text), "/var/log", l.dir)))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	section, err := conf.Sub("receivers::" + receiver)
	require.NoError(t, err)
	delete(l.keys, "start_at")
	for k, v := range section.ToStringMap() {
		l.keys[k] = v
	}
	return l
}

// sample is a file of testdata/logs.
func sample(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/logs", name))
	require.NoError(t, err)
	return string(text)
}

func TestTheMinimalExampleReadsNewLinesUnderBothNames(t *testing.T) {
	for receiver, file := range map[string]string{"file_log": "syslog", "filelog/old-name": "messages"} {
		t.Run(receiver, func(t *testing.T) {
			t.Parallel()
			l := exampleLab(t, "minimal.yaml", receiver)
			l.write(file, "old\n").start().watched(1)
			l.write(file, "new\n").expect("new")
		})
	}
}

func TestTheJSONExampleFillsTimeSeverityAndAttributes(t *testing.T) {
	t.Parallel()
	l := exampleLab(t, "json.yaml", "file_log")
	text := sample(t, "json.log")
	l.write("app/a.json", text).write("app/a.txt", "not matched\n").start().await(strings.Count(text, "\n"))
	l.still()
	r := l.sink.all()[2]
	require.Equal(t, time.Date(2026, 3, 2, 8, 16, 2, 640_000_000, time.UTC), r.record.Timestamp().AsTime())
	require.Equal(t, plog.SeverityNumberWarn, r.record.SeverityNumber())
	require.Equal(t, "price changed", r.attributes["msg"])
	require.NotContains(t, r.attributes, "time")
	require.NotContains(t, r.attributes, "level")
	require.Equal(t, strings.Count(text, "\n"), l.sink.count())
}

func TestThePlainExampleTakesLinesApartAndLetsOthersPass(t *testing.T) {
	t.Parallel()
	l := exampleLab(t, "plain-regex.yaml", "file_log")
	l.write("app/a.log", "old\n").write("app/debug1.log", "excluded\n").start().watched(1)
	text := sample(t, "plain.log") + "does not match\n"
	l.write("app/a.log", text).write("app/debug1.log", "excluded\n").await(strings.Count(text, "\n"))
	r := l.find("stock service slow after=480ms order=100481")
	require.Equal(t, time.Date(2026, 3, 2, 8, 15, 5, 2_000_000, time.UTC), r.record.Timestamp().AsTime())
	require.Equal(t, plog.SeverityNumberWarn, r.record.SeverityNumber())
	require.Equal(t, map[string]any{"log.file.name": "a.log", "log.file.path": l.path("app/a.log")}, r.attributes)
	require.Equal(t, map[string]any{"service.name": "checkout"}, r.resource)
	l.find("does not match")
	require.Empty(t, l.complaints())
}

func TestTheStackTraceExampleKeepsTracesTogether(t *testing.T) {
	t.Parallel()
	l := exampleLab(t, "stack-traces.yaml", "file_log")
	text := sample(t, "java.log")
	begins := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "2026-") {
			begins++
		}
	}
	l.write("app/a.log", "2026-01-01 00:00:00,000 INFO old\n").start().watched(1)
	l.write("app/a.log", text).await(begins) // the last one after the flush period
	l.still()
	require.Equal(t, begins, l.sink.count())
	for _, r := range l.sink.all() {
		if strings.Contains(r.body, "cannot render invoice 88121") {
			require.Contains(t, r.body, "\nCaused by: java.io.IOException: stream closed\n")
			require.Equal(t, plog.SeverityNumberError, r.record.SeverityNumber())
			require.Equal(t, time.Date(2026, 3, 2, 8, 17, 3, 407_000_000, time.Local), r.record.Timestamp().AsTime().In(time.Local))
			return
		}
	}
	t.Fatalf("the stack trace is missing: %q", l.sink.bodies())
}

func TestTheKubernetesExampleKnowsPodsAndJoinsLines(t *testing.T) {
	t.Parallel()
	l := exampleLab(t, "kubernetes.yaml", "file_log")
	pod := "pods/shop_cart-7d9f_4f5c8a2e-9d1b-4c59-8a4e-2f6f3f1c0b11/cart/"
	l.write(pod+"0.log", "2026-03-02T08:00:00.000000000Z stdout F old\n")
	l.write("pods/obs_collector_4f5c8a2e-9d1b-4c59-8a4e-2f6f3f1c0b12/otel-collector/0.log", "2026-03-02T08:00:00Z stdout F own\n")
	l.start().watched(1)
	l.write(pod+"0.log", "2026-03-02T08:00:01.5Z stdout P first half,\n2026-03-02T08:00:01.6Z stdout F  second half\n2026-03-02T08:00:02Z stderr F alone\n")
	l.await(2)
	// The kubelet rotates: the rest comes through the open handle.
	l.rename(pod+"0.log", pod+"0.log.20260302-080003").write(pod+"0.log.20260302-080003", "2026-03-02T08:00:03Z stdout F late\n")
	l.write(pod+"0.log", "2026-03-02T08:00:04Z stdout F next\n")
	l.expectInOrder("first half, second half", "alone", "late", "next")
	for _, r := range l.sink.all() {
		require.Equal(t, "shop", r.resource["k8s.namespace.name"])
		require.Equal(t, "cart-7d9f", r.resource["k8s.pod.name"])
		require.Equal(t, "cart", r.resource["k8s.container.name"])
		require.Equal(t, "0", r.resource["k8s.container.restart_count"])
		require.Equal(t, "4f5c8a2e-9d1b-4c59-8a4e-2f6f3f1c0b11", r.resource["k8s.pod.uid"])
	}
	require.Equal(t, "stderr", l.find("alone").attributes["log.iostream"])
	require.Equal(t, time.Date(2026, 3, 2, 8, 0, 3, 0, time.UTC), l.find("late").record.Timestamp().AsTime())
	require.Empty(t, l.complaints())
}

func TestTheGzipExampleRepeatsNothingThroughACompressedRotation(t *testing.T) {
	t.Parallel()
	l := exampleLab(t, "gzip-rotation.yaml", "file_log")
	l.keys["poll_interval"] = "10ms"
	text, bodies := lines(1, 200)
	l.write("app/app.log", text).start().await(200)
	more, moreBodies := lines(201, 250)
	l.write("app/app.log", more).rename("app/app.log", "app/app.log.1").write("app/app.log", "new 1\n")
	want := append(append(bodies, moreBodies...), "new 1")
	l.expect(want...)
	l.write("app/app.log.2.gz", gzipped(t, text+more)).remove("app/app.log.1")
	l.rename("app/app.log", "app/app.log.1").write("app/app.log", "new 2\n").expect(append(want, "new 2")...)
	l.restart().expect(append(want, "new 2")...)
}

func TestTheSelfMonitoringExampleLeavesOutItsExporter(t *testing.T) {
	t.Parallel()
	l := exampleLab(t, "self-monitoring.yaml", "file_log/self")
	l.write("otelcol/collector.log", "\n").start().polls()
	l.write("otelcol/collector.log", `{"level":"info","ts":"2026-03-02T08:15:00.104Z","msg":"Everything is ready.","service":"x"}
{"level":"error","ts":"2026-03-02T08:15:01.104Z","msg":"Exporting failed.","otelcol.component.id":"otlp_http/self"}
{"level":"warn","ts":"2026-03-02T08:15:02.104+0100","msg":"Memory is high.","otelcol.component.id":"memory_limiter"}
`).expect("Everything is ready.", "Memory is high.")
	r := l.find("Memory is high.")
	require.Equal(t, plog.SeverityNumberWarn, r.record.SeverityNumber())
	require.Equal(t, time.Date(2026, 3, 2, 7, 15, 2, 104_000_000, time.UTC), r.record.Timestamp().AsTime())
	require.Equal(t, map[string]any{"service.name": "otelcol-filelog"}, r.resource)
	require.NotContains(t, r.attributes, "ts")
}
