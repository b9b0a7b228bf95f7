package filelogreceiver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/endtoend"
)

// builtBinary is the distribution that `make build` made. Tests of it are left out
// where FILELOG_BINARY does not name it.
func builtBinary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("FILELOG_BINARY")
	if path == "" {
		t.Skip("set FILELOG_BINARY to a built distribution (make build) to run this test")
	}
	return path
}

// stage is a folder of logs, a sink, and the settings of a Collector between
// them.
type stage struct {
	t        *testing.T
	logs     string
	sink     *endtoend.Sink
	settings endtoend.Settings
}

func newStage(t *testing.T, receiver string) *stage {
	t.Helper()
	binary := builtBinary(t)
	sink, err := endtoend.NewSink()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, sink.Close()) })
	dir, err := os.MkdirTemp("", "filelog-endtoend-")
	require.NoError(t, err)
	s := &stage{t: t, logs: filepath.Join(dir, "logs"), sink: sink, settings: endtoend.Settings{
		Binary: binary, Dir: dir, Include: filepath.Join(dir, "logs", "*"), Endpoint: sink.URL(), Receiver: receiver,
	}}
	require.NoError(t, os.Mkdir(s.logs, 0o755))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logs, storage, configuration and output are kept in %s", dir)
			return
		}
		assert.NoError(t, os.RemoveAll(dir))
	})
	return s
}

func (s *stage) start() *endtoend.Collector {
	s.t.Helper()
	c, err := endtoend.Start(s.settings)
	require.NoError(s.t, err)
	s.t.Cleanup(c.Abandon)
	return c
}

// write appends numbered lines of exactly size bytes altogether to a log.
func (s *stage) write(name string, size int) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.logs, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(s.t, err)
	for written := 0; written < size; written += 100 {
		_, err = fmt.Fprintf(f, "%-98d.\n", written)
		require.NoError(s.t, err)
	}
	require.NoError(s.t, f.Close())
}

func (s *stage) awaitRecords(n int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { records, _, _ := s.sink.Counts(); return records >= n }, 30*time.Second, 10*time.Millisecond,
		"%d records do not arrive", n)
}

// killing says how a Collector is killed again and again.
type killing struct {
	receiver string // keys of the receiver
	style    endtoend.Style
	kills    int
	ways     []endtoend.Rotation // how logs are rotated; all ways without
	// slack is how long before the last save a record may have been accepted whose
	// position is not in it: the save itself takes time, and operators hold records.
	slack time.Duration
}

// killAndAccount kills the Collector at random moments while 50 logs are
// written and rotated, and accounts for every line.
func killAndAccount(t *testing.T, k killing) {
	s := newStage(t, "compression: auto\n"+k.receiver)
	seed := seedOfRun(t)
	random := rand.New(rand.NewPCG(seed, 1))
	logs := endtoend.NewLogs(s.logs, 50, k.style, seed, k.ways...)

	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond): // the pace of the logs
			}
			assert.NoError(t, logs.Write(20))
			if i%10 == 0 {
				assert.NoError(t, logs.Rotate(0))
			}
		}
	})
	started, c := time.Now(), s.start()
	for range k.kills {
		var ready time.Time // zero for some: these are killed while they start
		if random.IntN(5) > 0 {
			require.NoError(t, c.AwaitReady())
			ready = time.Now()
		}
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond) // a random moment
		require.NoError(t, c.Kill())
		require.NoError(t, s.sink.AwaitEnd())
		saved, err := s.settings.LastSave()
		require.NoError(t, err)
		// The storage is written when it is opened, too. That saves nothing.
		if ready.IsZero() || saved.Before(ready) {
			saved = started
		}
		s.sink.Excuse(saved.Add(-k.slack))
		started, c = time.Now(), s.start()
	}
	close(stop)
	writing.Wait()

	bodies, _, rotations := logs.Written()
	assert.Eventually(t, func() bool { return len(s.sink.Missing(bodies)) == 0 }, 60*time.Second, 100*time.Millisecond)
	require.NoError(t, c.Stop())
	assert.Empty(t, first(s.sink.Missing(bodies)), "lines are lost")
	assert.Empty(t, first(s.sink.Strange(bodies)), "records that nobody wrote")
	records, repeats, wrong := s.sink.Counts()
	assert.Empty(t, first(wrong), "%d records came again that were accepted before the last save", len(wrong))
	t.Logf("%d kills, %d rotations, %d lines, %d repeated", k.kills, rotations, len(bodies), repeats)

	// After a stop in good order nothing comes again.
	c = s.start()
	require.NoError(t, logs.Write(50))
	bodies, _, _ = logs.Written()
	s.awaitRecords(records + 50)
	require.NoError(t, c.Stop())
	after, _, _ := s.sink.Counts()
	assert.Equal(t, records+50, after, "records came again after a stop in good order")
	assert.Empty(t, first(s.sink.Missing(bodies)))
}

