//go:build darwin || freebsd || netbsd

package source

import "syscall"

func mtimespec(st *syscall.Stat_t) *syscall.Timespec { return &st.Mtimespec }
