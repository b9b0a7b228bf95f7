package match

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// mtimeSortGate is named in the error that its absence causes.
const mtimeSortGate = "filelog.mtimeSortType"

// Config says which paths to read.
type Config struct {
	// Include lists the globs of the files to read, at least one. Relative globs
	// are relative to the working directory and give relative paths.
	Include []string
	// Exclude lists globs of files not to read. They are compared with the whole
	// path as an include glob produced it: a relative glob excludes no absolute
	// path.
	Exclude []string
	// ExcludeOlderThan hides files that were modified longer ago than this.
	// Zero hides none; a negative duration hides every file.
	ExcludeOlderThan time.Duration
	// Ordering sorts the files and limits their number.
	Ordering OrderingCriteria

	// CaseInsensitive compares names without regard to case. It is meant for
	// Windows, under the gate filelog.windows.caseInsensitive.
	CaseInsensitive bool
	// RequireExplicitTopN makes an unset top_n beside sort_by an error; the gate
	// filelog.requireExplicitTopN.
	RequireExplicitTopN bool
	// AllowMtimeSort permits the sort type mtime; the gate filelog.mtimeSortType.
	AllowMtimeSort bool
}

// OrderingCriteria is the configuration key ordering_criteria.
type OrderingCriteria struct {
	// Regex is applied to the whole path; its named groups are what the regex_key
	// of the sort rules refers to. Paths that do not match are not read.
	Regex string `mapstructure:"regex,omitempty"`
	// TopN keeps so many files (of each group); 0 keeps all. Unset means 1 when
	// there are sort rules. Without sort rules it has no effect.
	TopN *int `mapstructure:"top_n,omitempty"`
	// SortBy lists the rules in rising significance: the last one decides first.
	SortBy []SortRule `mapstructure:"sort_by,omitempty"`
	// GroupBy is a regex whose first capture group is the key of the group a path
	// belongs to. It has an effect only if there are sort rules or an age limit.
	GroupBy string `mapstructure:"group_by,omitempty"`
}

// SortRule is one item of ordering_criteria.sort_by.
type SortRule struct {
	// SortType is one of numeric, alphabetical, timestamp, mtime.
	SortType string `mapstructure:"sort_type,omitempty"`
	// RegexKey names the group of the regex whose text is compared. Unused by mtime.
	RegexKey string `mapstructure:"regex_key,omitempty"`
	// Ascending puts the smallest value first; by default the largest is.
	Ascending bool `mapstructure:"ascending,omitempty"`

	// Layout is the strptime layout of a timestamp.
	Layout string `mapstructure:"layout,omitempty"`
	// Location is the IANA zone of a timestamp that names none itself; by default UTC.
	Location string `mapstructure:"location,omitempty"`
}

// Validate reports everything that is wrong with the configuration, not only the
// first fault.
func (c Config) Validate() error {
	_, orderingErr := newOrdering(c)
	return errors.Join(c.validateGlobs(), orderingErr)
}

func (c Config) validateGlobs() error {
	var errs []error
	if len(c.Include) == 0 {
		errs = append(errs, errors.New("'include' must be specified"))
	}
	for _, glob := range c.Include {
		if err := validateGlob(glob); err != nil {
			errs = append(errs, fmt.Errorf("include: parse glob: %w: %q", err, glob))
		}
	}
	for _, glob := range c.Exclude {
		if err := validateGlob(glob); err != nil {
			errs = append(errs, fmt.Errorf("exclude: parse glob: %w: %q", err, glob))
		}
	}
	return errors.Join(errs...)
}

func validateGlob(glob string) error {
	// Matching against any text finds faults that the pure check lets pass, and
	// the other way round.
	if _, err := doublestar.PathMatch(glob, "matchstring"); err != nil {
		return err
	}
	// No file name holds a NUL byte, and it would end the path early in a call to
	// the operating system.
	if !doublestar.ValidatePathPattern(glob) || strings.IndexByte(glob, 0) >= 0 {
		return doublestar.ErrBadPattern
	}
	_, err := compileGlob(glob, false)
	return err
}
