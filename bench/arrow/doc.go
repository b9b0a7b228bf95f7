// Package arrow measures how well the batches of this receiver, and of
// contrib's, go through the encoder of the OpenTelemetry Arrow protocol, and
// proves that they come out of it as they went in. It has no code but tests.
//
// A columnar encoder pays for each batch (schemas, dictionaries, framing) and
// for each attribute that is repeated on every record; both are in the hands of
// whoever makes the batches.
package arrow
