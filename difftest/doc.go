// Package difftest holds contrib's File Log receiver beside ours: the same
// files and the same configuration through both, in one process, and the records
// compared. It is a module of its own, so that the receiver does not depend on
// contrib's.
//
// A difference is allowed if it is a member of a named list of contrib's faults
// (faults_test.go), each of which says how it is recognised and why ours does
// otherwise.
//
// It is not for the race detector: it finds contrib's own races, of which its
// container operator has one.
package difftest
