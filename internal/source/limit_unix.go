//go:build unix

package source

import "syscall"

// HandleLimit is how many files the process may reasonably keep open for
// tailing: half of its limit, since exporters and storage need descriptors too.
func HandleLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 512
	}
	return int(min(max(uint64(limit.Cur)/2, 8), 1<<30)) //nolint:unconvert // the field's type differs between systems
}
