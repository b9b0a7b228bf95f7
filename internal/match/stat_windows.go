package match

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// statHasIdentity tells that statPath does not fill in the identity: on Windows
// that takes an open handle, which is too dear at every poll.
const statHasIdentity = false

// statPath asks what is behind a path, symlinks followed. That nothing is there is
// no error.
func statPath(path pathName, st *fileStat) error {
	*st = fileStat{}
	info, err := os.Stat(path.String())
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, windows.ERROR_DIRECTORY):
		return nil
	default:
		st.kind = kindUnknown
		return withoutPath(err)
	}
	st.kind = kindFile
	if info.IsDir() {
		st.kind = kindDirectory
	}
	st.modified = info.ModTime().UnixNano()
	return nil
}

// identify opens a directory to learn which one it is; zero if that fails.
func identify(path pathName) identity {
	name, err := windows.UTF16PtrFromString(path.String())
	if err != nil {
		return identity{}
	}
	const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(name, 0, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return identity{}
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &info); err != nil {
		return identity{}
	}
	return identity{
		device: uint64(info.VolumeSerialNumber),
		inode:  uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
	}
}
