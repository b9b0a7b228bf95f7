//go:build unix && !linux

package match

// statHasIdentity tells that statPath fills in the identity.
const statHasIdentity = true

// statPath asks what is behind a path, symlinks followed. That nothing is there is
// no error.
func statPath(path pathName, st *fileStat) error { return statPathCompatibly(path, st) }

// identify is not needed where stat tells the identity.
func identify(pathName) identity { return identity{} }
