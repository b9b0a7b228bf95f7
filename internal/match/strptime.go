package match

import (
	"errors"
	"fmt"
	"time"

	stanzaentry "github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
)

// A timestampParser reads times as the operators do, so that one layout means the
// same everywhere in a configuration. That parser reads from log entries; one
// entry is reused for all.
type timestampParser struct {
	parser helper.TimeParser
	entry  stanzaentry.Entry
}

func newTimestampParser(layout, location string) (*timestampParser, error) {
	if layout == "" {
		return nil, errors.New("layout must be specified")
	}
	if location == "" {
		location = "UTC"
	}
	body := stanzaentry.NewBodyField()
	p := &timestampParser{parser: helper.NewTimeParser()}
	p.parser.ParseFrom = &body
	p.parser.Layout = layout
	p.parser.Location = "UTC"
	if err := p.parser.Validate(); err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // what it was wrapped in speaks of keys that do not exist here
		}
		return nil, err
	}
	if _, err := time.LoadLocation(location); err != nil {
		// People look for this text as it has always been, with its wrong beginning.
		return nil, fmt.Errorf("load location UTC: failed to load location %s: %w", location, err)
	}
	p.parser.Location = location
	if err := p.parser.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *timestampParser) parse(text string) (time.Time, error) {
	p.entry.Body = text
	if err := p.parser.Parse(&p.entry); err != nil {
		return time.Time{}, err
	}
	return p.entry.Timestamp, nil
}