// first is as much of a list as a message can bear.
func first(list []string) []string { return list[:min(len(list), 10)] }

// seedOfRun is FILELOG_SEED, or another one each time; it is printed.
func seedOfRun(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("FILELOG_SEED"); text != "" {
		_, err := fmt.Sscan(text, &seed)
		require.NoError(t, err, "FILELOG_SEED")
	}
	t.Logf("FILELOG_SEED=%d", seed)
	return seed
}

const (
	containerOperator = "operators: [{type: container, add_metadata_from_filepath: false}]\ninclude_file_path: true"
	recombineOperator = "operators: [{type: recombine, combine_field: body, is_first_entry: 'body startsWith \"log\"', " +
		"source_identifier: 'attributes[\"log.file.path\"]'}]\ninclude_file_path: true"
)

// renaming are the ways of rotation that keep the file.
var renaming = []endtoend.Rotation{endtoend.Rename, endtoend.Compress}

var killings = map[string]killing{
	"plain lines":                           {style: endtoend.Plain, slack: time.Second},
	"container lines":                       {style: endtoend.CRI, slack: 3 * time.Second, ways: renaming, receiver: containerOperator},
	"recombined lines":                      {style: endtoend.Stack, slack: 8 * time.Second, ways: renaming, receiver: recombineOperator},
	"container lines, copied and truncated": {style: endtoend.CRI, slack: 3 * time.Second, receiver: containerOperator},
}

func killEach(t *testing.T, kills int) {
	for name, k := range killings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k.kills = kills
			killAndAccount(t, k)
		})
	}
}

func TestEndToEndNoLineIsLostWhenTheCollectorIsKilled(t *testing.T) {
	t.Parallel()
	killEach(t, 6)
}

func TestEndToEndRotatedLogsArriveOnceAndHandlesComeBack(t *testing.T) {
	t.Parallel()
	rotateAndAccount(t, 20*time.Second)
}

// rotateAndAccount writes 20 logs and rotates them 200 times a minute.
func rotateAndAccount(t *testing.T, duration time.Duration) {
	if runtime.GOOS != "linux" {
		t.Skip("handles and bytes of another process are counted in /proc")
	}
	s := newStage(t, "compression: auto")
	s.settings.PollInterval = "200ms" // the default: each look at a file that has grown reads a little of what was there
	logs := endtoend.NewLogs(s.logs, 20, endtoend.Plain, seedOfRun(t))
	require.NoError(t, logs.Write(2000))
	c := s.start()
	s.awaitRecords(2000)
	handlesBefore, err := c.Handles(s.logs)
	require.NoError(t, err)
	readBefore, err := c.ReadBytes()
	require.NoError(t, err)
	_, writtenBefore, _ := logs.Written()

	rotate := time.NewTicker(300 * time.Millisecond)
	defer rotate.Stop()
	write := time.NewTicker(10 * time.Millisecond)
	defer write.Stop()
	for end := time.After(duration); end != nil; {
		select {
		case <-rotate.C:
			require.NoError(t, logs.Rotate(5))
		case <-write.C:
			require.NoError(t, logs.Write(30))
		case <-end:
			end = nil
		}
	}
	bodies, written, rotations := logs.Written()
	assert.Eventually(t, func() bool { return len(s.sink.Missing(bodies)) == 0 }, 60*time.Second, 100*time.Millisecond)
	read, err := c.ReadBytes()
	require.NoError(t, err)
	require.NoError(t, logs.RemoveRotated())
	var handles int
	assert.Eventually(t, func() bool {
		handles, err = c.Handles(s.logs)
		return err == nil && handles <= handlesBefore
	}, 30*time.Second, 200*time.Millisecond, "handles stay open")
	assert.LessOrEqual(t, handles, handlesBefore)
	require.NoError(t, c.Stop())

	assert.Empty(t, first(s.sink.Missing(bodies)), "lines are lost")
	assert.Empty(t, first(s.sink.Strange(bodies)), "records that nobody wrote")
	_, repeats, wrong := s.sink.Counts()
	assert.Zero(t, repeats, "lines came twice: %q", first(wrong))
	ratio := float64(read-readBefore) / float64(written-writtenBefore)
	assert.LessOrEqual(t, ratio, 1.5, "too much was read")
	t.Logf("%d rotations, %d lines, %d bytes written, %.2f times as many read, %d handles at the start", rotations, len(bodies), written, ratio, handlesBefore)
}

