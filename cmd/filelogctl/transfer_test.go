package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// imports runs import with text on the standard input.
func imports(text string, arguments ...string) (status int, said string) {
	var out, complaints strings.Builder
	status = run(append([]string{"import"}, arguments...), strings.NewReader(text), &out, &complaints)
	return status, out.String() + complaints.String()
}

func TestEveryFixtureIsTheSameAfterExportAndImport(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join(fixtures, "*-*"))
	require.NoError(t, err)
	require.Greater(t, len(folders), 25)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			path := storeOf(t, filepath.Base(folder))
			status, text, complaints := runs("export", path)
			if strings.HasPrefix(filepath.Base(folder), "damaged-") {
				assert.Equal(t, exitDamaged, status)
				assert.Contains(t, complaints, "damaged")
			} else {
				assert.Equal(t, exitWhole, status)
			}
			fresh := filepath.Join(t.TempDir(), "receiver_filelog_other")
			status, said := imports(text, "-create", fresh)
			require.Equal(t, exitWhole, status, said)
			assert.Equal(t, text, contentsOf(t, fresh))

			status, said = imports(text, path)
			require.Equal(t, exitWhole, status, said)
			assert.Equal(t, text, contentsOf(t, path), "into the store itself it changes the form only")
			status, said, _ = runs("verify", path)
			assert.Equal(t, exitWhole, status, said)
		})
	}
}

func TestAnExportWithHashesHoldsNoLogText(t *testing.T) {
	t.Parallel()
	path, _ := storedFiles(t, false)
	text := contentsOf(t, path, "-hash")
	assert.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte("one\n"))[:4])
	status, said := imports(text, path)
	require.Equal(t, exitWhole, status, said)
	states, damaged := resumed(t, path, "file_input.")
	require.Empty(t, damaged)
	require.Len(t, states, 1)
	assert.True(t, states[0].Fingerprint.IsHashed())
	assert.True(t, states[0].Fingerprint.IsPrefixOf([]byte("one\ntwo\nthree\n")))
}

func TestAnImportLeavesOtherOperatorsAlone(t *testing.T) {
	t.Parallel()
	path := storeOf(t, "v0.165.1-customid")
	before := contentsOf(t, path, "-id", "my_tailer")
	other, _ := storedFiles(t, false)
	status, said := imports(contentsOf(t, other), path)
	require.Equal(t, exitWhole, status, said)
	assert.Equal(t, before, contentsOf(t, path, "-id", "my_tailer"))
	assert.Equal(t, contentsOf(t, other), contentsOf(t, path, "-id", "file_input"))
}

func TestAnImportIsReadFromAFileToo(t *testing.T) {
	t.Parallel()
	path, _ := storedFiles(t, false)
	text := contentsOf(t, path)
	name := filepath.Join(t.TempDir(), "export.json")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	fresh := filepath.Join(t.TempDir(), "fresh")
	status, said := imports("", fresh, name)
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, said, "-create makes it")
	assert.NoFileExists(t, fresh)
	status, said = imports("", fresh, name, "-create")
	require.Equal(t, exitWhole, status, said)
	assert.Equal(t, text, contentsOf(t, fresh))
}

func TestAPathThatIsNoTextSurvivesAnExport(t *testing.T) {
	t.Parallel()
	path, log := storedFiles(t, false)
	var d document
	require.NoError(t, json.Unmarshal([]byte(contentsOf(t, path)), &d))
	d.Operators[0].Files[0].Path, d.Operators[0].Files[0].PathBytes = "", []byte(log+"\xff")
	text, err := json.Marshal(d)
	require.NoError(t, err)
	status, said := imports(string(text), path)
	require.Equal(t, exitWhole, status, said)
	states, _ := resumed(t, path, "file_input.")
	assert.Equal(t, log+"\xff", states[0].Path)
	status, out, _ := runs("list", path)
	assert.Equal(t, exitWhole, status)
	assert.Contains(t, out, `\xff"`)
	assert.Contains(t, contentsOf(t, path), `"path_bytes"`)
}

func TestAWrongImportIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	path, _ := storedFiles(t, false)
	before := contentsOf(t, path)
	file := func(members string) string {
		return `{"filelogctl_export": 1, "operators": [{"id": "file_input", "last_archive_slot": -1, "files": [{` + members + `}]}]}`
	}
	for _, c := range []struct{ name, text, says string }{
		{"nothing", "", "EOF"},
		{"no JSON", "1\n{", "cannot unmarshal"},
		{"something else", "{}", "no export of filelogctl"},
		{"a newer version", `{"filelogctl_export": 2, "x": 1}`, "newer filelogctl"},
		{"a key that is not known", file(`"ofset": 1`), "ofset"},
		{"more behind it", before + before, "more behind"},
		{"an operator twice", `{"filelogctl_export": 1, "operators": [{"id": "a", "last_archive_slot": -1}, {"id": "a", "last_archive_slot": -1}]}`, "twice"},
		{"an operator without an id", `{"filelogctl_export": 1, "operators": [{"last_archive_slot": -1}]}`, "without an"},
		{"an archive slot that is not there", `{"filelogctl_export": 1, "operators": [{"id": "a", "last_archive_slot": 1, "archive": [[]]}]}`, "last_archive_slot"},
		{"a negative offset", file(`"path": "/a", "offset": -1`), `file 1 (/a): "offset" is -1`},
		{"a short digest", file(`"fingerprint_length": 3, "fingerprint_digest": "abcd"`), "32 hexadecimal digits"},
		{"a digest without a length", file(`"fingerprint_digest": "00000000000000000000000000000000"`), "fingerprint_length"},
		{"a sum that is no number", file(`"frontiers": [{"offset": 1, "sum": "xyz"}]`), "hexadecimal"},
		{"frontiers that rise", file(`"frontiers": [{"offset": 1, "sum": "1"}, {"offset": 2, "sum": "1"}]`), "falling"},
		{"a time of long ago", file(`"seen_modified": "0001-01-01T00:00:00Z"`), "too far"},
		{"attributes that are no object", file(`"attributes": [1]`), "attributes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, said := imports(c.text, path)
			assert.Equal(t, exitFailed, status)
			assert.Contains(t, said, c.says)
			assert.Contains(t, said, "nothing was changed")
		})
	}
	assert.Equal(t, before, contentsOf(t, path))
	assert.Empty(t, backupsOf(t, path))
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"filelogctl_export": 1, "operators": [{"id": "file_input", "last_archive_slot": 0, "archive": [[{"offset": 1}]], "files": [{"path": "/a", "fingerprint": "YQ==", "attributes": {"a": 1.0}, "frontiers": [{"offset": 5, "sum": "ff"}]}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, all, err := readDocument(strings.NewReader(string(text)))
		if err != nil {
			return
		}
		for _, c := range all {
			for i, d := range stateDocs(c.Known, false) {
				s, err := d.state()
				if err != nil || s.Offset != c.Known[i].Offset || !s.Fingerprint.Equal(c.Known[i].Fingerprint) || s.Ladder != c.Known[i].Ladder {
					t.Fatalf("not the same again: %+v, %v", d, err)
				}
			}
		}
	})
}
