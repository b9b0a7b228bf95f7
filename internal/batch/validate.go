package batch

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"go.opentelemetry.io/collector/component"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
)

// Validate tells everything that is wrong with the operators, each fault with the
// key and the place of the operator: why one cannot be built, or, if all can, why
// they cannot be connected. It builds them and lets them go: there is no other way
// to find out.
func (c *PipelineConfig) Validate(set component.TelemetrySettings) error {
	errs := append(faultyExpressions("attributes", c.Attributes), faultyExpressions("resource", c.Resource)...)
	input, operators := c.operators()
	if _, err := input.Build(set); err != nil && len(errs) == 0 {
		errs = append(errs, err)
	}
	if _, err := c.observe(operators); err != nil {
		return errors.Join(append(errs, err)...)
	}
	built, faults := buildEach("operators", operators[1:], set)
	if errs = append(errs, faults...); len(errs) > 0 {
		return errors.Join(errs...)
	}
	p, err := c.Build(set)
	if err == nil {
		return p.Abandon()
	}
	if faults := c.misconnected(built); len(faults) > 0 {
		return errors.Join(faults...)
	}
	return err
}

// Validate tells everything that is wrong with the header.
func (c *HeaderConfig) Validate(set component.TelemetrySettings) error {
	var errs []error
	if len(c.MetadataOperators) == 0 {
		errs = append(errs, errNoMetadataOperators)
	}
	operators := slices.Clone(c.MetadataOperators)
	for i, config := range operators {
		if config.Builder == nil {
			return fmt.Errorf("invalid config for 'header': operator %d of `metadata_operators` has no configuration", i)
		}
		operators[i].Builder = guardedBuilder{config.Builder}
	}
	built, faults := buildEach("header.metadata_operators", operators, set)
	for _, err := range faults {
		errs = append(errs, fmt.Errorf("failed to build pipelines: %w", err))
	}
	for _, op := range built {
		if op == nil {
			continue
		}
		if err := unfitForHeader(op); err != nil {
			errs = append(errs, err)
		}
	}
	if _, err := regexp.Compile(c.Pattern); err != nil {
		errs = append(errs, fmt.Errorf("failed to compile `pattern`: %w", err))
	}
	if len(errs) > 0 {
		for i, err := range errs {
			errs[i] = fmt.Errorf("invalid config for 'header': %w", err)
		}
		return errors.Join(errs...)
	}
	h, err := c.Build(set)
	if err != nil {
		return err
	}
	return h.Abandon()
}

// buildEach builds each of the operators under key by itself, and lets those go that
// run already. built has nil where one cannot be built.
func buildEach(key string, operators []operator.Config, set component.TelemetrySettings) (built []operator.Operator, faults []error) {
	built = make([]operator.Operator, len(operators))
	for i, config := range operators {
		op, err := config.Build(set)
		if err == nil {
			built[i], err = op, abandon([]operator.Operator{op})
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", placeOf(key, i, config), err))
		}
	}
	return built, faults
}

// placeOf names the operator i under key.
func placeOf(key string, i int, config operator.Config) string {
	return fmt.Sprintf("%s[%d] (%s)", key, i, config.Type())
}

// misconnected tells which operators cannot be connected. Build has given them
// their ids; built are the same ones.
func (c *PipelineConfig) misconnected(built []operator.Operator) (faults []error) {
	input, _ := c.operators()
	takes := map[string]bool{input.ID(): false} // id to whether it can be an output
	for i, config := range c.Operators {
		if _, twice := takes[config.ID()]; twice {
			faults = append(faults, fmt.Errorf("%s: operator with id '%s' already exists in pipeline", placeOf("operators", i, config), config.ID()))
		}
		takes[config.ID()] = built[i].CanProcess()
	}
	unusable := func(place string, outputs []string) {
		for _, id := range outputs {
			if can, there := takes[id]; !there {
				faults = append(faults, fmt.Errorf("%s: operator '%s' does not exist", place, id))
			} else if !can {
				faults = append(faults, fmt.Errorf("%s: operator '%s' can not process entries", place, id))
			}
		}
	}
	unusable("output", c.Output)
	for i, config := range c.Operators {
		outputs := built[i].GetOutputIDs()
		unusable(placeOf("operators", i, config), outputs)
		if !built[i].CanProcess() && !slices.Contains(outputs, config.ID()) {
			faults = append(faults, fmt.Errorf("%s: operator '%s' can not process entries", placeOf("operators", i, config), config.ID()))
		}
	}
	return faults
}

// faultyExpressions tells which of the values under key hold an expression that
// cannot be compiled.
func faultyExpressions(key string, values map[string]helper.ExprStringConfig) (faults []error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, err := values[name].Build(); err != nil {
			faults = append(faults, fmt.Errorf("'%s.%s' is '%s': %w", key, name, values[name], err))
		}
	}
	return faults
}
