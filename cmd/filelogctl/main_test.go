package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/goleak"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const fixtures = "../../testdata/checkpoints"

// boltClient writes a file as file_storage does.
type boltClient struct {
	t  *testing.T
	db *bbolt.DB
}

func openBolt(t *testing.T, path string) *boltClient {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, NoSync: true, NoFreelistSync: true})
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte(bucket))
		return err
	}))
	return &boltClient{t, db}
}

func (c *boltClient) Get(_ context.Context, key string) (value []byte, err error) {
	err = c.db.View(func(tx *bbolt.Tx) error {
		value = bytes.Clone(tx.Bucket([]byte(bucket)).Get([]byte(key)))
		return nil
	})
	return value, err
}

func (c *boltClient) Set(_ context.Context, key string, value []byte) error {
	return c.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Put([]byte(key), value) })
}

func (c *boltClient) Delete(_ context.Context, key string) error {
	return c.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Delete([]byte(key)) })
}

func (c *boltClient) Batch(ctx context.Context, operations ...*storage.Operation) (err error) {
	for _, o := range operations {
		if o.Type != storage.Get {
			c.t.Error("not used here")
		}
		if o.Value, err = c.Get(ctx, o.Key); err != nil {
			return err
		}
	}
	return nil
}

func (c *boltClient) Close(context.Context) error { return c.db.Close() }

// storedFiles makes the files of a receiver that knows one file and has archived
// another, as a kill leaves them. keepOpen leaves them locked until the test ends.
func storedFiles(t *testing.T, keepOpen bool) (path, log string) {
	path = filepath.Join(t.TempDir(), "receiver_filelog_mine")
	log = filepath.Join(filepath.Dir(path), "a.log")
	require.NoError(t, os.WriteFile(log, []byte("one\ntwo\nthree\n"), 0o600))
	client, progress := openBolt(t, path), openBolt(t, path+progressSuffix)
	ctx, cancel := context.WithCancel(context.Background())
	s, _, err := checkpoint.Open(ctx, checkpoint.Options{Client: client, Progress: progress, Prefix: "file_input.", ArchiveSlots: 2})
	require.NoError(t, err)
	save := func() {
		for s.Save() {
			s.Applied(<-s.Results())
		}
	}
	known := &fileid.State{Fingerprint: fileid.NewFingerprint([]byte("one\ntwo\n")), Path: log, Offset: 4, RecordNumber: 1}
	gone := &fileid.State{Fingerprint: fileid.NewFingerprint([]byte("gone\n")), Path: "/gone.log", Offset: 5}
	s.Add(known)
	s.Add(gone)
	save()
	s.Archive([]*fileid.State{gone})
	save()
	known.Offset, known.RecordNumber = 8, 2
	known.Ladder.Advance(fileid.NewFrontier(8, []byte("one\ntwo\n")))
	s.Changed(known)
	save()
	// An orderly end writes more than a kill does: the files are put back.
	files := map[string][]byte{}
	for _, name := range []string{path, path + progressSuffix} {
		files[name], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	if keepOpen {
		t.Cleanup(func() {
			require.NoError(t, s.Close(context.Background()))
			require.NoError(t, client.Close(ctx))
			require.NoError(t, progress.Close(ctx))
			cancel()
		})
		return path, log
	}
	require.NoError(t, s.Close(context.Background()))
	require.NoError(t, client.Close(ctx))
	require.NoError(t, progress.Close(ctx))
	cancel()
	for name, content := range files {
		require.NoError(t, os.WriteFile(name, content, 0o600))
	}
	return path, log
}

// runs runs the command and returns its exit status and output.
func runs(arguments ...string) (status int, out, complaints string) {
	var o, c bytes.Buffer
	status = run(arguments, strings.NewReader(""), &o, &c)
	return status, o.String(), c.String()
}

func TestTheTableTellsHowFarEachFileWasRead(t *testing.T) {
	path, log := storedFiles(t, false)
	for _, arguments := range [][]string{{"list", "-archive", path}, {"list", path, "--archive"}, {"-archive", path}} {
		status, out, complaints := runs(arguments...)
		assert.Equal(t, exitWhole, status, complaints)
		assert.Equal(t, ""+
			"file_input: 1 files, snapshot and progress of 1 files, 1 files in 1 archive slots\n"+
			"  ID    OFFSET  SIZE  LAG  RECORDS  STATUS  FROM            PATH\n"+
			"  a0.1  5       -     -    0        gone    archive slot 0  /gone.log\n"+
			"  1     8       14    6    2        there   progress        "+log+"\n", out)
	}
}

func TestAFileInUseIsReadFromACopy(t *testing.T) {
	path, log := storedFiles(t, true)
	status, out, complaints := runs(path)
	assert.Equal(t, exitWhole, status, complaints)
	assert.Contains(t, out, "in use")
	assert.Contains(t, out, log)
}

func TestAStoreThatIsWrittenAllTheTimeIsReadWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "receiver_filelog_mine")
	client, progress := openBolt(t, path), openBolt(t, path+progressSuffix)
	s, _, err := checkpoint.Open(context.Background(), checkpoint.Options{Client: client, Progress: progress, Prefix: "file_input."})
	require.NoError(t, err)
	var states []*fileid.State
	for n := range 50 {
		states = append(states, &fileid.State{Fingerprint: fileid.NewFingerprint(bytes.Repeat([]byte{byte('a' + n)}, 1000)), Path: fmt.Sprintf("/%d.log", n)})
		s.Add(states[n])
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		for round := 1; ; round++ {
			select {
			case <-stop:
				return
			case r := <-s.Results():
				s.Applied(r)
			case <-tick.C:
				state := states[round%len(states)]
				state.Offset += 10
				if round%10 == 0 {
					// A snapshot and the end of its delta, as often as can be.
					state.Path += "x"
					state.StaticRevision++
				}
				s.Changed(state)
				s.Save()
			}
		}
	}()
	for range 3 {
		status, out, complaints := runs("verify", path)
		assert.Equal(t, exitWhole, status, out+complaints)
		assert.Contains(t, out, "in use")
		assert.Contains(t, out, "50 files")
	}
	close(stop)
	<-stopped
	require.NoError(t, s.Close(context.Background()))
	require.NoError(t, client.Close(context.Background()))
	require.NoError(t, progress.Close(context.Background()))
}

