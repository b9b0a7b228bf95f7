// Package match answers one question at every poll: which paths exist now that
// the receiver is configured to read, and in which order.
//
// Patterns are walked over a tree of directories that stays in memory between
// polls. A poll asks every directory of the tree for its modification time and
// lists only those that moved, so that a poll in which nothing happened costs
// one stat call a directory, whatever the number of files, and allocates
// nothing.
//
// The package knows names, never content: who a file is, is decided elsewhere.
package match
