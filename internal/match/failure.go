package match

import (
	"errors"
	"fmt"
	"io/fs"
)

// errDangling is the failure of a symlink that leads nowhere.
var errDangling = fmt.Errorf("its target is missing: %w", fs.ErrNotExist)

// failure keeps the cause apart so that a repetition is recognised without making
// a text of it.
type failure struct {
	what  string
	cause error
}

func (f *failure) Error() string { return f.what + ": " + f.cause.Error() }
func (f *failure) Unwrap() error { return f.cause }

func wrapFailure(what string, cause error) error {
	if cause == nil {
		return nil
	}
	return &failure{what: what, cause: withoutPath(cause)}
}

// sameFailure compares a noted failure with the cause of a new one.
func sameFailure(noted, cause error) bool {
	if noted == nil || cause == nil {
		return noted == nil && cause == nil
	}
	return errors.Is(noted, withoutPath(cause))
}

// withoutPath strips an error of the path, which is reported beside it.
func withoutPath(err error) error {
	if pathErr, ok := err.(*fs.PathError); ok {
		return pathErr.Err
	}
	return err
}
