package batch

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/transformer/recombine"
)

// straightWay is the way through a pipeline that is nothing but a container
// operator: whole lines in the common form become records without becoming
// stanza's entries in between.
type straightWay struct {
	format   runtimeFormat
	merge    *heldRecombine
	metadata bool // of the container, from the path of its log
	// onResource: the path is on the resource.
	onResource bool
}

// newStraightWay returns nil if the pipeline does more than that.
func newStraightWay(p *Pipeline) *straightWay {
	outputs := p.input.Outputs()
	if !p.exprs.none() || len(outputs) != 1 {
		return nil
	}
	c, ok := outputs[0].(*heldContainer)
	if !ok || !c.format.any() || c.IfExpr != nil {
		return nil
	}
	if outputs = c.Outputs(); len(outputs) != 1 || outputs[0] != p.emitter {
		return nil
	}
	return &straightWay{format: c.format, merge: c.merge, metadata: c.config.AddMetadataFromFilePath, onResource: c.onResource}
}

// straightFile is what the records of a file have in common on the straight way.
type straightFile struct {
	source   string         // which group its partial lines are joined in
	resource map[string]any // must not be changed
}

// file prepares a file; it returns nil if its lines have to go through the operator.
func (w *straightWay) file(a *FileAttributes) *straightFile {
	for _, key := range runtimeKeys {
		if _, taken := a.onRecord.all[key]; taken {
			return nil
		}
	}
	f := &straightFile{resource: a.onResource.all}
	path, ok := a.onRecord.all[logPathKey].(string)
	if !ok && w.onResource {
		path, ok = a.onResource.all[logPathKey].(string)
	}
	if w.metadata {
		metadata := podMetadata(path)
		if !ok || metadata == nil {
			return nil // the operator has something to say about it
		}
		for k, v := range a.onResource.all {
			if _, ok := metadata[k]; !ok {
				metadata[k] = v
			}
		}
		f.resource = metadata
	}
	if f.source = path; path == "" {
		f.source = recombine.DefaultSourceIdentifier
	}
	return f
}

// straightLane holds the records of a Feeder that go the straight way, from Add
// to Take. In the ledger the records of a row have one tag together: they are
// delivered in one batch. A row is parted when a batch is.
type straightLane struct {
	*straightWay
	line    runtimeLine
	records []straightRecord
	rows    []straightRow
	ready   int // how many records were processed
	taken   int // how many records were taken
	row     int // the row of the record that is to be taken next
}

type straightRecord struct {
	body           string
	at             int64 // nanoseconds since 1970
	before         Position
	number, offset int64
	stderr, docker bool
}

// straightRow is where the records of one file begin among those added.
type straightRow struct {
	file       uint64
	attributes *FileAttributes
	start      int
	tag        int64
}

// add takes a record if it can go straight.
func (l *straightLane) add(file uint64, attributes *FileAttributes, body string, before Position, number, offset int64) bool {
	row := len(l.rows) - 1
	same := row >= 0 && l.rows[row].file == file && l.rows[row].attributes == attributes
	if !same && (attributes.straight == nil || l.merge.isOpen(attributes.straight.source)) {
		return false
	}
	line := &l.line
	if !l.format.parse(body, line) || !line.docker && line.tag != lastTag {
		return false
	}
	if !same {
		l.rows = append(l.rows, straightRow{file: file, attributes: attributes, start: len(l.records)})
	}
	l.records = append(l.records, straightRecord{
		body: line.text, at: line.at.nanos(), before: before, number: number, offset: offset,
		stderr: line.stderr, docker: line.docker,
	})
	return true
}

// added is the number of records that were not processed.
func (l *straightLane) added() int { return len(l.records) - l.ready }

// len is the number of records that were processed and not taken.
func (l *straightLane) len() int { return l.ready - l.taken }

// process enters the records into the ledger.
func (l *straightLane) process(now time.Time, ledger *ledger) {
	for i := range l.rows {
		r := &l.rows[i]
		r.tag = ledger.enterTogether(now.UnixNano(), r.file, l.records[r.start].before, l.end(i)-r.start)
	}
	l.ready = len(l.records)
}

// end is where the records of row i end.
func (l *straightLane) end(i int) int {
	if i+1 < len(l.rows) {
		return l.rows[i+1].start
	}
	return len(l.records)
}

// take moves the next records, at most limit, into a batch.
func (l *straightLane) take(limit int, c *converter, b *Batch) {
	stop := min(l.taken+limit, l.ready)
	for l.taken < stop {
		row := &l.rows[l.row]
		end := l.end(l.row)
		to := min(end, stop)
		b.tags = append(b.tags, row.tag)
		if !b.ledger.isVoid(row.tag) {
			l.write(c, row, l.records[l.taken:to], len(l.records)-l.taken)
			b.Records += to - l.taken
		}
		if l.taken = to; to < end {
			row.tag = b.ledger.part(row.tag, l.records[to].before)
		} else {
			l.row++
		}
	}
	if l.taken == len(l.records) {
		clear(l.records)
		clear(l.rows)
		l.records, l.rows = l.records[:0], l.rows[:0]
		l.ready, l.taken, l.row = 0, 0, 0
	}
}

// write makes records of a row; expect is how many may follow, themselves included.
func (l *straightLane) write(c *converter, row *straightRow, records []straightRecord, expect int) {
	set, attributes := c.set, row.attributes
	observed := pcommon.Timestamp(row.tag)
	group := c.group(attributes.straight.resource)
	dest := c.records(group, "", expect)
	size := attributes.onRecord.pdata.Len() + 2 + set.extraAttributes()
	for i := range records {
		r := &records[i]
		record := dest.AppendEmpty()
		record.SetTimestamp(pcommon.Timestamp(r.at))
		record.SetObservedTimestamp(observed)
		record.Body().SetStr(r.body)
		m := record.Attributes()
		m.EnsureCapacity(size)
		attributes.onRecord.pdata.CopyTo(m)
		if r.stderr {
			m.PutStr(iostreamKey, stderrName)
		} else {
			m.PutStr(iostreamKey, stdoutName)
		}
		if !r.docker {
			m.PutStr(logtagKey, lastTag)
		}
		if set.RecordNumber {
			m.PutInt(RecordNumberKey, r.number)
		}
		if set.RecordOffset {
			m.PutInt(RecordOffsetKey, r.offset)
		}
	}
}
