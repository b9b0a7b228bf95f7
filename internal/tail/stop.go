package tail

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
)

// errNoAnswer is returned by Run when a call to the next consumer has not come
// back although its context and the time for the stop were over.
var errNoAnswer = errors.New("the next consumer has not returned from a call whose context is done; what it was given is read again at the next start")

// shutdown ends turns, saves and closes.
func (l *Loop) shutdown(save context.Context, workersDone <-chan struct{}) error {
	l.dropHeadroom()
	l.stopHints()
	l.cancelPace()
	grace := time.AfterFunc(shutdownGrace, l.cancelCall)
	defer grace.Stop()
	if !l.awaitTurns(save) {
		return l.abandon(save, workersDone, l.Pipeline != nil)
	}
	if l.Pipeline != nil {
		l.stopPipeline()
		if !l.awaitTurns(save) {
			return l.abandon(save, workersDone, false)
		}
		l.settleAll()
	}
	close(l.turns)
	<-workersDone
	l.cancelCall()
	for _, b := range l.bodies {
		l.discard(b)
	}
	l.Observer.closed()
	if l.Store == nil {
		return nil
	}
	return l.Store.Close(save)
}

// awaitTurns takes in reports until all workers are idle; saves go on meanwhile,
// for a process that does not end in time is killed. When the time for the stop
// is over, calls are cancelled. It is false if one does not return even then.
func (l *Loop) awaitTurns(stop context.Context) bool {
	var results <-chan checkpoint.SaveResult
	if l.Store != nil {
		results = l.Store.Results()
	}
	ticker := time.NewTicker(l.PollInterval)
	defer ticker.Stop()
	over := stop.Done()
	var last <-chan time.Time
	for l.busy > 0 {
		select {
		case r := <-l.reports:
			l.apply(r)
		case r := <-results:
			l.saveDone(r)
		case <-ticker.C:
			l.save()
		case <-over:
			l.cancelCall()
			over, last = nil, time.After(lastAnswer)
		case <-last:
			return false
		}
	}
	return true
}

// abandon ends a stop while calls to the next consumer do not return. What was
// accepted is saved as far as there is time; what the calls use goes when they
// have returned, which is nobody's business any more.
func (l *Loop) abandon(save context.Context, workersDone <-chan struct{}, operators bool) error {
	l.Observer.closed()
	followed := slices.Clone(l.left)
	for _, b := range l.bodies {
		followed = append(followed, b)
	}
	for _, b := range followed {
		if !b.inFlight {
			l.closeHandle(b)
		}
	}
	err := errNoAnswer
	if l.Store != nil {
		err = errors.Join(err, l.Store.Close(save))
	}
	go func() {
		for l.busy > 0 {
			if r := <-l.reports; r.done {
				l.busy--
			}
		}
		close(l.turns)
		<-workersDone
		if operators {
			if err := l.Pipeline.Stop(); err != nil {
				l.Logger.Error("Failed to stop operators", zap.Error(err))
			}
		}
		for _, b := range followed {
			l.closeHandle(b)
		}
	}()
	return err
}