func TestUpstreamsFilesAreRead(t *testing.T) {
	for _, c := range []struct{ folder, file, id, format string }{
		{"v0.140.0-basic-archive3", "receiver_filelog_", "file_input", "upstream json"},
		{"v0.165.1-customid", "receiver_filelog_edge-1", "my_tailer", "upstream protobuf"},
	} {
		t.Run(c.folder, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(fixtures, c.folder, c.file))
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), c.file)
			require.NoError(t, os.WriteFile(path, content, 0o400))
			status, out, complaints := runs("-json", path)
			require.Equal(t, exitWhole, status, complaints)
			var got report
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			require.Len(t, got.Operators, 1)
			assert.Equal(t, c.id, got.Operators[0].ID)
			assert.Equal(t, c.format, got.Operators[0].Format)
			var expected struct {
				Keys map[string]struct {
					Entries []struct {
						Offset int64 `json:"offset"`
						Length int   `json:"fingerprint_len"`
					}
				}
			}
			text, err := os.ReadFile(filepath.Join(fixtures, c.folder, "expected.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &expected))
			entries := expected.Keys[c.id+".knownFiles"].Entries
			require.Len(t, got.Operators[0].Files, len(entries))
			for i, e := range entries {
				assert.Equal(t, e.Length, got.Operators[0].Files[i].Fingerprint.Length)
				assert.Equal(t, e.Offset, got.Operators[0].Files[i].Offset+got.Operators[0].Files[i].Base)
			}
			status, out, _ = runs("check", path)
			assert.Equal(t, exitWhole, status)
			assert.Contains(t, out, "whole")
		})
	}
}

func TestCheckTellsDamage(t *testing.T) {
	path, _ := storedFiles(t, false)
	client := openBolt(t, path)
	value, err := client.Get(context.Background(), "file_input.knownFiles")
	require.NoError(t, err)
	value[len(value)/2] ^= 1
	require.NoError(t, client.Set(context.Background(), "file_input.knownFiles", value))
	require.NoError(t, client.Set(context.Background(), "file_input.progress.damaged", value))
	require.NoError(t, client.Close(context.Background()))
	for _, arguments := range [][]string{{"verify", path}, {"check", "-json", path}} {
		status, out, _ := runs(arguments...)
		assert.Equal(t, exitDamaged, status)
		assert.Contains(t, out, "file_input.knownFiles")
		assert.Contains(t, out, "checksum does not match")
		assert.Contains(t, out, "file_input.progress.damaged")
	}
	status, out, _ := runs(path)
	assert.Equal(t, exitWhole, status, "listing is no judgement")
	assert.Contains(t, out, "damaged")
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	directory := t.TempDir()
	garbage := filepath.Join(directory, "garbage")
	require.NoError(t, os.WriteFile(garbage, bytes.Repeat([]byte("garbage "), 4096), 0o600))
	empty := filepath.Join(directory, "other")
	db, err := bbolt.Open(empty, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	nothing := filepath.Join(directory, "nothing")
	require.NoError(t, openBolt(t, nothing).Close(context.Background()))
	for _, c := range []struct {
		name      string
		arguments []string
		status    int
		says      string
	}{
		{"no path", nil, exitFailed, "usage"},
		{"two paths", []string{"a", "b"}, exitFailed, "usage"},
		{"an unknown flag", []string{"-x", garbage}, exitFailed, "usage"},
		{"help", []string{"-h"}, exitWhole, "set-offset STORE FILE OFFSET"},
		{"help of a command", []string{"export", "-h"}, exitWhole, "their hashes stand for them"},
		{"a flag of another command", []string{"list", "-hash", garbage}, exitFailed, "usage"},
		{"a missing file", []string{filepath.Join(directory, "missing")}, exitFailed, "no such file"},
		{"a directory", []string{directory}, exitFailed, "is not a file"},
		{"garbage", []string{"check", garbage}, exitFailed, "open "},
		{"another bbolt file", []string{empty}, exitFailed, "no bucket"},
		{"a storage without state", []string{nothing}, exitWhole, "no state"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, out, complaints := runs(c.arguments...)
			assert.Equal(t, c.status, status)
			assert.Contains(t, out+complaints, c.says)
		})
	}
}

