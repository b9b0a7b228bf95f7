package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// storeOf makes a store file of the values of a fixture.
func storeOf(t *testing.T, folder string) string {
	path := filepath.Join(t.TempDir(), "receiver_filelog_")
	client, progress := openBolt(t, path), openBolt(t, path+progressSuffix)
	values, err := filepath.Glob(filepath.Join(fixtures, folder, "*.bin"))
	require.NoError(t, err)
	require.NotEmpty(t, values)
	for _, name := range values {
		value, err := os.ReadFile(name)
		require.NoError(t, err)
		key, to := strings.TrimSuffix(filepath.Base(name), ".bin"), client
		if strings.HasSuffix(key, ".progress") {
			to = progress
		}
		require.NoError(t, to.Set(context.Background(), key, value))
	}
	require.NoError(t, client.Close(context.Background()))
	require.NoError(t, progress.Close(context.Background()))
	return path
}

// resumed are the States that a receiver starts with, and what it finds damaged.
func resumed(t *testing.T, path, prefix string) ([]*fileid.State, []*checkpoint.DamagedError) {
	client, progress := openBolt(t, path), openBolt(t, path+progressSuffix)
	s, loaded, err := checkpoint.Open(context.Background(), checkpoint.Options{Client: client, Progress: progress, Prefix: prefix})
	require.NoError(t, err)
	require.NoError(t, s.Close(context.Background()))
	require.NoError(t, client.Close(context.Background()))
	require.NoError(t, progress.Close(context.Background()))
	return loaded.States, loaded.Damaged
}

// contentsOf is what a store holds, as an export has it.
func contentsOf(t *testing.T, path string, flags ...string) string {
	status, out, complaints := runs(append([]string{"export", path}, flags...)...)
	require.Equal(t, exitWhole, status, complaints)
	return out
}

func backupsOf(t *testing.T, path string) []string {
	backups, err := filepath.Glob(path + ".backup-*")
	require.NoError(t, err)
	return backups
}

func TestAReceiverGoesOnAtTheOffsetThatWasSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		arguments []string
		offset    int64
		records   int64
		rungs     []int64
	}{
		{"back, with evidence from the file", []string{"4"}, 4, 2, []int64{4}},
		{"forward, with evidence from the file", []string{"13"}, 13, 2, []int64{13, 8}},
		{"to the end", []string{"end"}, 14, 2, []int64{14, 8}},
		{"to the beginning", []string{"0"}, 0, 0, nil},
		{"with the number of records before it", []string{"4", "-record-number", "1"}, 4, 1, []int64{4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, log := storedFiles(t, false)
			before := contentsOf(t, path)
			status, out, complaints := runs(append([]string{"set-offset", path, log}, c.arguments...)...)
			require.Equal(t, exitWhole, status, complaints)
			assert.Contains(t, out, "file_input 1 "+log+": offset 8 -> ")

			states, damaged := resumed(t, path, "file_input.")
			require.Empty(t, damaged)
			require.Len(t, states, 1)
			s := states[0]
			assert.Equal(t, c.offset, s.Offset)
			assert.Equal(t, c.records, s.RecordNumber)
			assert.Equal(t, log, s.Path)
			var rungs []int64
			content, err := os.ReadFile(log)
			require.NoError(t, err)
			for i := range s.Ladder.Len() {
				f := s.Ladder.At(i)
				rungs = append(rungs, f.Offset)
				assert.True(t, f.Verifies(content[:f.Offset]))
			}
			assert.Equal(t, c.rungs, rungs)

			backups := backupsOf(t, path)
			require.Len(t, backups, 1)
			require.NoError(t, os.Rename(backups[0], path))
			backups = backupsOf(t, path+progressSuffix)
			require.Len(t, backups, 1)
			require.NoError(t, os.Rename(backups[0], path+progressSuffix))
			assert.Equal(t, before, contentsOf(t, path), "the backups are the store as it was")
		})
	}
}

