package registry

import "slices"

// With thousands of files that begin alike (the header of a CSV, of an IIS log)
// each file would be compared with each other one. So of many candidates only
// some are looked at.
const (
	fewCandidates = 32   // up to so many, all are
	someUnowned   = 64   // whose file is gone
	someOwned     = 8    // whose file lives: those with the most similar path
	searched      = 2048 // among so many
)

// narrowed is the latest result of narrow: a file is resolved several times in
// a row while it is compared with one candidate after the other.
type narrowed struct {
	first  *Record
	count  int
	path   string
	change uint64 // of the registry
	result []*Record
}

// narrow leaves those of the records, whose fingerprints are all the same, that
// are worth looking at for s.
func (g *Registry) narrow(alike []*Record, s Sighting) []*Record {
	if len(alike) <= fewCandidates {
		return alike
	}
	n := &g.narrowed
	if n.first != alike[0] || n.count != len(alike) || n.path != s.Path || n.change != g.changes {
		*n = narrowed{alike[0], len(alike), s.Path, g.changes, g.search(alike, s)}
	}
	return n.result
}

func (g *Registry) search(alike []*Record, s Sighting) []*Record {
	if r := g.byLocator[s.Locator]; r != nil && !r.owned && r.State.Fingerprint.Equal(alike[0].State.Fingerprint) {
		return []*Record{r} // a file that is where it was
	}
	var unowned []*Record
	if len(g.unowned) <= len(alike) {
		for _, r := range g.unowned {
			if r.State.Fingerprint.Equal(alike[0].State.Fingerprint) {
				unowned = append(unowned, r)
			}
		}
	}
	owned := make([]*Record, 0, someOwned+1)
	scores := make([]int, 0, someOwned+1)
	for _, r := range alike[:min(len(alike), searched)] {
		if !r.owned {
			if len(g.unowned) > len(alike) {
				unowned = append(unowned, r)
			}
			continue
		}
		score := commonPrefix(r.State.Path, s.Path)
		at := len(owned)
		for at > 0 && score > scores[at-1] {
			at--
		}
		if at == someOwned {
			continue
		}
		owned, scores = slices.Insert(owned, at, r), slices.Insert(scores, at, score)
		if len(owned) > someOwned {
			owned, scores = owned[:someOwned], scores[:someOwned]
		}
	}
	if len(unowned) > someUnowned {
		slices.SortFunc(unowned, latestFirst)
		unowned = unowned[:someUnowned]
	}
	return append(unowned, owned...)
}

// latestFirst puts files that were rewritten before others, and those seen
// lately before those seen long ago.
func latestFirst(a, b *Record) int {
	if a.orphan != b.orphan {
		if a.orphan {
			return -1
		}
		return 1
	}
	if c := compare(b.seen, a.seen); c != 0 {
		return c
	}
	return compare(b.serial, a.serial)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
