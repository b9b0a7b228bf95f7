package tail

import (
	"bytes"
	"io"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// twin is what is known of a held file: one that has the same content as
// another file that lives on, as far as either goes. It may be a copy in the
// making, whose original is about to be truncated or removed; then the copy
// takes over the original's State. Or it is a file of its own; then it shows
// by growing apart, or by outliving the grace time.
type twin struct {
	of     *registry.Record
	shared int64     // so many bytes are known to be the same
	since  time.Time // when it changed last
	size   int64     // its size then
}

// hold lets b wait as a twin of rec.
func (l *Loop) hold(b *body, rec *registry.Record, shared int64, now time.Time) {
	b.twin = &twin{of: rec, shared: shared, since: now, size: b.info.Size}
	b.rec, b.pending = nil, false
	l.twins = append(l.twins, b)
	l.closeHandle(b)
	l.Observer.decided(registry.Decision{Kind: registry.Hold})
	l.Logger.Info("File has the same content as another one; it is held until they part, as a copy would be",
		zap.String("path", b.path), zap.String("same_as", rec.State.Path))
}

// lookAtTwins looks whether held files have to be held any longer.
func (l *Loop) lookAtTwins(now time.Time) {
	if len(l.twins) == 0 {
		return
	}
	held := slices.Clone(l.twins)
	l.twins = l.twins[:0]
	for _, b := range held {
		if b.twin == nil {
			continue
		}
		if !l.lookAtTwin(b, now) {
			l.twins = append(l.twins, b)
		}
	}
}

// lookAtTwin tells whether b is not held any more, or anew.
func (l *Loop) lookAtTwin(b *body, now time.Time) bool {
	t := b.twin
	original := l.owners[t.of]
	if b.info.Size != t.size {
		t.size, t.since = b.info.Size, now
	}
	if original == nil {
		// Rewritten, gone or forgotten: b may be what is left of it.
		return l.resolveAgain(b, nil, now)
	}
	if original.inFlight && original.pending {
		return false // its end is not known just now
	}
	shared, parted := l.compareWith(b, t.of, t.shared)
	t.shared = shared
	if parted {
		return l.release(b, now)
	}
	grace := now.Sub(t.since) >= twinGrace
	if grace && !b.compressed && t.shared >= b.info.Size && t.of.State.Offset >= t.shared {
		return l.release(b, now)
	}
	return false
}

// resolveAgain takes b for a file that is seen for the first time.
func (l *Loop) resolveAgain(b *body, apart []*registry.Record, now time.Time) bool {
	defer b.pin()()
	if err := l.ensureOpen(b); err != nil {
		l.openFailed(b.path, err)
		return false
	}
	b.compressed = false
	sighting, answers, err := l.inspect(b)
	if err != nil || len(sighting.Head) == 0 {
		return false
	}
	b.twin = nil
	l.take(b, sighting, answers, apart, false, now)
	return true
}

// release makes b a file of its own. What it shares with its original is read
// once more if it is short (many files begin alike), else left out (a copy).
func (l *Loop) release(b *body, now time.Time) bool {
	defer b.pin()()
	t := b.twin
	if err := l.ensureOpen(b); err != nil {
		l.openFailed(b.path, err)
		return false
	}
	sighting, answers, err := l.inspect(b)
	if err != nil || len(sighting.Head) == 0 {
		return false
	}
	apart := []*registry.Record{t.of}
	if d := l.Registry.Resolve(sighting, answers, apart); d.Kind == registry.Hold || d.Kind == registry.Adopt || d.Kind == registry.Continue {
		// It is also the content of a third one.
		b.twin = nil
		l.take(b, sighting, answers, apart, false, now)
		return true
	}
	offset := int64(0)
	if t.shared > sharedShort && !b.compressed {
		offset = l.lineStart(b, min(t.shared, t.of.State.Offset))
	}
	b.twin = nil
	l.begin(b, sighting, offset)
	b.rec.State.Attributes, b.rec.State.HeaderDone = nil, false
	if offset > 0 {
		b.rec.State.Attributes, b.rec.State.HeaderDone = t.of.State.Attributes, t.of.State.HeaderDone
	}
	l.Logger.Info("Started watching file", zap.String("path", b.path), zap.Int64("offset", offset))
	l.Observer.decided(registry.Decision{Kind: registry.Alike})
	b.pending, b.unread = true, now
	l.enqueue(b, now)
	return true
}

// lineStart is the start of the line that offset stands in, as far back as 64
// KiB; else offset.
func (l *Loop) lineStart(b *body, offset int64) int64 {
	buf := make([]byte, min(offset, 64<<10))
	n, err := source.ReadFull(b.handle, buf, offset-int64(len(buf)))
	if err != nil || n < len(buf) {
		return offset
	}
	if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
		return offset - int64(len(buf)) + int64(i) + 1
	}
	return offset
}

