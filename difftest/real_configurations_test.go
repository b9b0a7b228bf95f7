package difftest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

// usage is a configuration that people really use, and logs that fit it.
type usage struct {
	name string
	file string // of testdata, with one receiver in it
	// stages are the logs, by their paths: the first is there before the start.
	stages []stage
	// records is how many have to come, and shown what can be seen in them: that
	// both do nothing, or both fail to parse, is no agreement.
	records int
	shown   []string
	// faults are those of contrib's that may show.
	faults []string
}

var usages = []usage{
	{
		name: "lines of JSON in the README", file: "readme_json.yaml", stages: jsonStages, records: 152,
		shown: []string{`"n":"Double \"149\""`, `Body:{"time":"2024-05-06 10:00:00","n":0}`, `Body:no json`},
	},
	{
		name: "plain text in the README", file: "readme_plaintext.yaml", stages: plainStages, records: 5,
		shown: []string{`Severity:17 "ERROR"`, `Severity:5 "DEBUG"`, `"msg":"Str \"This is a test debug message\""`},
	},
	{
		name: "multiline in the README", file: "readme_multiline.yaml", stages: multilineStages, records: 3,
		shown: []string{"Body:Exception in thread 2 \"main\" java.lang.NullPointerException\n        at com.example.myproject.Book.getTitle(Book.java:16)\n"},
	},
	{
		name: "a compressed file in the README", file: "readme_compressed.yaml", stages: compressedStages, records: 60,
		shown:  []string{"Body:member 1 line 0 ", "Body:member 2 line 29 "},
		faults: []string{"offsets in appended members"},
	},
	{
		name: "the Collector's own log in the README", file: "readme_self_monitoring.yaml", stages: selfMonitoringStages, records: 4,
		shown: []string{`"k8s.pod.name":"Str \"otel-agent-qkvqj\""`, `Severity:13 "warn"`, "Body:Failed to scrape Prometheus endpoint ", `"stacktrace":`},
	},
	{
		name: "the Kubernetes defaults of the chart", file: "kubernetes_helm.yaml", stages: podStages, records: 5,
		shown: []string{
			"Body:begin, middle, end ", `"k8s.pod.name":"Str \"cart-7d9f\""`, `"log.iostream":"Str \"stderr\""`,
			"Body:from CRI-O ", `"k8s.container.restart_count":"Str \"12\""`,
		},
	},
	{
		name: "the Kubernetes defaults of the chart on docker", file: "kubernetes_helm.yaml", stages: dockerPodStages, records: 2,
		shown: []string{"Body:from docker\n ", `"log.iostream":"Str \"stderr\""`, `"k8s.container.restart_count":"Str \"3\""`},
	},
	{
		name: "Kubernetes before there was a container operator", file: "kubernetes_router.yaml", stages: together(podStages, dockerPodStages), records: 11,
		shown: []string{
			"Body:begin, middle, end ", `"k8s.pod.name":"Str \"cart-7d9f\""`, `"log.iostream":"Str \"stderr\""`,
			"Body:from docker\n ", "Body:from CRI-O ", `"k8s.container.restart_count":"Str \"3\""`,
		},
	},
	{
		name: "json-file logs of docker", file: "docker.yaml", stages: dockerStages, records: 122,
		shown: []string{`"container.id":"Str \"4f5c8a2e9d1b\""`, "Body:line 119 ", "Body:  indented ", `"log.iostream":"Str \"stderr\""`},
	},
	{
		name: "classic syslog files", file: "syslog_rfc3164.yaml", stages: syslogStages, records: 5,
		shown: []string{`"appname":"Str \"sshd\""`, `Severity:18 "crit"`, `"hostname":"Str \"web1\""`, `"proc_id":"Str \"811\""`, "Body:no syslog"},
	},
	{
		name: "syslog with structured data", file: "syslog_rfc5424.yaml", stages: structuredSyslogStages, records: 103,
		shown: []string{`"service.name":"Str \"syslog\""`, `"msg_id":"Str \"ID47\""`, "eventSource", "Body:An application event log entry "},
	},
	{
		name: "access logs of nginx", file: "nginx.yaml", stages: nginxStages, records: 124,
		shown: []string{`Severity:9 "200"`, `Severity:13 "404"`, `Severity:17 "502"`, `"target":"Str \"/item/119\""`, `"log.source":"Str \"nginx\""`},
	},
	{
		name: "Java's stack traces by multiline", file: "java_multiline.yaml", stages: javaStages, records: 5,
		shown: []string{"Body:cannot render invoice\njava.lang.IllegalStateException: no template\n\tat", "Caused by: java.io.IOException: stream closed\n\t... 12 more ", `Severity:17 "ERROR"`},
	},
	{
		name: "Java's stack traces by recombine", file: "java_recombine.yaml", stages: javaStages, records: 5,
		shown: []string{" - cannot render invoice\njava.lang.IllegalStateException: no template\n\tat", "Caused by: java.io.IOException: stream closed\n\t... 12 more ", `Severity:17 "ERROR"`},
	},
	{
		name: "columns named in the configuration", file: "csv.yaml", stages: csvStages, records: 125,
		shown: []string{`"message":"Str \"a, b and \\\"c\\\"\""`, `Severity:17 "ERROR"`, "Body:7,INFO", "Time:1715000000119000000"},
	},
	{
		name: "columns named in the file", file: "csv_file_header.yaml", stages: iisStages, records: 4,
		shown: []string{`"cs-method":"Str \"POST\""`, `"sc-status":"Str \"404\""`, "Time:1714989602000000000"},
	},
	{
		name: "pairs of keys and values", file: "key_value.yaml", stages: keyValueStages, records: 124,
		shown: []string{`Severity:17 "ERROR"`, `Severity:13 "WARN"`, "Scope:proxy.upstream", "Trace:48485a3953bb61246b221d5bc9df496c 0102030405060708 0", `"msg":"Str \"cannot connect\""`},
	},
	{
		name: "a log and its compressed predecessors", file: "rotated_gzip.yaml", stages: rotatedStages, records: 405,
		shown: []string{"app.log {Type:", `"of":"Str \"the newest past\""`, `"of":"Str \"the oldest past\""`, `"of":"Str \"late past\""`, "Body:plain "},
	},
	{
		name: "only the newest file of each node", file: "newest_files.yaml", stages: newestStages, records: 6,
		shown: []string{"Body:node a day 2 number 10 ", "Body:node b alone ", "Body:node b newer "},
	},
	{
		name: "two formats and two parsers", file: "two_formats.yaml", stages: twoFormatStages, records: 250,
		shown:  []string{`"msg":"Str \"json 0\""`, `"msg":"Str \"plain 124\""`, `Severity:17 "error"`, `Severity:13 "warn"`},
		faults: []string{"order of ways"},
	},
}

