package filelogreceiver

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/helper"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/featuregate"
	"go.yaml.in/yaml/v3"
)

// configCase is one item of testdata/config.
type configCase struct {
	Name   string         `yaml:"name"`
	Config map[string]any `yaml:"config"`
	Errors []string       `yaml:"errors"`
}

func configCases(t *testing.T, file string) []configCase {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "config", file))
	require.NoError(t, err)
	var cases []configCase
	require.NoError(t, yaml.Unmarshal(content, &cases))
	require.NotEmpty(t, cases)
	return cases
}

// load does with a configuration what the Collector does before it starts.
// A configuration without include gets one, so that cases stay short.
func load(raw map[string]any) (*Config, error) {
	if _, set := raw["include"]; !set {
		raw["include"] = []any{"a.log"}
	}
	cfg := createDefaultConfig().(*Config)
	if err := confmap.NewFromStringMap(raw).Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestDefaultsAreThoseOfTheReference(t *testing.T) {
	require.NoError(t, componenttest.CheckConfigStruct(createDefaultConfig()))
	cfg := createDefaultConfig().(*Config)
	require.ErrorContains(t, cfg.Validate(), "'include' must be specified", "a file has to be named, all else has a default")
	cfg.Include = []string{"*.log"}
	require.NoError(t, cfg.Validate())
	assert.Equal(t, 200*time.Millisecond, cfg.PollInterval)
	assert.Equal(t, "end", cfg.StartAt)
	assert.Equal(t, 1024, cfg.MaxConcurrentFiles)
	assert.EqualValues(t, 1000, cfg.FingerprintSize)
	assert.EqualValues(t, 16384, cfg.InitialBufferSize)
	assert.EqualValues(t, 1048576, cfg.MaxLogSize)
	assert.Equal(t, "split", cfg.MaxLogSizeBehavior)
	assert.Equal(t, "utf-8", cfg.Encoding)
	assert.Equal(t, 500*time.Millisecond, cfg.ForceFlushPeriod)
	assert.True(t, cfg.IncludeFileName)
	assert.Empty(t, cfg.OnTruncate, "the content decides")
	assert.Equal(t, RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: 30 * time.Second}, cfg.RetryOnFailure, "without an end")
	assert.NotSame(t, createDefaultConfig(), createDefaultConfig())
}

func TestWrongConfigurationsAreRefusedWithTheReason(t *testing.T) {
	for _, c := range configCases(t, "refused.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			require.NotEmpty(t, c.Errors)
			_, err := load(c.Config)
			for _, text := range c.Errors {
				require.ErrorContains(t, err, text)
			}
			lines := map[string]bool{}
			for line := range strings.SplitSeq(err.Error(), "\n") {
				assert.False(t, lines[line], "said twice: %s", line)
				lines[line] = true
			}
		})
	}
}

