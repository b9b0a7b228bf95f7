package tail

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
)

var errRefused = errors.New("try again later")

// mode is how a gateSink answers.
type mode int

const (
	accepting mode = iota
	refusing       // a retryable error
	blocking       // no answer until the mode changes
)

// gateSink is a consumer whose answers a test rules. It knows how many calls
// wait in it, so that a test can wait until nothing moves any more.
type gateSink struct {
	mutates bool
	answer  func(plog.Logs) error // asked before a batch is accepted, nil: none

	mu      sync.Mutex
	mode    mode
	turned  chan struct{} // closed and replaced when the mode changes
	waiting int
	changed chan struct{} // gets a value when waiting grew
	bodies  []string
}

func newGateSink() *gateSink {
	return &gateSink{turned: make(chan struct{}), changed: make(chan struct{}, 1)}
}

func (s *gateSink) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: s.mutates}
}

// set changes the mode and lets go of all calls that wait.
func (s *gateSink) set(m mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode, s.waiting = m, 0
	close(s.turned)
	s.turned = make(chan struct{})
}

// wait waits while the mode is m; false when ctx is done.
func (s *gateSink) wait(ctx context.Context, m mode) bool {
	for {
		s.mu.Lock()
		if s.mode != m {
			s.mu.Unlock()
			return true
		}
		turned := s.turned
		s.waiting++
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return false
		}
	}
}

func (s *gateSink) waitingCalls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting
}

func (s *gateSink) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	if !s.wait(ctx, blocking) {
		return ctx.Err()
	}
	if s.answer != nil {
		if err := s.answer(logs); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mode != accepting {
		return errRefused
	}
	s.bodies = append(s.bodies, bodiesOf(logs)...)
	return nil
}

// pause is the pause between two tries: as long as the sink refuses.
func (s *gateSink) pause(ctx context.Context, _ time.Duration) error {
	if ctx.Err() != nil || !s.wait(ctx, refusing) {
		return ctx.Err()
	}
	return nil
}

// delivered returns the bodies accepted so far.
func (s *gateSink) delivered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

func bodiesOf(logs plog.Logs) (bodies []string) {
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				bodies = append(bodies, lr.Body().AsString())
			}
		}
	}
	return bodies
}
