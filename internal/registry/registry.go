// Package registry is what is known: one State per logical file, found again
// by evidence. It is pure: no I/O, no clock, no locks. The poll loop owns it,
// shows it what is seen and acts on its decisions.
package registry

import (
	"slices"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// missedPolls is for how many polls a State outlives its file, so that a file
// that is renamed, restored or compressed between two polls is known again.
const missedPolls = 3

// Record is one State with what the registry knows about its file.
type Record struct {
	State *fileid.State
	// Held: more of its file was read than its State says, and waits in operators;
	// a file that adopts it goes on behind that.
	Held bool
	// Copied: another file with the same content was seen. What this one loses is
	// not lost then.
	Copied bool

	owned  bool // a file is being read for this State
	orphan bool // its file was rewritten: whoever still has the content may adopt it
	missed int  // polls without its file, counted while not owned; negative: leave it alone so long
	seen   uint64
	serial uint64
	free   int // index in Registry.unowned, -1 while owned
}

// Owned tells whether a file is being read for this State.
func (r *Record) Owned() bool { return r.owned }

// Orphan tells whether the file of this State was rewritten.
func (r *Record) Orphan() bool { return r.orphan }

// Registry holds all known States. It has one owner.
type Registry struct {
	limit     int
	poll      uint64
	serial    uint64
	byLocator map[fileid.Locator]*Record
	byHead    map[headKey][]*Record
	byDigest  map[digestKey][]*Record
	lengths   map[int]int // how many fingerprints have that length
	sorted    []int       // the keys of lengths, ascending; nil when out of date
	unowned   []*Record
	narrowed  narrowed
	changes   uint64 // counts what makes narrowed out of date
	count     int
}

// New makes an empty registry that forgets the States seen longest ago when it
// would hold more than limit; States that are owned are never forgotten.
func New(limit int) *Registry {
	return &Registry{
		limit:     limit,
		byLocator: map[fileid.Locator]*Record{},
		byHead:    map[headKey][]*Record{},
		byDigest:  map[digestKey][]*Record{},
		lengths:   map[int]int{},
	}
}

// Len is the number of known States.
func (g *Registry) Len() int { return g.count }

// KnowsLocator tells whether a State's file was seen at l last.
func (g *Registry) KnowsLocator(l fileid.Locator) bool { return g.byLocator[l] != nil }

// Add makes a State known, without an owner.
func (g *Registry) Add(s *fileid.State) *Record {
	g.serial++
	r := &Record{State: s, seen: g.poll, serial: g.serial, free: -1}
	g.count++
	g.index(r)
	g.indexLocator(r)
	g.setFree(r)
	return r
}

// Own says that a file is now being read for r.
func (g *Registry) Own(r *Record) {
	r.owned, r.orphan, r.missed, r.seen = true, false, 0, g.poll
	g.clearFree(r)
}

// Release says that no file is being read for r any more.
func (g *Registry) Release(r *Record) {
	r.owned, r.missed, r.seen = false, 0, g.poll
	g.setFree(r)
}

// Orphaned says that the file of r was rewritten: r is without an owner, and
// its locator belongs to another State.
func (g *Registry) Orphaned(r *Record) {
	g.dropLocator(r)
	r.State.Locator = fileid.Locator{}
	r.State.StaticRevision++
	g.Release(r)
	r.orphan = true
}

// Forget removes r.
func (g *Registry) Forget(r *Record) {
	g.unindex(r)
	g.dropLocator(r)
	g.clearFree(r)
	g.count--
}

// Locate notes where the file of r is now.
func (g *Registry) Locate(r *Record, path string, l fileid.Locator) {
	s := r.State
	if s.Path == path && s.Locator == l {
		return
	}
	if s.Locator != l {
		g.dropLocator(r)
		s.Locator = l
		g.indexLocator(r)
	}
	s.Path = path
	s.StaticRevision++
}

// Rehead notes that the fingerprint of r is now f, for instance since the file grew.
func (g *Registry) Rehead(r *Record, f fileid.Fingerprint) {
	g.unindex(r)
	r.State.Fingerprint = f
	r.State.StaticRevision++
	g.index(r)
}

// Keep leaves r alone for so many polls although its file is not being read:
// it is known to exist, hidden by age, order or permissions.
func (g *Registry) Keep(r *Record, polls int) { r.missed, r.seen = -polls, g.poll }

// KeepLocator does so for the State whose file was seen at l last, if there is
// one: a file stands there that cannot be read for now.
func (g *Registry) KeepLocator(l fileid.Locator, polls int) {
	if r := g.byLocator[l]; r != nil && !r.owned {
		g.Keep(r, polls)
	}
}

// EndPoll counts a poll for the States without an owner. It appends to dst
// those whose file was missed for too long, and the ones seen longest ago that
// the limit leaves no room for; the caller keeps (Keep) or forgets (Forget) them.
func (g *Registry) EndPoll(dst []*Record) (overdue []*Record, overLimit int) {
	g.poll++
	for _, r := range g.unowned {
		r.missed++
		if r.missed > missedPolls {
			dst = append(dst, r)
		}
	}
	if over := g.count - g.limit; over > 0 && len(g.unowned) > 0 {
		rest := make([]*Record, 0, len(g.unowned))
		for _, r := range g.unowned {
			if r.missed <= missedPolls {
				rest = append(rest, r)
			}
		}
		slices.SortFunc(rest, func(a, b *Record) int { return compare(a.seen, b.seen) })
		overLimit = min(max(over-len(dst), 0), len(rest))
		dst = append(dst, rest[:overLimit]...)
	}
	return dst, overLimit
}

// Unowned calls f for every State without an owner.
func (g *Registry) Unowned(f func(*Record)) {
	for _, r := range g.unowned {
		f(r)
	}
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (g *Registry) setFree(r *Record) {
	g.changes++
	if r.free < 0 {
		r.free = len(g.unowned)
		g.unowned = append(g.unowned, r)
	}
}

func (g *Registry) clearFree(r *Record) {
	g.changes++
	if r.free < 0 {
		return
	}
	last := g.unowned[len(g.unowned)-1]
	g.unowned[r.free] = last
	last.free = r.free
	g.unowned[len(g.unowned)-1] = nil
	g.unowned = g.unowned[:len(g.unowned)-1]
	r.free = -1
}

func (g *Registry) indexLocator(r *Record) {
	g.changes++
	if !r.State.Locator.IsZero() {
		g.byLocator[r.State.Locator] = r
	}
}

func (g *Registry) dropLocator(r *Record) {
	if g.byLocator[r.State.Locator] == r {
		delete(g.byLocator, r.State.Locator)
	}
}
