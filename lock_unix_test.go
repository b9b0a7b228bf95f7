//go:build unix

package filelogreceiver

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// lockFile holds an exclusive lock as a writer would, until it is let go.
func lockFile(t *testing.T, path string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	return func() { require.NoError(t, f.Close()) }
}
