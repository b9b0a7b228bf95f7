package source

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func modTime(st *syscall.Stat_t) int64 { return st.Mtim.Nano() }

func (f *osFile) DropCache() error {
	return os.NewSyscallError("fadvise", unix.Fadvise(f.fd, 0, 0, unix.FADV_DONTNEED))
}
