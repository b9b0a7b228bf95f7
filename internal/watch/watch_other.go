//go:build !linux

package watch

import "errors"

// Watcher watches nothing on this system.
type Watcher struct{}

// New fails: this system has no watching that costs less than looking.
func New() (*Watcher, error) { return nil, errors.ErrUnsupported }

// Add watches nothing.
func (w *Watcher) Add(string) Place { return 0 }

// Drain finds nothing.
func (w *Watcher) Drain(func(in Place, name []byte)) (Events, error) { return Events{}, nil }

// Close does nothing.
func (w *Watcher) Close() error { return nil }
