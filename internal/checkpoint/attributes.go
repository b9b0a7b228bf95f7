package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Attributes are stored as one JSON object, as upstream does. Its decoder makes
// a float of every number; to keep int64 and float64 apart over a restart, we
// write a float always with a point or an exponent, and read it that way.

// upstreamFileAttributes are attributes of the file that upstream stores beside
// those of the header. They say what was true then, not what is configured now.
var upstreamFileAttributes = []string{
	"log.file.name", "log.file.path", "log.file.name_resolved", "log.file.path_resolved",
	"log.file.owner.name", "log.file.owner.group.name", "log.file.permissions",
}

// dropFileAttributes takes the attributes of the file out of what upstream stored.
func dropFileAttributes(attributes map[string]any) {
	for _, name := range upstreamFileAttributes {
		delete(attributes, name)
	}
}

// appendAttributes appends attributes as a JSON object with sorted keys. A value
// that JSON cannot express (NaN, infinity, a channel) is left out: a header
// attribute that odd must not stop positions from being saved.
func appendAttributes(b []byte, attributes map[string]any) []byte {
	keys := make([]string, 0, len(attributes))
	for key := range attributes {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b = append(b, '{')
	first := true
	for _, key := range keys {
		mark := len(b)
		if !first {
			b = append(b, ',')
		}
		b = append(appendJSONString(b, key), ':')
		var ok bool
		if b, ok = appendJSON(b, attributes[key], 0); !ok {
			b = b[:mark]
			continue
		}
		first = false
	}
	return append(b, '}')
}

// maxDepth is how deep attributes may be nested; deeper ones are left out.
const maxDepth = 64

func appendJSON(b []byte, value any, depth int) ([]byte, bool) {
	if depth > maxDepth {
		return b, false
	}
	switch v := value.(type) {
	case nil:
		return append(b, "null"...), true
	case string:
		return appendJSONString(b, v), true
	case bool:
		return strconv.AppendBool(b, v), true
	case int64:
		return strconv.AppendInt(b, v, 10), true
	case int:
		return strconv.AppendInt(b, int64(v), 10), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return b, false
		}
		at := len(b)
		b = strconv.AppendFloat(b, v, 'g', -1, 64)
		if !bytes.ContainsAny(b[at:], ".e") {
			b = append(b, ".0"...)
		}
		return b, true
	case []any:
		b = append(b, '[')
		for i, element := range v {
			if i > 0 {
				b = append(b, ',')
			}
			var ok bool
			if b, ok = appendJSON(b, element, depth+1); !ok {
				return b, false
			}
		}
		return append(b, ']'), true
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		b = append(b, '{')
		for i, key := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendJSONString(b, key), ':')
			var ok bool
			if b, ok = appendJSON(b, v[key], depth+1); !ok {
				return b, false
			}
		}
		return append(b, '}'), true
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return b, false
		}
		return append(b, text...), true
	}
}

func appendJSONString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			text, err := json.Marshal(s)
			if err != nil {
				return append(b, `""`...)
			}
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// attributeDecoder decodes attributes. Files of one kind share most names and
// many values; those are kept, so that they exist once.
type attributeDecoder struct {
	names  map[string]string
	values map[string]any
	// last are the attributes of the last object, in order: most often the next
	// one has the same names, and a comparison is cheaper than a look-up.
	last []attribute
	// The text of the last object of ours, in the value that is decoded, and what
	// was made of it: files with the same attributes share them.
	lastText   []byte
	lastObject map[string]any
}

// attribute is a name and a text, the text as a value too.
type attribute struct {
	name, text string
	value      any
}

// maxShared is how many names and how many values are kept.
const maxShared = 1024

