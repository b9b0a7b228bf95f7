// Package fileid holds the evidence of who a log file is: its locator (where
// the file system keeps it), its fingerprint (how it begins) and its frontiers
// (what stood before the positions that were committed), and State, the plain
// memory of one logical file that the registry and the checkpoint share.
package fileid

// Locator is the file system's own name of a file: device and inode on Unix,
// volume and file index on Windows. It is a hint that spares work, never a
// proof: inodes are reused and device numbers change at a remount.
type Locator struct {
	Device uint64
	Inode  uint64
}

// IsZero tells whether nothing is known of the locator.
func (l Locator) IsZero() bool { return l == Locator{} }
