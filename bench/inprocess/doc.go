// Package inprocess holds benchmarks of the whole receiver in one process, made
// and started as the Collector does it, beside contrib's receiver on the same
// files and beside the floor: the least that any receiver has to do. It has no
// code but tests.
//
// Wall time says little on a machine that does other things; each benchmark
// also reports the CPU time of the process per record.
package inprocess
