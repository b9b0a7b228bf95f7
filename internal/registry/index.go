package registry

import (
	"iter"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// headKey finds fingerprints by their bytes: a hash of a beginning, of its length,
// and of whether that is the whole fingerprint. A fingerprint stands under its
// whole length, which finds it for any file that goes on from it, and under each
// step below, which finds it for a file that is shorter than it. Steps are few,
// since each costs a map entry per file. Whoever finds a fingerprint compares it:
// two keys may be the same by chance.
type headKey uint64

func keyOf(length int, sum uint64, whole bool) headKey {
	k := sum ^ uint64(length)*0x9E3779B97F4A7C15
	if whole {
		k = ^k
	}
	return headKey(k)
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
		k := digestKey{f.Len(), f.Digest()}
		g.byDigest[k] = append(g.byDigest[k], r)
		return
	}
	for k := range headKeys(f.Head()) {
		g.byHead[k] = append(g.byHead[k], r)
	}
}

// headKeys are the keys under which a fingerprint stands.
func headKeys(head []byte) iter.Seq[headKey] {
	return func(yield func(headKey) bool) {
		if !yield(keyOf(len(head), xxhash.Sum64(head), true)) {
			return
		}
		for n := firstStep; n < len(head); n *= stepFactor {
			if !yield(keyOf(n, xxhash.Sum64(head[:n]), false)) {
				return
			}
		}
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
		removeFrom(g.byDigest, digestKey{f.Len(), f.Digest()}, r)
		return
	}
	for k := range headKeys(f.Head()) {
		removeFrom(g.byHead, k, r)
	}
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
		for _, r := range g.narrow(g.byHead[keyOf(n, sum.Sum64(), true)], s) {
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
	for _, r := range g.byHead[keyOf(step, xxhash.Sum64(head[:step]), false)] {
		if looked++; looked > maxShorter {
			break
		}
		if r.State.Fingerprint.Len() > len(head) && r.State.Fingerprint.StartsWith(head) {
			found = append(found, r)
		}
	}
	return found
}
