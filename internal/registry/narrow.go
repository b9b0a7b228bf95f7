package registry

import "slices"

// With thousands of files that begin alike (the header of a CSV, of an IIS log)
// each file would be compared with each other one. So when there are many
// candidates, only some are looked at.
const (
	fewCandidates = 32 // up to so many, all are
	someUnowned   = 64 // whose file is gone: the latest ones
	someOwned     = 8  // whose file lives: those with the most similar path
)

// narrow leaves the candidates that are worth looking at for s.
func (g *Registry) narrow(found []*Record, s Sighting) []*Record {
	if len(found) <= fewCandidates {
		return found
	}
	if r := g.byLocator[s.Locator]; r != nil && !r.owned && slices.Contains(found, r) {
		return []*Record{r} // a file that is where it was
	}
	var unowned, owned []*Record
	for _, r := range found {
		if r.owned {
			owned = append(owned, r)
		} else {
			unowned = append(unowned, r)
		}
	}
	unowned = best(unowned, someUnowned, func(r *Record) int { return int(r.seen<<1) | bit(r.orphan) })
	owned = best(owned, someOwned, func(r *Record) int { return commonPrefix(r.State.Path, s.Path) })
	return append(unowned, owned...)
}

// best leaves the n records with the highest scores, the youngest of equal ones.
func best(records []*Record, n int, score func(*Record) int) []*Record {
	if len(records) <= n {
		return records
	}
	type scored struct {
		r *Record
		s int
	}
	all := make([]scored, len(records))
	for i, r := range records {
		all[i] = scored{r, score(r)}
	}
	slices.SortFunc(all, func(a, b scored) int {
		if a.s != b.s {
			return b.s - a.s
		}
		return compare(b.r.serial, a.r.serial)
	})
	for i := range n {
		records[i] = all[i].r
	}
	return records[:n]
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
