package filelogreceiver

import "testing"

func lockFile(t *testing.T, _ string) (unlock func()) {
	t.Skip("there are no advisory locks on Windows")
	return func() {}
}
