package registry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// crowd makes many States that begin alike, with the locators 1 to n.
func crowd(g *Registry, n int, owned bool) []*Record {
	var all []*Record
	for i := range n {
		r := g.Add(&fileid.State{
			Fingerprint: fileid.NewFingerprint([]byte(strings.Repeat("h", 100))),
			Locator:     fileid.Locator{Device: 1, Inode: uint64(i + 1)},
			Path:        fmt.Sprintf("/logs/app%03d.log", i),
		})
		if owned {
			g.Own(r)
		}
		all = append(all, r)
	}
	return all
}

func TestInACrowdAFileThatIsWhereItWasIsFound(t *testing.T) {
	g := New(1000)
	all := crowd(g, 500, false)
	d := g.Resolve(Sighting{Locator: fileid.Locator{Device: 1, Inode: 300}, Head: []byte(strings.Repeat("h", 200)), Size: 200}, nil, nil)
	require.Equal(t, Continue, d.Kind)
	require.Same(t, all[299], d.Record)
}

func TestInACrowdACopyIsHeldForTheFileWithTheMostSimilarPath(t *testing.T) {
	g := New(1000)
	all := crowd(g, 500, true)
	var apart []*Record
	s := Sighting{Locator: fileid.Locator{Device: 1, Inode: 9999}, Head: []byte(strings.Repeat("h", 200)), Size: 200, Path: "/logs/app123.log.1"}
	seen := map[*Record]bool{}
	for {
		d := g.Resolve(s, nil, apart)
		if d.Kind != Hold {
			require.Equal(t, Alike, d.Kind)
			break
		}
		seen[d.Record] = true
		apart = append(apart, d.Record)
	}
	require.True(t, seen[all[123]])
	require.Len(t, seen, someOwned, "and few others are looked at")
}

func TestInACrowdTheLatestOfTheGoneFilesAreAdopted(t *testing.T) {
	g := New(1000)
	all := crowd(g, 500, true)
	g.Release(all[77])
	d := g.Resolve(Sighting{Head: []byte(strings.Repeat("h", 200)), Size: 200, Path: "/other"}, nil, nil)
	require.Equal(t, Adopt, d.Kind)
	require.Same(t, all[77], d.Record)
}
