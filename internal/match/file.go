package match

// notRead is the index of a file that is not among the paths to read.
const notRead = -1

// A file is a path that the globs match and that is no directory. It lives as long
// as its name stays in the listings.
type file struct {
	path    pathName
	symlink bool // the path goes through a symlink
	index   int  // in the paths to read, or notRead

	// Kept by the filter:
	asked    bool // the fields below are known
	kind     kind
	tooOld   bool
	modified int64 // Unix nanoseconds
	failure  error // why it could not be asked
	rank     *rank // what the path says about its order; nil: not derived yet
}

func (f *file) name() string { return f.path.String() }
