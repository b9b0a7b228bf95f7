package filelogreceiver

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"

	"github.com/otelfilelog/filelogreceiver/internal/metadata"
)

// waitLimit is how long a test waits for something that should come at once.
const waitLimit = 10 * time.Second

// quiet is how long nothing may come when nothing more should: many polls of a
// test's receiver.
const quiet = 250 * time.Millisecond

// record is what a test looks at of a log record.
type record struct {
	body       string
	value      pcommon.Value
	attributes map[string]any
	resource   map[string]any
	record     plog.LogRecord
	scope      string
}

// sink is a consumer that keeps what it accepts. answer, if set, is asked for
// each batch first.
type sink struct {
	mutates bool

	mu      sync.Mutex
	records []record
	batches []int
	answer  func(plog.Logs) error
}

func (s *sink) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: s.mutates}
}

func (s *sink) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	if answer != nil {
		if err := answer(logs); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, logs.LogRecordCount())
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				s.records = append(s.records, record{
					body: lr.Body().AsString(), value: lr.Body(), attributes: lr.Attributes().AsRaw(),
					resource: rl.Resource().Attributes().AsRaw(), record: lr, scope: sl.Scope().Name(),
				})
			}
		}
	}
	return nil
}

func (s *sink) setAnswer(f func(plog.Logs) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *sink) all() []record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.records)
}

func (s *sink) bodies() []string {
	var out []string
	for _, r := range s.all() {
		out = append(out, r.body)
	}
	return out
}

func (s *sink) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.records)
}

// lab is a folder of log files, a storage, and receivers that are started and
// stopped on them.
type lab struct {
	t       *testing.T
	dir     string
	storage string
	sink    *sink
	logs    *observer.ObservedLogs
	keys    map[string]any // laid over the defaults of newLab
	id      component.ID
	// consumer is given the records in the place of sink, if it is set.
	consumer consumer.Logs
	// telemetry collects the receiver's metrics, if it is set.
	telemetry *componenttest.Telemetry
	// extensions are there beside file_storage, which is there if `storage` says so.
	extensions map[component.ID]component.Component

	health  *health
	running receiver.Logs
	ext     storage.Extension
}

// newLab makes a lab whose receivers read all files of its folder from their
// beginning, poll every 10 ms and have no storage.
func newLab(t *testing.T, keys map[string]any) *lab {
	l := &lab{t: t, dir: t.TempDir(), storage: t.TempDir(), sink: &sink{}, health: &health{}, id: component.NewID(metadata.Type), keys: map[string]any{
		"include":       []any{},
		"start_at":      "beginning",
		"poll_interval": "10ms",
	}}
	l.keys["include"] = []any{filepath.Join(l.dir, "*")}
	for k, v := range keys {
		l.keys[k] = v
	}
	t.Cleanup(func() {
		if l.running != nil {
			l.stop()
		}
	})
	return l
}

// stored makes the lab's receivers remember.
func (l *lab) stored() *lab {
	l.keys["storage"] = "file_storage"
	return l
}

func (l *lab) config() *Config {
	cfg := NewFactory().CreateDefaultConfig().(*Config)
	require.NoError(l.t, confmap.NewFromStringMap(l.keys).Unmarshal(cfg))
	return cfg
}

// start starts a receiver.
func (l *lab) start() *lab {
	require.NoError(l.t, l.tryStart())
	return l
}

func (l *lab) tryStart() error {
	l.t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	l.logs = logs
	set := receivertest.NewNopSettings(metadata.Type)
	set.ID = l.id
	if l.telemetry != nil {
		set.TelemetrySettings = l.telemetry.NewTelemetrySettings()
	}
	set.Logger = zap.New(core)
	var next consumer.Logs = l.sink
	if l.consumer != nil {
		next = l.consumer
	}
	r, err := NewFactory().CreateLogs(context.Background(), set, l.config(), next)
	if err != nil {
		return err
	}
	host := &extensionHost{Host: componenttest.NewNopHost(), health: l.health, extensions: map[component.ID]component.Component{}}
	if l.keys["storage"] == "file_storage" {
		l.ext = l.openStorage()
		host.extensions[component.MustNewID("file_storage")] = l.ext
	}
	maps.Copy(host.extensions, l.extensions)
	if err := r.Start(context.Background(), host); err != nil {
		require.NoError(l.t, r.Shutdown(context.Background()))
		l.closeStorage()
		return err
	}
	l.running = r
	return nil
}

