package batch

import "github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"

// Where the attributes of files are put on the resource, two operators still have
// to find the path there that stanza looks for on the record: container, which
// takes a pod's name from it, and recombine, which tells by it the lines of one
// file from those of others.

// resourceFallback is an attribute that is looked for on the resource when the
// record has none.
type resourceFallback struct {
	entry.FieldInterface
	resource entry.FieldInterface
}

// orOnResource gives an attribute that fallback; other fields stay as they are.
func orOnResource(field entry.Field) entry.Field {
	attribute, ok := field.FieldInterface.(entry.AttributeField)
	if !ok || len(attribute.Keys) == 0 {
		return field
	}
	return entry.Field{FieldInterface: resourceFallback{attribute, entry.NewResourceField(attribute.Keys...).FieldInterface}}
}

// Get returns the attribute of the record, or that of its resource.
func (f resourceFallback) Get(e *entry.Entry) (any, bool) {
	if value, ok := f.FieldInterface.Get(e); ok {
		return value, true
	}
	return f.resource.Get(e)
}

// pathOf is the path of the file of a line.
func (c *heldContainer) pathOf(e *entry.Entry) (path string, ok bool) {
	value, found := e.Attributes[logPathKey]
	if !found && c.onResource {
		value = e.Resource[logPathKey]
	}
	path, ok = value.(string)
	return path, ok
}

// lendPaths puts the path on those entries that have it on their resource only,
// and appends them to lent.
func lendPaths(lent, entries []*entry.Entry) []*entry.Entry {
	for _, e := range entries {
		path, ok := e.Resource[logPathKey].(string)
		if _, has := e.Attributes[logPathKey]; has || !ok {
			continue
		}
		if e.Attributes == nil {
			e.Attributes = make(map[string]any, 4)
		}
		e.Attributes[logPathKey] = path
		lent = append(lent, e)
	}
	return lent
}
