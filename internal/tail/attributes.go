package tail

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// FileAttributes says which attributes of the file its records carry.
type FileAttributes struct {
	Name, Path, NameResolved, PathResolved, OwnerName, OwnerGroupName, Permissions bool
}

// changes tells whether attributes may change while the name stays.
func (a FileAttributes) changes() bool {
	return a.NameResolved || a.PathResolved || a.OwnerName || a.OwnerGroupName || a.Permissions
}

// resolve computes the attributes of the file at path and adds them to a copy
// of header, over which they win.
func (a FileAttributes) resolve(path string, info source.Info, header map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(header)+4)
	maps.Copy(out, header)
	if a.Name {
		out["log.file.name"] = text(filepath.Base(path))
	}
	if a.Path {
		out["log.file.path"] = text(path)
	}
	if a.NameResolved || a.PathResolved {
		resolved, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, fmt.Errorf("resolve symlinks of %q: %w", path, err)
		}
		if resolved, err = filepath.Abs(resolved); err != nil {
			return nil, fmt.Errorf("make %q absolute: %w", path, err)
		}
		if a.NameResolved {
			out["log.file.name_resolved"] = text(filepath.Base(resolved))
		}
		if a.PathResolved {
			out["log.file.path_resolved"] = text(resolved)
		}
	}
	if a.OwnerName || a.OwnerGroupName {
		owner, group, err := source.Owner(info)
		if err != nil {
			return nil, fmt.Errorf("look up the owner of %q: %w", path, err)
		}
		if a.OwnerName {
			out["log.file.owner.name"] = owner
		}
		if a.OwnerGroupName {
			out["log.file.owner.group.name"] = group
		}
	}
	if a.Permissions {
		out["log.file.permissions"] = fmt.Sprintf("%03o", info.Mode.Perm())
	}
	return out, nil
}

// text is a name as an attribute may have it: destinations refuse a whole request
// for one string in it that is not UTF-8, and a file name may be any bytes.
func text(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }
