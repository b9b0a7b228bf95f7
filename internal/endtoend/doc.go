// Package endtoend starts the built distribution as a process, writes logs that
// rotate, and accounts for every line that arrives: what the tests of the whole
// need, and nothing that the receiver does.
package endtoend
