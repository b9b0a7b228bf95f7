package filelogreceiver

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/pdata/plog"
)

// health is what a receiver reports of itself.
type health struct {
	mu     sync.Mutex
	events []*componentstatus.Event
}

func (h *health) note(event *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, event)
}

// reported returns all statuses and the error of the latest one.
func (h *health) reported() (statuses []componentstatus.Status, latest error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, event := range h.events {
		statuses, latest = append(statuses, event.Status()), event.Err()
	}
	return statuses, latest
}

// reports waits until these statuses were reported, and no others.
func (l *lab) reports(statuses ...componentstatus.Status) *lab {
	l.t.Helper()
	require.Eventually(l.t, func() bool {
		reported, _ := l.health.reported()
		return len(reported) >= len(statuses)
	}, 10*time.Second, time.Millisecond, "%v is not reported", statuses)
	reported, _ := l.health.reported()
	require.Equal(l.t, statuses, reported)
	return l
}

const (
	troubled = componentstatus.StatusRecoverableError
	healthy  = componentstatus.StatusOK
)

func TestTheStatusTellsOfAnOutageOfTheDestinationAndOfItsEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t, quickRetry(nil))
	l.sink.setAnswer(func(plog.Logs) error { return errRefused })
	l.write("a.log", "a\n").start().reports(troubled)
	_, err := l.health.reported()
	require.ErrorIs(t, err, errRefused)
	l.polls()
	l.sink.setAnswer(nil)
	l.expect("a")
	l.reports(troubled, healthy).still()
	l.reports(troubled, healthy)
}

func TestTheStatusTellsOfAStorageThatCannotBeWrittenAndOfItsEnd(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	store := &memoryStorage{}
	l := newLab(t, nil).with("memory", store)
	l.start()
	store.setFail(func(string) error { return broken })
	l.write("a.log", "a\n").expect("a")
	l.reports(troubled)
	_, err := l.health.reported()
	require.ErrorIs(t, err, broken)
	store.setFail(nil)
	l.reports(troubled, healthy)
}
