package registry

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// headKey finds fingerprints by their bytes: the XXH64 of a beginning of the
// given length. A fingerprint stands under its whole length, which finds it
// for any file that goes on from it, and under each step below, which finds it
// for a file that is shorter than it. Steps are few, since each costs a map
// entry per file.
type headKey struct {
	length int
	sum    uint64
	whole  bool
}

// digestKey finds fingerprints of which only the digest is known.
type digestKey struct {
	length int
	digest fileid.Digest
}

// firstStep is the shortest beginning by which a longer fingerprint is found,
// stepFactor is from one step to the next: 4, 16, 64, 256, 1024 bytes.
const (
	firstStep  = 4
	stepFactor = 4
)

// maxShorter bounds how many longer fingerprints are looked at for a file that
// is shorter than they are: with thousands of files that begin alike it must
// not become quadratic.
const maxShorter = 128

func (g *Registry) index(r *Record) {
	g.changes++
	f := r.State.Fingerprint
	if f.Len() == 0 {
		return
	}
	if g.lengths[f.Len()]++; g.lengths[f.Len()] == 1 {
		g.sorted = nil
	}
	if f.IsHashed() {
		r.digest = digestKey{f.Len(), f.Digest()}
		g.byDigest[r.digest] = append(g.byDigest[r.digest], r)
		return
	}
	head := f.Head()
	r.keys = append(r.keys[:0], headKey{len(head), xxhash.Sum64(head), true})
	for n := firstStep; n < len(head); n *= stepFactor {
		r.keys = append(r.keys, headKey{n, xxhash.Sum64(head[:n]), false})
	}
	for _, k := range r.keys {
		g.byHead[k] = append(g.byHead[k], r)
	}
}

func (g *Registry) unindex(r *Record) {
	g.changes++
	f := r.State.Fingerprint
	if f.Len() == 0 {
		return
	}
	if g.lengths[f.Len()]--; g.lengths[f.Len()] == 0 {
		delete(g.lengths, f.Len())
		g.sorted = nil
	}
	if f.IsHashed() {
		removeFrom(g.byDigest, r.digest, r)
		return
	}
	for _, k := range r.keys {
		removeFrom(g.byHead, k, r)
	}
	r.keys = r.keys[:0]
}

func removeFrom[K comparable](m map[K][]*Record, k K, r *Record) {
	s := m[k]
	i := slices.Index(s, r)
	if i < 0 {
		return
	}
	s[i] = s[len(s)-1]
	s[len(s)-1] = nil
	if s = s[:len(s)-1]; len(s) == 0 {
		delete(m, k)
	} else {
		m[k] = s
	}
}

// MaxFingerprint is the length of the longest known fingerprint: so many bytes
// of a file's beginning are needed to tell who it is.
func (g *Registry) MaxFingerprint() int {
	g.sortLengths()
	if len(g.sorted) == 0 {
		return 0
	}
	return g.sorted[len(g.sorted)-1]
}

func (g *Registry) sortLengths() {
	if g.sorted != nil || len(g.lengths) == 0 {
		return
	}
	for n := range g.lengths {
		g.sorted = append(g.sorted, n)
	}
	slices.Sort(g.sorted)
}

// candidates are the States whose fingerprint goes with the beginning of the
// file: first those that are a prefix of it, then those that it is a prefix of.
// Of very many only some are given: see narrow.
func (g *Registry) candidates(s Sighting) []*Record {
	head := s.Head
	if len(head) == 0 {
		return nil
	}
	var found []*Record
	g.sortLengths()
	var sum xxhash.Digest
	sum.Reset()
	done := 0
	for _, n := range g.sorted {
		if n > len(head) {
			break
		}
		_, _ = sum.Write(head[done:n])
		done = n
		for _, r := range g.narrow(g.byHead[headKey{n, sum.Sum64(), true}], s) {
			if r.State.Fingerprint.IsPrefixOf(head) {
				found = append(found, r)
			}
		}
		if len(g.byDigest) > 0 {
			found = append(found, g.narrow(g.byDigest[digestKey{n, fileid.DigestOf(head[:n])}], s)...)
		}
	}
	if len(head) < firstStep {
		return found
	}
	step := firstStep
	for step*stepFactor <= len(head) {
		step *= stepFactor
	}
	looked := 0
	for _, r := range g.byHead[headKey{step, xxhash.Sum64(head[:step]), false}] {
		if looked++; looked > maxShorter {
			break
		}
		if r.State.Fingerprint.Len() > len(head) && r.State.Fingerprint.StartsWith(head) {
			found = append(found, r)
		}
	}
	return found
}
