package filelogreceiver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/otelfilelog/filelogreceiver/internal/framing"
)

// validateMatching tells what is wrong with the keys that say which files to read.
func (c *Config) validateMatching() error {
	var errs []error
	for _, err := range parts(c.matching().Validate()) {
		errs = append(errs, c.nameOrdering(err))
	}
	return errors.Join(errs...)
}

// parts are the errors that were joined to err.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, part := range joined.Unwrap() {
			all = append(all, parts(part)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// nameOrdering adds the key and its value to those errors about the order of files
// that are in contrib's words, and so do not tell them.
func (c *Config) nameOrdering(err error) error {
	ordering := c.OrderingCriteria
	switch text := err.Error(); {
	case strings.HasPrefix(text, "compile regex: "):
		return fmt.Errorf("'ordering_criteria.regex' is '%s': %w", ordering.Regex, err)
	case strings.HasPrefix(text, "compile group_by regex: "):
		return fmt.Errorf("'ordering_criteria.group_by' is '%s': %w", ordering.GroupBy, err)
	case text == "'top_n' must not be negative":
		return fmt.Errorf("%w, is %d (ordering_criteria)", err, *ordering.TopN)
	case strings.HasPrefix(text, "'sort_type' must be specified"):
		for i, rule := range ordering.SortBy {
			if strings.HasSuffix(text, fmt.Sprintf("[%d])", i)) {
				return fmt.Errorf("%w, one of: numeric, alphabetical, timestamp, mtime, is '%s'", err, rule.SortType)
			}
		}
	}
	return err
}

// framing is the part of the configuration that says how bytes become records.
func (c *Config) framing() framing.Config {
	return framing.Config{
		Encoding:         c.Encoding,
		LineStartPattern: c.Multiline.LineStartPattern,
		LineEndPattern:   c.Multiline.LineEndPattern,
		OmitPattern:      c.Multiline.OmitPattern,
		PreserveLeading:  c.PreserveLeadingWhitespaces,
		PreserveTrailing: c.PreserveTrailingWhitespaces,
		MaxLogSize:       int(c.MaxLogSize),
		TruncateOversize: c.MaxLogSizeBehavior == maxLogSizeTruncate,
	}
}

// validateFraming looks at each key alone, since framing tells only the first fault,
// and without the key.
func (c *Config) validateFraming() error {
	var errs []error
	if err := (framing.Config{MaxLogSize: int(c.MaxLogSize)}).Validate(); err != nil {
		errs = append(errs, fmt.Errorf("%w, is %d", err, c.MaxLogSize))
	}
	encoding := c.Encoding
	if err := (framing.Config{MaxLogSize: 1, Encoding: encoding}).Validate(); err != nil {
		errs = append(errs, fmt.Errorf("'encoding': %w", err))
		encoding = "" // the patterns do not depend on it
	}
	if pattern := c.Multiline.LineStartPattern; pattern != "" {
		if err := (framing.Config{MaxLogSize: 1, Encoding: encoding, LineStartPattern: pattern}).Validate(); err != nil {
			errs = append(errs, fmt.Errorf("'multiline.line_start_pattern' is '%s': %w", pattern, err))
		}
	}
	if pattern := c.Multiline.LineEndPattern; pattern != "" {
		if err := (framing.Config{MaxLogSize: 1, Encoding: encoding, LineEndPattern: pattern}).Validate(); err != nil {
			errs = append(errs, fmt.Errorf("'multiline.line_end_pattern' is '%s': %w", pattern, err))
		}
	}
	if c.Multiline.LineStartPattern != "" && c.Multiline.LineEndPattern != "" {
		errs = append(errs, errors.New("'multiline': only one of line_start_pattern or line_end_pattern can be set"))
	}
	return errors.Join(errs...)
}
