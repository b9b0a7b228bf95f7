package tail

import (
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// errand is work that would keep the loop too long, so a worker does it. It
// reads files through handles of its own: the loop may close its handles
// meanwhile, and a file may have lost its name.
type errand struct {
	files []*body
	// work must not touch what the loop owns; what it returns is called by the
	// loop. err says why one of the files could not be opened.
	work func(files []source.Handle, err error) (done func(now time.Time))
}

// errand lets a worker do the work as soon as one is free.
func (l *Loop) errand(work func(files []source.Handle, err error) (done func(now time.Time)), files ...*body) {
	l.queue.errands = append(l.queue.errands, errand{files, work})
}

// ready opens the files of e for the worker, who closes them.
func (l *Loop) ready(e errand) func() func(time.Time) {
	handles := make([]source.Handle, 0, len(e.files))
	var err error
	for _, b := range e.files {
		var h source.Handle
		if h, err = l.another(b); err != nil {
			break
		}
		handles = append(handles, h)
	}
	return func() func(time.Time) {
		defer func() {
			for _, h := range handles {
				_ = h.Close()
			}
		}()
		return e.work(handles, err)
	}
}

// another opens one more handle of b, without regard to the limit of handles:
// there are no more of them than workers at work on errands need.
func (l *Loop) another(b *body) (source.Handle, error) {
	if b.handle != nil {
		return b.handle.Duplicate()
	}
	h, err := l.Layer.Open(b.path)
	if err != nil {
		return nil, err
	}
	info, err := h.Stat()
	if err == nil && info.Locator != b.info.Locator {
		err = errMoved
	}
	if err != nil {
		_ = h.Close()
		return nil, err
	}
	return h, nil
}
