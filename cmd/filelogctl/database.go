package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// bucket is the one that file_storage keeps a client's values in.
const bucket = "default"

// database is a file of file_storage, read at once and closed: its values fit
// into memory wherever the Collector's did.
type database struct {
	values map[string][]byte
	copied bool // the file was in use, and a copy was read
}

var _ storage.Client = (*database)(nil)

var errReadOnly = errors.New("the storage is only read")

// lockWait is how long the Collector is given to let go of the file.
const lockWait = 200 * time.Millisecond

// readDatabase reads a file of file_storage. bbolt may panic on a broken file;
// that is an error like others.
func readDatabase(path string) (d *database, err error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	defer func() {
		if p := recover(); p != nil {
			d, err = nil, fmt.Errorf("%s is not a whole bbolt file: %v", path, p)
		}
	}()
	db, err := bbolt.Open(path, 0o400, &bbolt.Options{ReadOnly: true, Timeout: lockWait})
	copied := errors.Is(err, bolterrors.ErrTimeout)
	if copied {
		var twin string
		if twin, err = copyFile(path); err != nil {
			return nil, err
		}
		defer os.RemoveAll(filepath.Dir(twin))
		db, err = bbolt.Open(twin, 0o400, &bbolt.Options{ReadOnly: true, Timeout: lockWait})
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer db.Close()
	d = &database{values: map[string][]byte{}, copied: copied}
	err = db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		if b == nil {
			return fmt.Errorf("%s is no file of file_storage: it has no bucket %q", path, bucket)
		}
		return b.ForEach(func(key, value []byte) error {
			d.values[string(key)] = append([]byte{}, value...)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// copyFile copies a file into a directory of its own and returns the copy's path.
func copyFile(path string) (string, error) {
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	directory, err := os.MkdirTemp("", "filelogctl")
	if err != nil {
		return "", err
	}
	twin := filepath.Join(directory, "copy")
	to, err := os.OpenFile(twin, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.Copy(to, from)
		err = errors.Join(err, to.Close())
	}
	if err != nil {
		_ = os.RemoveAll(directory)
		return "", fmt.Errorf("copy %s: %w", path, err)
	}
	return twin, nil
}

// Get returns a value, nil if there is none.
func (d *database) Get(_ context.Context, key string) ([]byte, error) { return d.values[key], nil }

// Set fails.
func (d *database) Set(context.Context, string, []byte) error { return errReadOnly }

// Delete fails.
func (d *database) Delete(context.Context, string) error { return errReadOnly }

// Batch does what only reads.
func (d *database) Batch(_ context.Context, operations ...*storage.Operation) error {
	for _, o := range operations {
		if o.Type != storage.Get {
			return errReadOnly
		}
		o.Value = d.values[o.Key]
	}
	return nil
}

// Close does nothing: the file is closed already.
func (d *database) Close(context.Context) error { return nil }