func (l *lab) openStorage() storage.Extension {
	f := filestorage.NewFactory()
	cfg := f.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory = l.storage
	ext, err := f.Create(context.Background(), extension.Settings{
		ID:                component.MustNewID("file_storage"),
		TelemetrySettings: componenttest.NewNopTelemetrySettings(),
		BuildInfo:         component.NewDefaultBuildInfo(),
	}, cfg)
	require.NoError(l.t, err)
	require.NoError(l.t, ext.Start(context.Background(), componenttest.NewNopHost()))
	return ext.(storage.Extension)
}

// inStorage gives the storage of a stopped receiver as its client sees it.
func (l *lab) inStorage(do func(storage.Client)) {
	l.t.Helper()
	ext := l.openStorage()
	client, err := ext.GetClient(context.Background(), component.KindReceiver, storedAs(l.id), "")
	require.NoError(l.t, err)
	do(client)
	require.NoError(l.t, client.Close(context.Background()))
	require.NoError(l.t, ext.Shutdown(context.Background()))
}

// store puts values into the storage of a stopped receiver.
func (l *lab) store(values map[string]string) *lab {
	l.t.Helper()
	l.inStorage(func(client storage.Client) {
		for key, value := range values {
			require.NoError(l.t, client.Set(context.Background(), key, []byte(value)))
		}
	})
	return l
}

// storedValue is what a stopped receiver has stored under a key; "" for nothing.
func (l *lab) storedValue(key string) (value string) {
	l.t.Helper()
	l.inStorage(func(client storage.Client) {
		bytes, err := client.Get(context.Background(), key)
		require.NoError(l.t, err)
		value = string(bytes)
	})
	return value
}

func (l *lab) closeStorage() {
	if l.ext != nil {
		require.NoError(l.t, l.ext.Shutdown(context.Background()))
		l.ext = nil
	}
}

// stop stops the receiver in good order.
func (l *lab) stop() *lab {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(l.t, l.running.Shutdown(ctx))
	l.running = nil
	l.closeStorage()
	return l
}

func (l *lab) restart() *lab { return l.stop().start() }

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

// write appends text to a file, which it makes if needed.
func (l *lab) write(name, text string) *lab {
	l.t.Helper()
	require.NoError(l.t, os.MkdirAll(filepath.Dir(l.path(name)), 0o755))
	f, err := os.OpenFile(l.path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(l.t, err)
	_, err = f.WriteString(text)
	require.NoError(l.t, err)
	require.NoError(l.t, f.Close())
	return l
}

// replace makes a new file of that name in one step.
func (l *lab) replace(name, text string) *lab {
	l.t.Helper()
	temp := filepath.Join(l.t.TempDir(), "new")
	require.NoError(l.t, os.WriteFile(temp, []byte(text), 0o644))
	require.NoError(l.t, os.Rename(temp, l.path(name)))
	return l
}

func (l *lab) rename(from, to string) *lab {
	l.t.Helper()
	require.NoError(l.t, os.MkdirAll(filepath.Dir(l.path(to)), 0o755))
	require.NoError(l.t, os.Rename(l.path(from), l.path(to)))
	return l
}

func (l *lab) truncate(name string, size int64) *lab {
	l.t.Helper()
	require.NoError(l.t, os.Truncate(l.path(name), size))
	return l
}

func (l *lab) remove(name string) *lab {
	l.t.Helper()
	require.NoError(l.t, os.Remove(l.path(name)))
	return l
}

func (l *lab) copyFile(from, to string) *lab {
	l.t.Helper()
	text, err := os.ReadFile(l.path(from))
	require.NoError(l.t, err)
	require.NoError(l.t, os.WriteFile(l.path(to), text, 0o644))
	return l
}

// await waits until there are n records and returns their bodies.
func (l *lab) await(n int) []string {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return l.sink.count() >= n }, waitLimit, time.Millisecond,
		"waiting for %d records; log: %v", n, l.messages())
	return l.sink.bodies()
}

// expect waits for exactly these bodies, in any order, and that no more come.
func (l *lab) expect(bodies ...string) *lab {
	l.t.Helper()
	l.await(len(bodies))
	l.still()
	missing, extra := difference(bodies, l.sink.bodies())
	if len(missing)+len(extra) > 0 {
		l.t.Fatalf("of %d records, %d are missing: %.500q, and %d are too many: %.500q\nlog: %v",
			len(bodies), len(missing), missing, len(extra), extra, l.messages())
	}
	return l
}

