package source

// HandleLimit is how many files the process may reasonably keep open for
// tailing. Windows allows millions of handles.
func HandleLimit() int { return 1 << 20 }