// compareWith compares the content of b with that of the file of rec from
// position from on, as far as both go and as one poll allows. parted: they
// differ, or b has more than the other.
func (l *Loop) compareWith(b *body, rec *registry.Record, from int64) (shared int64, parted bool) {
	original := l.owners[rec]
	if original == nil || original.compressed && !b.compressed {
		return from, false
	}
	defer original.pin()()
	defer b.pin()()
	if l.ensureOpen(original) != nil || l.ensureOpen(b) != nil {
		return from, false
	}
	if b.compressed {
		shared, parted = l.compareCompressed(b, original)
	} else {
		shared, parted = l.comparePlain(b, original, from)
	}
	if parted && !intact(original) {
		// Rewritten, which is not noticed yet: b is what is left of it.
		return from, false
	}
	if parted && endsDeleted(original, shared) {
		// b goes on where a deleted file ends: it takes its place when that is closed.
		return shared, false
	}
	return shared, parted
}

// endsDeleted tells whether b has no name any more and ends at size.
func endsDeleted(b *body, size int64) bool {
	if b.compressed {
		return false
	}
	info, err := b.handle.Stat()
	return err == nil && info.Links == 0 && info.Size == size
}

// comparePlain compares two files that are not compressed.
func (l *Loop) comparePlain(b, original *body, from int64) (shared int64, parted bool) {
	shared = from
	x, y := make([]byte, chunkBytes), make([]byte, chunkBytes)
	for shared-from < compareBytes {
		n, err := source.ReadFull(b.handle, x, shared)
		if err != nil {
			return shared, false
		}
		m, err := source.ReadFull(original.handle, y, shared)
		if err != nil {
			return shared, false
		}
		k := min(n, m)
		same := commonPrefix(x[:k], y[:k])
		shared += int64(same)
		if same < k || n > m {
			return shared, true
		}
		if n < len(x) {
			break // the end of b
		}
	}
	return shared, false
}

// intact tells whether what was read of b is still there. If it is not, another
// file does not differ from b: it has what b had before it was truncated.
func intact(b *body) bool {
	newest, ok := b.rec.State.Ladder.Newest()
	if !ok || newest.Offset != b.rec.State.Offset || b.compressed {
		return true
	}
	answers, err := frontiersAt(b.handle, []int64{newest.Offset})
	return err != nil || len(answers) == 1 && answers[0] == newest
}

// compareCompressed does the same for a compressed file and the one that it
// may be the compressed content of, from the beginning.
func (l *Loop) compareCompressed(b, original *body) (shared int64, parted bool) {
	z, err := source.NewGunzip(b.handle, 0, b.info.Size)
	if err != nil {
		return 0, false
	}
	defer z.Close()
	var other io.Reader = io.NewSectionReader(original.handle, 0, 1<<62)
	if original.compressed {
		o, err := source.NewGunzip(original.handle, 0, original.info.Size)
		if err != nil {
			return 0, false
		}
		defer o.Close()
		other = o
	}
	x, y := make([]byte, chunkBytes), make([]byte, chunkBytes)
	for {
		n, err := io.ReadFull(z, x)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return shared, false
		}
		m, _ := io.ReadFull(other, y[:n])
		same := commonPrefix(x[:m], y[:m])
		shared += int64(same)
		if same < n {
			return shared, true
		}
		if n < len(x) {
			return shared, false
		}
	}
}

// commonPrefix is the number of bytes that x and y begin with alike. They have
// the same length.
func commonPrefix(x, y []byte) int {
	if bytes.Equal(x, y) {
		return len(x)
	}
	for i := range x {
		if x[i] != y[i] {
			return i
		}
	}
	return len(x)
}
