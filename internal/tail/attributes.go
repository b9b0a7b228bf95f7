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

// resolves tells whether attributes need the path behind all links.
func (a FileAttributes) resolves() bool { return a.NameResolved || a.PathResolved }

// withoutLinks is the absolute path that path leads to.
func withoutLinks(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("resolve symlinks of %q: %w", path, err)
	}
	if resolved, err = filepath.Abs(resolved); err != nil {
		return "", fmt.Errorf("make %q absolute: %w", path, err)
	}
	return resolved, nil
}

// attributes are those of the file at path, which is at resolved without links,
// added to a copy of header, over which they win. With an error those are left
// out that could not be computed.
func (a FileAttributes) attributes(path, resolved string, info source.Info, header map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(header)+4)
	maps.Copy(out, header)
	if a.Name {
		out["log.file.name"] = text(filepath.Base(path))
	}
	if a.Path {
		out["log.file.path"] = text(path)
	}
	if a.NameResolved {
		out["log.file.name_resolved"] = text(filepath.Base(resolved))
	}
	if a.PathResolved {
		out["log.file.path_resolved"] = text(resolved)
	}
	if a.Permissions {
		out["log.file.permissions"] = fmt.Sprintf("%03o", info.Mode.Perm())
	}
	if a.OwnerName || a.OwnerGroupName {
		owner, group, err := source.Owner(info)
		if err != nil {
			return out, fmt.Errorf("look up the owner of %q: %w", path, err)
		}
		if a.OwnerName {
			out["log.file.owner.name"] = owner
		}
		if a.OwnerGroupName {
			out["log.file.owner.group.name"] = group
		}
	}
	return out, nil
}

// text is a name as an attribute may have it: destinations refuse a whole request
// for one string in it that is not UTF-8, and a file name may be any bytes.
func text(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }
