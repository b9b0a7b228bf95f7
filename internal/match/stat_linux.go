package match

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// statHasIdentity tells that statPath fills in the identity.
const statHasIdentity = true

// statxRefused is set when the kernel, or a sandbox around us, has no statx.
var statxRefused atomic.Bool

// statPath asks what is behind a path, symlinks followed. That nothing is there is
// no error. It calls the kernel directly because the library's wrapper copies the
// path into a buffer of its own at every call.
func statPath(path pathName, st *fileStat) error {
	if statxRefused.Load() {
		return statPathCompatibly(path, st)
	}
	const wanted = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_MTIME | unix.STATX_CTIME
	workingDirectory := unix.AT_FDCWD
	var answer unix.Statx_t
	errno := unix.EINTR
	for errno == unix.EINTR {
		_, _, errno = unix.Syscall6(unix.SYS_STATX, uintptr(workingDirectory),
			uintptr(unsafe.Pointer(unsafe.StringData(string(path)))), 0, wanted, uintptr(unsafe.Pointer(&answer)), 0)
	}
	switch errno {
	case 0:
	case unix.ENOSYS, unix.EPERM:
		statxRefused.Store(true)
		return statPathCompatibly(path, st)
	default:
		return statFailure(errno, st)
	}
	st.kind = kindFile
	if answer.Mode&unix.S_IFMT == unix.S_IFDIR {
		st.kind = kindDirectory
	}
	st.id = identity{device: unix.Mkdev(answer.Dev_major, answer.Dev_minor), inode: answer.Ino}
	st.modified = nanoseconds(answer.Mtime.Sec, int64(answer.Mtime.Nsec))
	st.changed = nanoseconds(answer.Ctime.Sec, int64(answer.Ctime.Nsec))
	return nil
}

// identify is not needed where stat tells the identity.
func identify(pathName) identity { return identity{} }
