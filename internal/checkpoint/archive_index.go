package checkpoint

import (
	"crypto/sha256"
	"slices"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// archiveIndex finds archived States by how a file begins, without a look at
// the storage: by the digests of its beginnings of the lengths that occur.
type archiveIndex struct {
	byDigest map[fileid.Digest][]*archivedState
	lengths  []int       // that occur, ascending
	occurs   map[int]int // how often each does
}

func (x *archiveIndex) add(a *archivedState) {
	if x.byDigest == nil {
		x.byDigest = make(map[fileid.Digest][]*archivedState)
		x.occurs = make(map[int]int)
	}
	x.byDigest[a.digest] = append(x.byDigest[a.digest], a)
	if x.occurs[a.length]++; x.occurs[a.length] == 1 {
		at, _ := slices.BinarySearch(x.lengths, a.length)
		x.lengths = slices.Insert(x.lengths, at, a.length)
	}
}

func (x *archiveIndex) remove(a *archivedState) {
	same := x.byDigest[a.digest]
	at := slices.Index(same, a)
	if at < 0 {
		return
	}
	if same = slices.Delete(same, at, at+1); len(same) == 0 {
		delete(x.byDigest, a.digest)
	} else {
		x.byDigest[a.digest] = same
	}
	if x.occurs[a.length]--; x.occurs[a.length] == 0 {
		delete(x.occurs, a.length)
		at, _ := slices.BinarySearch(x.lengths, a.length)
		x.lengths = slices.Delete(x.lengths, at, at+1)
	}
}

// find hashes head once, and looks at the digest at every length that occurs.
func (x *archiveIndex) find(head []byte) []*fileid.State {
	if len(x.lengths) == 0 || len(head) < x.lengths[0] {
		return nil
	}
	var (
		states []*fileid.State
		sum    [sha256.Size]byte
		digest fileid.Digest
	)
	h := sha256.New()
	hashed := 0
	for _, length := range x.lengths {
		if length > len(head) {
			break
		}
		h.Write(head[hashed:length])
		hashed = length
		copy(digest[:], h.Sum(sum[:0]))
		for _, a := range x.byDigest[digest] {
			if a.length == length {
				states = append(states, a.state)
			}
		}
	}
	slices.Reverse(states)
	return states
}
