package tail

import (
	"context"
	"maps"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/framing"
)

// HeaderParser reads one line of a file's header.
type HeaderParser interface {
	// Line returns the attributes that the line gives. matched is false for a
	// line that is no header: the header has ended before it.
	Line(ctx context.Context, line string) (attributes map[string]any, matched bool, err error)
}

// readHeader reads header lines from the task's start on and returns where the
// last of them ends. A turn does either this or read records: so what the header
// gave is saved before any record. Empty lines are neither header nor its end:
// those behind the last header line are content.
func (w *worker) readHeader(t *task, eof bool) framing.Position {
	position := t.start
	cursor := position.Offset // behind position by empty lines only
	w.framer.Reset(position, t.head)
	for {
		line, ok := w.framer.HeaderLine(w.window.from(cursor))
		if !ok {
			if eof {
				t.eof = true
				return position
			}
			if eof, t.err = w.source.read(&w.window, cursor, chunkBytes); t.err != nil {
				return position
			}
			continue
		}
		cursor = w.framer.Position().Offset
		if line == "" {
			continue
		}
		attributes, matched, err := w.l.Header.Line(w.l.call, line)
		if !matched {
			t.headerDone = true
			return position
		}
		if err != nil {
			w.l.Logger.Error("process header entry", zap.String("path", t.path), zap.Error(err))
		}
		if len(attributes) > 0 {
			if t.headerAttrs == nil {
				t.headerAttrs = maps.Clone(t.headerHad)
				if t.headerAttrs == nil {
					t.headerAttrs = map[string]any{}
				}
			}
			maps.Copy(t.headerAttrs, attributes)
		}
		position = w.framer.Position()
	}
}
