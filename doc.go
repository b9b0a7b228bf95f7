// Package filelogreceiver is an OpenTelemetry Collector receiver that tails log
// files. It takes the place of contrib's file_log receiver without a change of
// configuration, saves a position only after the records before it were
// accepted downstream, and does no work for files that did not change.
//
// config.go is the reference of all settings, receiver.go connects the rooms
// under internal/ that do the work, docs/design.md says why they are as they are.
package filelogreceiver
