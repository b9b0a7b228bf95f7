package tail

import (
	"sync"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// doubleLayer is the real file system with what a test puts between: an error
// or another answer for each kind of call. Nil fields change nothing.
type doubleLayer struct {
	open   func(path string) error
	stat   func(path string, info *source.Info) error
	fstat  func(path string, info *source.Info) error
	read   func(path string, n int, offset int64) error
	part   func(path string, n int) (int, error) // how much a read gives, and with which error
	remove func(path string) error

	mu                          sync.Mutex
	opens, stats, fstats, reads int
	handles                     int // open now
}

func (d *doubleLayer) count(what *int, by int) {
	d.mu.Lock()
	*what += by
	d.mu.Unlock()
}

// counts returns how often files were opened and read.
func (d *doubleLayer) counts() (opens, reads int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opens, d.reads
}

func (d *doubleLayer) openHandles() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.handles
}

func (d *doubleLayer) Open(path string) (source.Handle, error) {
	d.count(&d.opens, 1)
	if d.open != nil {
		if err := d.open(path); err != nil {
			return nil, err
		}
	}
	h, err := source.OS.Open(path)
	if err != nil {
		return nil, err
	}
	d.count(&d.handles, 1)
	return &doubleHandle{Handle: h, layer: d, path: path}, nil
}

func (d *doubleLayer) Stat(path string) (source.Info, error) {
	d.count(&d.stats, 1)
	info, err := source.OS.Stat(path)
	if err == nil && d.stat != nil {
		err = d.stat(path, &info)
	}
	return info, err
}

func (d *doubleLayer) Remove(path string) error {
	if d.remove != nil {
		if err := d.remove(path); err != nil {
			return err
		}
	}
	return source.OS.Remove(path)
}

// doubleHandle is a handle of a doubleLayer; path is where it was opened.
type doubleHandle struct {
	source.Handle
	layer *doubleLayer
	path  string
}

func (h *doubleHandle) Stat() (source.Info, error) {
	h.layer.count(&h.layer.fstats, 1)
	info, err := h.Handle.Stat()
	if err == nil && h.layer.fstat != nil {
		err = h.layer.fstat(h.path, &info)
	}
	return info, err
}

func (h *doubleHandle) ReadAt(p []byte, offset int64) (int, error) {
	h.layer.count(&h.layer.reads, 1)
	if h.layer.read != nil {
		if err := h.layer.read(h.path, len(p), offset); err != nil {
			return 0, err
		}
	}
	if h.layer.part != nil {
		n, err := h.layer.part(h.path, len(p))
		if err != nil {
			n, _ = h.Handle.ReadAt(p[:n], offset)
			return n, err
		}
	}
	return h.Handle.ReadAt(p, offset)
}

func (h *doubleHandle) Duplicate() (source.Handle, error) {
	other, err := h.Handle.Duplicate()
	if err != nil {
		return nil, err
	}
	h.layer.count(&h.layer.handles, 1)
	return &doubleHandle{Handle: other, layer: h.layer, path: h.path}, nil
}

func (h *doubleHandle) Close() error {
	h.layer.count(&h.layer.handles, -1)
	return h.Handle.Close()
}
