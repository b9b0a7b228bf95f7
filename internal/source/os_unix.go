//go:build unix

package source

import (
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

type osLayer struct{}

// osFile keeps the descriptor itself: os.File would add a pprof and poller
// registration, and its Stat allocates.
type osFile struct{ fd int }

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}

func (osLayer) Open(path string) (Handle, error) {
	var fd int
	err := ignoringEINTR(func() (err error) {
		// O_NONBLOCK: a FIFO that took the file's place must not hang the poll.
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := &osFile{fd: fd}
	info, err := f.Stat()
	if err == nil && !info.Regular() {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return f, nil
}

func (osLayer) Stat(path string) (Info, error) {
	var st syscall.Stat_t
	for {
		err := syscall.Stat(path, &st)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return Info{}, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
		return infoOf(&st), nil
	}
}

func (osLayer) Remove(path string) error { return os.Remove(path) }

func (f *osFile) Stat() (Info, error) {
	var st syscall.Stat_t
	for {
		err := syscall.Fstat(f.fd, &st)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return Info{}, os.NewSyscallError("fstat", err)
		}
		return infoOf(&st), nil
	}
}

func (f *osFile) Duplicate() (Handle, error) {
	fd, err := unix.FcntlInt(uintptr(f.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return &osFile{fd: fd}, nil
}

func (f *osFile) ReadAt(p []byte, offset int64) (int, error) {
	total := 0
	for total < len(p) {
		n, err := syscall.Pread(f.fd, p[total:], offset+int64(total))
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return total, os.NewSyscallError("pread", err)
		}
		if n == 0 {
			return total, io.EOF
		}
		total += n
	}
	return total, nil
}

func (f *osFile) Close() error {
	if f.fd < 0 {
		return os.ErrClosed
	}
	err := syscall.Close(f.fd)
	f.fd = -1
	return os.NewSyscallError("close", err)
}

func infoOf(st *syscall.Stat_t) Info {
	return Info{
		Locator: fileid.Locator{Device: uint64(st.Dev), Inode: uint64(st.Ino)}, //nolint:unconvert // the fields' types differ between systems
		Size:    st.Size,
		ModTime: modTime(st),
		Links:   uint64(st.Nlink),        //nolint:unconvert // as above
		Mode:    modeOf(uint32(st.Mode)), //nolint:unconvert // as above
		UID:     st.Uid,
		GID:     st.Gid,
	}
}

func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		m |= fs.ModeDir
	case syscall.S_IFIFO:
		m |= fs.ModeNamedPipe
	case syscall.S_IFSOCK:
		m |= fs.ModeSocket
	case syscall.S_IFLNK:
		m |= fs.ModeSymlink
	default:
		m |= fs.ModeDevice
	}
	return m
}
