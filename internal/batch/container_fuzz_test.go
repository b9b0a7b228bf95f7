package batch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/pipeline"
)

// podLine is a line of a file at path.
type podLine struct{ path, text string }

// stanzaAlone runs lines through operators without anything of ours and returns
// the records that have come out at the end.
func stanzaAlone(t testing.TB, operators string, own map[string]any, lines ...podLine) []map[string]any {
	t.Helper()
	set := componenttest.NewNopTelemetrySettings()
	end, err := newEmitter(set, nil)
	require.NoError(t, err)
	all := append([]operator.Config{operator.NewConfig(newInputConfig("in", "in"))}, operatorsOf(t, operators)...)
	graph, err := pipeline.Config{Operators: all, DefaultOutput: end}.Build(set)
	require.NoError(t, err)
	require.NoError(t, graph.Start(storage.NewNopClient()))
	var entries []*entry.Entry
	for _, line := range lines {
		e := entry.New()
		e.Body, e.Attributes = line.text, attributesOf(own, line.path)
		entries = append(entries, e)
	}
	_ = graph.Operators()[1].ProcessBatch(context.Background(), entries)
	require.NoError(t, graph.Stop())
	return recordsOf(convertInto(&converter{set: &Settings{}}, end.takeLate(nil)))
}

func attributesOf(own map[string]any, path string) map[string]any {
	m := map[string]any{"log.file.path": path}
	for k, v := range own {
		m[k] = v
	}
	return m
}

// recordsOf is all that is in records but the time at which they were observed.
func recordsOf(logs plog.Logs) (out []map[string]any) {
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				out = append(out, map[string]any{
					"resource": rl.Resource().Attributes().AsRaw(), "attributes": r.Attributes().AsRaw(),
					"body": r.Body().AsRaw(), "time": r.Timestamp(),
				})
			}
		}
	}
	return out
}

// ours runs the same lines through a pipeline of ours, in turns of at most turn
// lines and batches of at most limit records. It returns what came out before
// the stop, and what the stop brought out.
func ours(t testing.TB, operators string, own map[string]any, turn, limit int, lines ...podLine) (before, atStop []map[string]any) {
	t.Helper()
	p := newPipeline(t, operators)
	f := p.NewFeeder()
	take := func() (out []map[string]any) {
		for f.Len() > 0 {
			b := f.Take(limit)
			records := recordsOf(b.Logs)
			require.Equal(t, b.Records, len(records))
			require.True(t, limit == 0 || b.Records <= limit)
			out = append(out, records...)
			b.Accepted()
		}
		return out
	}
	files := make(map[string]*FileAttributes)
	ids := make(map[string]uint64)
	for i, line := range lines {
		if files[line.path] == nil {
			ids[line.path] = uint64(len(files))
			files[line.path] = p.NewFileAttributes(attributesOf(own, line.path))
		}
		f.Add(ids[line.path], files[line.path], line.text, Position{Offset: int64(i)}, 0, 0)
		if f.Added() == turn || i == len(lines)-1 {
			_ = f.Process(context.Background())
			before = append(before, take()...)
		}
	}
	require.NoError(t, p.Stop())
	f.Drain()
	atStop = take()
	for _, id := range ids {
		requireNothingHeld(t, p, id)
	}
	require.Empty(t, p.ledger.files)
	return before, atStop
}

// requireSameRecords does not look at the order: with stanza alone, it differs
// between lines that are joined and lines that are not.
func requireSameRecords(t testing.TB, want, got []map[string]any) {
	t.Helper()
	key := func(m map[string]any) string { return fmt.Sprintf("%q", m) } // maps are printed in order of their keys
	sorted := func(list []map[string]any) (keys []string) {
		for _, m := range list {
			keys = append(keys, key(m))
		}
		slices.Sort(keys)
		return keys
	}
	require.Equal(t, sorted(want), sorted(got))
}

// containerVariants are operators that parse by hand what they can: alone, where
// records go straight, and before another operator, where they do not.
var containerVariants = func() (all []string) {
	for _, format := range []string{"", "docker", "crio", "containerd"} {
		for _, metadata := range []bool{false, true} {
			for _, behind := range []string{"", ", {type: noop}"} {
				all = append(all, fmt.Sprintf("operators: [{type: container, format: '%s', add_metadata_from_filepath: %t, on_error: send_quiet}%s]", format, metadata, behind))
			}
		}
	}
	return all
}()

