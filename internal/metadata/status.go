// Package metadata says what the receiver is called, how stable it is and what
// it tells about itself, in the shape that mdatagen gives to such a package. It
// is written by hand after metadata.yaml; its tests hold the two equal.
package metadata

import "go.opentelemetry.io/collector/component"

var (
	// Type is the component type in a Collector configuration.
	Type = component.MustNewType("file_log")
	// DeprecatedType is the older name under which the receiver works as well.
	DeprecatedType = component.MustNewType("filelog")
	// ScopeName is the instrumentation scope of records and of the receiver's own telemetry.
	ScopeName = "github.com/otelfilelog/filelogreceiver"
)

// LogsStability is how stable the logs signal is.
const LogsStability = component.StabilityLevelBeta
