// Package watch tells which names of a directory were written to, as a hint
// that spares looking at the others. It is no proof of rest: a change may come
// without a hint (a memory mapped write, a hard link in another directory), so
// whoever uses it still looks at everything now and then.
//
// On Linux it is inotify, on file systems whose writes all go through this
// kernel. Elsewhere nothing can be watched.
package watch

// Place names a watched directory; 0 is none.
type Place int32

// Events is what Drain found.
type Events struct {
	// Count is how many there were.
	Count int
	// Lost: some were dropped, or a directory is not watched any more. Everything
	// may have changed, and all directories have to be added again.
	Lost bool
}