func TestAnOffsetOfAFileThatIsNotThereIsBelieved(t *testing.T) {
	t.Parallel()
	path, log := storedFiles(t, false)
	require.NoError(t, os.WriteFile(log, []byte("another file\n"), 0o600))
	status, _, complaints := runs("set-offset", path, "1", "7")
	require.Equal(t, exitWhole, status, complaints)
	states, _ := resumed(t, path, "file_input.")
	assert.Equal(t, int64(7), states[0].Offset)
	assert.Zero(t, states[0].Ladder.Len(), "what stood before byte 8 is no evidence any more, and the other file none")

	require.NoError(t, os.Remove(log))
	status, _, complaints = runs("set-offset", path, "1", "99")
	require.Equal(t, exitWhole, status, complaints)
	states, _ = resumed(t, path, "file_input.")
	assert.Equal(t, int64(99), states[0].Offset)
}

func TestAHeaderIsReadAgainFromTheBeginning(t *testing.T) {
	t.Parallel()
	path := storeOf(t, "own-1")
	states, _ := resumed(t, path, "file_input.")
	for i, s := range states {
		require.NotNil(t, s.Attributes)
		status, _, complaints := runs("set-offset", path, s.Path, "0")
		require.Equal(t, exitWhole, status, complaints)
		after, _ := resumed(t, path, "file_input.")
		assert.Nil(t, after[i].Attributes)
		assert.False(t, after[i].HeaderDone)
		assert.Zero(t, after[i].Offset+after[i].Base+after[i].BaseAt+after[i].RecordNumber+after[i].PartialLength)
		assert.True(t, s.Fingerprint.Equal(after[i].Fingerprint))
	}
}

func TestAFileThatIsForgottenIsNotKnownAnyMore(t *testing.T) {
	t.Parallel()
	path, log := storedFiles(t, false)
	status, out, complaints := runs("forget", "-json", path, "a0.1", log, "1")
	require.Equal(t, exitWhole, status, complaints)
	var told outcome
	require.NoError(t, json.Unmarshal([]byte(out), &told))
	assert.Len(t, told.Changed, 2)
	assert.Len(t, told.Backups, 2)
	status, out, _ = runs("list", "-archive", path)
	assert.Equal(t, exitWhole, status)
	assert.NotContains(t, out, "PATH")
	states, damaged := resumed(t, path, "file_input.")
	assert.Empty(t, states)
	assert.Empty(t, damaged)
}

func TestWhatIsNotNamedStaysAsItIs(t *testing.T) {
	t.Parallel()
	path := storeOf(t, "own-1")
	before, _ := resumed(t, path, "file_input.")
	require.Greater(t, len(before), 3)
	status, _, complaints := runs("forget", path, before[1].Path)
	require.Equal(t, exitWhole, status, complaints)
	after, damaged := resumed(t, path, "file_input.")
	require.Empty(t, damaged)
	require.Len(t, after, len(before)-1)
	for i, s := range after {
		want := before[i]
		if i >= 1 {
			want = before[i+1]
		}
		w, g := *want, *s
		w.Slot, g.Slot = 0, 0
		assert.Equal(t, w, g)
	}
}

func TestAStateOfUpstreamIsFoundByTheContentOfItsFile(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"v0.140.0-basic", "v0.165.1-basic"} {
		t.Run(folder, func(t *testing.T) {
			path := storeOf(t, folder)
			log := filepath.Join(fixtures, folder, "logs", "harbour-main.log")
			status, out, complaints := runs("show", path, log)
			require.Equal(t, exitWhole, status, complaints)
			assert.Contains(t, out, log)
			assert.Contains(t, out, "stored in    upstream ")
			before, _ := resumed(t, storeOf(t, folder), "file_input.")
			status, _, complaints = runs("set-offset", path, log, "10")
			require.Equal(t, exitWhole, status, complaints)
			after, damaged := resumed(t, path, "file_input.")
			require.Empty(t, damaged)
			require.Len(t, after, len(before))
			moved := 0
			for i, s := range after {
				if s.Offset != before[i].Offset {
					moved++
					assert.Equal(t, int64(10), s.Offset)
					assert.Equal(t, 1, s.Ladder.Len(), "the file gives the evidence that upstream does not store")
				}
			}
			assert.Equal(t, 1, moved)
		})
	}
}

