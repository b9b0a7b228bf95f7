package tail

import "golang.org/x/sys/windows"

// What open says when the process has no handle left.
const (
	errTooManyProcess = windows.ERROR_TOO_MANY_OPEN_FILES
	errTooManySystem  = windows.ERROR_TOO_MANY_OPEN_FILES
	errNotDirectory   = windows.ERROR_DIRECTORY
)
