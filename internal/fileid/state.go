package fileid

// State is what is remembered of one logical file: who it is and how far it
// was accepted downstream. It has one owner at a time (the poll loop); nothing
// in it is guarded.
//
// Positions are logical: byte offsets in the content, which for a compressed
// file is the decompressed content. So a file keeps its position when it is
// compressed.
type State struct {
	Fingerprint Fingerprint
	Locator     Locator
	Path        string // where it was seen last; "" if that is not known

	Offset       int64 // the committed position
	RecordNumber int64 // tokens read before Offset, empty ones included
	Ladder       Ladder

	// Compressed files are read from Base, a position in the compressed file
	// at which a gzip member begins and which is the logical position BaseAt.
	Compressed bool
	Base       int64
	BaseAt     int64

	// Attributes are those that the file's header gave. Values are of the kinds
	// that JSON knows, or int64. A map is never changed once it is here: States
	// may share it.
	Attributes map[string]any
	HeaderDone bool // the header was read to its end

	Skipping bool // Offset is inside an oversized record whose rest is left out

	// Forced flush: how many bytes stood behind Offset when the file last grew,
	// and when that was (Unix nanoseconds; 0: never).
	PartialLength int64
	PartialSince  int64

	MinTokenLength int64 // upstream's token length state, carried for the way back

	Size    int64 // last seen size on disk
	ModTime int64 // last seen modification time, Unix nanoseconds

	// StaticRevision goes up whenever Fingerprint, Locator, Path, Attributes,
	// HeaderDone, Compressed or Base changes, so that the checkpoint knows when
	// the part of the encoding that it keeps has to be made anew.
	StaticRevision uint32
	// Slot belongs to the checkpoint: where it keeps this State's encoding.
	Slot int32
}
