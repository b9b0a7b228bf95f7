package batch

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// onResource starts a pipeline that has the attributes of files on the resource.
func onResource(t *testing.T, operators string) *Pipeline {
	return startPipeline(t, PipelineConfig{
		Settings:  Settings{FileAttributesOnResource: true},
		Operators: operatorsOf(t, operators),
	})
}

// feedPaths puts lines in by turns, one of each file.
func feedPaths(t *testing.T, f *Feeder, lines []string, paths ...string) {
	t.Helper()
	for i, line := range lines {
		for file, path := range paths {
			attributes := f.p.NewFileAttributes(map[string]any{logPathKey: path})
			f.Add(uint64(file), attributes, fmt.Sprintf(line, file), Position{Offset: int64(i)}, 0, 0)
			require.NoError(t, f.Process(context.Background()))
		}
	}
}

func TestLinesOfDifferentFilesAreNotJoinedWhenTheirPathIsOnTheResource(t *testing.T) {
	for name, c := range map[string]struct {
		operators   string
		first, last string
		want        string
	}{
		"recombine":                    {`operators: [{type: recombine, combine_field: body, is_last_entry: 'body endsWith "Z"'}]`, "a%d", "b%dZ", "a%d\nb%dZ"},
		"recombine by the path":        {`operators: [{type: recombine, combine_field: body, is_last_entry: 'body endsWith "Z"', source_identifier: 'attributes["log.file.path"]'}]`, "a%d", "b%dZ", "a%d\nb%dZ"},
		"container":                    {`operators: [{type: container, add_metadata_from_filepath: false}]`, "2024-04-13T07:59:37Z stdout P a%d", "2024-04-13T07:59:37Z stdout F b%d", "a%db%d"},
		"container by stanza's parser": {`operators: [{type: container, add_metadata_from_filepath: false}]`, "2024-04-13T09:59:37+02:00 stdout P a%d", "2024-04-13T09:59:37+02:00 stdout F b%d", "a%db%d"},
	} {
		t.Run(name, func(t *testing.T) {
			p := onResource(t, c.operators)
			f := p.NewFeeder()
			feedPaths(t, f, []string{c.first, c.last}, "/var/log/0.log", "/var/log/1.log")
			b := f.Take(0)
			defer b.Accepted()
			require.Equal(t, []string{fmt.Sprintf(c.want, 0, 0), fmt.Sprintf(c.want, 1, 1)}, bodiesOf(b.Logs))
			require.Equal(t, 2, b.Logs.ResourceLogs().Len())
			for _, record := range recordsOf(b.Logs) {
				require.NotContains(t, record["attributes"], logPathKey)
				require.Contains(t, record["resource"], logPathKey)
			}
		})
	}
}

func TestContainerFindsThePodInAPathOnTheResource(t *testing.T) {
	for name, c := range map[string]struct{ operators, line string }{
		"straight":           {"operators: [{type: container}]", "2024-04-13T07:59:37Z stdout F a%d"},
		"operator":           {"operators: [{type: container}, {type: noop}]", "2024-04-13T07:59:37Z stdout F a%d"},
		"by stanza's parser": {"operators: [{type: container}]", "2024-04-13T09:59:37+02:00 stdout F a%d"},
		"docker's":           {"operators: [{type: container}, {type: noop}]", `{"log":"a%d\n","stream":"stdout","time":"2024-04-13T07:59:37.5Z","attrs":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := onResource(t, c.operators)
			f := p.NewFeeder()
			feedPaths(t, f, []string{c.line}, podPaths[0])
			b := f.Take(0)
			defer b.Accepted()
			records := recordsOf(b.Logs)
			require.Len(t, records, 1)
			require.Equal(t, "pod", records[0]["resource"].(map[string]any)["k8s.pod.name"])
			require.Equal(t, podPaths[0], records[0]["resource"].(map[string]any)[logPathKey])
			require.NotContains(t, records[0]["attributes"], logPathKey)
		})
	}
}
