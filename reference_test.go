package filelogreceiver

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
)

var update = flag.Bool("update", false, "write the README's table and config.schema.yaml anew from config.go")

const (
	readmeFile        = "README.md"
	tableBegin        = "<!-- configuration table: made from config.go by 'make generate' -->"
	tableEnd          = "<!-- end of the configuration table -->"
	exampleEnd        = "<!-- end of the example -->"
	configSource      = "config.go"
	matchConfigFile   = "internal/match/config.go"
	examplesDirectory = "testdata/examples"
	noDefault         = "required"
	structHasDefault  = "see its keys"
)

var (
	exampleBegin = regexp.MustCompile(`<!-- example: ([\w-]+\.yaml) -->`)
	nextSection  = regexp.MustCompile(`(?m)^\w`)
)

// key is one configuration key with what its field and the field's comment say.
type key struct {
	path     string // dotted, as in an error message; items of a list are []
	name     string // the last part of path
	field    string
	typ      reflect.Type
	doc      string // without the sentence about the default
	fallback string // what that sentence says
	value    reflect.Value
	keys     []key // of a nested map
}

// referenceKeys reads all keys from the Config type, its comments and createDefaultConfig.
func referenceKeys(t *testing.T) []key {
	t.Helper()
	comments := map[string]map[string]string{}
	readComments(t, configSource, comments)
	readComments(t, matchConfigFile, comments)
	return keysOf(t, reflect.ValueOf(createDefaultConfig()).Elem(), "", comments)
}

// readComments collects the comments of struct fields: struct (with package), field, text.
func readComments(t *testing.T, file string, into map[string]map[string]string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	require.NoError(t, err)
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if structure, ok := spec.Type.(*ast.StructType); ok {
			into[parsed.Name.Name+"."+spec.Name.Name] = map[string]string{}
			for _, field := range structure.Fields.List {
				for _, name := range field.Names {
					into[parsed.Name.Name+"."+spec.Name.Name][name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
				}
			}
		}
		return true
	})
}

func keysOf(t *testing.T, value reflect.Value, prefix string, comments map[string]map[string]string) []key {
	t.Helper()
	var keys []key
	for i := range value.NumField() {
		field := value.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
		comment := comments[value.Type().String()][field.Name]
		require.NotEmpty(t, name, "%s has no key", field.Name)
		require.NotEmpty(t, comment, "%s has no comment", field.Name)
		k := key{path: prefix + name, name: name, field: field.Name, typ: field.Type, value: value.Field(i)}
		k.doc, k.fallback = splitDoc(field.Name, comment)
		if nested, suffix := nestedStruct(field.Type); nested != nil {
			inner := value.Field(i)
			if inner.Kind() != reflect.Struct {
				inner = reflect.New(nested).Elem()
			}
			k.keys = keysOf(t, inner, prefix+name+suffix+".", comments)
		}
		keys = append(keys, k)
	}
	return keys
}

// nestedStruct tells which struct holds the keys below a key, nil if there is none.
func nestedStruct(typ reflect.Type) (nested reflect.Type, suffix string) {
	if typ == reflect.TypeFor[*component.ID]() || typ == reflect.TypeFor[[]operator.Config]() {
		return nil, ""
	}
	switch {
	case typ.Kind() == reflect.Struct:
		return typ, ""
	case typ.Kind() == reflect.Pointer && typ.Elem().Kind() == reflect.Struct:
		return typ.Elem(), ""
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
		return typ.Elem(), "[]"
	}
	return nil, ""
}

var sentenceEnd = regexp.MustCompile(`\. `)

// splitDoc makes a description and the text about the default of a field's comment.
func splitDoc(field, comment string) (doc, fallback string) {
	var kept []string
	for _, sentence := range strings.Split(sentenceEnd.ReplaceAllString(strings.TrimSuffix(comment, "."), ".\x00"), "\x00") {
		sentence = strings.TrimSuffix(sentence, ".")
		switch {
		case strings.HasPrefix(sentence, "Default "):
			fallback = strings.TrimPrefix(sentence, "Default ")
		case sentence == "No default":
			fallback = noDefault
		default:
			kept = append(kept, sentence+".")
		}
	}
	doc = strings.TrimPrefix(strings.Join(kept, " "), field+" ")
	doc = strings.TrimPrefix(strings.TrimPrefix(doc, "is "), "are ")
	doc = strings.TrimPrefix(doc, "new: ")
	if strings.Contains(comment, field+" is new: ") {
		doc = "new: " + doc
	}
	return strings.ToUpper(doc[:1]) + doc[1:], fallback
}

