package batch

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
)

// Position is a place between two records of a file at which reading can go
// on. It is the caller's: nothing here looks into it.
type Position struct {
	Offset       int64
	RecordNumber int64
	Skipping     bool
}

// ledger knows, for a pipeline whose operators may hold records, where every
// record that went in still is. Each record has a tag of its own - its observed
// timestamp, made unique and increasing - which operators carry along. The
// ledger counts the places where the record is: in a call under way, in an
// operator, on its way between operators, in a batch that is not accepted yet.
// With the last place gone, the record is settled. A record that was combined
// into another one stays unsettled as long as that one.
//
// All methods are safe for concurrent use.
type ledger struct {
	mu       sync.Mutex
	last     int64  // the last tag that was given out
	runs     []*run // in order of their tags; settled ones are swept now and then
	settled  int    // how many of runs are settled
	files    map[uint64]*heldFile
	absorbed map[int64][]int64 // tag of a combined record to those that it contains
	epochs   uint32            // the last epoch that was given out

	// rewound is set from the first refused batch on: until then no record has
	// an epoch, and nobody needs to look for one.
	rewound atomic.Bool
}

// run is a row of records of one file that went in together: their tags follow
// each other.
type run struct {
	first  int64
	file   *heldFile
	epoch  uint32
	void   bool       // read again: what comes out of it is left out
	places []int32    // per record, in how many places it is
	before []Position // per record, where reading goes on to get it again
	open   int        // records with a place
	oldest int        // no record before this one has a place
}

// heldFile is what the ledger knows of one file, as long as it has records in the pipeline.
type heldFile struct {
	id      uint64
	runs    []*run // neither void nor settled, oldest first
	alive   int    // runs that are not settled, void ones included
	epoch   uint32 // of the records that go in now
	refused bool   // some of its records were refused; reading has to go on at again
	again   Position
	rested  bool // nothing of it is to be read for now
}

func newLedger() *ledger {
	return &ledger{files: make(map[uint64]*heldFile), absorbed: make(map[int64][]int64)}
}

// enter gives tags to len(before) records of a file, the first of which it
// returns, and counts each as being in one place: the call that feeds it.
func (l *ledger) enter(now int64, file uint64, before []Position) int64 {
	r := &run{places: make([]int32, len(before)), before: append([]Position(nil), before...), open: len(before)}
	for i := range r.places {
		r.places[i] = 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enterLocked(now, file, r, len(before))
}

// enterTogether gives one tag to n records of a file which stay together, the
// first of which is at before, and counts them as being in one place. There are
// tags to part them with.
func (l *ledger) enterTogether(now int64, file uint64, before Position, n int) int64 {
	r := &run{places: []int32{1}, before: []Position{before}, open: 1}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enterLocked(now, file, r, n)
}

func (l *ledger) enterLocked(now int64, file uint64, r *run, n int) int64 {
	r.first = max(now, l.last+1)
	l.last = r.first + int64(n) - 1
	f := l.files[file]
	if f == nil {
		f = &heldFile{id: file}
		l.files[file] = f
	}
	r.file, r.epoch, r.void = f, f.epoch, f.refused
	f.alive++
	if !r.void {
		f.runs = append(f.runs, r)
	}
	l.runs = append(l.runs, r)
	return r.first
}

// part parts records that entered together and have this tag: those from before
// on are in a place of their own from now on, and get the tag that is returned.
// It must be called while the others still have theirs.
func (l *ledger) part(tag int64, before Position) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, _ := l.find(tag); r != nil {
		r.places = append(r.places, 1)
		r.before = append(r.before, before)
		r.open++
	}
	return tag + 1
}

// find returns the run and the index in it of the record with this tag, nil if it is settled or unknown.
func (l *ledger) find(tag int64) (*run, int) {
	i := sort.Search(len(l.runs), func(i int) bool { return l.runs[i].first > tag }) - 1
	if i < 0 {
		return nil, 0
	}
	r := l.runs[i]
	if k := tag - r.first; k < int64(len(r.places)) && r.places[k] > 0 {
		return r, int(k)
	}
	return nil, 0
}

// hold counts one more place for a record.
func (l *ledger) hold(tag int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holdLocked(tag)
}

func (l *ledger) holdLocked(tag int64) {
	if r, i := l.find(tag); r != nil {
		r.places[i]++
	}
}

// release counts one place less for each record.
func (l *ledger) release(tags []int64) {
	if len(tags) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, tag := range tags {
		l.releaseLocked(tag)
	}
	l.sweep()
}

// leave counts one place less for each of n records from first on: the call that fed them is over.
func (l *ledger) leave(first int64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for tag := first; tag < first+int64(n); tag++ {
		l.releaseLocked(tag)
	}
	l.sweep()
}

func (l *ledger) releaseLocked(tag int64) {
	r, i := l.find(tag)
	if r == nil {
		return
	}
	r.places[i]--
	if r.places[i] > 0 {
		return
	}
	r.open--
	if r.open == 0 {
		l.close(r)
	} else {
		r.shrink()
	}
	if members, ok := l.absorbed[tag]; ok {
		delete(l.absorbed, tag)
		for _, member := range members {
			l.releaseLocked(member)
		}
	}
}

