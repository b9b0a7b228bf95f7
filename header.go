package filelogreceiver

import (
	"errors"

	"go.opentelemetry.io/collector/component"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"

	"github.com/otelfilelog/filelogreceiver/internal/tail"
)

// headerParser reads header lines through operators, which are started and stopped.
type headerParser interface {
	tail.HeaderParser
	Start(operator.Persister) error
	Stop() error
}

func (c *Config) buildHeader(component.TelemetrySettings) (headerParser, error) {
	if c.Header == nil {
		return nil, nil
	}
	return nil, errors.New("'header' is not supported yet")
}