func TestAStoreFileWhoseOwnStructureIsBrokenIsDamaged(t *testing.T) {
	t.Parallel()
	path := storeOf(t, "v0.140.0-basic-archive3")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content = bytes.ReplaceAll(content, []byte("file_input.knownFiles0"), []byte("zile_input.knownFiles0"))
	require.NoError(t, os.WriteFile(path, content, 0o600))
	status, out, complaints := runs("verify", path)
	assert.Equal(t, exitDamaged, status, complaints)
	assert.Contains(t, out, "damaged: "+path+": ")
	status, out, complaints = runs("verify", "-json", path)
	assert.Equal(t, exitDamaged, status, complaints)
	assert.Contains(t, out, `"file_damaged"`)
	for _, arguments := range [][]string{{"forget", path, "1"}, {"set-offset", path, "1", "0"}} {
		status, _, complaints = runs(arguments...)
		assert.Equal(t, exitFailed, status)
		assert.Contains(t, complaints, "is damaged")
	}
}

func TestShowTellsAllThatIsStoredOfAFile(t *testing.T) {
	t.Parallel()
	path := storeOf(t, "own-1")
	status, text, complaints := runs("list", "-json", path)
	require.Equal(t, exitWhole, status, complaints)
	var r report
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	for _, f := range r.Operators[0].Files {
		status, out, complaints := runs("show", path, f.Path)
		require.Equal(t, exitWhole, status, complaints)
		for _, piece := range []string{f.Path, f.Fingerprint.Digest, f.Frontiers[0].Sum, f.From, "gone", `"share":0.5`, "last seen"} {
			assert.Contains(t, out, piece)
		}
		status, byID, complaints := runs("show", "-json", path, f.ID)
		require.Equal(t, exitWhole, status, complaints)
		assert.Contains(t, byID, f.Fingerprint.Digest)
		assert.Contains(t, byID, `"operator": "file_input"`)
	}
	status, _, complaints = runs("show", path, "/nothing")
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, complaints, "nothing is stored of")
}

func TestTheTableTellsWhatBecameOfALogFile(t *testing.T) {
	t.Parallel()
	path, log := storedFiles(t, false)
	for _, c := range []struct{ content, status string }{
		{"one\ntwo\nthree\n", "8       14    6    2        there"},
		{"one\ntwo\n", "8       8     0    2        there"},
		{"one\ntwx\nthree\n", "8       14    -    2        changed"},
		{"one\n", "8       4     -    2        changed"},
	} {
		require.NoError(t, os.WriteFile(log, []byte(c.content), 0o600))
		_, out, _ := runs("list", path)
		assert.Contains(t, out, c.status)
	}
	require.NoError(t, os.Remove(log))
	_, out, _ := runs("list", path)
	assert.Contains(t, out, "gone")
	require.NoError(t, os.Mkdir(log, 0o700))
	_, out, _ = runs("list", path)
	assert.Contains(t, out, "unreadable")
}

func TestTheDocumentNamesEveryCommandWithItsFlags(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/filelogctl.md")
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	for _, c := range commands {
		want := "filelogctl " + c.name
		for _, name := range strings.Fields(c.flags) {
			switch name {
			case "id":
				name = "id ID"
			case "record-number":
				name += " N"
			}
			want += " [-" + name + "]"
		}
		want += " " + c.arguments
		assert.True(t, slices.ContainsFunc(lines, func(line string) bool {
			return strings.Join(strings.Fields(line), " ") == want
		}), want)
	}
}