func TestRightConfigurationsMeanWhatTheySay(t *testing.T) {
	three, zero := 3, 0
	storage := component.MustNewIDWithName("file_storage", "x")
	want := map[string]func(*Config){
		"only include":         func(*Config) {},
		"include as text":      func(c *Config) { c.Include = []string{"a.log", "b.log"} },
		"include as a list":    func(c *Config) { c.Include = []string{"a.log", "b.log"}; c.Exclude = []string{"c.log"} },
		"durations as numbers": func(c *Config) { c.PollInterval = time.Second },
		"durations with units": func(c *Config) {
			c.PollInterval, c.ForceFlushPeriod, c.ExcludeOlderThan = time.Millisecond, 90*time.Minute, -time.Second
		},
		"byte sizes as numbers":              func(c *Config) { c.MaxLogSize, c.FingerprintSize = 3, 1000 },
		"byte sizes with units":              func(c *Config) { c.MaxLogSize, c.InitialBufferSize, c.MaxBatchBytes = 2<<20, 1100, 1024 },
		"byte size smaller than a byte":      func(c *Config) { c.ForceFlushPeriod, c.FingerprintSize = 0, 20 },
		"booleans in any case":               func(c *Config) { c.IncludeFilePath, c.IncludeFileName, c.IncludeFileRecordNumber = true, false, true },
		"float for an integer":               func(c *Config) { c.MaxBatches = 1 },
		"as many files as there are numbers": func(c *Config) { c.MaxConcurrentFiles = math.MaxInt64 },
		"keys without a value":               func(c *Config) { c.Encoding = "" },
		"ordering": func(c *Config) {
			c.OrderingCriteria = OrderingCriteria{
				Regex: `(?P<day>\d{8})-(?P<part>\d+)\.log$`, GroupBy: `/(\w+)/[^/]*$`, TopN: &three,
				SortBy: []SortRule{
					{SortType: "numeric", RegexKey: "part"},
					{SortType: "timestamp", RegexKey: "day", Layout: "%Y%m%d", Location: "Europe/Berlin", Ascending: true},
				},
			}
		},
		"sort by modification time": func(c *Config) {
			c.OrderingCriteria = OrderingCriteria{TopN: &zero, SortBy: []SortRule{{SortType: "mtime"}}}
		},
		"multiline":           func(c *Config) { c.Multiline = MultilineConfig{LineStartPattern: `^\d{4}-`, OmitPattern: true} },
		"header":              func(c *Config) { c.StartAt = "beginning" },
		"deletion":            func(c *Config) { c.StartAt, c.DeleteAfterRead = "beginning", true },
		"storage and archive": func(c *Config) { c.StorageID, c.PollsToArchive = &storage, 10 },
		"archive below zero":  func(c *Config) { c.PollsToArchive = -1 },
		"retry": func(c *Config) {
			c.RetryOnFailure = RetryConfig{MaxInterval: 5 * time.Second, MaxElapsedTime: time.Minute}
		},
		"attributes and resource": func(c *Config) {
			c.Attributes = map[string]helper.ExprStringConfig{"a": "b", "c": "EXPR(body)"}
			c.Resource = map[string]helper.ExprStringConfig{"d": "e"}
		},
		"operators of the same type": func(*Config) {},
		"unknown key in an operator": func(*Config) {},
		"input of another name":      func(c *Config) { c.ID, c.Output = "my_input", []string{"b"} },
		"what is new": func(c *Config) {
			c.FingerprintStorage, c.FileAttributesOn, c.MaxBatchSize, c.MaxBatchBytes, c.Workers = "hash", "resource", 1, 1, 3
		},
		"the rest": func(c *Config) {
			c.StartAt, c.MaxLogSizeBehavior, c.Encoding, c.Compression, c.OnTruncate = "beginning", "truncate", "UTF-16LE", "auto", "read_new"
			c.PreserveLeadingWhitespaces, c.PreserveTrailingWhitespaces = true, true
			c.AcquireFSLock, c.FileCacheAdvise, c.SkipUnmodifiedFiles = true, true, true
			c.IncludeFileNameResolved, c.IncludeFilePathResolved, c.IncludeFileRecordOffset = true, true, true
			c.MaxBatches = 2
		},
	}
	cases := configCases(t, "accepted.yaml")
	assert.Len(t, cases, len(want), "each case has its meaning")
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			change, ok := want[c.Name]
			require.True(t, ok, "no meaning for this case")
			got, err := load(c.Config)
			require.NoError(t, err)
			expected := createDefaultConfig().(*Config)
			expected.Include = []string{"a.log"}
			change(expected)
			// Operators are pointers to types of their own; the tests below look at them.
			expected.Operators, expected.Header = got.Operators, got.Header
			assert.Equal(t, expected, got)
		})
	}
}

func TestOperatorsOfTheSameTypeGetDifferentIDs(t *testing.T) {
	cfg, err := load(map[string]any{"operators": []any{map[string]any{"type": "noop"}, map[string]any{"type": "noop"}}})
	require.NoError(t, err)
	require.Len(t, cfg.Operators, 2)
	assert.Equal(t, "noop", cfg.Operators[0].ID())
	assert.Equal(t, "noop1", cfg.Operators[1].ID())
	require.NoError(t, cfg.Validate(), "validating again changes nothing")
}

