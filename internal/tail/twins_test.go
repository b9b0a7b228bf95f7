package tail

import (
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rewriteInPlace gives a file another content.
func (r *rig) rewriteInPlace(name, content string) {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(r.path(name), []byte(content), 0o644)) // truncates: the inode stays
	r.changed(name)
}

func TestAHeldCopyThatIsRewrittenIsReadFromItsBeginning(t *testing.T) {
	text, bodies := manyLines("the same", 3000) // more than sharedShort
	longer, ofLonger := manyLines("rewritten and longer", 4000)
	equal, ofEqual := manyLines("the SAME", 3000)
	shorter, ofShorter := manyLines("rewritten and shorter", 1500)
	for _, c := range []struct {
		name, content string
		bodies        []string
	}{
		{"longer than it was", longer, ofLonger},
		{"as long as it was", equal, ofEqual},
		{"shorter than it was", shorter, ofShorter},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.start().write("in/a", text).polls(2)
			r.write("in/b", text).polls(2)
			require.Len(t, r.sink.delivered(), len(bodies), "the copy is held")
			r.rewriteInPlace("in/b", c.content)
			r.polls(60)
			require.Equal(t, append(append([]string{}, bodies...), c.bodies...), r.sink.delivered())
		})
	}
}

// pack compresses a file as gzip does: into a file of its own.
func (r *rig) pack(name string) *rig {
	r.t.Helper()
	content, err := os.ReadFile(r.path(name))
	require.NoError(r.t, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(content)
	require.NoError(r.t, err)
	require.NoError(r.t, z.Close())
	r.rewriteInPlace(name+".gz", packed.String())
	return r.remove(name)
}

func TestALargeFileIsKnownAgainWhenItIsCompressedWhileTheDestinationBlocks(t *testing.T) {
	r := newRig(t)
	r.conf.Compression = CompressionAuto
	text, bodies := manyLines(strings.Repeat("long ", 20), 15_000) // more than inlineDecompress
	require.Greater(t, len(text), inlineDecompress)
	r.start().write("in/a", text).polls(3)
	require.Len(t, r.sink.delivered(), len(bodies))
	r.sink.set(blocking)
	r.write("in/other", "other\n").poll() // the only worker waits with it
	r.pack("in/a")
	r.polls(20) // the handle of in/a is let go meanwhile
	r.sink.set(accepting)
	r.polls(20)
	require.Equal(t, append(bodies, "other"), r.sink.delivered())
}

func TestACompressedFileIsNotReadAgainForEachQuestionAboutIt(t *testing.T) {
	r := newRig(t)
	r.conf.Compression = CompressionAuto
	var ofPacked int64
	r.layer.read = func(path string, n int, offset int64) error {
		if !strings.HasSuffix(path, ".gz") {
			return nil
		}
		if info, err := os.Stat(path); err == nil {
			ofPacked += max(min(int64(n), info.Size()-offset), 0)
		}
		return nil
	}
	size := func(name string) int64 {
		info, err := os.Stat(r.path(name))
		require.NoError(t, err)
		return info.Size()
	}
	const raw = 2000 // what is looked at to see whether a file is compressed, twice

	text, bodies := manyLines("rotated", 5000)
	r.start().write("in/a", text).polls(3)
	r.pack("in/a")
	r.polls(20)
	require.Equal(t, bodies, r.sink.delivered())
	require.LessOrEqual(t, ofPacked, 2*size("in/a.gz")+raw, "once when it is held, once when its original is gone")

	ofPacked = 0
	text, bodies = manyLines("new", 5000)
	r.write("out/b", text).pack("out/b")
	r.rename("out/b.gz", "in/b.gz").polls(5)
	require.Equal(t, bodies, r.sink.delivered()[len(bodies):])
	require.LessOrEqual(t, ofPacked, size("in/b.gz")+raw)
}

func TestNothingOfTwoFilesWithTheSameContentIsReadThatIsBeforeTheEndTheyStartAt(t *testing.T) {
	r := newRig(t)
	r.conf.StartAtEnd = true
	r.write("in/a", "old\nand older\n").write("in/b", "old\nand older\n")
	r.start().polls(60) // longer than the second one is held
	require.Empty(t, r.sink.delivered())
	r.write("in/a", "new in a\n").write("in/b", "new in b\n").polls(60)
	require.ElementsMatch(t, []string{"new in a", "new in b"}, r.sink.delivered())
}
