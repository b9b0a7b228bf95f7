package tail

import (
	"errors"
	"io/fs"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// unreadableFile is the kind of trouble that a file or its name could not be read
// or looked at.
const unreadableFile = "unreadable"

// trouble tells once that a path cannot be read.
func (l *Loop) trouble(path string, err error) {
	kind := unreadableFile
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return // it vanished between two looks
	case errors.Is(err, source.ErrNotRegular):
		kind = "not regular"
	}
	if l.troubles[path] == kind {
		return
	}
	l.troubles[path] = kind
	switch {
	case kind == "not regular":
		l.Logger.Warn("Not a regular file, it is not read", zap.String("path", path))
	case errors.Is(err, fs.ErrPermission):
		l.Logger.Error("Failed to open file - unreadable", zap.String("path", path), zap.Error(err))
		l.Observer.troubled(path, err)
	default:
		l.Logger.Error("Failed to open file", zap.String("path", path), zap.Error(err))
		l.Observer.troubled(path, err)
	}
}

// untrouble tells that a path can be read again.
func (l *Loop) untrouble(path string) {
	kind, was := l.troubles[path]
	if !was {
		return
	}
	delete(l.troubles, path)
	if kind == unreadableFile {
		l.Logger.Info("Previously unreadable file is now readable", zap.String("path", path))
		l.Observer.recovered(path)
	}
}

// endTrouble forgets about a path that is not in the pattern any more.
func (l *Loop) endTrouble(path string) {
	if _, was := l.troubles[path]; was {
		delete(l.troubles, path)
		l.Observer.recovered(path)
	}
}
