package match

import "math"

// A pathName is a path with a NUL byte behind it, so that the operating system
// can be asked about it again and again without a copy.
type pathName string

func newPathName(path string) pathName { return pathName(path + "\x00") }

func (p pathName) String() string { return string(p[:len(p)-1]) }

// kind is what stands behind a path, symlinks followed.
type kind uint8

const (
	kindMissing   kind = iota // nothing, or a symlink to nothing
	kindDirectory             //
	kindFile                  // anything that is no directory
	kindSymlink               // only in listings: not followed yet
	kindUnknown               // the system refused to say
)

// identity tells physical files apart. It is zero where the system does not give
// it cheaply.
type identity struct {
	device, inode uint64
}

// fileStat is what one stat call tells. Times are Unix nanoseconds; changed is
// zero where the system does not keep it.
type fileStat struct {
	kind              kind
	id                identity
	modified, changed int64
}

// nanoseconds converts a time, and limits it to what can be represented.
func nanoseconds(seconds, nanos int64) int64 {
	const limit = math.MaxInt64/1_000_000_000 - 1
	return max(-limit, min(seconds, limit))*1_000_000_000 + nanos
}
