// Package source is the bytes of one file: open, stat, read at a position,
// decompress. It knows nothing of records or of who a file is.
package source

import (
	"errors"
	"io"
	"io/fs"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// ErrNotRegular is returned by Layer.Open for a FIFO, a socket, a device or a
// directory: nothing that can be tailed by position.
var ErrNotRegular = errors.New("not a regular file")

// Info is what the file system tells about a file without reading it.
type Info struct {
	Locator fileid.Locator
	Size    int64 // bytes on disk
	ModTime int64 // Unix nanoseconds
	Links   uint64
	Mode    fs.FileMode
	UID     uint32
	GID     uint32
}

// Regular tells whether the file can be tailed.
func (i Info) Regular() bool { return i.Mode.IsRegular() }

// Handle is an open file. ReadAt may be called by one goroutine while Stat is
// called by another; Close must not be called during either.
type Handle interface {
	io.ReaderAt
	// Stat tells what is behind the handle now, without an allocation.
	Stat() (Info, error)
	// Duplicate opens the same file once more, whether it still has a name or
	// not. Either handle may be used and closed without regard to the other.
	Duplicate() (Handle, error)
	Close() error
}

// Locker is a Handle that can be locked against its writer (advisory).
type Locker interface {
	// TryLockShared takes a shared lock; ok is false when somebody holds an
	// exclusive one.
	TryLockShared() (ok bool, err error)
	Unlock() error
}

// Adviser is a Handle whose pages in the file cache can be given up.
type Adviser interface{ DropCache() error }

// Layer is the file system as the receiver sees it. Tests put faults into it.
type Layer interface {
	// Open opens a regular file for reading and never blocks on a FIFO.
	Open(path string) (Handle, error)
	// Stat follows symbolic links.
	Stat(path string) (Info, error)
	// Remove deletes the file of that name.
	Remove(path string) error
}

// OS is the operating system's file system.
var OS Layer = osLayer{}

// ReadFull reads len(p) bytes at offset, or as many as there are: io.EOF is
// no error here, a short count says it.
func ReadFull(r io.ReaderAt, p []byte, offset int64) (int, error) {
	n, err := r.ReadAt(p, offset)
	if err == io.EOF {
		err = nil
	}
	return n, err
}
