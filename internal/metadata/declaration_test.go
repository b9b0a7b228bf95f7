package metadata

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// declaration is what metadata.yaml says, as far as this package mirrors it.
// A key that is not listed here is an error, so that nothing is declared that
// has no counterpart.
type declaration struct {
	DisplayName    string `yaml:"display_name"`
	Type           string `yaml:"type"`
	DeprecatedType string `yaml:"deprecated_type"`
	ScopeName      string `yaml:"scope_name"`
	Description    string `yaml:"description"`
	Status         struct {
		Class     string              `yaml:"class"`
		Stability map[string][]string `yaml:"stability"`
	} `yaml:"status"`
	Attributes map[string]struct {
		Description string   `yaml:"description"`
		Type        string   `yaml:"type"`
		Enum        []string `yaml:"enum"`
	} `yaml:"attributes"`
	Telemetry struct {
		Metrics map[string]declaredMetric `yaml:"metrics"`
	} `yaml:"telemetry"`
	Tests map[string]any `yaml:"tests"`
}

type declaredMetric struct {
	Description string   `yaml:"description"`
	Unit        string   `yaml:"unit"`
	Enabled     bool     `yaml:"enabled"`
	Stability   string   `yaml:"stability"`
	Attributes  []string `yaml:"attributes"`
	Sum         *struct {
		ValueType string `yaml:"value_type"`
		Monotonic bool   `yaml:"monotonic"`
	} `yaml:"sum"`
	Gauge *struct {
		ValueType string `yaml:"value_type"`
		Async     bool   `yaml:"async"`
	} `yaml:"gauge"`
	Histogram *struct {
		ValueType        string    `yaml:"value_type"`
		BucketBoundaries []float64 `yaml:"bucket_boundaries"`
	} `yaml:"histogram"`
}

// metricKind is the part of a metric that decides how a backend treats it.
type metricKind struct {
	kind, value string
	monotonic   bool
}

func parseDeclaration(content []byte) (*declaration, error) {
	d := &declaration{}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(d); err != nil {
		return nil, err
	}
	var errs error
	for name, m := range d.Telemetry.Metrics {
		kinds := 0
		for _, set := range []bool{m.Sum != nil, m.Gauge != nil, m.Histogram != nil} {
			if set {
				kinds++
			}
		}
		if kinds != 1 {
			errs = errors.Join(errs, fmt.Errorf("metric %s: must be exactly one of sum, gauge, histogram", name))
			continue
		}
		if m.Unit == "" {
			errs = errors.Join(errs, fmt.Errorf("metric %s: 'unit' is missing", name))
		}
		if value := m.kind().value; value != "int" && value != "double" {
			errs = errors.Join(errs, fmt.Errorf("metric %s: value type %q is neither int nor double", name, value))
		}
	}
	return d, errs
}

func (m declaredMetric) kind() metricKind {
	switch {
	case m.Sum != nil:
		return metricKind{kind: "Sum", value: m.Sum.ValueType, monotonic: m.Sum.Monotonic}
	case m.Gauge != nil:
		return metricKind{kind: "Gauge", value: m.Gauge.ValueType}
	default:
		return metricKind{kind: "Histogram", value: m.Histogram.ValueType}
	}
}

// fullDescription is the description with the stability behind it, as mdatagen words it.
func (m declaredMetric) fullDescription() string {
	return fmt.Sprintf("%s [%s]", m.Description, capitalised(m.Stability))
}

func capitalised(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// documentation is the content of documentation.md, in the layout that mdatagen gives it.
func (d *declaration) documentation() string {
	var b strings.Builder
	b.WriteString("[comment]: <> (Made from metadata.yaml by 'make generate'. DO NOT EDIT.)\n\n")
	fmt.Fprintf(&b, "# %s\n\n## Internal Telemetry\n\nThe following telemetry is emitted by this component.\n", d.Type)
	for _, name := range slices.Sorted(maps.Keys(d.Telemetry.Metrics)) {
		m := d.Telemetry.Metrics[name]
		kind := m.kind()
		fmt.Fprintf(&b, "\n### otelcol_%s\n\n%s\n\n", name, m.Description)
		if kind.kind == "Sum" {
			b.WriteString("| Unit | Metric Type | Value Type | Monotonic | Stability |\n| ---- | ----------- | ---------- | --------- | --------- |\n")
			fmt.Fprintf(&b, "| %s | Sum | %s | %t | %s |\n", m.Unit, capitalised(kind.value), kind.monotonic, capitalised(m.Stability))
		} else {
			b.WriteString("| Unit | Metric Type | Value Type | Stability |\n| ---- | ----------- | ---------- | --------- |\n")
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", m.Unit, kind.kind, capitalised(kind.value), capitalised(m.Stability))
		}
		if len(m.Attributes) == 0 {
			continue
		}
		b.WriteString("\n#### Attributes\n\n| Name | Description | Values |\n| ---- | ----------- | ------ |\n")
		for _, attribute := range m.Attributes {
			values := "Any Str"
			if enum := d.Attributes[attribute].Enum; len(enum) > 0 {
				values = "Str: ``" + strings.Join(enum, "``, ``") + "``"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", attribute, d.Attributes[attribute].Description, values)
		}
	}
	return b.String()
}