// decode decodes one JSON object. Numbers of ours are int64 without a point or
// an exponent; all numbers of upstream's are float64. It fails with ErrMalformed;
// the complaint is about an attribute that was left out.
//
// text must stay as it is as long as the decoder is used.
func (d *attributeDecoder) decode(text []byte, ours bool) (attributes map[string]any, complaint, err error) {
	if ours && d.lastObject != nil && bytes.Equal(text, d.lastText) {
		return d.lastObject, nil, nil
	}
	attributes, ok := d.decodePlain(text)
	if !ok {
		if attributes, err = decodeObject(text, ours); err != nil {
			return nil, nil, err
		}
	}
	if !ours {
		complaint = migrateHeaderAttributes(attributes)
		dropFileAttributes(attributes)
	}
	if len(attributes) == 0 {
		return nil, complaint, nil
	}
	if ours {
		d.lastText, d.lastObject = text, attributes
	}
	return attributes, complaint, nil
}

// decodeObject decodes any JSON object.
func decodeObject(text []byte, ours bool) (attributes map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&attributes); err != nil {
		return nil, fmt.Errorf("%w attributes: %w", ErrMalformed, err)
	}
	for key, value := range attributes {
		attributes[key] = settleNumbers(value, ours)
	}
	return attributes, nil
}

// decodePlain decodes an object of strings without escapes, which nearly all
// are. ok is false for everything else, well-formed or not.
func (d *attributeDecoder) decodePlain(text []byte) (attributes map[string]any, ok bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, false
	}
	rest := text[1 : len(text)-1]
	attributes = make(map[string]any)
	for i := 0; len(rest) > 0; i++ {
		var name, value []byte
		if name, rest, ok = cutPlainString(rest); !ok {
			return nil, false
		}
		if len(rest) == 0 || rest[0] != ':' {
			return nil, false
		}
		if value, rest, ok = cutPlainString(rest[1:]); !ok {
			return nil, false
		}
		if i == len(d.last) {
			d.last = append(d.last, attribute{})
		}
		a := &d.last[i]
		if a.name != string(name) {
			a.name = d.name(name)
		}
		if a.value == nil || a.text != string(value) {
			a.text, a.value = d.value(value)
		}
		attributes[a.name] = a.value
		if len(rest) == 0 {
			break
		}
		if rest[0] != ',' || len(rest) == 1 {
			return nil, false
		}
		rest = rest[1:]
	}
	return attributes, true
}

// cutPlainString cuts a JSON string that needs no decoding off b.
func cutPlainString(b []byte) (s, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return b[1:i], b[i+1:], true
		case c < ' ' || c == '\\' || c >= utf8.RuneSelf:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

func (d *attributeDecoder) name(b []byte) string {
	if name, ok := d.names[string(b)]; ok {
		return name
	}
	name := string(b)
	if d.names == nil {
		d.names = make(map[string]string)
	}
	if len(d.names) < maxShared {
		d.names[name] = name
	}
	return name
}

func (d *attributeDecoder) value(b []byte) (text string, value any) {
	if value, ok := d.values[string(b)]; ok {
		return value.(string), value
	}
	text = string(b)
	value = text
	if d.values == nil {
		d.values = make(map[string]any)
	}
	if len(d.values) < maxShared {
		d.values[text] = value
	}
	return text, value
}

// settleNumbers makes numbers of json.Number.
func settleNumbers(value any, ours bool) any {
	switch v := value.(type) {
	case json.Number:
		if ours && !strings.ContainsAny(string(v), ".eE") {
			if i, err := v.Int64(); err == nil {
				return i
			}
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return string(v)
	case []any:
		for i := range v {
			v[i] = settleNumbers(v[i], ours)
		}
	case map[string]any:
		for key := range v {
			v[key] = settleNumbers(v[key], ours)
		}
	}
	return value
}

// migrateHeaderAttributes moves header attributes up from where very old
// versions had them. It fails with ErrHeaderAttributes if they are not an object;
// then they are gone, and the rest is unharmed.
func migrateHeaderAttributes(attributes map[string]any) error {
	nested, there := attributes["HeaderAttributes"]
	if !there {
		return nil
	}
	delete(attributes, "HeaderAttributes")
	members, ok := nested.(map[string]any)
	if !ok {
		return ErrHeaderAttributes
	}
	for key, value := range members {
		attributes[key] = value
	}
	return nil
}
