package filelogreceiver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelfilelog/filelogreceiver/internal/metadata"
)

// fixture is what a contrib receiver left behind: its state, its files, and what
// is known of both.
type fixture struct {
	folder string
	Config string `json:"config"`
	Keys   map[string]struct {
		Entries []fixtureEntry `json:"entries"`
	} `json:"keys"`
}

type fixtureEntry struct {
	Offset     int64          `json:"offset"`
	RecordNum  int64          `json:"record_num"`
	Name       string         `json:"file_name"`
	Attributes map[string]any `json:"file_attributes"`
	FileType   string         `json:"file_type"`
}

var fixtureLogs = regexp.MustCompile(`/tmp/fixtures/[^/']+/logs`)

func loadFixture(t *testing.T, folder string) fixture {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	require.NoError(t, err)
	f := fixture{folder: folder}
	require.NoError(t, json.Unmarshal(content, &f))
	return f
}

// entry is what was known of a file: in the latest state, else in the archive.
func (f fixture) entry(name string) (fixtureEntry, bool) {
	var found fixtureEntry
	ok := false
	for key, value := range f.Keys {
		for _, e := range value.Entries {
			if e.Name == name && (!ok || strings.HasSuffix(key, ".knownFiles")) {
				found, ok = e, true
			}
		}
	}
	return found, ok
}

// restore makes a lab as it was when the contrib receiver had stopped.
func (f fixture) restore(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, nil).stored()
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(fixtureLogs.ReplaceAllString(f.Config, l.dir)))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	for k, v := range conf.ToStringMap() {
		l.keys[k] = v
	}
	l.keys["poll_interval"] = "10ms"
	if l.keys["id"] != nil {
		l.id = component.NewIDWithName(metadata.Type, "edge-1")
	}
	for _, logs := range []string{"logs", "logs-removed"} {
		files, err := os.ReadDir(filepath.Join(f.folder, logs))
		if logs == "logs" {
			require.NoError(t, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(filepath.Join(f.folder, logs, file.Name()))
			require.NoError(t, err)
			l.write(file.Name(), string(content))
		}
	}
	if databases, _ := filepath.Glob(filepath.Join(f.folder, "receiver_filelog_*")); len(databases) == 1 {
		content, err := os.ReadFile(databases[0])
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(l.storage, filepath.Base(databases[0])), content, 0o600))
		return l
	}
	values := map[string]string{}
	keys, err := filepath.Glob(filepath.Join(f.folder, "*.bin"))
	require.NoError(t, err)
	for _, file := range keys {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		values[strings.TrimSuffix(filepath.Base(file), ".bin")] = string(content)
	}
	return l.store(values)
}

// O12, O13, O16, O17, O25, O27, U1: each file gets a line behind its end, and
// exactly what stands behind its position has to come, then nothing more.
func TestStateOfContribIsResumedFrom(t *testing.T) {
	folders, err := filepath.Glob("testdata/checkpoints/v*")
	require.NoError(t, err)
	require.Len(t, folders, 23)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			f := loadFixture(t, folder)
			l := f.restore(t)
			multiline := l.keys["multiline"] != nil
			type expected struct {
				body   string
				header map[string]any
				number int64
			}
			want := map[string]expected{}
			files, err := os.ReadDir(l.dir)
			require.NoError(t, err)
			for _, file := range files {
				name := file.Name()
				if strings.HasSuffix(name, ".tmp") {
					l.write(name, "excluded\n")
					continue
				}
				e, _ := f.entry(name)
				content, err := os.ReadFile(l.path(name))
				require.NoError(t, err)
				line := "appended to " + name
				expect := expected{number: e.RecordNum + 1, header: map[string]any{}}
				for k, v := range e.Attributes {
					if !strings.HasPrefix(k, "log.file.") {
						expect.header[k] = v
					}
				}
				switch {
				case e.FileType == ".gz":
					l.write(name, gzipped(t, line+"\n"))
					expect.body = line
				case multiline:
					// The pending entry ends where the next one begins.
					l.write(name, "\n[999] "+line+"\n")
					expect.body = strings.TrimSpace(string(content[e.Offset:]))
				default:
					l.write(name, line+"\n")
					expect.body = string(content[e.Offset:]) + line
				}
				if expect.body != "" {
					want[name] = expect
				}
			}
			l.start().await(len(want))
			l.still()
			require.Len(t, l.sink.all(), len(want), "%q", l.sink.bodies())
			for name, expect := range want {
				bodies := l.fromFile(name)
				require.Equal(t, []string{expect.body}, bodies, name)
				r := l.find(expect.body)
				for k, v := range expect.header {
					require.Equal(t, v, r.attributes[k], name)
				}
				if l.keys["include_file_record_number"] == true {
					require.Equal(t, expect.number, r.attributes["log.file.record_number"], name)
				}
				if l.keys["include_file_path"] == true {
					require.Equal(t, l.path(name), r.attributes["log.file.path"])
				}
			}
			require.Empty(t, l.complaints())
			l.stop()
			prefix := "file_input."
			if id, ok := l.keys["id"].(string); ok {
				prefix = id + "."
			}
			require.True(t, strings.HasPrefix(l.storedValue(prefix+"knownFiles"), "\n"), "the next save is protobuf")
			l.forget().start().still()
			require.Empty(t, l.sink.bodies())
		})
	}
}