// difference is what only one of two lists has, whatever the order.
func difference(want, got []string) (missing, extra []string) {
	counts := map[string]int{}
	for _, s := range got {
		counts[s]++
	}
	for _, s := range want {
		if counts[s] == 0 {
			missing = append(missing, s)
			continue
		}
		counts[s]--
	}
	for _, s := range got {
		if counts[s] > 0 {
			counts[s]--
			extra = append(extra, s)
		}
	}
	return missing[:min(len(missing), 8)], extra[:min(len(extra), 8)]
}

// expectInOrder is expect with the order.
func (l *lab) expectInOrder(bodies ...string) *lab {
	l.t.Helper()
	l.expect(bodies...)
	require.Equal(l.t, bodies, l.sink.bodies())
	return l
}

// still lets many polls pass.
func (l *lab) still() {
	letTimePass(quiet) // that nothing comes cannot be waited for
}

// polls lets some polls pass, of which a test can see nothing.
func (l *lab) polls() *lab {
	letTimePass(80 * time.Millisecond)
	return l
}

// letTimePass sleeps in steps as long as a poll interval, so that on a busy
// machine the receiver gets as many chances as the test.
func letTimePass(d time.Duration) {
	for range d / (10 * time.Millisecond) {
		time.Sleep(10 * time.Millisecond)
	}
}

// watched waits until n files are followed since the receiver was started.
func (l *lab) watched(n int) *lab {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return l.logged("Started watching file") >= n }, waitLimit, time.Millisecond,
		"waiting for %d files to be watched; log: %v", n, l.messages())
	return l
}

// fromFile is the bodies of the records that carry that file name, in order.
func (l *lab) fromFile(name string) []string {
	var out []string
	for _, r := range l.sink.all() {
		if r.attributes["log.file.name"] == name {
			out = append(out, r.body)
		}
	}
	return out
}

// forget empties the sink, so that a test speaks of what comes from now on.
func (l *lab) forget() *lab {
	l.sink.mu.Lock()
	defer l.sink.mu.Unlock()
	l.sink.records, l.sink.batches = nil, nil
	return l
}

// content is one file that grows, and the records that have to come of it.
type content struct {
	name  string
	keys  map[string]any
	steps []string // the first is there before the start, each other one is appended when some polls have passed
	want  []string // bodies in order
}

// check runs a receiver over each content.
func check(t *testing.T, contents []content) {
	for _, c := range contents {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, c.keys)
			l.write("a.log", c.steps[0]).start()
			for _, step := range c.steps[1:] {
				l.polls().write("a.log", step)
			}
			l.expectInOrder(c.want...)
		})
	}
}

// find returns the record with that body.
func (l *lab) find(body string) record {
	l.t.Helper()
	for _, r := range l.sink.all() {
		if r.body == body {
			return r
		}
	}
	l.t.Fatalf("no record %q among %q", body, l.sink.bodies())
	return record{}
}

// messages is the receiver's log.
func (l *lab) messages() []string {
	var out []string
	for _, e := range l.logs.All() {
		out = append(out, fmt.Sprintf("%s: %s %v", e.Level, e.Message, e.ContextMap()))
	}
	return out
}

// logged counts log messages that are that text.
func (l *lab) logged(message string) int { return l.logs.FilterMessage(message).Len() }

// waitLogged waits for a message.
func (l *lab) waitLogged(message string) *lab {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return l.logged(message) > 0 }, waitLimit, time.Millisecond, message)
	return l
}

type extensionHost struct {
	component.Host
	extensions map[component.ID]component.Component
	health     *health
}

// Report makes it a reporter of statuses, as the host of a Collector is.
func (h *extensionHost) Report(event *componentstatus.Event) {
	if h.health != nil {
		h.health.note(event)
	}
}

func (h *extensionHost) GetExtensions() map[component.ID]component.Component { return h.extensions }

// lines makes numbered lines.
func lines(from, to int) (text string, bodies []string) {
	for i := from; i <= to; i++ {
		bodies = append(bodies, fmt.Sprintf("line %06d", i))
		text += bodies[len(bodies)-1] + "\n"
	}
	return text, bodies
}

// waitFor is an answer of a sink that comes when gate is closed.
func waitFor(gate <-chan struct{}) func(plog.Logs) error {
	return func(plog.Logs) error {
		<-gate
		return nil
	}
}

// openFiles counts the handles that this process has of files below dir, where
// the system tells.
func openFiles(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err == nil && strings.HasPrefix(target, dir+string(filepath.Separator)) {
			n++
		}
	}
	return n
}
