//go:build unix

package tail

import "syscall"

// What open says when the process or the system has no descriptor left.
const (
	errTooManyProcess = syscall.EMFILE
	errTooManySystem  = syscall.ENFILE
	errNotDirectory   = syscall.ENOTDIR
)
