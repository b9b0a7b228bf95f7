//go:build unix

package match

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBothWaysToStatAgree(t *testing.T) {
	dir := t.TempDir()
	makeFiles(t, dir, "file", "sub/")
	for _, name := range []string{"file", "sub", "missing", "file/below"} {
		var direct, compatible fileStat
		require.NoError(t, statPath(newPathName(filepath.Join(dir, name)), &direct))
		require.NoError(t, statPathCompatibly(newPathName(filepath.Join(dir, name)), &compatible))
		assert.Equal(t, compatible, direct, name)
		assert.Equal(t, name != "missing" && name != "file/below", direct.kind != kindMissing)
	}
}
