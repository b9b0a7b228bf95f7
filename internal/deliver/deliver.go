// Package deliver hands plog.Logs to the next consumer and says what became of
// them: retry, back-pressure, what was dropped and why. It knows nothing of
// files.
package deliver

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
)

// Outcome is what became of a batch.
type Outcome int

const (
	// Accepted: the next consumer has taken all of it.
	Accepted Outcome = iota
	// Dropped: a permanent error; what was not accepted before is counted and gone.
	Dropped
	// LetGo: it was refused, and this batch is not tried again. The position must
	// not move; the file is to be read again from there at a later poll.
	LetGo
	// Rebuild: it was refused, the pause before the next try is over, and the
	// consumer may have changed the data: read it again now.
	Rebuild
	// Cancelled: shutdown came before an answer; nothing is known. As LetGo.
	Cancelled
)

// Reporter is told of each delivery, for the receiver metrics of the Collector.
type Reporter interface {
	StartLogsOp(ctx context.Context) context.Context
	EndLogsOp(ctx context.Context, format string, records int, err error)
}

// Target is where all senders of a receiver deliver to. It is shared and safe
// for concurrent use.
type Target struct {
	Next     consumer.Logs
	Reporter Reporter
	Retry    Retry
	Outage   *Outage
	Logger   *zap.Logger
	// OnDropped is called with the number of records lost to a permanent error.
	OnDropped func(ctx context.Context, records int)
	// Pause waits until d is over or ctx is done. Tests put a clock here.
	Pause func(ctx context.Context, d time.Duration) error
}

// Sender delivers one batch at a time. Each worker has its own.
type Sender struct {
	t       *Target
	mutates bool
	refused int // refusals in a row
	since   time.Time
	waiting bool // the Outage knows of a refused batch that is being offered again
}

// format is what the receiver's spans and metrics name the data.
const format = "file_log"

// NewSender makes a sender.
func (t *Target) NewSender() *Sender {
	return &Sender{t: t, mutates: t.Next.Capabilities().MutatesData}
}

// Send delivers logs, which it owns from now on. call bounds the calls to the
// next consumer, pace the pauses between them: at shutdown pace ends first, so
// that a call in flight can still be answered. When call is done, nothing is
// offered any more.
func (s *Sender) Send(call, pace context.Context, logs plog.Logs) Outcome {
	t := s.t
	records := logs.LogRecordCount()
	if records == 0 {
		return Accepted
	}
	if call.Err() != nil {
		return Cancelled
	}
	opCtx := t.Reporter.StartLogsOp(call)
	outcome, err := s.attempt(opCtx, pace, logs)
	if s.waiting {
		t.Outage.leave()
		s.waiting = false
	}
	t.Reporter.EndLogsOp(opCtx, format, records, err)
	return outcome
}

func (s *Sender) attempt(call, pace context.Context, logs plog.Logs) (Outcome, error) {
	t := s.t
	for {
		records := logs.LogRecordCount() // read before the data is given away
		err := s.consume(call, logs)
		if err == nil {
			s.refused = 0
			t.Outage.accept(s.waiting)
			s.waiting = false
			return Accepted, nil
		}
		said := read(err, records)
		switch {
		case said.permanent:
			s.refused = 0
			s.drop(call, err, said.lost, s.waiting)
			s.waiting = false
			return Dropped, err
		case call.Err() != nil || pace.Err() != nil:
			return Cancelled, err
		}
		t.Outage.refuse(err, !s.waiting)
		s.waiting = true
		if s.refused == 0 {
			s.since = time.Now()
		}
		s.refused++
		if !t.Retry.Enabled || (t.Retry.MaxElapsedTime > 0 && time.Since(s.since) >= t.Retry.MaxElapsedTime) {
			s.refused = 0
			return LetGo, err
		}
		if t.Pause(pace, t.Retry.pause(s.refused)) != nil {
			return Cancelled, err
		}
		switch {
		case said.partial:
			// What is not offered again is lost where it was rejected.
			if gone := records - said.rest.LogRecordCount(); said.rejected && gone > 0 {
				s.drop(call, err, gone, false)
			}
			logs = said.rest
		case s.mutates:
			return Rebuild, err
		}
	}
}

// drop counts records that a permanent error has cost; waited, that their batch
// was refused before and ends with this.
func (s *Sender) drop(ctx context.Context, err error, records int, waited bool) {
	s.t.OnDropped(ctx, records)
	s.t.Outage.reject(err, records, waited)
}

// consume calls the next consumer. A panic there must not take the process
// down with positions unsaved, and says nothing of the data: it is a refusal.
func (s *Sender) consume(ctx context.Context, logs plog.Logs) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the next consumer panicked: %v", p)
			s.t.Logger.Error("The next consumer panicked", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
		}
	}()
	return s.t.Next.ConsumeLogs(ctx, logs)
}

// Sleep is the Pause of real time.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
