//go:build unix && !linux && !darwin && !freebsd && !netbsd && !aix

package source

import "syscall"

func mtimespec(st *syscall.Stat_t) *syscall.Timespec { return &st.Mtim }