func TestBothReceiversAgreeOnConfigurationsThatPeopleUse(t *testing.T) {
	slots := make(chan struct{}, parallel)
	for _, u := range usages {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			compareAnd(t, u.trial(t), u.unmet)
		})
	}
}

func TestEveryConfigurationOfTestdataIsTried(t *testing.T) {
	names, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	var tried []string
	for _, u := range usages {
		tried = append(tried, filepath.Join("testdata", u.file))
	}
	slices.Sort(tried)
	require.Equal(t, names, slices.Compact(tried))
}

// trial is the configuration with the receiver's own start, and with the
// attributes that say where a record stands.
func (u usage) trial(t *testing.T) trial {
	text, err := os.ReadFile(filepath.Join("testdata", u.file))
	require.NoError(t, err)
	retrieved, err := confmap.NewRetrievedFromYAML(text)
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	receivers, err := conf.Sub("receivers")
	require.NoError(t, err)
	for _, section := range receivers.ToStringMap() {
		keys := places(section.(map[string]any))
		if keys["start_at"] == nil {
			keys["start_at"] = "end"
		}
		return trial{keys: keys, stages: u.stages}
	}
	t.Fatalf("no receiver in %q", u.file)
	return trial{}
}

// unmet is what our records, or the faults that were needed, are not as they
// have to be.
func (u usage) unmet(own map[string][]shape, used []string) string {
	for _, name := range used {
		if !slices.Contains(u.faults, name) {
			return fmt.Sprintf("a difference is explained by %q, which has no place here", name)
		}
	}
	var all strings.Builder
	records := 0
	for _, name := range sorted(own) {
		records += len(own[name])
		for _, s := range own[name] {
			fmt.Fprintf(&all, "%s %+v\n", name, s)
		}
	}
	if records != u.records {
		return fmt.Sprintf("%d records, not %d:\n%s", records, u.records, excerpt(all.String()))
	}
	for _, text := range u.shown {
		if !strings.Contains(all.String(), text) {
			return fmt.Sprintf("%q is not among the records:\n%s", text, excerpt(all.String()))
		}
	}
	return ""
}
