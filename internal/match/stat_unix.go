//go:build unix

package match

import (
	"golang.org/x/sys/unix"
)

// statPathCompatibly is statPath by means that every Unix has.
func statPathCompatibly(path pathName, st *fileStat) error {
	var answer unix.Stat_t
	err := unix.Stat(path.String(), &answer)
	for err == unix.EINTR {
		err = unix.Stat(path.String(), &answer)
	}
	if err != nil {
		return statFailure(err, st)
	}
	st.kind = kindFile
	if answer.Mode&unix.S_IFMT == unix.S_IFDIR {
		st.kind = kindDirectory
	}
	st.id = identity{device: uint64(answer.Dev), inode: uint64(answer.Ino)}
	st.modified = nanoseconds(int64(answer.Mtim.Sec), int64(answer.Mtim.Nsec))
	st.changed = nanoseconds(int64(answer.Ctim.Sec), int64(answer.Ctim.Nsec))
	return nil
}

func statFailure(err error, st *fileStat) error {
	*st = fileStat{}
	switch err {
	case unix.ENOENT, unix.ENOTDIR:
		return nil
	}
	st.kind = kindUnknown
	return err
}
