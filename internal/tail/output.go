package tail

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/batch"
	"github.com/otelfilelog/filelogreceiver/internal/deliver"
	"github.com/otelfilelog/filelogreceiver/internal/framing"
)

// output is where a worker's records go: straight into a batch, or through the
// operators.
type output struct {
	direct *batch.Assembler // nil: through feeder
	feeder *batch.Feeder
	binary bool // bodies are bytes
	limit  int  // records of a batch
	bytes  int  // bytes of its bodies
	size   int  // bytes given to feeder and not processed
}

func (l *Loop) newOutput() output {
	o := output{binary: l.Framing.Bytes(), limit: l.MaxBatchRecords, bytes: l.MaxBatchBytes}
	if l.Pipeline != nil {
		o.feeder = l.Pipeline.NewFeeder()
	} else {
		o.direct = l.Batches.NewAssembler()
	}
	return o
}

// len is the number of records that are not delivered yet.
func (o *output) len() int {
	if o.direct != nil {
		return o.direct.Len()
	}
	return o.feeder.Added()
}

// full tells whether a record with a body of n bytes has no room in the batch.
func (o *output) full(n int) bool {
	if o.direct != nil {
		count := o.direct.Len()
		return count >= o.limit || count > 0 && o.direct.Bytes()+n > o.bytes
	}
	count := o.feeder.Added()
	return count >= o.limit || count > 0 && o.size+n > o.bytes
}

// add adds the framer's current record, which begins behind before.
func (o *output) add(t *task, body string, observed pcommon.Timestamp, f *framing.Framer, before framing.Position) {
	switch {
	case o.direct != nil && !o.binary:
		o.direct.Add(t.attributes, body, observed, f.Number(), f.Start())
	case o.direct != nil:
		o.direct.AddBytes(t.attributes, []byte(body), observed, f.Number(), f.Start())
	case !o.binary:
		o.feeder.Add(t.id, t.attributes, body, batch.Position(before), f.Number(), f.Start())
		o.size += len(body)
	default:
		o.feeder.AddBytes(t.id, t.attributes, []byte(body), batch.Position(before), f.Number(), f.Start())
		o.size += len(body)
	}
}

// deliver sends what was added, or what the operators made of it.
func (o *output) deliver(w *worker) deliver.Outcome {
	if o.direct != nil {
		return w.sender.Send(w.l.call, w.l.pace, o.direct.Take())
	}
	o.size = 0
	if err := o.feeder.Process(w.l.call); err != nil {
		w.l.Logger.Debug("Operators could not process some records", zap.Error(err))
	}
	return o.sendTaken(w)
}

// drain sends what operators have let go of on their own.
func (o *output) drain(w *worker) deliver.Outcome {
	o.feeder.Drain()
	return o.sendTaken(w)
}

// sendTaken sends what came out of the operators, batch by batch. After a
// refusal the rest is given up, too: order within a file has to hold.
func (o *output) sendTaken(w *worker) deliver.Outcome {
	outcome := deliver.Accepted
	for o.feeder.Len() > 0 {
		b := o.feeder.Take(o.limit)
		if outcome == deliver.Accepted && b.Records > 0 {
			if sent := w.sender.Send(w.l.call, w.l.pace, b.Logs); sent > deliver.Dropped {
				outcome = sent
			}
		}
		if outcome == deliver.Accepted {
			w.turn.settled = append(w.turn.settled, b.Accepted()...)
		} else {
			w.turn.refused = append(w.turn.refused, b.Refused()...)
		}
	}
	return outcome
}
