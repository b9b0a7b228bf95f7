package difftest

import (
	"testing"

	"go.opentelemetry.io/collector/featuregate"
	"go.uber.org/goleak"

	_ "github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver" // registers the gate
)

func TestMain(m *testing.M) {
	// Contrib's emitter would hand over each record up to 100 ms late. What is in a
	// record does not depend on it.
	if err := featuregate.GlobalRegistry().Set("stanza.synchronousLogEmitter", true); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
