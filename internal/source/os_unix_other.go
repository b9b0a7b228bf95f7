//go:build unix && !linux

package source

import "syscall"

func modTime(st *syscall.Stat_t) int64 { return mtimespec(st).Nano() }
