package filelogreceiver

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
)

// mutatingConsumer notes the bodies that it gets and then changes everything,
// now and then only after it has returned; it refuses some batches, changed or
// not.
type mutatingConsumer struct {
	spoiling sync.WaitGroup

	mu     sync.Mutex
	calls  int
	bodies map[string]int
}

func (*mutatingConsumer) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

func (c *mutatingConsumer) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if c.calls%7 != 0 {
		for _, rl := range logs.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					name, _ := lr.Attributes().Get("log.file.name")
					c.bodies[name.Str()+": "+lr.Body().Str()]++
				}
			}
		}
	}
	if c.calls%2 == 0 {
		spoil(logs)
	} else {
		c.spoiling.Go(func() { spoil(logs) })
	}
	if c.calls%7 == 0 {
		return errRefused
	}
	return nil
}

func (c *mutatingConsumer) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.bodies)
}

// sixtyFilesAndAMutatingConsumer lets sixty files grow for so long. Each line
// has to come once and as it was written.
func sixtyFilesAndAMutatingConsumer(t *testing.T, limit time.Duration) {
	const files = 60
	c := &mutatingConsumer{bodies: map[string]int{}}
	l := newLab(t, quickRetry(map[string]any{"max_interval": "5ms"})).stored()
	l.keys["max_batch_size"] = 50
	l.consumer = c
	l.start()
	written := 0
	for end := time.Now().Add(limit); time.Now().Before(end); {
		for file := range files {
			l.write(fmt.Sprintf("%d.log", file), fmt.Sprintf("file %d line %d\nfile %d line %d, which is longer\n", file, written, file, written))
		}
		written++
		time.Sleep(2 * time.Millisecond) // the receiver gets its turn
	}
	require.Eventually(t, func() bool { return c.count() >= 2*files*written }, time.Minute, 10*time.Millisecond)
	l.restart().polls().stop()
	c.spoiling.Wait()
	for file := range files {
		for line := range written {
			for _, end := range []string{"", ", which is longer"} {
				body := fmt.Sprintf("%d.log: file %d line %d%s", file, file, line, end)
				require.Equal(t, 1, c.bodies[body], body)
			}
		}
	}
	require.Len(t, c.bodies, 2*files*written, "lines that were never written")
	t.Logf("%d lines in %d batches", 2*files*written, c.calls)
}

func TestSixtyFilesComeUnspoiledThroughAConsumerThatChangesEverything(t *testing.T) {
	t.Parallel()
	sixtyFilesAndAMutatingConsumer(t, 2*time.Second)
}

// TestMutatingConsumerForHalfAMinute is the long form, of worth under the race
// detector: `make soak` runs it there.
func TestMutatingConsumerForHalfAMinute(t *testing.T) {
	soaking(t)
	sixtyFilesAndAMutatingConsumer(t, 30*time.Second)
}
