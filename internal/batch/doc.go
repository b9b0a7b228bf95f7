// Package batch turns records of log files into plog.Logs. Without operators
// an Assembler writes them straight into pdata; with operators a Pipeline runs
// them through stanza and knows which of them are still inside. It knows
// nothing of files, of delivery or of checkpoints: a file is a number and a set
// of attributes here, and whoever delivers a batch says what became of it.
package batch
