//go:build unix

package source

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyRegularFilesAreOpenedAndAFifoDoesNotBlock(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o644))
	for _, path := range []string{fifo, t.TempDir(), os.DevNull} {
		_, err := OS.Open(path)
		require.ErrorIs(t, err, ErrNotRegular, path)
		info, err := OS.Stat(path)
		require.NoError(t, err)
		require.False(t, info.Regular(), path)
	}
	_, err := OS.Open(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestAHandleTellsTheSameAsItsNameUntilThatIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o640))
	h, err := OS.Open(path)
	require.NoError(t, err)
	defer h.Close()
	byName, err := OS.Stat(path)
	require.NoError(t, err)
	byHandle, err := h.Stat()
	require.NoError(t, err)
	require.Equal(t, byName, byHandle)
	require.EqualValues(t, 10, byHandle.Size)
	require.EqualValues(t, 1, byHandle.Links)
	require.Equal(t, fs.FileMode(0o640), byHandle.Mode.Perm())
	require.NoError(t, OS.Remove(path))
	byHandle, err = h.Stat()
	require.NoError(t, err)
	require.Zero(t, byHandle.Links)
	p := make([]byte, 20)
	n, err := ReadFull(h, p, 4)
	require.NoError(t, err, "a short read is no error")
	require.Equal(t, "456789", string(p[:n]))
}

func TestClosingTwiceIsAnErrorAndClosesNobodyElsesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	h, err := OS.Open(path)
	require.NoError(t, err)
	require.NoError(t, h.Close())
	require.ErrorIs(t, h.Close(), os.ErrClosed)
}

func TestAnExclusiveLockOfTheWriterIsRespectedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	writer, err := os.Create(path)
	require.NoError(t, err)
	defer writer.Close()
	require.NoError(t, syscall.Flock(int(writer.Fd()), syscall.LOCK_EX))
	h, err := OS.Open(path)
	require.NoError(t, err)
	defer h.Close()
	locker, can := h.(Locker)
	if !can {
		t.Skip("no locks on this system")
	}
	ok, err := locker.TryLockShared()
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, syscall.Flock(int(writer.Fd()), syscall.LOCK_UN))
	ok, err = locker.TryLockShared()
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, locker.Unlock())
}
