package tail

import (
	"errors"
	"io"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// gunzip is a decompressor that waits between two turns of a file, with what
// it has given and was not consumed, so that a long file is not decompressed
// from its beginning for each turn.
type gunzip struct {
	stream *source.Gunzip
	base   int64
	rest   window
	fresh  bool // no turn has had it yet: it is of the file as it was identified
}

// memberBase is where the next member of a compressed file begins that was read
// to its end. While operators hold records from before it, the State keeps the
// base that these can be read from again.
type memberBase struct {
	base, at int64 // as Base and BaseAt in fileid.State
	moved    bool  // else it is that of the State
}

// moveBase moves the base of b's State to where the next member begins, when
// everything before that is committed.
func (l *Loop) moveBase(b *body) {
	s := b.rec.State
	if !b.members.moved || s.Offset < b.members.at {
		return
	}
	s.Base, s.BaseAt = b.members.base, b.members.at
	s.StaticRevision++
	b.members = memberBase{}
	l.changed(b)
}

// baseFor is where to begin to decompress what is read from position on. A base
// behind it, as an earlier version could store it, is none.
func (b *body) baseFor(position int64) (base, at int64) {
	s := b.rec.State
	switch {
	case b.members.moved && b.members.at <= position:
		return b.members.base, b.members.at
	case s.BaseAt > position:
		return 0, 0
	default:
		return s.Base, s.BaseAt
	}
}

// content reads the content of a task's file in order.
type content struct {
	t      *task
	stream *source.Gunzip // compressed files only
	clean  bool           // the stream ended with a whole member
	cut    bool           // the stream ended within a member, which is still being written
}

// open sets w to the bytes before the task's start that its frontier covers.
// ended: the file is shorter than that.
func (c *content) open(t *task, w *window, scratch []byte) (ended bool, err error) {
	*c = content{t: t}
	k := t.gz
	t.gz = nil // from here on it is not where the task begins any more
	if t.compressed && t.start.Offset == 0 && 0 < t.base && t.base < t.size && c.locate(w, scratch) {
		return c.startBehind(w, scratch)
	}
	history := int64(fileid.WindowLen(t.start.Offset))
	if !t.compressed {
		w.reset(t.start.Offset - history)
		return false, nil
	}
	if k != nil && k.base == t.base && k.rest.start <= t.start.Offset-history && k.rest.end() >= t.start.Offset {
		c.stream = k.stream
		w.reset(k.rest.start)
		copy(w.space(k.rest.start, len(k.rest.buf)), k.rest.buf)
		w.filled(len(k.rest.buf))
		if c.stream != nil {
			return false, nil
		}
		return c.startBehind(w, scratch)
	}
	if history > t.start.Offset-t.baseAt {
		// The window reaches back into members that are not read again.
		history = t.start.Offset - t.baseAt
		t.verify = t.verify && history == int64(fileid.WindowLen(t.start.Offset))
	}
	w.reset(t.start.Offset - history)
	return c.startBehind(w, scratch)
}

// locate finds out how much content is before the task's base, of which only
// the compressed position is known: upstream stores no more, and start_at: end
// has none. It costs one pass over what is not read otherwise, so it waits until
// there is something behind it. w is set to the bytes before the base.
func (c *content) locate(w *window, scratch []byte) (found bool) {
	t := c.t
	z, err := source.NewGunzip(t.handle, 0, t.base)
	if err != nil {
		return false // the base is not behind a whole member
	}
	defer z.Close()
	var before []byte
	for err == nil {
		var n int
		n, err = z.Read(scratch)
		before = append(before, scratch[:n]...)
		before = append(before[:0], before[max(len(before)-fileid.Window, 0):]...)
	}
	if err != io.EOF {
		return false
	}
	t.start.Offset, t.baseAt, t.baseMoved = z.Pos(), z.Pos(), true
	w.reset(z.Pos() - int64(len(before)))
	copy(w.space(w.start, len(before)), before)
	w.filled(len(before))
	return true
}

// startBehind begins to decompress behind what w holds. ended: there is less
// than that.
func (c *content) startBehind(w *window, scratch []byte) (ended bool, err error) {
	err = c.start(w.end()-c.t.baseAt, scratch)
	if err == io.EOF || errors.Is(err, source.ErrIncomplete) {
		return true, nil
	}
	return false, err
}

// start begins to decompress at the task's base and skips so many bytes.
func (c *content) start(skip int64, scratch []byte) (err error) {
	if c.t.base == c.t.size {
		c.clean = true
		if skip > 0 {
			return io.EOF
		}
		return nil
	}
	if c.stream, err = source.NewGunzip(c.t.handle, c.t.base, c.t.size); err != nil {
		c.stream = nil
		if errors.Is(err, source.ErrIncomplete) && skip == 0 {
			return nil // the next member has only begun
		}
		return err
	}
	return c.stream.Skip(skip, scratch)
}

// read appends up to n more bytes to w. eof: there are no more for now.
func (c *content) read(w *window, position int64, n int) (eof bool, err error) {
	room := w.space(position, n)
	if !c.t.compressed {
		k, err := source.ReadFull(c.t.handle, room, w.end())
		w.filled(k)
		return k < n, err
	}
	if c.stream == nil {
		return true, nil
	}
	for k := 0; k < n; {
		m, err := c.stream.Read(room[k:])
		k += m
		w.filled(m)
		switch {
		case err == io.EOF:
			c.clean = true
			return true, nil
		case errors.Is(err, source.ErrIncomplete):
			c.cut = true
			return true, nil
		case err != nil:
			return true, err
		}
	}
	return false, nil
}

// keep returns what the next turn of the file can go on with.
func (c *content) keep(w *window, position int64) *gunzip {
	first := max(position-int64(fileid.WindowLen(position)), w.start)
	k := &gunzip{base: c.t.base, rest: window{start: first, buf: append([]byte(nil), w.from(first)...)}}
	if !c.clean && !c.cut {
		k.stream = c.stream
	}
	return k
}
