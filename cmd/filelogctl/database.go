package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// bucket is the one that file_storage keeps a client's values in.
const bucket = "default"

// database is a file of file_storage, all of its values in memory: they fit there
// wherever the Collector's did. What is set is written by commit, all at once.
type database struct {
	path   string
	values map[string][]byte
	copied bool    // the file was in use, and a copy was read
	faults []error // of the file's structure

	db      *bbolt.DB // open and locked; nil: values can only be read
	changed map[string]struct{}
}

var _ storage.Client = (*database)(nil)

var (
	errReadOnly = errors.New("the storage is only read")
	// errInUse is returned when somebody else has a file locked that has to be written.
	errInUse = errors.New("is in use; nothing was changed. Stop the Collector first")
)

// lockWait is how long the Collector is given to let go of the file.
const lockWait = 200 * time.Millisecond

// readDatabase reads a file of file_storage and closes it again. If the file is
// locked, it reads a copy.
func readDatabase(path string) (d *database, err error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	defer notWhole(path, &err)
	d = &database{path: path}
	db, err := bbolt.Open(path, 0o400, &bbolt.Options{ReadOnly: true, Timeout: lockWait})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return readCopy(path)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer db.Close()
	return d, d.read(db)
}

// writeDatabase opens a file of file_storage and keeps it locked until close. It
// fails with errInUse if it is locked already, and refuses a broken file, which
// writing would make worse.
func writeDatabase(path string) (d *database, err error) {
	before, err := readDatabase(path)
	switch {
	case err != nil:
		return nil, err
	case before.copied:
		return nil, fmt.Errorf("%s %w", path, errInUse)
	case len(before.faults) > 0:
		return nil, fmt.Errorf("%s is damaged (%w); nothing was changed. Export it, and import that with -create elsewhere", path, before.faults[0])
	}
	defer notWhole(path, &err)
	// The options are those of file_storage, so that opening alone changes nothing.
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%s %w", path, errInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	d = &database{path: path, db: db, changed: map[string]struct{}{}}
	defer func() {
		if d == nil || err != nil {
			_ = db.Close()
		}
	}()
	return d, d.read(db)
}

// createDatabase makes a file of file_storage without values.
func createDatabase(path string) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte(bucket))
		return err
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}

func regular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	return err
}

// notWhole makes an error of a panic, with which bbolt meets some broken files.
func notWhole(path string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s is not a whole bbolt file: %v", path, p)
	}
}

// read reads all values.
func (d *database) read(db *bbolt.DB) error {
	d.values = map[string][]byte{}
	return db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		if b == nil {
			return fmt.Errorf("%s is no file of file_storage: it has no bucket %q", d.path, bucket)
		}
		// bbolt's own check may end the process when it meets a broken page.
		var last []byte
		return b.ForEach(func(key, value []byte) error {
			if last != nil && bytes.Compare(last, key) >= 0 {
				d.faults = append(d.faults, fmt.Errorf("key %q stands behind %q", key, last))
			}
			last = key
			if _, twice := d.values[string(key)]; !twice {
				d.values[string(key)] = bytes.Clone(value)
			}
			return nil
		})
	})
}

// keys are the keys of all values, sorted.
func (d *database) keys() []string { return slices.Sorted(maps.Keys(d.values)) }

// Get returns a value, nil if there is none.
func (d *database) Get(_ context.Context, key string) ([]byte, error) { return d.values[key], nil }

// Set changes a value, for commit to write.
func (d *database) Set(_ context.Context, key string, value []byte) error {
	if d.db == nil {
		return errReadOnly
	}
	d.values[key] = bytes.Clone(value)
	d.changed[key] = struct{}{}
	return nil
}

// Delete takes a value away, for commit to write.
func (d *database) Delete(_ context.Context, key string) error {
	if d.db == nil {
		return errReadOnly
	}
	if _, there := d.values[key]; there {
		delete(d.values, key)
		d.changed[key] = struct{}{}
	}
	return nil
}

// Batch does operations one after the other.
func (d *database) Batch(ctx context.Context, operations ...*storage.Operation) error {
	for _, o := range operations {
		var err error
		switch o.Type {
		case storage.Get:
			o.Value, err = d.Get(ctx, o.Key)
		case storage.Set:
			err = d.Set(ctx, o.Key, o.Value)
		case storage.Delete:
			err = d.Delete(ctx, o.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commit writes what was set and deleted, all of it or nothing.
func (d *database) commit() error {
	if len(d.changed) == 0 {
		return nil
	}
	err := d.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		for key := range d.changed {
			var err error
			if value, there := d.values[key]; there {
				err = b.Put([]byte(key), value)
			} else {
				err = b.Delete([]byte(key))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", d.path, err)
	}
	clear(d.changed)
	return nil
}

// Close lets go of the file.
func (d *database) Close(context.Context) error {
	if d.db == nil {
		return nil
	}
	return d.db.Close()
}
