//go:build unix && !aix && !solaris && !illumos

package source

import (
	"os"

	"golang.org/x/sys/unix"
)

func (f *osFile) TryLockShared() (bool, error) {
	err := ignoringEINTR(func() error { return unix.Flock(f.fd, unix.LOCK_SH|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, os.NewSyscallError("flock", err)
}

func (f *osFile) Unlock() error {
	return os.NewSyscallError("flock", ignoringEINTR(func() error { return unix.Flock(f.fd, unix.LOCK_UN) }))
}
