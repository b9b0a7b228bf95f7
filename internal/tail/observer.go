package tail

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
	"github.com/otelfilelog/filelogreceiver/internal/match"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
)

// Instruments is where the loop's numbers go. Its methods are called by the
// loop only, once per poll or event, never per record.
type Instruments interface {
	// Files tells how many files have an open handle, are being read, are
	// remembered and are held as twins.
	Files(open, reading, tracked, twins int)
	Read(bytes, records int64)
	Lost(bytes int64, reason string)
	Rotations(n int64)
	Truncations(n int64)
	Forgotten(n int64, reason string)
	Decision(kind string)
	Saved(kind string, bytes int, duration time.Duration, err error)
}

// Status is where troubles and their end are told: a component status. A nil
// error says that the trouble of that name is over.
type Status func(trouble string, err error)

// Observer counts what the loop does, in plain integers, and hands it on once
// per poll. The loop owns it; only Lag may be asked by others.
type Observer struct {
	instruments Instruments
	status      Status
	logger      *zap.Logger

	ReadBytes, Records     int64
	Rotations, Truncations int64
	Forgotten              int64
	saveFailed             bool

	unreadBytes atomic.Int64
	oldest      atomic.Int64 // Unix nanoseconds, 0: nothing is unread

	mu       sync.Mutex          // guards what follows
	troubles map[string]struct{} // files
	places   map[string]struct{} // directories
	denied   bool                // one of places must not be looked at
}

// NewObserver makes an Observer.
func NewObserver(i Instruments, status Status, logger *zap.Logger) *Observer {
	return &Observer{instruments: i, status: status, logger: logger, troubles: map[string]struct{}{}}
}

// Lag is how many bytes are behind the committed positions of all files, and
// since when the oldest of them is known (zero: there are none). Any goroutine
// may ask.
func (o *Observer) Lag() (unread int64, oldest time.Time) {
	if t := o.oldest.Load(); t > 0 {
		oldest = time.Unix(0, t)
	}
	return o.unreadBytes.Load(), oldest
}

func (o *Observer) decided(d registry.Decision) { o.instruments.Decision(d.Kind.String()) }

func (o *Observer) lost(bytes int64, reason string) { o.instruments.Lost(bytes, reason) }

// saved notes the outcome of a save: counted always, said once per outage.
func (o *Observer) saved(r checkpoint.SaveResult, logger *zap.Logger) {
	o.instruments.Saved(r.Kind.String(), r.Bytes, r.Duration, r.Err)
	switch {
	case r.Err != nil && !o.saveFailed:
		o.saveFailed = true
		logger.Error("save offsets", zap.Error(r.Err))
		o.status("storage", r.Err)
	case r.Err == nil && o.saveFailed:
		o.saveFailed = false
		logger.Info("Offsets are saved again")
		o.status("storage", nil)
	}
}

// troubled notes a file that cannot be read.
func (o *Observer) troubled(path string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.troubles[path] = struct{}{}
	if len(o.troubles) == 1 {
		o.status("files", err)
	}
}

// recovered notes that a file can be read again, or is gone.
func (o *Observer) recovered(path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, was := o.troubles[path]; !was {
		return
	}
	delete(o.troubles, path)
	if len(o.troubles) == 0 {
		o.status("files", nil)
	}
}

// directories tells about places that cannot be looked at, each once.
func (o *Observer) directories(problems []match.Problem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := make(map[string]struct{}, len(problems))
	var denied error
	for _, p := range problems {
		now[p.Path] = struct{}{}
		if denied == nil && errors.Is(p.Err, fs.ErrPermission) {
			denied = fmt.Errorf("%s: %w", p.Path, p.Err)
		}
		if _, known := o.places[p.Path]; !known {
			o.logger.Warn("A place of the pattern cannot be looked at", zap.String("path", p.Path), zap.Error(p.Err))
		}
	}
	for path := range o.places {
		if _, still := now[path]; !still {
			o.logger.Info("A place of the pattern can be looked at again", zap.String("path", path))
		}
	}
	o.places = now
	if (denied != nil) != o.denied {
		o.denied = denied != nil
		o.status("directories", denied)
	}
}

// observe hands on the numbers of a poll.
func (l *Loop) observe(now time.Time) {
	o := l.Observer
	var unread int64
	var oldest time.Time
	for _, b := range l.bodies {
		if b.unread.IsZero() && b.eof {
			continue
		}
		n := b.unreadBytes()
		if n == 0 {
			continue
		}
		unread += n
		if !b.unread.IsZero() && (oldest.IsZero() || b.unread.Before(oldest)) {
			oldest = b.unread
		}
	}
	o.unreadBytes.Store(unread)
	if oldest.IsZero() {
		o.oldest.Store(0)
	} else {
		o.oldest.Store(oldest.UnixNano())
	}
	o.flush()
	reading := 0
	if l.busy > 0 {
		for _, b := range l.bodies {
			if b.inFlight {
				reading++
			}
		}
	}
	o.instruments.Files(l.open, reading, l.Registry.Len(), len(l.twins))
}

// flush hands on the counters.
func (o *Observer) flush() {
	if o.ReadBytes > 0 || o.Records > 0 {
		o.instruments.Read(o.ReadBytes, o.Records)
		o.ReadBytes, o.Records = 0, 0
	}
	if o.Rotations > 0 {
		o.instruments.Rotations(o.Rotations)
		o.Rotations = 0
	}
	if o.Truncations > 0 {
		o.instruments.Truncations(o.Truncations)
		o.Truncations = 0
	}
	if o.Forgotten > 0 {
		o.instruments.Forgotten(o.Forgotten, "limit")
		o.Forgotten = 0
	}
}

// closed hands on the last numbers: nothing is open any more.
func (o *Observer) closed() {
	o.flush()
	o.unreadBytes.Store(0)
	o.oldest.Store(0)
	o.instruments.Files(0, 0, 0, 0)
}
