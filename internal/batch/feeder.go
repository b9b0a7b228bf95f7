package batch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/entry"
)

// Feeder puts records into a pipeline and takes out what comes. One worker owns
// it and uses it again for every turn; it is not safe for concurrent use. A
// file's records must come from one Feeder at a time.
//
// One turn: Add some records, of one file or of several one after the other;
// Process; then Take until Len is zero, delivering each batch.
type Feeder struct {
	p       *Pipeline
	lane    *straightLane  // nil: every record becomes an entry
	early   int            // feed.out up to here goes before what is in lane, the rest behind
	entries []*entry.Entry // added and not processed
	before  []Position     // of each of them, if the pipeline may hold records
	rows    []row
	feed    feedContext
	taken   int // how many of feed.out were taken
	conv    converter
	free    []*entry.Entry // to be used again
	failed  error          // the first attribute of the turn that could not be computed
}

// row is where the records of one file begin among those added.
type row struct {
	file  uint64
	start int
	first int64 // tag of its first record
}

// freeLimit bounds how many entries a Feeder keeps for later: the records of a
// large batch. An entry is about 250 bytes.
const freeLimit = 1024

// reusedAttributes bounds the maps that are used again: Go keeps as many
// elements in one piece.
const reusedAttributes = 8

// NewFeeder makes a Feeder for one worker.
func (p *Pipeline) NewFeeder() *Feeder {
	f := &Feeder{p: p, conv: converter{set: &p.set}}
	if p.straight != nil {
		f.lane = &straightLane{straightWay: p.straight}
	}
	return f
}

// Add puts in a record with a text body. before is where reading has to go on
// to get this record again. number and offset are used only if the settings ask
// for them.
func (f *Feeder) Add(file uint64, attributes *FileAttributes, body string, before Position, number, offset int64) {
	// Behind a record that goes through the operators no other may go straight: it would overtake.
	if f.lane != nil && len(f.entries) == 0 && f.Len() == 0 && f.lane.add(file, attributes, body, before, number, offset) {
		return
	}
	f.add(file, attributes, body, before, number, offset)
}

// AddBytes puts in a record whose body is bytes. They are kept, not copied.
func (f *Feeder) AddBytes(file uint64, attributes *FileAttributes, body []byte, before Position, number, offset int64) {
	f.add(file, attributes, body, before, number, offset)
}

func (f *Feeder) add(file uint64, attributes *FileAttributes, body any, before Position, number, offset int64) {
	if len(f.rows) == 0 || f.rows[len(f.rows)-1].file != file {
		f.rows = append(f.rows, row{file: file, start: len(f.entries)})
	}
	e := f.newEntry()
	e.Body = body
	extra := f.p.set.extraAttributes()
	if f.p.exprs.none() {
		if e.Attributes == nil || len(attributes.onRecord.all) == 0 { // operators can tell none from empty
			e.Attributes = cloneMap(attributes.onRecord.all, extra)
		} else {
			maps.Copy(e.Attributes, attributes.onRecord.all)
		}
		e.Resource = cloneMap(attributes.onResource.all, 0)
	} else {
		if err := f.p.exprs.evaluate(e); err != nil && f.failed == nil {
			f.failed = err
		}
		maps.Copy(e.Attributes, attributes.onRecord.own)
		maps.Copy(e.Resource, attributes.onResource.own)
	}
	if f.p.set.RecordNumber {
		e.Attributes[RecordNumberKey] = number
	}
	if f.p.set.RecordOffset {
		e.Attributes[RecordOffsetKey] = offset
	}
	f.entries = append(f.entries, e)
	if f.p.ledger != nil {
		f.before = append(f.before, before)
	}
}

// cloneMap copies m; an empty one stays nil unless something will be added.
func cloneMap(m map[string]any, extra int) map[string]any {
	if len(m) > 0 {
		return maps.Clone(m)
	}
	if extra > 0 {
		return make(map[string]any, extra)
	}
	return nil
}

// Added is the number of records that wait for Process.
func (f *Feeder) Added() int {
	if f.lane != nil {
		return len(f.entries) + f.lane.added()
	}
	return len(f.entries)
}

// Process runs what was added through the operators. Records that operators let
// go on their own before are taken first, as a Drain does. An error tells what
// operators could not do with some records; they have logged it, and what
// `on_error` says has been done: there is nothing to repeat.
func (f *Feeder) Process(ctx context.Context) error {
	f.Drain()
	now := time.Now()
	if f.lane != nil && f.lane.added() > 0 {
		f.early = len(f.feed.out)
		f.lane.process(now, f.p.ledger)
	}
	if len(f.entries) == 0 {
		return nil
	}
	f.stamp(now)
	f.feed.Context = ctx
	err := f.p.input.WriteBatch(&f.feed, f.entries)
	f.feed.Context = nil
	if l := f.p.ledger; l != nil {
		for i, r := range f.rows {
			l.leave(r.first, f.end(i)-r.start)
		}
	}
	if f.failed != nil {
		err = errors.Join(f.failed, err)
		f.failed = nil
	}
	clear(f.entries)
	f.entries, f.before, f.rows = f.entries[:0], f.before[:0], f.rows[:0]
	return err
}

