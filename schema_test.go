package filelogreceiver

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const schemaFile = "config.schema.yaml"

// words lists the values of keys that take one of a few words.
var words = map[string][]string{
	"start_at":                              {startAtBeginning, startAtEnd},
	"max_log_size_behavior":                 {maxLogSizeSplit, maxLogSizeTruncate},
	"compression":                           {"", compressionGzip, compressionAuto},
	"on_truncate":                           {"", onTruncateIgnore, onTruncateReadWhole, onTruncateReadNew},
	"fingerprint_storage":                   {fingerprintStorageContent, fingerprintStorageHash},
	"file_attributes_on":                    {fileAttributesOnRecord, fileAttributesOnResource},
	"ordering_criteria.sort_by[].sort_type": {"numeric", "alphabetical", "timestamp", "mtime"},
}

// schema is the part of JSON Schema that describes the configuration, in the
// order in which its keywords are written.
type schema struct {
	Dialect     string             `yaml:"$schema,omitempty"`
	Title       string             `yaml:"title,omitempty"`
	Description string             `yaml:"description,omitempty"`
	Type        any                `yaml:"type,omitempty"`
	Enum        []any              `yaml:"enum,omitempty"`
	Pattern     string             `yaml:"pattern,omitempty"`
	Default     any                `yaml:"default,omitempty"`
	Required    []string           `yaml:"required,omitempty"`
	Properties  map[string]*schema `yaml:"properties,omitempty"`
	Additional  any                `yaml:"additionalProperties,omitempty"`
	Items       *schema            `yaml:"items,omitempty"`
}

// takesNull tells whether a key may be null, which is what `key:` without a value
// is in YAML. That makes it zero, which some keys do not take.
func takesNull(k key) bool {
	if strings.Contains(k.path, ".") {
		return words[k.path] == nil
	}
	_, err := load(map[string]any{k.path: nil})
	return err == nil
}

// typed are the types of a value of k.
func typed(k key, typ ...string) []string {
	if takesNull(k) {
		typ = append(typ, "null")
	}
	return typ
}

// enumOf are the words that k takes, nil for any.
func enumOf(k key) (enum []any) {
	for _, word := range words[k.path] {
		enum = append(enum, word)
	}
	if enum != nil && takesNull(k) {
		enum = append(enum, nil)
	}
	return enum
}

func objectOf(keys []key) *schema {
	object := &schema{Type: []string{"object", "null"}, Properties: map[string]*schema{}, Additional: false}
	for _, k := range keys {
		object.Properties[k.name] = schemaOf(k)
		if k.fallback == noDefault {
			object.Required = append(object.Required, k.name)
		}
	}
	return object
}

func schemaOf(k key) *schema {
	s := &schema{}
	switch name := typeName(k.typ); name {
	case "duration":
		s.Type, s.Pattern = typed(k, "string", "integer"), `^[-+]?(0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`
	case "bytes":
		s.Type, s.Pattern = typed(k, "string", "number"), `^[0-9]+\.?[0-9]*\s*([kKmMgGtTpP][iI]?[bB])?$`
	case "bool":
		s.Type = typed(k, "boolean")
	case "int":
		s.Type = typed(k, "integer")
	case "string", "component id":
		s.Type, s.Enum = typed(k, "string"), enumOf(k)
	case "list of strings":
		s.Type, s.Items = typed(k, "array", "string"), &schema{Type: "string"}
	case "list of operators":
		s.Type, s.Items = typed(k, "array"), &schema{Type: "object", Required: []string{"type"}, Properties: map[string]*schema{
			"type": {Type: "string"}, "id": {Type: "string"},
		}}
	case "map of strings":
		s.Type, s.Additional = typed(k, "object"), &schema{Type: "string"}
	case "list of maps":
		s.Type, s.Items = typed(k, "array"), objectOf(k.keys)
	case "map":
		s = objectOf(k.keys)
		s.Type = typed(k, "object")
	}
	s.Description = k.doc
	if !k.value.IsZero() && k.keys == nil && k.value.Kind() != reflect.Slice {
		s.Default = k.value.Interface()
		if duration, ok := s.Default.(time.Duration); ok {
			s.Default = duration.String()
		}
	}
	return s
}

func TestSchemaDescribesEveryKey(t *testing.T) {
	root := objectOf(referenceKeys(t))
	root.Dialect = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "File Log receiver"
	root.Description = "Configuration of one receiver of type file_log. Made from config.go by 'make generate'."
	want, err := yaml.Marshal(root)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(schemaFile, want, 0o644))
		return
	}
	got, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run 'make generate'")
}

func TestTheSchemaTakesNullWhereTheReceiverDoes(t *testing.T) {
	content, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	var root schema
	require.NoError(t, yaml.Unmarshal(content, &root))
	taken := 0
	for name, s := range root.Properties {
		null := slices.Contains(s.Type.([]any), any("null")) && (s.Enum == nil || slices.Contains(s.Enum, nil))
		_, err := load(map[string]any{name: nil})
		assert.Equal(t, err == nil, null, "%s: %v", name, err)
		if null {
			taken++
		}
	}
	assert.Greater(t, taken, 20)
	for _, name := range []string{"on_truncate", "compression", "encoding", "header", "storage", "operators"} {
		_, err := load(map[string]any{name: nil})
		assert.NoError(t, err, name)
	}
}

func TestWordsOfTheSchemaAreThoseThatValidateTakes(t *testing.T) {
	fields := map[string]func(*Config, string){
		"start_at":              func(c *Config, v string) { c.StartAt = v },
		"max_log_size_behavior": func(c *Config, v string) { c.MaxLogSizeBehavior = v },
		"compression":           func(c *Config, v string) { c.Compression = v },
		"on_truncate":           func(c *Config, v string) { c.OnTruncate = v },
		"fingerprint_storage":   func(c *Config, v string) { c.FingerprintStorage = v },
		"file_attributes_on":    func(c *Config, v string) { c.FileAttributesOn = v },
		"ordering_criteria.sort_by[].sort_type": func(c *Config, v string) {
			c.OrderingCriteria.Regex = `(?P<k>\d+)`
			c.OrderingCriteria.SortBy = []SortRule{{SortType: v, RegexKey: "k", Layout: "%Y"}}
		},
	}
	for path, values := range words {
		set, ok := fields[path]
		require.True(t, ok, "no rule for %s", path)
		for _, value := range append(values, "anything else") {
			cfg := createDefaultConfig().(*Config)
			cfg.Include = []string{"*.log"}
			set(cfg, value)
			assert.Equal(t, value == "anything else", cfg.Validate() != nil, "%s: %q", path, value)
		}
	}
}