func TestHeaderIsDecoded(t *testing.T) {
	cfg, err := load(map[string]any{"start_at": "beginning", "header": map[string]any{
		"pattern":            "^#",
		"metadata_operators": []any{map[string]any{"type": "noop"}},
	}})
	require.NoError(t, err)
	require.NotNil(t, cfg.Header)
	assert.Equal(t, "^#", cfg.Header.Pattern)
	require.Len(t, cfg.Header.MetadataOperators, 1)
	assert.Equal(t, "noop", cfg.Header.MetadataOperators[0].Type())
}

func TestFeatureGatesDecideWhatIsPermitted(t *testing.T) {
	for name, c := range map[string]struct {
		gate   string
		set    bool
		config map[string]any
		err    string
	}{
		"deletion": {gateAllowFileDeletion, false,
			map[string]any{"start_at": "beginning", "delete_after_read": true},
			"'delete_after_read' requires feature gate 'filelog.allowFileDeletion'"},
		"header": {gateAllowHeaderMetadataParsing, false,
			map[string]any{"start_at": "beginning", "header": map[string]any{"pattern": "^#", "metadata_operators": []any{map[string]any{"type": "noop"}}}},
			"'header' requires feature gate 'filelog.allowHeaderMetadataParsing'"},
		"sorting by modification time": {gateMtimeSortType, false,
			map[string]any{"ordering_criteria": map[string]any{"top_n": 1, "sort_by": []any{map[string]any{"sort_type": "mtime"}}}},
			`the "filelog.mtimeSortType" feature gate must be enabled to use "mtime" sort type`},
		"an unset top_n": {gateRequireExplicitTopN, true,
			map[string]any{"ordering_criteria": map[string]any{"sort_by": []any{map[string]any{"sort_type": "mtime"}}}},
			"'top_n' must be set explicitly when 'ordering_criteria.sort_by' is configured (use 0 to match all files)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(c.config)
			require.NoError(t, err, "with the gate as it stands by default")
			setGate(t, c.gate, c.set)
			_, err = load(c.config)
			require.ErrorContains(t, err, c.err)
		})
	}
}

func TestKeysThatWindowsDoesNotHaveAreRefusedThere(t *testing.T) {
	for name, c := range map[string]struct {
		set func(*Config)
		err string
	}{
		"owner":       {func(c *Config) { c.IncludeFileOwnerName = true }, "'include_file_owner_name' or 'include_file_owner_group_name' it's not supported on Windows"},
		"group":       {func(c *Config) { c.IncludeFileOwnerGroupName = true }, "'include_file_owner_name' or 'include_file_owner_group_name' it's not supported on Windows"},
		"permissions": {func(c *Config) { c.IncludeFilePermissions = true }, "'include_file_permissions' is not supported on Windows"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := createDefaultConfig().(*Config)
			c.set(cfg)
			require.EqualError(t, cfg.validatePlatform("windows"), c.err)
			require.NoError(t, cfg.validatePlatform("linux"))
		})
	}
}

// Each example is a whole Collector configuration; its receivers have to be valid.
func TestExamplesAreValid(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(examplesDirectory, "*.yaml"))
	require.NoError(t, err)
	files = append(files, "testdata/run/config.yaml")
	require.Greater(t, len(files), 6)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			conf, err := confmaptest.LoadConf(file)
			require.NoError(t, err)
			receivers, err := conf.Sub("receivers")
			require.NoError(t, err)
			found := 0
			for id, raw := range receivers.ToStringMap() {
				if typ, _, _ := strings.Cut(id, "/"); typ == "file_log" || typ == "filelog" {
					_, err := load(raw.(map[string]any))
					assert.NoError(t, err, id)
					found++
				}
			}
			assert.Positive(t, found, "an example of this receiver")
		})
	}
}

func setGate(t *testing.T, id string, enabled bool) {
	t.Helper()
	before := gateEnabled(id)
	require.NoError(t, featuregate.GlobalRegistry().Set(id, enabled))
	t.Cleanup(func() { require.NoError(t, featuregate.GlobalRegistry().Set(id, before)) })
}
