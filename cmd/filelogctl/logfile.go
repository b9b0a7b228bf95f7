package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// What a log file is today, compared with what is stored of it.
const (
	logThere      = "there"      // the content before the position is what was read
	logChanged    = "changed"    // it is not, or is not there any more
	logCompressed = "compressed" // there; its content was not looked at
	logGone       = "gone"
	logUnreadable = "unreadable"
	logUnknown    = "unknown" // it is not stored where the file was
)

// sighting is what was seen of a log file.
type sighting struct {
	status string
	size   int64 // on disk
}

// headLimit bounds how much of a log file is read to compare its beginning.
const headLimit = 1 << 20

// lookAt compares the file at path with what is stored of it. It reads its
// beginning and what stands before the position.
func lookAt(path string, s *fileid.State) sighting {
	if path == "" {
		return sighting{status: logUnknown}
	}
	h, info, err := openLog(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sighting{status: logGone}
	case err != nil:
		return sighting{status: logUnreadable}
	}
	defer h.Close()
	if s.Compressed {
		return sighting{status: logCompressed, size: info.Size}
	}
	seen := sighting{status: logThere, size: info.Size}
	begins, err := beginsAs(h, s)
	newest, some := s.Ladder.Newest()
	if err == nil && begins && some {
		var window []byte
		if window, err = windowAt(h, newest.Offset); err == nil {
			begins = newest.Verifies(window)
		}
	}
	switch {
	case err != nil:
		seen.status = logUnreadable
	case !begins || info.Size < s.Offset:
		seen.status = logChanged
	}
	return seen
}

func openLog(path string) (source.Handle, source.Info, error) {
	h, err := source.OS.Open(path)
	if err != nil {
		return nil, source.Info{}, err
	}
	info, err := h.Stat()
	if err != nil {
		return nil, source.Info{}, errors.Join(err, h.Close())
	}
	return h, info, nil
}

// beginsAs tells whether the content begins with the fingerprint.
func beginsAs(h source.Handle, s *fileid.State) (bool, error) {
	n := s.Fingerprint.Len()
	if n > headLimit {
		return false, nil
	}
	head := make([]byte, n)
	n, err := source.ReadFull(h, head, 0)
	return err == nil && s.Fingerprint.IsPrefixOf(head[:n]), err
}

// windowAt reads what a frontier at offset covers, less if the file is shorter.
func windowAt(h source.Handle, offset int64) ([]byte, error) {
	window := make([]byte, fileid.WindowLen(offset))
	n, err := source.ReadFull(h, window, offset-int64(len(window)))
	return window[:n], err
}

// headOf reads the beginning of a log file, nil if it cannot.
func headOf(path string) []byte {
	h, info, err := openLog(path)
	if err != nil {
		return nil
	}
	defer h.Close()
	head := make([]byte, min(info.Size, headLimit))
	n, err := source.ReadFull(h, head, 0)
	if err != nil {
		return nil
	}
	return head[:n]
}

// frontierIn makes the frontier at an offset (-1: the end) of the log file at path.
// ok is false if the file is not at hand, is another one than s, or is compressed.
func frontierIn(path string, s *fileid.State, offset int64) (f fileid.Frontier, ok bool, err error) {
	if path == "" || s.Compressed {
		return fileid.Frontier{}, false, nil
	}
	h, info, err := openLog(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return fileid.Frontier{}, false, err
	}
	defer h.Close()
	if begins, err := beginsAs(h, s); err != nil || !begins {
		return fileid.Frontier{}, false, err
	}
	if offset < 0 {
		offset = info.Size
	}
	if offset > info.Size {
		return fileid.Frontier{}, false, fmt.Errorf("%s has %d bytes: offset %d is behind its end", path, info.Size, offset)
	}
	window, err := windowAt(h, offset)
	if err == nil && len(window) != fileid.WindowLen(offset) {
		err = errors.New("it became shorter meanwhile")
	}
	if err != nil {
		return fileid.Frontier{}, false, fmt.Errorf("read %s before offset %d: %w", path, offset, err)
	}
	return fileid.NewFrontier(offset, window), true, nil
}