// stamp sets the observed timestamps, which are the tags of records in the ledger.
func (f *Feeder) stamp(now time.Time) {
	if f.p.ledger == nil {
		for _, e := range f.entries {
			e.ObservedTimestamp = now
		}
		return
	}
	for i := range f.rows {
		r := &f.rows[i]
		end := f.end(i)
		r.first = f.p.ledger.enter(now.UnixNano(), r.file, f.before[r.start:end])
		for k, e := range f.entries[r.start:end] {
			e.ObservedTimestamp = time.Unix(0, r.first+int64(k))
		}
	}
}

// end is where the records of row i end.
func (f *Feeder) end(i int) int {
	if i+1 < len(f.rows) {
		return f.rows[i+1].start
	}
	return len(f.entries)
}

// Drain takes what operators let go on their own: on a timer, or at Stop.
func (f *Feeder) Drain() { f.feed.out = f.p.emitter.takeLate(f.feed.out) }

// Len is the number of records that came out and wait for Take.
func (f *Feeder) Len() int {
	n := len(f.feed.out) - f.taken
	if f.lane != nil {
		n += f.lane.len()
	}
	return n
}

// Batch is what came out of a pipeline, ready for delivery. Exactly one of
// Accepted and Refused has to be called, by anybody, once its fate is known.
type Batch struct {
	Logs    plog.Logs
	Records int // may be 0: when everything that came out is to be left out

	ledger *ledger
	tags   []int64
}

// Take makes a batch of at most limit of the records that came out, 0 for all.
func (f *Feeder) Take(limit int) *Batch {
	if limit <= 0 {
		limit = f.Len()
	}
	b := &Batch{ledger: f.p.ledger}
	f.conv.begin()
	if f.lane != nil && f.lane.len() > 0 {
		limit -= f.takeOut(min(limit, f.early-f.taken), b)
		straight := min(limit, f.lane.len())
		f.lane.take(straight, &f.conv, b)
		limit -= straight
	}
	f.takeOut(min(limit, len(f.feed.out)-f.taken), b)
	b.Logs = f.conv.finish()
	if f.Len() == 0 {
		f.recycle()
	}
	return b
}

// takeOut moves n of the entries that came out into a batch.
func (f *Feeder) takeOut(n int, b *Batch) int {
	if n <= 0 {
		return 0
	}
	out := f.feed.out[f.taken : f.taken+n]
	send := out
	if l := b.ledger; l != nil {
		b.tags = slices.Grow(b.tags, n)
		for _, e := range out {
			b.tags = append(b.tags, tagOf(e))
		}
		if l.rewound.Load() {
			send = l.wanted(make([]*entry.Entry, 0, n), out)
		}
	}
	f.conv.add(send)
	b.Records += len(send)
	f.taken += n
	return n
}

// Accepted says that the batch was delivered, or dropped for good. It returns
// the files of which records were in it; what Held says of them may have changed.
// It is nil for a pipeline that holds nothing.
func (b *Batch) Accepted() []uint64 {
	if b.ledger == nil {
		return nil
	}
	files := b.ledger.filesOf(b.tags)
	b.ledger.release(b.tags)
	b.tags = nil
	return files
}

// Refused says that the batch was given up. The files of which records were in
// it have to be read again: Held stays at their oldest unsettled record, and
// Resume will tell. It is nil for a pipeline that holds nothing: there, what
// was put in and not accepted is read again.
func (b *Batch) Refused() []uint64 {
	if b.ledger == nil {
		return nil
	}
	files := b.ledger.filesOf(b.tags)
	b.ledger.refuse(b.tags)
	b.ledger.release(b.tags)
	b.tags = nil
	return files
}

// newEntry takes an entry from those to be used again, or makes one.
func (f *Feeder) newEntry() *entry.Entry {
	if n := len(f.free); n > 0 {
		e := f.free[n-1]
		f.free = f.free[:n-1]
		return e
	}
	return new(entry.Entry)
}

// recycle empties the list of what came out and keeps its entries for later.
// A router may hand on one entry to several operators: then they are left alone.
func (f *Feeder) recycle() {
	if f.p.recycles {
		for _, e := range f.feed.out {
			if len(f.free) == freeLimit {
				break
			}
			// Its attributes were copied into the batch; a map of them is good for
			// another record, unless it is larger than most.
			attributes := e.Attributes
			if len(attributes) > reusedAttributes || !f.p.exprs.none() {
				attributes = nil
			}
			clear(attributes)
			*e = entry.Entry{Attributes: attributes}
			f.free = append(f.free, e)
		}
	}
	clear(f.feed.out)
	f.feed.out, f.taken, f.early = f.feed.out[:0], 0, 0
}
