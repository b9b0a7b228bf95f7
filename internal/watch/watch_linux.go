package watch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Watcher watches directories. It has one owner and no goroutine: what happens
// waits in the kernel until Drain.
type Watcher struct {
	fd  int
	buf []byte
}

// drainBytes is one read: about 1,500 events with short names.
const drainBytes = 64 << 10

// New makes a Watcher that watches nothing yet.
func New() (*Watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	return &Watcher{fd: fd, buf: make([]byte, drainBytes)}, nil
}

// Add watches the directory at path. Adding it again is harmless. It returns 0
// when that is not possible: too many watches, or a file system whose files are
// also written elsewhere.
func (w *Watcher) Add(path string) Place {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil || !writtenHere(int64(fs.Type)) { //nolint:unconvert // the field's type differs between architectures
		return 0
	}
	wd, err := unix.InotifyAddWatch(w.fd, path, unix.IN_MODIFY|unix.IN_ONLYDIR)
	if err != nil {
		return 0
	}
	return Place(wd)
}

// writtenHere tells whether all writes to such a file system go through this kernel.
func writtenHere(kind int64) bool {
	switch kind {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC:
		return true
	}
	return false
}

// Drain calls f for each name that was written to since the last Drain, with
// repeats. name is valid during the call only.
func (w *Watcher) Drain(f func(in Place, name []byte)) (e Events, err error) {
	for {
		n, err := unix.Read(w.fd, w.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return e, nil
		case err != nil:
			return e, os.NewSyscallError("read inotify", err)
		case n < unix.SizeofInotifyEvent:
			return e, nil
		}
		for rest := w.buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			// struct inotify_event: wd, mask, cookie, len, name padded with NUL
			place := Place(int32(binary.NativeEndian.Uint32(rest)))
			mask := binary.NativeEndian.Uint32(rest[4:])
			length := int(binary.NativeEndian.Uint32(rest[12:]))
			name := rest[unix.SizeofInotifyEvent : unix.SizeofInotifyEvent+length]
			rest = rest[unix.SizeofInotifyEvent+length:]
			e.Count++
			if mask&(unix.IN_Q_OVERFLOW|unix.IN_IGNORED|unix.IN_UNMOUNT) != 0 {
				e.Lost = true
				continue
			}
			if end := bytes.IndexByte(name, 0); end >= 0 {
				name = name[:end]
			}
			f(place, name)
		}
	}
}

// Close ends watching.
func (w *Watcher) Close() error { return unix.Close(w.fd) }
