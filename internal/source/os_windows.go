package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

type osLayer struct{}

type osFile struct{ h windows.Handle }

// extended converts a UNC path to its extended form, since the plain one is
// not opened by CreateFile in every configuration.
func extended(path string) string {
	if rest, ok := strings.CutPrefix(path, `\\`); ok && !strings.HasPrefix(rest, `?\`) && !strings.HasPrefix(rest, `.\`) {
		return `\\?\UNC\` + rest
	}
	return path
}

func open(path string, access uint32) (*osFile, error) {
	name, err := windows.UTF16PtrFromString(extended(path))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	// Share everything, so that the writer may rename and delete the file.
	h, err := windows.CreateFile(name, access,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &osFile{h: h}, nil
}

func (osLayer) Open(path string) (Handle, error) {
	f, err := open(path, windows.GENERIC_READ)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Regular() {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return f, nil
}

func (osLayer) Stat(path string) (Info, error) {
	f, err := open(path, windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return Info{}, err
	}
	info, err := f.Stat()
	return info, errors.Join(err, f.Close())
}

func (osLayer) Remove(path string) error { return os.Remove(path) }

func (f *osFile) Stat() (Info, error) {
	var d windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(f.h, &d); err != nil {
		return Info{}, os.NewSyscallError("GetFileInformationByHandle", err)
	}
	mode := fs.FileMode(0o666)
	if d.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0 {
		mode |= fs.ModeDir
	}
	return Info{
		Locator: fileid.Locator{Device: uint64(d.VolumeSerialNumber), Inode: uint64(d.FileIndexHigh)<<32 | uint64(d.FileIndexLow)},
		Size:    int64(d.FileSizeHigh)<<32 | int64(d.FileSizeLow),
		ModTime: d.LastWriteTime.Nanoseconds(),
		Links:   uint64(d.NumberOfLinks),
		Mode:    mode,
	}, nil
}

func (f *osFile) Duplicate() (Handle, error) {
	process := windows.CurrentProcess()
	var h windows.Handle
	if err := windows.DuplicateHandle(process, f.h, process, &h, 0, false, windows.DUPLICATE_SAME_ACCESS); err != nil {
		return nil, os.NewSyscallError("DuplicateHandle", err)
	}
	return &osFile{h: h}, nil
}

func (f *osFile) ReadAt(p []byte, offset int64) (int, error) {
	total := 0
	for total < len(p) {
		at := offset + int64(total)
		o := windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
		var n uint32
		err := windows.ReadFile(f.h, p[total:], &n, &o)
		if err == windows.ERROR_HANDLE_EOF || (err == nil && n == 0) {
			return total, io.EOF
		}
		if err != nil {
			return total, os.NewSyscallError("ReadFile", err)
		}
		total += int(n)
	}
	return total, nil
}

func (f *osFile) Close() error { return os.NewSyscallError("CloseHandle", windows.CloseHandle(f.h)) }
