package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.etcd.io/bbolt"
)

// A file that is written meanwhile is copied again after a pause, so often.
const (
	copyTries = 20
	copyPause = 10 * time.Millisecond
)

// metaSpan is how much of a file holds bbolt's two meta pages, for any size of
// page. Every transaction ends with writing one of them.
const metaSpan = 64<<10 + 4<<10

// readCopy copies a file that somebody else has locked, and reads the copy.
func readCopy(path string) (*database, error) {
	directory, err := os.MkdirTemp("", "filelogctl")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	twin := filepath.Join(directory, "copy")
	for range copyTries {
		settled, err := copyFile(path, twin)
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", path, err)
		}
		if settled {
			return openCopy(path, twin)
		}
		time.Sleep(copyPause)
	}
	return nil, fmt.Errorf("%s is in use, and is written so often that no copy is of one moment; try again", path)
}

// openCopy reads the copy of a file.
func openCopy(path, twin string) (d *database, err error) {
	defer notWhole(path, &err)
	db, err := bbolt.Open(twin, 0o400, &bbolt.Options{ReadOnly: true, Timeout: lockWait})
	if err != nil {
		return nil, fmt.Errorf("open a copy of %s: %w", path, err)
	}
	defer db.Close()
	d = &database{path: path, copied: true}
	return d, d.read(db)
}

// copyFile copies a file. settled tells that no transaction ended meanwhile, so
// that all pages of the copy are of one moment: bbolt never overwrites pages that
// the last transaction refers to.
func copyFile(path, twin string) (settled bool, err error) {
	from, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer from.Close()
	before, err := readMeta(from)
	if err != nil {
		return false, err
	}
	to, err := os.OpenFile(twin, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return false, err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return false, err
	}
	after, err := readMeta(from)
	return bytes.Equal(before, after), err
}

func readMeta(f *os.File) ([]byte, error) {
	meta := make([]byte, metaSpan)
	n, err := f.ReadAt(meta, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return meta[:n], err
}

// backup copies the file, as it was before anything was committed, to a new file
// beside it, and returns that one's path.
func (d *database) backup(at time.Time) (string, error) {
	stem := d.path + ".backup-" + at.UTC().Format("20060102T150405Z")
	path := stem
	var to *os.File
	for n := 2; ; n++ {
		var err error
		to, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrExist) {
			return "", fmt.Errorf("keep a backup; nothing was changed: %w", err)
		}
		path = stem + "-" + strconv.Itoa(n)
	}
	err := d.db.View(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(to)
		return err
	})
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		_ = os.Remove(path)
		return "", fmt.Errorf("keep a backup %s; nothing was changed: %w", path, err)
	}
	return path, nil
}