func TestEndToEndMetricsTellWhatIsUnread(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	port, err := endtoend.FreePort()
	require.NoError(t, err)
	s.settings.MetricsPort = port
	c := s.start()
	ctx := context.Background()
	value := func(name string) float64 {
		metrics, err := c.Scrape(ctx)
		if err != nil {
			return -1 // it is not up yet
		}
		return metrics[name]
	}
	awaitValue := func(name string, atLeast, atMost float64) {
		t.Helper()
		require.Eventually(t, func() bool { v := value(name); return v >= atLeast && v <= atMost }, 20*time.Second, 50*time.Millisecond,
			"%s is %v, not between %v and %v", name, value(name), atLeast, atMost)
	}

	s.write("a.log", 10_000)
	s.awaitRecords(100)
	awaitValue("otelcol_file_log_unread_bytes", 0, 0)
	awaitValue("otelcol_file_log_tracked_files", 1, 1)

	s.sink.Block()
	s.write("a.log", 30_000)
	awaitValue("otelcol_file_log_unread_bytes", 27_000, 33_000)
	awaitValue("otelcol_file_log_oldest_unread_age", 0.5, 60)
	s.sink.Unblock()
	s.awaitRecords(400)
	awaitValue("otelcol_file_log_unread_bytes", 0, 0)

	s.sink.Answer(http.StatusBadRequest) // for good
	s.write("a.log", 1_000)
	awaitValue("otelcol_file_log_dropped_records", 10, 10)
	s.sink.Answer(0)
	require.NoError(t, os.Rename(filepath.Join(s.logs, "a.log"), filepath.Join(s.logs, "b.log")))
	s.write("a.log", 500)
	s.awaitRecords(405)
	awaitValue("otelcol_file_log_rotations", 1, 1)
	require.NoError(t, os.Truncate(filepath.Join(s.logs, "a.log"), 0))
	s.write("a.log", 200)
	awaitValue("otelcol_file_log_truncations", 1, 1)

	metrics, err := c.Scrape(ctx)
	require.NoError(t, err)
	require.NoError(t, c.Stop())
	documentation, err := os.ReadFile("documentation.md")
	require.NoError(t, err)
	for name := range metrics {
		if !strings.HasPrefix(name, "otelcol_file_log_") && !strings.HasPrefix(name, "otelcol_fileconsumer_") {
			continue
		}
		assert.Condition(t, func() bool { return documented(string(documentation), name) }, "%s is not in documentation.md", name)
	}
	for _, name := range []string{
		"otelcol_file_log_records", "otelcol_file_log_read_bytes", "otelcol_file_log_checkpoint_saves",
		"otelcol_file_log_checkpoint_bytes", "otelcol_file_log_checkpoint_duration_count",
		"otelcol_file_log_resume_decisions", "otelcol_fileconsumer_open_files", "otelcol_fileconsumer_reading_files",
		"otelcol_receiver_accepted_log_records",
	} {
		assert.Contains(t, metrics, name)
	}
}

// documented tells whether documentation.md has the metric. Those of a histogram
// are three in a scrape.
func documented(documentation, name string) bool {
	for _, part := range []string{"", "_bucket", "_sum", "_count"} {
		if strings.Contains(documentation, "### "+strings.TrimSuffix(name, part)+"\n") {
			return true
		}
	}
	return false
}

func TestEndToEndMakeRunResumesAfterAKill(t *testing.T) {
	t.Parallel()
	binary, err := filepath.Abs(builtBinary(t))
	require.NoError(t, err)
	root := t.TempDir()
	for _, dir := range []string{"run", "logs"} {
		require.NoError(t, os.CopyFS(filepath.Join(root, "testdata", dir), os.DirFS(filepath.Join("testdata", dir))))
	}
	output := func() string {
		text, err := os.ReadFile(filepath.Join(root, "build", "run", "output.txt"))
		if err != nil {
			return "" // not yet
		}
		return string(text)
	}
	run := func() *exec.Cmd {
		command := exec.Command("bash", filepath.Join(root, "testdata", "run", "run.sh"), binary)
		command.Env = append(os.Environ(), "IDLE=4")
		require.NoError(t, command.Start())
		return command
	}

	command := run()
	require.Eventually(t, func() bool { return len(output()) > 0 }, 20*time.Second, time.Millisecond)
	require.NoError(t, command.Process.Kill())
	require.Error(t, command.Wait())
	printed := output()

	mine := filepath.Join(root, "build", "run", "logs", "mine.log")
	require.NoError(t, os.WriteFile(mine, []byte("written while nobody was there\n"), 0o644))
	require.NoError(t, run().Wait(), "it ends by itself when nothing comes")
	printed += output()

	samples, err := filepath.Glob(filepath.Join("testdata", "logs", "*.log"))
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, sample := range append(samples, mine) {
		text, err := os.ReadFile(sample)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			assert.Contains(t, printed, strings.TrimSpace(line), "of %s", sample)
		}
	}
}
