package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// contender is a distribution to measure.
type contender struct{ name, binary string }

// process is a running distribution.
type process struct {
	cmd    *exec.Cmd
	port   int // of its own metrics
	output bytes.Buffer
	ended  chan struct{} // closed when it has ended; output and err are safe to read then
	err    error
}

// start starts c on the logs and the storage below dir.
func start(c contender, dir, keys string, o options) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(o.settings.yaml(dir, keys, port)), 0o644); err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(c.binary, "--config", config), port: port, ended: make(chan struct{})}
	p.cmd.Env = os.Environ()
	if o.procs > 0 {
		p.cmd.Env = append(p.cmd.Env, "GOMAXPROCS="+strconv.Itoa(o.procs))
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// stop asks the process to end, and makes it end when it does not.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// await waits until the process has accepted that many records.
func (p *process) await(records int, limit time.Duration) error {
	deadline := time.After(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	got := 0
	for {
		// An error means that it does not listen yet: ask again.
		if n, err := p.accepted(); err == nil {
			got = n
		}
		if got >= records {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("ended: %v\n%s", p.err, lastOf(p.output.String()))
		case <-deadline:
			return fmt.Errorf("accepted %d of %d records in %s", got, records, limit)
		case <-tick.C:
		}
	}
}

// usage is what the process has used since it was started.
func (p *process) usage() (usage, error) { return usageOf(p.cmd.Process.Pid) }

// freePort finds a port nobody listens on just now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// lastOf is the end of a long text.
func lastOf(s string) string {
	const most = 2000
	return s[max(0, len(s)-most):]
}
