package match

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An ordering sorts files, per group, and keeps the first of them.
type ordering struct {
	regex   *regexp.Regexp // nil if no rule needs it
	groupBy *regexp.Regexp // nil if there is one group
	rules   []rule         // in rising significance
	topN    int            // files to keep per group, 0 for all
	byMtime bool           // some rule looks at modification times
}

// A rule is a compiled SortRule.
type rule struct {
	parse      func(text string) (key, error) // nil: the modification time is the key
	group      int                            // of the regex; -1 if it has no such group
	descending bool
}

// A key is what a rule compares. Texts are compared by bytes, numbers and times by
// number and then fraction.
type key struct {
	text     string
	number   int64
	fraction int
}

// A rank is what the path of a file says about its place. It never changes.
type rank struct {
	group string
	keys  []key // per rule
	// unranked: the path does not match the expressions or its captures cannot be
	// read. Such a file is not read.
	unranked bool
}

// newOrdering compiles what the configuration says about the order, and reports
// everything that is wrong with it.
func newOrdering(c Config) (*ordering, error) {
	var errs []error
	o := &ordering{}
	compile := func(what, expression string) *regexp.Regexp {
		if expression == "" {
			return nil
		}
		compiled, err := regexp.Compile(expression)
		if err != nil {
			errs = append(errs, fmt.Errorf("compile %s: %w", what, err))
		}
		return compiled
	}
	criteria := c.Ordering
	o.groupBy = compile("group_by regex", criteria.GroupBy)
	o.regex = compile("regex", criteria.Regex)
	if criteria.TopN != nil && *criteria.TopN < 0 {
		errs = append(errs, errors.New("'top_n' must not be negative"))
	}
	if o.groupBy != nil && o.groupBy.NumSubexp() == 0 && (len(criteria.SortBy) > 0 || c.ExcludeOlderThan != 0) {
		errs = append(errs, fmt.Errorf("'group_by' must have a capture group, else no file belongs to a group: %q", criteria.GroupBy))
	}
	if len(criteria.SortBy) == 0 {
		return o, errors.Join(errs...)
	}

	switch {
	case criteria.TopN != nil:
		o.topN = *criteria.TopN
	case c.RequireExplicitTopN:
		errs = append(errs, errors.New("'top_n' must be set explicitly when 'ordering_criteria.sort_by' is configured (use 0 to match all files)"))
	default:
		o.topN = 1
	}
	needsRegex := false
	for i, configured := range criteria.SortBy {
		r, err := newRule(configured, c.AllowMtimeSort)
		if err == nil && r.parse != nil {
			needsRegex = true
			err = r.bind(configured, o.regex)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%w (ordering_criteria.sort_by[%d])", err, i))
			continue
		}
		o.byMtime = o.byMtime || r.parse == nil
		o.rules = append(o.rules, r)
	}
	if needsRegex && criteria.Regex == "" {
		errs = append(errs, errors.New("'regex' must be specified when 'sort_by' is specified"))
	}
	if !needsRegex {
		o.regex = nil
	}
	return o, errors.Join(errs...)
}

func newRule(c SortRule, allowMtime bool) (rule, error) {
	r := rule{descending: !c.Ascending}
	switch c.SortType {
	case "numeric":
		r.parse = parseNumber
	case "alphabetical":
		r.parse = func(text string) (key, error) { return key{text: text}, nil }
	case "timestamp":
		parser, err := newTimestampParser(c.Layout, c.Location)
		if c.RegexKey == "" {
			err = errors.Join(errors.New("regex key must be specified"), err)
		}
		if err != nil {
			return r, fmt.Errorf("timestamp sort: %w", err)
		}
		r.parse = parser.key
	case "mtime":
		if !allowMtime {
			return r, fmt.Errorf("the %q feature gate must be enabled to use \"mtime\" sort type", mtimeSortGate)
		}
		return r, nil
	default:
		return r, errors.New("'sort_type' must be specified")
	}
	if c.RegexKey == "" {
		return r, fmt.Errorf("%s sort: regex key must be specified", c.SortType)
	}
	return r, nil
}

// bind finds the group of the regex whose text the rule compares. A missing group
// is an empty text, which only an alphabetical rule can live with: the others
// would never let a file through.
func (r *rule) bind(c SortRule, regex *regexp.Regexp) error {
	if regex == nil {
		return nil // reported elsewhere
	}
	r.group = -1
	for i, name := range regex.SubexpNames() {
		if name == c.RegexKey {
			r.group = i // the last group of that name counts
		}
	}
	if r.group < 0 && c.SortType != "alphabetical" {
		return fmt.Errorf("%s sort: 'regex' has no group named %q", c.SortType, c.RegexKey)
	}
	return nil
}

func parseNumber(text string) (key, error) {
	number, err := strconv.Atoi(text)
	return key{number: int64(number)}, err
}

func (p *timestampParser) key(text string) (key, error) {
	t, err := p.parse(text)
	return key{number: t.Unix(), fraction: t.Nanosecond()}, err
}

func (k key) compare(other key) int {
	return cmp.Or(strings.Compare(k.text, other.text), cmp.Compare(k.number, other.number), cmp.Compare(k.fraction, other.fraction))
}

// rank derives the place of a file from its path.
func (o *ordering) rank(path string) *rank {
	r := &rank{}
	if o.groupBy != nil {
		captures := o.groupBy.FindStringSubmatch(path)
		if len(captures) < 2 {
			r.unranked = true
			return r
		}
		r.group = captures[1]
	}
	var captures []string
	if o.regex != nil {
		if captures = o.regex.FindStringSubmatch(path); captures == nil {
			r.unranked = true
			return r
		}
	}
	r.keys = make([]key, len(o.rules))
	for i, rule := range o.rules {
		if rule.parse == nil {
			continue
		}
		text := ""
		if rule.group >= 0 {
			text = captures[rule.group]
		}
		var err error
		if r.keys[i], err = rule.parse(text); err != nil {
			r.unranked = true
			return r
		}
	}
	return r
}

// arrange sorts files that are ranked, and sorted by path, and drops those beyond
// top_n of their group. It works in place. Groups follow each other in the order
// of their keys.
func (o *ordering) arrange(files []*file) []*file {
	slices.SortStableFunc(files, o.compare)
	if o.topN == 0 {
		return files
	}
	kept := files[:0]
	group, inGroup := "", 0
	for _, f := range files {
		if f.rank.group != group {
			group, inGroup = f.rank.group, 0
		}
		if inGroup++; inGroup <= o.topN {
			kept = append(kept, f)
		}
	}
	return kept
}

func (o *ordering) compare(a, b *file) int {
	if order := strings.Compare(a.rank.group, b.rank.group); order != 0 {
		return order
	}
	for i := len(o.rules) - 1; i >= 0; i-- {
		var order int
		if o.rules[i].parse == nil {
			order = cmp.Compare(a.modified, b.modified)
		} else {
			order = a.rank.keys[i].compare(b.rank.keys[i])
		}
		if o.rules[i].descending {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return 0
}
