package checkpoint

import "strconv"

// Keys, without the prefix. These are part of the format.
const (
	keyKnownFiles   = "knownFiles"             // the snapshot; with a number behind it an archive slot
	keyArchiveIndex = "knownFilesArchiveIndex" // the archive slot that was written last
	keyProgress     = "progress"               // the delta, in the client for it

	// quarantineSuffix makes of a key the one that keeps its damaged bytes.
	quarantineSuffix = ".damaged"
)

// slotKey is the key of an archive slot.
func slotKey(slot int) string { return keyKnownFiles + strconv.Itoa(slot) }

// The parts of a snapshot that does not fit into one value lie alternately at
// two sides, so that writing one snapshot leaves the last one whole.
const (
	sideNone = 0
	sideA    = 1
	sideB    = 2
)

// partKey is the key of a further part (1 and up) of a snapshot; part 0 has the
// key of the snapshot itself.
func partKey(side, part int) string {
	name := ".a"
	if side == sideB {
		name = ".b"
	}
	return keyKnownFiles + name + strconv.Itoa(part)
}
