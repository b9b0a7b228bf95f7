package deliver

import (
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// quietTime is how long nothing may have been refused or rejected before a
// trouble counts as over of which it cannot be seen that its cause has gone.
const quietTime = 10 * time.Second

// Outage tells about troubles of delivery, once at their beginning and once at
// their end, not once per batch. It is safe for concurrent use.
//
// A trouble is over when every batch that was refused and is offered again has
// been accepted. What was rejected, let go or is to be built anew does not come
// back as the same batch: after that some time must have passed without another
// such case, and something must have been accepted since. Batches that others
// accept meanwhile end nothing: a consumer may refuse those of one file only.
type Outage struct {
	// Again is how long a batch that was let go waits until it is offered again:
	// a trouble does not end in between.
	Again time.Duration

	logger *zap.Logger
	status func(err error) // nil error: the trouble is over
	now    func() time.Time
	after  func(d time.Duration, f func()) (stop func() bool)

	troubled atomic.Bool // fast answer to accepted

	mu       sync.Mutex
	refused  bool
	since    time.Time
	rejected int         // records dropped since the trouble began
	waiting  int         // refused batches that are being offered again
	lost     time.Time   // when a batch was last rejected, let go, or to be built anew; zero: none
	taken    bool        // something was accepted after the latest refusal or rejection
	cancel   func() bool // of the timer for the end of the quiet time; nil: there is none
	stopped  bool
}

// NewOutage makes an Outage that logs to logger and reports to status.
func NewOutage(logger *zap.Logger, status func(error)) *Outage {
	return &Outage{
		logger: logger, status: status, now: time.Now,
		after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop },
	}
}

// Stop ends all messages and reports.
func (o *Outage) Stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
	if o.cancel != nil {
		o.cancel()
		o.cancel = nil
	}
}

// refuse notes a retryable error; first, that it is the first one for a batch.
// What becomes of the batch is told with accept, reject or leave.
func (o *Outage) refuse(err error, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken = false
	if first {
		o.waiting++
	}
	if o.refused || o.stopped {
		return
	}
	o.refused, o.since = true, o.now()
	o.troubled.Store(true)
	o.logger.Warn("The next consumer refuses records; reading waits for it and nothing is lost", zap.Error(err))
	o.status(err)
}

// leave notes that a refused batch is not offered again as it is.
func (o *Outage) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting--
	o.lost, o.taken = o.now(), false
}

// reject notes a permanent error that cost records; waited, that the batch was
// refused before and is not offered again.
func (o *Outage) reject(err error, records int, waited bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if waited {
		o.waiting--
	}
	o.lost, o.taken = o.now(), false
	o.rejected += records
	if o.rejected > records || o.stopped {
		return
	}
	o.troubled.Store(true)
	o.logger.Error("The next consumer rejects records for good; they are dropped", zap.Error(err), zap.Int("dropped_items", records))
	o.status(err)
}

// accept notes an accepted batch; waited, that it was refused before.
func (o *Outage) accept(waited bool) {
	if !o.troubled.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if waited {
		o.waiting--
	}
	o.taken = true
	o.settle()
}

// settle ends the trouble if it is over, or looks again when it can be. The
// caller holds mu.
func (o *Outage) settle() {
	if !o.troubled.Load() || o.stopped || o.waiting > 0 || !o.taken {
		return
	}
	if !o.lost.IsZero() {
		if left := max(quietTime, 2*o.Again) - o.now().Sub(o.lost); left > 0 {
			if o.cancel == nil {
				o.cancel = o.after(left, o.look)
			}
			return
		}
	}
	if o.refused {
		o.logger.Info("The next consumer accepts records again", zap.Duration("after", o.now().Sub(o.since)))
	}
	if o.rejected > 0 {
		o.logger.Info("The next consumer takes records again after rejections", zap.Int("dropped_items", o.rejected))
	}
	o.refused, o.rejected, o.lost = false, 0, time.Time{}
	o.troubled.Store(false)
	o.status(nil)
}

// look is called when a quiet time may be over.
func (o *Outage) look() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cancel = nil
	o.settle()
}
