package endtoend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Settings are what a Collector is started with.
type Settings struct {
	Binary   string // the distribution
	Dir      string // for its configuration, storage and output
	Include  string // the glob of the logs
	Endpoint string // where an OTLP/HTTP sink listens
	// Receiver holds more keys of the receiver, as lines of YAML without
	// indentation.
	Receiver string
	// PollInterval is the receiver's; empty for 50ms.
	PollInterval string
	// MetricsPort is where the metrics can be scraped; 0 for none.
	MetricsPort int
}

// Collector is one process of the distribution. It belongs to one goroutine.
type Collector struct {
	settings Settings
	command  *exec.Cmd
	output   *os.File
	began    int64 // where its output begins
	done     chan error
}

// ready is what the distribution logs when it would notice a signal.
const ready = "Everything is ready"

// The receiver's own retries stand behind the guarantees, so the exporter has
// neither a queue nor retries of its own.
const configuration = `extensions:
  file_storage:
    directory: %[1]s
    create_directory: true
receivers:
  file_log:
    include: ['%[2]s']
    start_at: beginning
    storage: file_storage
    poll_interval: %[6]s
    retry_on_failure: {initial_interval: 50ms, max_interval: 200ms}
%[3]s
exporters:
  otlp_http:
    endpoint: %[4]s
    compression: none
    timeout: 0s
    sending_queue: {enabled: false}
    retry_on_failure: {enabled: false}
service:
  extensions: [file_storage]
  pipelines:
    logs: {receivers: [file_log], exporters: [otlp_http]}
  telemetry:
    logs: {level: info}
    metrics:
%[5]s
`

// Storage is the folder in which a Collector with these settings keeps its
// positions.
func (s Settings) Storage() string { return filepath.Join(s.Dir, "storage") }

// Output is the file that a Collector with these settings writes its log to.
func (s Settings) Output() string { return filepath.Join(s.Dir, "output.txt") }

func (s Settings) yaml() string {
	receiver := ""
	for line := range strings.Lines(s.Receiver) {
		receiver += "    " + line
	}
	metrics := "      level: none"
	if s.MetricsPort != 0 {
		metrics = fmt.Sprintf("      level: normal\n      readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %d}}}}]", s.MetricsPort)
	}
	return fmt.Sprintf(configuration, s.Storage(), s.Include, receiver, s.Endpoint, metrics, cmp.Or(s.PollInterval, "50ms"))
}

// Start starts a Collector. It does not wait until it is ready.
func Start(s Settings) (*Collector, error) {
	path := filepath.Join(s.Dir, "config.yaml")
	if err := os.WriteFile(path, []byte(s.yaml()), 0o600); err != nil {
		return nil, err
	}
	output, err := os.OpenFile(s.Output(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := output.Stat()
	if err != nil {
		return nil, errors.Join(err, output.Close())
	}
	c := &Collector{settings: s, output: output, began: info.Size(), done: make(chan error, 1)}
	c.command = exec.Command(s.Binary, "--config", path)
	c.command.Stdout, c.command.Stderr = output, output
	if err := c.command.Start(); err != nil {
		return nil, errors.Join(err, output.Close())
	}
	go func() { c.done <- c.command.Wait() }()
	return c, nil
}

// Kill ends the process as a power failure of its own would: SIGKILL.
func (c *Collector) Kill() error {
	if err := c.command.Process.Kill(); err != nil {
		return err
	}
	<-c.done // an exit by a signal is not an error here
	return c.output.Close()
}

// Abandon kills a process that was neither killed nor stopped, as a failed test
// leaves it.
func (c *Collector) Abandon() {
	if c.output.Sync() == nil { // it is still open
		_ = c.Kill() // nothing can be done about a process that cannot be killed
	}
}

// stopLimit is how long an orderly stop may take before it counts as failed.
const stopLimit = 30 * time.Second

// Stop ends the process in good order and returns an error if it does not end,
// or ends badly. A process that is still starting is waited for.
func (c *Collector) Stop() error {
	if err := c.AwaitReady(); err != nil {
		return errors.Join(err, c.Kill())
	}
	// The Collector begins to listen to signals a moment after it says that it is
	// ready, and nothing shows when.
	time.Sleep(200 * time.Millisecond)
	if err := c.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-c.done:
		return errors.Join(err, c.output.Close())
	case <-time.After(stopLimit):
		return errors.Join(errors.New("the process did not stop in time"), c.Kill())
	}
}

// AwaitReady waits until the process has started all its components.
func (c *Collector) AwaitReady() error {
	for end := time.Now().Add(stopLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(c.settings.Output())
		if err != nil {
			return err
		}
		if strings.Contains(string(text[c.began:]), ready) {
			return nil
		}
	}
	return errors.New("the process did not start in time")
}

// Handles counts the files below dir that the process holds open (Linux).
func (c *Collector) Handles(dir string) (int, error) {
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", c.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	count := 0
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, dir+string(filepath.Separator)) {
			count++
		}
	}
	return count, nil
}

// ReadBytes is how many bytes the process has read from anywhere (Linux).
func (c *Collector) ReadBytes() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", c.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if number, found := strings.CutPrefix(line, "rchar: "); found {
			return strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		}
	}
	return 0, errors.New("/proc/PID/io has no rchar")
}

// LastSave is when the storage was last written; the zero time if it never was.
// Opening it counts.
func (s Settings) LastSave() (time.Time, error) {
	var last time.Time
	entries, err := os.ReadDir(s.Storage())
	if errors.Is(err, os.ErrNotExist) {
		return last, nil
	}
	for _, entry := range entries {
		info, infoErr := entry.Info()
		if infoErr != nil {
			continue // it went away
		}
		if info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last, err
}

// Scrape returns the metrics: the sum of the values of each name.
func (c *Collector) Scrape(ctx context.Context) (map[string]float64, error) {
	url := fmt.Sprintf("http://127.0.0.1:%d/metrics", c.settings.MetricsPort)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return parseMetrics(response.Body)
}

// FreePort is a port that nobody listens at.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}
