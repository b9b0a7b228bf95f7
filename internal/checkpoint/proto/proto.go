// Package checkpointpb is generated from checkpoint.proto. It is an independent
// reader and writer of the stored messages, for tests and comparisons; the
// receiver itself uses the faster code of internal/checkpoint.
package checkpointpb
