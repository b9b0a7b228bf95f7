package filelogreceiver

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Records of a compressed file that operators hold when the Collector is killed
// are before the member that is read next.
func TestACompressedFileOfWhichOperatorsHoldRecordsIsReadAgainFromThereAfterAKill(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"compression": "auto", "operators": []any{map[string]any{
		"type": "recombine", "combine_field": "body", "is_first_entry": `body startsWith "first"`, "force_flush_period": "1h",
	}}}).stored()
	l.write("a.gz", gzipped(t, "first a\nmore a\nfirst b\nmore b\n")).start().expect("first a\nmore a")

	killed := t.TempDir() // what a kill would leave now: b is held
	require.NoError(t, os.CopyFS(killed, os.DirFS(l.storage)))

	// A further member goes on with the held record.
	l.write("a.gz", gzipped(t, "end of b\nfirst c\n")).expect("first a\nmore a", "first b\nmore b\nend of b")
	l.stop()
	require.Equal(t, []string{"first a\nmore a", "first b\nmore b\nend of b", "first c"}, l.sink.bodies())

	l.storage, l.sink = killed, &sink{}
	l.start().await(1)
	l.still()
	l.stop()
	require.Equal(t, []string{"first b\nmore b\nend of b", "first c"}, l.sink.bodies())
}
