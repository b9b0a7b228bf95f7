package tail

import (
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// errand lets a worker do work that would keep the loop too long. The work must
// not touch what the loop owns; what it returns is called by the loop.
func (l *Loop) errand(work func() (done func(now time.Time))) {
	l.queue.errands = append(l.queue.errands, work)
}

// probe is a file that an errand looks at through a handle of its own.
type probe struct {
	layer source.Layer
	path  string
	info  source.Info // as it was when the errand was given
}

// open opens the file, if it is still the same, for look.
func (p probe) open(look func(source.Handle) error) error {
	h, err := p.layer.Open(p.path)
	if err != nil {
		return err
	}
	info, err := h.Stat()
	if err == nil && info.Locator != p.info.Locator {
		err = errMoved
	}
	if err == nil {
		err = look(h)
	}
	_ = h.Close()
	return err
}
