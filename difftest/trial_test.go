package difftest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// trial is one configuration and what happens to the files that it reads.
type trial struct {
	// keys is the configuration of both receivers, beyond those of baseKeys.
	keys map[string]any
	// stages are what is appended, one after the other: when the records of one
	// have come, the next is written. The first is there before the start.
	stages []stage
}

// stage is what is appended to files, by their names.
type stage map[string][]byte

// baseKeys are the keys that all trials share: everything is read at once.
func baseKeys(dir string) map[string]any {
	return map[string]any{
		"include":            []any{filepath.Join(dir, "*.log")},
		"start_at":           "beginning",
		"poll_interval":      "10ms",
		"force_flush_period": "40ms",
	}
}

// configuration is all of a trial's keys for files in dir. Its own patterns are
// below dir.
func (t trial) configuration(dir string) map[string]any {
	keys := baseKeys(dir)
	for key, value := range t.keys {
		keys[key] = value
	}
	for _, key := range []string{"include", "exclude"} {
		patterns, _ := t.keys[key].([]any)
		var below []any
		for _, pattern := range patterns {
			below = append(below, filepath.Join(dir, pattern.(string)))
		}
		if below != nil {
			keys[key] = below
		}
	}
	return keys
}

func (t trial) write(tb testing.TB, dir string, s stage) {
	for name, data := range s {
		path := filepath.Join(dir, name)
		require.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o750))
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
		require.NoError(tb, err)
		_, err = f.Write(data)
		require.NoError(tb, err)
		require.NoError(tb, f.Close())
	}
}

// content is all that a file holds at the end.
func (t trial) content(name string) []byte {
	var all []byte
	for _, s := range t.stages {
		all = append(all, s[name]...)
	}
	return all
}

// files are the names of all files.
func (t trial) files() []string {
	var names []string
	seen := map[string]bool{}
	for _, s := range t.stages {
		for name := range s {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// text is the value of a key that is a string, number a size, flag a bool;
// what is not set is empty.
func (t trial) text(key string) string { s, _ := t.keys[key].(string); return s }

func (t trial) number(key string) int { n, _ := t.keys[key].(int); return n }

func (t trial) flag(key string) bool { b, _ := t.keys[key].(bool); return b }

// multiline is a key of the multi-line settings.
func (t trial) multiline(key string) any {
	m, _ := t.keys["multiline"].(map[string]any)
	return m[key]
}

func (t trial) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "keys: %v\n", t.keys)
	for i, s := range t.stages {
		for name, data := range s {
			fmt.Fprintf(&out, "stage %d, %s: %s\n", i, name, excerpt(fmt.Sprintf("%q", data)))
		}
	}
	return out.String()
}

// excerpt is a text as long as a message can bear.
func excerpt(s string) string {
	const limit = 3000
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s... (%d bytes)", s[:limit], len(s))
}