func TestNothingIsWrittenWhileTheStoreIsInUse(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{{"set-offset", "", "1", "0"}, {"forget", "", "1"}, {"import", ""}} {
		t.Run(arguments[0], func(t *testing.T) {
			path, _ := storedFiles(t, true)
			export := contentsOf(t, path)
			arguments[1] = path
			var out, complaints strings.Builder
			status := run(arguments, strings.NewReader(export), &out, &complaints)
			assert.Equal(t, exitFailed, status)
			assert.Contains(t, complaints.String(), "is in use; nothing was changed")
			assert.Empty(t, backupsOf(t, path))
		})
	}
}

func TestNothingIsWrittenWhileOnlyTheProgressIsInUse(t *testing.T) {
	t.Parallel()
	path, _ := storedFiles(t, false)
	progress := openBolt(t, path+progressSuffix)
	defer progress.Close(context.Background())
	status, _, complaints := runs("forget", path, "1")
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, complaints, progressSuffix+" is in use")
	assert.Empty(t, backupsOf(t, path))
}

func TestACommandThatChangesNothingKeepsNoBackup(t *testing.T) {
	t.Parallel()
	path, log := storedFiles(t, false)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	status, out, _ := runs("set-offset", path, log, "8")
	assert.Equal(t, exitWhole, status)
	assert.Contains(t, out, "already at this offset")
	for _, c := range []struct {
		arguments []string
		says      string
	}{
		{[]string{"set-offset", path, log, "15"}, "is behind its end"},
		{[]string{"set-offset", path, log, "x"}, "is no offset"},
		{[]string{"set-offset", path, "--", log, "-1"}, "is no offset"},
		{[]string{"set-offset", path, "a0.1", "end"}, "the end is not known"},
		{[]string{"set-offset", path, "9", "0"}, "nothing is stored of"},
		{[]string{"forget", path, "1", "/nothing.log"}, "nothing is stored of"},
		{[]string{"forget", "-id", "other", path, "1"}, "nothing is stored of"},
		{[]string{"forget", path}, "usage"},
		{[]string{"set-offset", path, log}, "usage"},
		{[]string{"forget", filepath.Join(filepath.Dir(path), "missing"), "1"}, "no such file"},
	} {
		status, _, complaints := runs(c.arguments...)
		assert.Equal(t, exitFailed, status, c.arguments)
		assert.Contains(t, complaints, c.says)
	}
	assert.Empty(t, backupsOf(t, path))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestANameThatMeansTwoFilesIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "receiver_filelog_")
	client := openBolt(t, path)
	for _, prefix := range []string{"a.", "b."} {
		require.NoError(t, checkpoint.Rewrite(context.Background(), client, nil, prefix, 0, checkpoint.Contents{
			Known: []*fileid.State{{Fingerprint: fileid.NewFingerprint([]byte("x\n")), Path: "/x.log", Offset: 2}},
			Last:  -1,
		}))
	}
	require.NoError(t, client.Close(context.Background()))
	for _, name := range []string{"/x.log", "1"} {
		status, _, complaints := runs("forget", path, name)
		assert.Equal(t, exitFailed, status)
		assert.Contains(t, complaints, "may be a 1, b 1; name one by its ID, and with -id")
	}
	status, out, complaints := runs("forget", "-id", "b", path, "1")
	require.Equal(t, exitWhole, status, complaints)
	assert.Contains(t, out, "b 1 /x.log: forgotten")
	status, out, _ = runs("list", path)
	assert.Equal(t, exitWhole, status)
	assert.Contains(t, out, "a: 1 files")
	assert.Contains(t, out, "b: 0 files")
}

func TestTwoBackupsOfOneSecondHaveTwoNames(t *testing.T) {
	t.Parallel()
	path, log := storedFiles(t, false)
	for range 3 {
		status, _, complaints := runs("set-offset", path, log, "4")
		require.Equal(t, exitWhole, status, complaints)
		status, _, complaints = runs("set-offset", path, log, "8")
		require.Equal(t, exitWhole, status, complaints)
	}
	assert.Len(t, backupsOf(t, path), 6)
}