// typeName is how the README and error messages call a type.
func typeName(typ reflect.Type) string {
	switch {
	case typ == reflect.TypeFor[time.Duration]():
		return "duration"
	case typ == reflect.TypeFor[ByteSize]():
		return "bytes"
	case typ == reflect.TypeFor[*component.ID]():
		return "component id"
	case typ == reflect.TypeFor[[]operator.Config]():
		return "list of operators"
	case typ.Kind() == reflect.Map:
		return "map of strings"
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.String:
		return "list of strings"
	case typ.Kind() == reflect.Slice:
		return "list of maps"
	case typ.Kind() == reflect.Struct, typ.Kind() == reflect.Pointer && typ.Elem().Kind() == reflect.Struct:
		return "map"
	case typ.Kind() == reflect.Pointer:
		return typ.Elem().Kind().String()
	default:
		return typ.Kind().String()
	}
}

// defaultText is what the table says about the default.
func (k key) defaultText() string {
	switch {
	case k.fallback != "":
		return k.fallback
	case typeName(k.typ) == "map":
		return structHasDefault
	case k.typ.Kind() == reflect.Bool:
		return "false"
	case k.typ.Kind() == reflect.String:
		return "empty"
	default:
		return "none"
	}
}

// saysItsDefault tells whether the comment's words about the default are true.
func (k key) saysItsDefault() error {
	text := strings.Trim(k.defaultText(), "`")
	if text == noDefault || text == "none" || text == "empty" || text == structHasDefault {
		if k.value.IsZero() || text == structHasDefault || k.value.Kind() == reflect.Slice && k.value.Len() == 0 {
			return nil
		}
		return fmt.Errorf("'%s' is said to have no default but has %v", k.path, k.value)
	}
	var want any
	var err error
	switch typeName(k.typ) {
	case "duration":
		want, err = time.ParseDuration(text)
	case "bytes":
		var size ByteSize
		err = size.UnmarshalText([]byte(text))
		want = size
	case "bool":
		want, err = strconv.ParseBool(text)
	case "int":
		want, err = strconv.Atoi(text)
	default:
		want = text
	}
	if err != nil {
		return fmt.Errorf("'%s': the default %q is no %s: %w", k.path, text, typeName(k.typ), err)
	}
	if want != k.value.Interface() {
		return fmt.Errorf("'%s' is said to default to %v but does to %v", k.path, want, k.value)
	}
	return nil
}

func walk(keys []key, visit func(key)) {
	for _, k := range keys {
		visit(k)
		walk(k.keys, visit)
	}
}

func TestCommentsSayTheTrueDefaults(t *testing.T) {
	walk(referenceKeys(t), func(k key) { assert.NoError(t, k.saysItsDefault()) })
}

func TestReadmeTableListsEveryKey(t *testing.T) {
	var table strings.Builder
	table.WriteString("\n\n| Key | Type | Default | Meaning, unit and rule |\n| --- | --- | --- | --- |\n")
	walk(referenceKeys(t), func(k key) {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", k.path, typeName(k.typ), k.defaultText(), strings.ReplaceAll(k.doc, "|", "\\|"))
	})
	table.WriteString("\n")
	holdReadme(t, tableBegin, tableEnd, table.String())
}

func TestReadmeShowsTheReceiversOfTheExamples(t *testing.T) {
	content, err := os.ReadFile(readmeFile)
	require.NoError(t, err)
	shown := 0
	for _, match := range exampleBegin.FindAllStringSubmatch(string(content), -1) {
		example, err := os.ReadFile(filepath.Join(examplesDirectory, match[1]))
		require.NoError(t, err)
		_, receivers, ok := strings.Cut(string(example), "\nreceivers:\n")
		require.True(t, ok, "%s has no receivers", match[1])
		end := nextSection.FindStringIndex(receivers)
		require.NotNil(t, end, "%s has no section behind its receivers", match[1])
		holdReadme(t, match[0], exampleEnd, "\n\n```yaml\nreceivers:\n"+strings.TrimRight(receivers[:end[0]], "\n")+"\n```\n\n")
		shown++
	}
	assert.GreaterOrEqual(t, shown, 6)
}

// holdReadme holds what stands between two marks of the README equal to want,
// or makes it so with -update.
func holdReadme(t *testing.T, begin, end, want string) {
	t.Helper()
	content, err := os.ReadFile(readmeFile)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(content), begin)
	require.True(t, ok, "README.md has lost the mark %q", begin)
	got, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "README.md has lost the mark %q", end)
	if *update {
		require.NoError(t, os.WriteFile(readmeFile, []byte(before+begin+want+end+after), 0o644))
		return
	}
	assert.Equal(t, want, got, "run 'make generate'")
}