// FuzzContainerIsWhatStanzaMakesOfIt compares the container operator under
// observation with stanza's own.
func FuzzContainerIsWhatStanzaMakesOfIt(f *testing.F) {
	const at = "2024-04-13T07:59:37.505201169Z "
	const path = "/var/log/pods/ns_pod_49cc7c1f/app/0.log"
	for i, seed := range [][3]string{
		{at + "stdout P a", at + "stdout P b", at + "stderr F c"},
		{at + "stdout P a", "garbage", at + "stdout F b"},
		{at + "stdout P a", `{"log":"hi","stream":"stdout","time":"2024-04-13T07:59:37Z","logtag":"P"}`, at + "stdout F b"},
		{"x stdout P a", at + "stdout P", at + "stdout F"},
		{"2024-04-13T07:59:37.5-07:00 stdout P a", "2024-04-13T07:59:37.5 stdout F b", ""},
		{at + "stdout", at + "stdout ", at + " stdout F x"},
		{"Z stdout P:q  a ", "{ stdout P a", at + "stderr FF x"},
		{`{"log":"a\n","stream":"stderr","time":"2024-04-13T07:59:37.5Z"}`, `{"log":"\u001b[1m\"é\\","stream":"stdout","time":"2024-04-13T07:59:37.123456789Z"}`, at + "stdout F x\r"},
		{"2024-02-30T07:59:37Z stdout F a", "2024-04-13T24:00:00Z stdout F b", "2024-04-13T07:59:60Z stdout F c"},
		{"0000-01-01T00:00:00Z stdout F a", "9999-12-31T23:59:59Z stdout F b", "1969-12-31T23:59:59Z stdout F c"},
	} {
		f.Add(seed[0], seed[1], seed[2], path, byte(i))
		f.Add(seed[0], seed[1], seed[2], path, byte(0))
	}
	f.Add(at+"stdout F a", "", "", "/ns_pod_49cc7c1f/app/0.log", byte(2))
	f.Add(at+"stdout F a", "", "", "/n/s_pod_49cc/7c1f/app/0.log.20240101-120000", byte(2))
	f.Fuzz(func(t *testing.T, a, b, c, path string, variant byte) {
		operators := containerVariants[int(variant)%len(containerVariants)]
		lines := []podLine{{path, a}, {path, b}, {path, c}}
		before, atStop := ours(t, operators, nil, 1+int(variant)%3, 0, lines...)
		requireSameRecords(t, stanzaAlone(t, operators, nil, lines...), append(before, atStop...))
	})
}