// close takes note that all records of a run are settled.
func (l *ledger) close(r *run) {
	l.settled++
	f := r.file
	f.alive--
	if i := slices.Index(f.runs, r); i >= 0 {
		f.runs = slices.Delete(f.runs, i, i+1)
	}
	if f.alive == 0 && !f.refused {
		delete(l.files, f.id)
	}
}

// shrink gives the memory of settled records back, when few are left and those
// are close together: as a rule the last record of a turn is the one that is held.
func (r *run) shrink() {
	const small = 64
	if len(r.places) < small || r.open*8 > len(r.places) || r.open&(r.open-1) != 0 { // look now and then only
		return
	}
	from, to := 0, len(r.places)
	for r.places[from] == 0 {
		from++
	}
	for r.places[to-1] == 0 {
		to--
	}
	if (to-from)*2 > len(r.places) {
		return
	}
	r.first += int64(from)
	r.places = slices.Clone(r.places[from:to])
	r.before = slices.Clone(r.before[from:to])
	r.oldest = 0
}

// sweep forgets settled runs once they are the greater part.
func (l *ledger) sweep() {
	if l.settled < 16 || l.settled*2 < len(l.runs) {
		return
	}
	kept := l.runs[:0]
	for _, r := range l.runs {
		if r.open > 0 {
			kept = append(kept, r)
		}
	}
	clear(l.runs[len(kept):])
	l.runs, l.settled = kept, 0
}

// absorb takes note that members were combined into the record base. Each
// member gives one of its places to base, which keeps it until it is settled.
func (l *ledger) absorb(base int64, members []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, _ := l.find(base); r == nil {
		for _, member := range members { // nothing is known of base: do not keep them for ever
			l.releaseLocked(member)
		}
		return
	}
	l.absorbed[base] = append(l.absorbed[base], members...)
}

// epochOf tells how often the file was rewound before this record went in.
func (l *ledger) epochOf(tag int64) uint32 {
	if !l.rewound.Load() {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, _ := l.find(tag); r != nil {
		return r.epoch
	}
	return 0
}

// wanted appends to dest those entries that are to be delivered: all but those
// that will be read again, with everything that was combined into them.
func (l *ledger) wanted(dest, entries []*entry.Entry) []*entry.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		if !l.isVoidLocked(tagOf(e)) {
			dest = append(dest, e)
		}
	}
	return dest
}

// isVoid tells whether a record will be read again, with everything that was combined into it.
func (l *ledger) isVoid(tag int64) bool {
	if !l.rewound.Load() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isVoidLocked(tag)
}

func (l *ledger) isVoidLocked(tag int64) bool {
	r, _ := l.find(tag)
	if r == nil || !r.void {
		return false
	}
	for _, member := range l.absorbed[tag] {
		if !l.isVoidLocked(member) {
			return false
		}
	}
	return true
}

// held returns where the oldest unsettled record of a file begins.
func (l *ledger) held(file uint64) (Position, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[file]
	if f == nil {
		return Position{}, false
	}
	return f.oldest()
}

func (f *heldFile) oldest() (Position, bool) {
	if f.refused {
		return f.again, true
	}
	if len(f.runs) == 0 {
		return Position{}, false
	}
	r := f.runs[0]
	for r.places[r.oldest] == 0 {
		r.oldest++
	}
	return r.before[r.oldest], true
}

// refuse takes note that the records with these tags were not accepted: their
// files have to be read again from their oldest unsettled record on, and what
// the operators still hold of them is not to be combined with what is read then.
func (l *ledger) refuse(tags []int64) {
	l.rewound.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, tag := range tags {
		l.rewindLocked(tag)
	}
}

func (l *ledger) rewindLocked(tag int64) {
	r, _ := l.find(tag)
	if r == nil {
		return
	}
	if !r.void {
		l.rewindFileLocked(r.file)
	}
	for _, member := range l.absorbed[tag] {
		l.rewindLocked(member)
	}
}

// rewindFileLocked makes all that is inside of a file void.
func (l *ledger) rewindFileLocked(f *heldFile) {
	f.again, f.refused = f.oldest()
	for _, run := range f.runs {
		run.void = true
	}
	f.runs = nil
	l.epochs++
	f.epoch = l.epochs
}

// resume returns where reading of a file, which does go on, has to do so because
// records of it were refused, and takes the mark away.
func (l *ledger) resume(file uint64) (Position, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[file]
	if f == nil {
		return Position{}, false
	}
	f.rested = false
	if !f.refused {
		return Position{}, false
	}
	f.refused = false
	if f.alive == 0 {
		delete(l.files, file)
	}
	return f.again, true
}

// filesOf lists the distinct files of the records with these tags and of those combined into them.
func (l *ledger) filesOf(tags []int64) []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var files []uint64
	var last *heldFile
	seen := make(map[uint64]struct{})
	var visit func(tag int64)
	visit = func(tag int64) {
		if r, _ := l.find(tag); r != nil && r.file != last {
			last = r.file
			if _, ok := seen[last.id]; !ok {
				seen[last.id] = struct{}{}
				files = append(files, last.id)
			}
		}
		for _, member := range l.absorbed[tag] {
			visit(member)
		}
	}
	for _, tag := range tags {
		visit(tag)
	}
	return files
}
