package tail

import (
	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// handleList is the bodies with an open handle, the one that was needed
// longest ago first. Its zero value is empty.
type handleList struct{ first, last *body }

func (h *handleList) push(b *body) {
	b.older, b.newer = h.last, nil
	if h.last != nil {
		h.last.newer = b
	} else {
		h.first = b
	}
	h.last = b
}

func (h *handleList) remove(b *body) {
	if b.older != nil {
		b.older.newer = b.newer
	} else if h.first == b {
		h.first = b.newer
	}
	if b.newer != nil {
		b.newer.older = b.older
	} else if h.last == b {
		h.last = b.older
	}
	b.older, b.newer = nil, nil
}

// ensureOpen opens the handle of b if it is closed.
func (l *Loop) ensureOpen(b *body) error {
	if b.handle != nil {
		l.handles.remove(b)
		l.handles.push(b)
		return nil
	}
	return l.openHandle(b)
}

// openHandle opens the file that b was seen as. It makes room among the
// handles first.
func (l *Loop) openHandle(b *body) error {
	for l.open >= l.handleCap {
		if !l.closeOldest() {
			break // all are in use: one more than wanted, rather than nothing read
		}
	}
	h, err := l.Layer.Open(b.path)
	if err != nil {
		return err
	}
	info, err := h.Stat()
	if err == nil && info.Locator != b.info.Locator {
		err = errMoved
	}
	if err != nil {
		_ = h.Close()
		return err
	}
	b.handle = h
	if !b.looked {
		b.note(info) // later, what has changed has to go through see
	}
	l.open++
	l.handles.push(b)
	return nil
}

// freshen opens a file anew whose handle gave an error, since a stale handle of a
// network file system stays stale. When that fails the old handle stays: it may
// be the last way to a file that is about to leave.
func (l *Loop) freshen(b *body) {
	if b.handle == nil || b.left {
		return
	}
	h, err := l.Layer.Open(b.path)
	if err != nil {
		return
	}
	if info, err := h.Stat(); err != nil || info.Locator != b.info.Locator {
		_ = h.Close()
		return
	}
	_ = b.handle.Close() // it was good for nothing
	b.handle, b.gz = h, nil
}

// closeOldest closes the handle that was needed longest ago and whose file can
// be found again by its name: one that is read to its end, if there is any
// among the oldest, since what is unread may be lost should its name go away.
func (l *Loop) closeOldest() bool {
	const tries = 64 // enough: what is in use stands at the other end
	var unread *body
	n := 0
	for b := l.handles.first; b != nil && n < tries; b, n = b.newer, n+1 {
		switch {
		case b.inFlight || b.left || b.pinned:
		case b.eof && !b.pending || b.twin != nil:
			l.closeHandle(b)
			return true
		case unread == nil:
			unread = b
		}
	}
	if unread != nil {
		l.closeHandle(unread)
		return true
	}
	return false
}

// pin keeps the handle of b, which the loop is just working with, from being
// closed to make room for another, until unpin is called.
func (b *body) pin() (unpin func()) {
	was := b.pinned
	b.pinned = true
	return func() { b.pinned = was }
}

// closeHandle closes the handle of b, if it has one. No worker may be using it.
func (l *Loop) closeHandle(b *body) {
	b.gz = nil
	if b.handle == nil {
		return
	}
	l.handles.remove(b)
	if err := b.handle.Close(); err != nil {
		l.Logger.Debug("Failed to close file", zap.String("path", b.path), zap.Error(err))
	}
	b.handle = nil
	l.open--
	if b.stuck && !b.left {
		// Unlike others it is opened again before it changes: should it leave, only
		// its handle leads to what is written then.
		l.attempts.later(b, l.Now())
	}
}

// handlesExhausted notes that the process has no descriptor left: from now on
// fewer are used, so that others (exporters, storage) get theirs.
func (l *Loop) handlesExhausted(err error) {
	limit := max(l.open*3/4, 1)
	if limit < l.handleCap {
		l.handleCap = limit
		l.Logger.Warn("Out of file descriptors; fewer files are kept open, raise the limit of open files",
			zap.Int("kept_open", limit), zap.Error(err))
	}
	for l.open > l.handleCap && l.closeOldest() {
	}
}

// lockAndAdvise does what acquire_fs_lock and file_cache_advise ask for. ok is
// false when the writer holds its lock.
func lockAndAdvise(h source.Handle, lock, dropCache bool) (unlock func() error, ok bool, err error) {
	if dropCache {
		if a, can := h.(source.Adviser); can {
			err = a.DropCache()
		}
	}
	if lock {
		if k, can := h.(source.Locker); can {
			if ok, lockErr := k.TryLockShared(); lockErr != nil || !ok {
				return nil, false, lockErr
			}
			return k.Unlock, true, err
		}
	}
	return nil, true, err
}