// oddLine makes a line in one of many forms; all of them carry id.
func oddLine(r *rand.Rand, id string) string {
	digits := strings.Repeat(strconv.Itoa(r.IntN(10)), r.IntN(11))
	if digits != "" {
		digits = pick(r, ".", ".", ".", ",") + digits
	}
	day := fmt.Sprintf("%s-%02d-%02d", pick(r, "2024", "2023", "1970", "2261", "2262", "1900", "2100", "2000", "0000"), r.IntN(14), r.IntN(33))
	if r.IntN(4) > 0 {
		day = "2024-04-13"
	}
	at := day + "T" + pick(r, "07:59:37", "07:59:37", "00:00:00", "23:59:59", "24:00:00", "7:59:37", "07:60:37", "07:59:60") + digits +
		pick(r, "Z", "Z", "Z", "+00:00", "-07:00", "+05:30", "+24:00", "", "z", "+0530")
	if r.IntN(2) == 0 {
		at = "2024-04-13T07:59:37.505201169Z"
	}
	stream := pick(r, "stdout", "stderr", "stdout", "stderr", "stdin", "")
	text := pick(r, id, id+" ", " "+id, id+"\r", id+"é\u2028x", id+"\xff", id+strings.Repeat("y", r.IntN(300)), "\t"+id)
	switch r.IntN(8) {
	case 0:
		return text
	case 1, 2:
		escaped := pick(r, `\n`, `\n`, `\u003c`, `\u2028`, `\"\\`, `\/`, `\ud83d\ude00`, `\ud83d`, `\u00E9`, `\x`, `\`, "", "\n", "\x00")
		extra := pick(r, "", "", "", `,"attrs":{"a":"b"}`, `,"logtag":"P"`, " ")
		return fmt.Sprintf(`{"log":"%s%s","stream":"%s","time":"%s"%s}`, text, escaped, stream, at, extra) + pick(r, "", "", "", " ", "x")
	default:
		tag := pick(r, "F", "F", "F", "P", "P", "F:x", "P:x", "", "FF")
		return at + pick(r, " ", " ", " ", "  ") + stream + " " + tag + " " + text
	}
}

var podPaths = []string{
	"/var/log/pods/ns_pod_49cc7c1f-e4ad-11ee/app/0.log",
	"/var/log/pods/ns_pod_49cc7c1f-e4ad-11ee/app/0.log.20240413-075937",
	`C:\pods\ns_other-pod_49cc7c1f\side-car\12.log`,
	"/var/log/pods/ns_pod_XYZ/app/0.log",
	"/var/log/1.log",
}

// TestContainerMakesTheSameRecordsAsStanzaOfOddLines compares random lines of
// several files. Ours keep the order of a file besides.
func TestContainerMakesTheSameRecordsAsStanzaOfOddLines(t *testing.T) {
	for _, zone := range []string{"UTC", "America/Los_Angeles"} {
		location, err := time.LoadLocation(zone)
		require.NoError(t, err)
		t.Run(zone, func(t *testing.T) {
			defer func(before *time.Location) { time.Local = before }(time.Local)
			time.Local = location
			for i, operators := range containerVariants {
				seed := rand.Uint64()
				r := rand.New(rand.NewPCG(seed, 0))
				own := map[string]any{"a": "b"}
				if i%3 == 0 {
					own["log"], own["logtag"] = "here", "there"
				}
				var lines []podLine
				for n := range 250 {
					lines = append(lines, podLine{podPaths[r.IntN(len(podPaths))], oddLine(r, fmt.Sprintf("<0.%d>", n))})
				}
				before, atStop := ours(t, operators, own, 1+r.IntN(50), r.IntN(20), lines...)
				if !assert.NotPanics(t, func() {
					requireSameRecords(t, stanzaAlone(t, operators, own, lines...), append(slices.Clone(before), atStop...))
				}) || t.Failed() {
					t.Fatalf("%s, seed %d", operators, seed)
				}
				requireFileOrder(t, before)
			}
		})
	}
}

// requireFileOrder looks at the last line of each record: in no file do they go
// back, other than that a batch has the records of each resource together.
func requireFileOrder(t *testing.T, records []map[string]any) {
	t.Helper()
	last := make(map[any]int)
	for _, record := range records {
		ids := lineID.FindAllString(fmt.Sprint(record["body"]), -1)
		require.NotEmpty(t, ids)
		n, err := strconv.Atoi(strings.Trim(ids[len(ids)-1][3:], ">"))
		require.NoError(t, err)
		path := fmt.Sprint(record["attributes"].(map[string]any)["log.file.path"], record["resource"])
		require.Greater(t, n+1, last[path], "line %d of %v came late", n, path)
		last[path] = n + 1
	}
}

func FuzzRuntimeTimeIsWhatTimeParseMakesOfIt(f *testing.F) {
	for _, seed := range []string{
		"2024-04-13T07:59:37Z", "2024-04-13T07:59:37.5+05:30", "2000-02-29T23:59:59.999999999-00:00", "2100-02-29T00:00:00Z",
		"1970-01-01T00:00:00+00:01", "2261-12-31T23:59:59.999999999-23:59", "2024-04-13T07:59:37.Z", "2024-04-13T07:59:37.1234567890Z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseRuntimeTime(s)
		if !ok {
			return
		}
		want, err := time.ParseInLocation("2006-01-02T15:04:05.999999999Z07:00", s, time.Local)
		require.NoError(t, err)
		require.Equal(t, want.UnixNano(), got.nanos())
		require.Equal(t, want.Format(time.RFC3339Nano), got.time().Format(time.RFC3339Nano))
	})
}

func TestRuntimeTimesInTheCommonFormAreParsedByHandOnEveryDay(t *testing.T) {
	for day := time.Date(1970, 1, 1, 23, 59, 59, 120, time.UTC); day.Year() <= lastRuntimeYear; day = day.AddDate(0, 0, 1) {
		got, ok := parseRuntimeTime(day.Format(time.RFC3339Nano))
		if !ok || got.nanos() != day.UnixNano() {
			t.Fatalf("%v became %v", day, time.Unix(got.sec, got.nsec))
		}
	}
}
