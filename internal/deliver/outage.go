package deliver

import (
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// Outage tells about troubles of delivery, once at their beginning and once at
// their end, not once per batch. It is safe for concurrent use.
type Outage struct {
	logger *zap.Logger
	status func(err error) // nil error: the trouble is over

	troubled atomic.Bool // fast answer to Over

	mu       sync.Mutex
	refused  bool
	since    time.Time
	rejected int // records dropped since the last accepted batch
}

// NewOutage makes an Outage that logs to logger and reports to status.
func NewOutage(logger *zap.Logger, status func(error)) *Outage {
	return &Outage{logger: logger, status: status}
}

// Refused notes a retryable error.
func (o *Outage) Refused(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refused {
		return
	}
	o.refused, o.since = true, time.Now()
	o.troubled.Store(true)
	o.logger.Warn("The next consumer refuses records; reading waits for it and nothing is lost", zap.Error(err))
	o.status(err)
}

// Rejected notes a permanent error that cost records.
func (o *Outage) Rejected(err error, records int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rejected += records
	if o.rejected > records {
		return
	}
	o.troubled.Store(true)
	o.logger.Error("The next consumer rejects records for good; they are dropped", zap.Error(err), zap.Int("dropped_items", records))
	o.status(err)
}

// Over notes an accepted batch.
func (o *Outage) Over() {
	if !o.troubled.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.troubled.Load() {
		return
	}
	if o.refused {
		o.logger.Info("The next consumer accepts records again", zap.Duration("after", time.Since(o.since)))
	}
	if o.rejected > 0 {
		o.logger.Info("The next consumer takes records again after rejections", zap.Int("dropped_items", o.rejected))
	}
	o.refused, o.rejected = false, 0
	o.troubled.Store(false)
	o.status(nil)
}
