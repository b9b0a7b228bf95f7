package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
)

// export is the command export.
func export(ctx context.Context, l *call) (int, error) {
	v, err := look(ctx, l)
	if err != nil {
		return exitFailed, err
	}
	if err := l.printJSON(newDocument(v, l.hash)); err != nil {
		return exitFailed, err
	}
	if v.damaged() {
		fmt.Fprintln(l.complaints, "filelogctl: something stored is damaged, the export is what is whole of it; 'filelogctl verify' tells more")
		return exitDamaged, nil
	}
	return exitWhole, nil
}

// importAll is the command import.
func importAll(ctx context.Context, l *call) (int, error) {
	in, name := l.in, "the standard input"
	if len(l.rest) == 1 && l.rest[0] != "-" {
		name = l.rest[0]
		f, err := os.Open(name)
		if err != nil {
			return exitFailed, err
		}
		defer f.Close()
		in = f
	}
	ids, all, err := readDocument(in)
	if err != nil {
		return exitFailed, fmt.Errorf("import %s; nothing was changed: %w", name, err)
	}
	if l.create {
		if _, err := os.Stat(l.store); errors.Is(err, os.ErrNotExist) {
			if err := createDatabase(l.store); err != nil {
				return exitFailed, err
			}
		}
	}
	o, err := alter(ctx, l, func(v *inventory, touched map[*stored]struct{}) ([]change, error) {
		var changes []change
		for i, id := range ids {
			operator := v.operator(id)
			if operator == nil {
				operator = &stored{id: id, prefix: id + "."}
			}
			before, after := int64(len(operator.Known)), int64(len(all[i].Known))
			operator.Contents = all[i]
			touched[operator] = struct{}{}
			changes = append(changes, change{Operator: id, What: "files", From: &before, To: &after})
		}
		return changes, nil
	})
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w; -create makes it", err)
	}
	if err != nil {
		return exitFailed, err
	}
	return exitWhole, l.tell(o)
}

// readDocument reads an export wholly or not at all.
func readDocument(in io.Reader) (ids []string, all []checkpoint.Contents, err error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, nil, err
	}
	var d document
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&d)
	switch {
	case d.Version > documentVersion:
		return nil, nil, fmt.Errorf("made by a newer filelogctl: its version is %d", d.Version)
	case err != nil:
		return nil, nil, err
	case d.Version != documentVersion:
		return nil, nil, errors.New("no export of filelogctl: it does not begin with \"filelogctl_export\": 1")
	}
	if decoder.More() {
		return nil, nil, errors.New("there is more behind the export")
	}
	seen := map[string]bool{}
	for i := range d.Operators {
		c, err := d.Operators[i].contents()
		if err != nil {
			return nil, nil, err
		}
		id := d.Operators[i].ID
		if seen[id] {
			return nil, nil, fmt.Errorf("operator %q is there twice", id)
		}
		seen[id] = true
		ids, all = append(ids, id), append(all, c)
	}
	return ids, all, nil
}
