package tail

import (
	"bytes"
	"io"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
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
	// compared is what the file was like when all of it was found to be the same.
	compared version
	busy     bool        // a worker is looking at it
	failed   bool        // the latest look at it, by a worker
	original source.Info // of the original, when all was found to be the same
}

// version is what a file was like at some time: while it is like that, its
// content is taken to be what it was. The zero value is that of no file: empty
// ones are not held.
type version struct{ size, modTime int64 }

func versionOf(i source.Info) version { return version{i.Size, i.ModTime} }

// hold lets b wait as a twin of rec.
func (l *Loop) hold(b *body, rec *registry.Record, shared int64, now time.Time) {
	b.twin = &twin{of: rec, shared: shared, since: now, size: b.info.Size}
	b.rec, b.pending, b.gz = nil, false, nil
	l.twins = append(l.twins, b)
	rec.Copied = true
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
	switch {
	case t.busy:
		return false // a worker is looking at it
	case original == nil:
		// Rewritten, gone or forgotten: b may be what is left of it.
		return l.outlive(b)
	case original.inFlight && original.pending:
		return false // its end is not known just now
	case t.compared != versionOf(b.info) && (b.compressed || original.compressed):
		if original.left && original.info.Links == 0 && b.info.Links > 0 {
			return false // it is let go soon, and then b is asked whether it has all that was read of it
		}
		l.compareLater(b, original)
		return false
	case t.compared != versionOf(b.info):
		shared, parted := l.compareWith(b, t.of, t.shared)
		t.shared = shared
		if parted {
			return l.release(b, now)
		}
		if shared >= b.info.Size {
			t.compared = versionOf(b.info)
			t.original = original.info
		}
	case t.of.State.Offset < t.shared && original.info != t.original && !original.inFlight && !b.compressed && !original.compressed:
		// What both had was not read yet. If the original was overwritten before
		// it was, only b has it.
		if _, parted := l.compareWith(b, t.of, 0); parted {
			return l.release(b, now)
		}
		t.original = original.info
	}
	grace := now.Sub(t.since) >= twinGrace
	if grace && !b.compressed && t.shared >= b.info.Size && t.of.State.Offset >= t.shared {
		if l.ensureOpen(original) == nil && !intact(original) {
			l.noteRewritten(original)
			return false
		}
		return l.release(b, now)
	}
	return false
}

// noteRewritten goes on in b, which is not intact, as its next turn would. That
// may be far away: it may wait for the very copy that is asked about here, or its
// name may not be accessible for now. What has become shorter is seen otherwise.
func (l *Loop) noteRewritten(b *body) {
	if !b.inFlight && b.info.Size >= b.rec.State.Offset {
		l.diverged(b, l.Now())
	}
}

// again sights b, which is held, and goes on with then if it is still held
// when that is done. It tells whether b is not held any more now.
func (l *Loop) again(b *body, then func(s registry.Sighting, answers []fileid.Frontier, now time.Time)) bool {
	defer b.pin()()
	if err := l.ensureOpen(b); err != nil {
		l.openFailed(b.path, err)
		return false
	}
	b.compressed = false
	sighting, err := l.sight(b)
	if err != nil || len(sighting.Head) == 0 {
		return false
	}
	t := b.twin
	t.busy = true
	l.investigate(b, sighting, func(answers []fileid.Frontier, err error, now time.Time) {
		t.busy = false
		if err == nil && b.twin == t {
			then(sighting, answers, now)
		}
	})
	return b.twin != t
}

// outlive takes b, whose original was rewritten or went away, for a file that is
// seen for the first time. If it does not have all that was read of the
// original, since that grew after the copy was made, it goes on behind what it has.
func (l *Loop) outlive(b *body) bool {
	return l.again(b, func(s registry.Sighting, answers []fileid.Frontier, now time.Time) {
		of := b.twin.of
		start := l.readOfOriginal(b, s.Head)
		b.twin = nil
		l.take(b, s, answers, l.lessThan(start, s, answers), start, now)
		if start > 0 && b.rec != nil && b.rec != of && b.rec.State.Offset == start && b.rec.State.Attributes == nil {
			b.rec.State.Attributes, b.rec.State.HeaderDone = of.State.Attributes, of.State.HeaderDone
		}
	})
}

// lessThan are the records that a file with that sighting could have the content
// of and that have less than start, which is known to be read of it: they are of
// files that only begin alike.
func (l *Loop) lessThan(start int64, s registry.Sighting, answers []fileid.Frontier) (apart []*registry.Record) {
	for start > 0 {
		d := l.Registry.Resolve(s, answers, apart)
		switch d.Kind {
		case registry.Adopt:
			if d.Record.State.Offset >= start {
				return apart
			}
		case registry.Hold:
			if owner := l.owners[d.Record]; owner == nil || owner.compressed || owner.info.Size >= start {
				return apart
			}
		default:
			return apart
		}
		if slices.Contains(apart, d.Record) {
			return apart
		}
		apart = append(apart, d.Record)
	}
	return apart
}

// readOfOriginal is how much of b, which begins with head, was read as part of
// its original: whole lines up to where both were found to be the same.
func (l *Loop) readOfOriginal(b *body, head []byte) int64 {
	state := b.twin.of.State
	end := min(b.twin.shared, state.Offset)
	if b.compressed || end == 0 || b.handle == nil {
		return 0
	}
	same := head[:min(int64(len(head)), end)] // b may have grown apart behind it
	f := state.Fingerprint
	if !f.IsHashed() && !f.IsPrefixOf(head) && !f.StartsWith(same) {
		return 0 // b was rewritten, too
	}
	verified := !f.IsHashed() || f.IsPrefixOf(head) || f.StartsWith(same)
	for i := range state.Ladder.Len() {
		if f := state.Ladder.At(i); f.Offset <= end {
			if answers, err := frontiersAt(b.handle, []int64{f.Offset}); err != nil || len(answers) == 0 || answers[0] != f {
				return 0
			}
			verified = true
			break
		}
	}
	if !verified {
		return 0 // a digest says nothing of a beginning that is shorter
	}
	return l.lineStart(b, end)
}

// release makes b a file of its own. What it shares with its original is read
// once more if it is short (many files begin alike), else left out (a copy).
func (l *Loop) release(b *body, now time.Time) bool {
	t := b.twin
	return l.again(b, func(s registry.Sighting, answers []fileid.Frontier, now time.Time) {
		apart := []*registry.Record{t.of}
		offset := int64(0)
		if t.shared > sharedShort {
			offset = l.readOfOriginal(b, s.Head)
		}
		b.twin = nil
		switch l.Registry.Resolve(s, answers, apart).Kind {
		case registry.Hold, registry.Adopt, registry.Continue:
			// It is also the content of a third one.
			l.take(b, s, answers, apart, 0, now)
			return
		}
		l.begin(b, s, offset)
		if offset > 0 {
			b.rec.State.Attributes, b.rec.State.HeaderDone = t.of.State.Attributes, t.of.State.HeaderDone
		}
		l.Logger.Info("Started watching file", zap.String("path", b.path), zap.Int64("offset", offset))
		l.Observer.decided(registry.Decision{Kind: registry.Alike})
		b.pending, b.unread = true, now
		l.enqueue(b, now)
	})
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

// compareWith compares the content of b with that of the file of rec, as far as
// both go and as one poll allows. What is before from was compared in earlier
// polls; of that it looks at the beginning and at the end once more, since b may
// have been rewritten. parted: they differ, or b has more than the other. Of
// compressed files nothing is compared here: see compareLater.
func (l *Loop) compareWith(b *body, rec *registry.Record, from int64) (shared int64, parted bool) {
	original := l.owners[rec]
	if original == nil || original.compressed || b.compressed {
		return from, false
	}
	defer original.pin()()
	defer b.pin()()
	if l.ensureOpen(original) != nil || l.ensureOpen(b) != nil {
		return from, false
	}
	shared, parted = l.comparePlain(b, original, from)
	if parted && !intact(original) {
		// b is what is left of it.
		l.noteRewritten(original)
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
	if from > 0 {
		if head := min(from, firstCompare); b.info.Size >= from {
			shared, parted = l.compareRange(b, original, 0, head)
			if parted || shared < head {
				return shared, parted
			}
			from = max(from-fileid.Window, 0)
		} else {
			from = 0 // b became shorter
		}
	}
	return l.compareRange(b, original, from, from+compareBytes)
}

// compareRange compares two files from position from to position to: a little
// at first, since most files that begin alike part soon.
func (l *Loop) compareRange(b, original *body, from, to int64) (shared int64, parted bool) {
	shared = from
	for size := int64(firstCompare); shared < to; size = chunkBytes {
		x, y := l.compareBuffers(int(min(size, to-shared)))
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

// compareBuffers are two buffers that are used again for each comparison.
func (l *Loop) compareBuffers(size int) (x, y []byte) {
	if len(l.compared) < 2*size {
		l.compared = make([]byte, 2*size)
	}
	return l.compared[:size], l.compared[size : 2*size]
}

// intact tells whether what was read of b is still there. If it is not, another
// file does not differ from b: it has what b had before it was truncated.
func intact(b *body) bool {
	newest, ok := b.rec.State.Ladder.Newest()
	if !ok && b.inFlight {
		return false // what its first turn has read may be gone from it by now
	}
	if !ok || newest.Offset != b.rec.State.Offset || b.compressed {
		return true
	}
	answers, err := frontiersAt(b.handle, []int64{newest.Offset})
	return err != nil || len(answers) == 1 && answers[0] == newest
}

// compareLater lets a worker compare the content of b with that of another file,
// when one of them is compressed or both are.
func (l *Loop) compareLater(b, original *body) {
	t := b.twin
	t.busy = true
	seen := versionOf(b.info)
	mine, other := compared{b.info.Size, b.compressed}, compared{original.info.Size, original.compressed}
	l.errand(func(files []source.Handle, err error) func(time.Time) {
		var shared int64
		var parted bool
		if err == nil {
			shared, parted, err = compareFiles(files[0], mine, files[1], other)
		}
		return func(now time.Time) {
			t.busy, t.failed = false, err != nil
			if b.twin != t || err != nil || l.owners[t.of] != original {
				return // the next poll looks again
			}
			t.shared = shared
			switch {
			case !parted:
				t.compared = seen
			case l.ensureOpen(original) != nil || !intact(original) || endsDeleted(original, shared):
				// As in compareWith.
			default:
				l.release(b, now)
			}
		}
	}, b, original)
}

// compared is a file that a worker compares, as it was when that was asked for.
type compared struct {
	size       int64 // on disk
	compressed bool
}

// compareFiles compares the whole content of two files.
func compareFiles(m source.Handle, mine compared, o source.Handle, other compared) (shared int64, parted bool, err error) {
	x, err := contentFrom(m, mine.size, mine.compressed)
	if err != nil {
		return 0, false, err
	}
	defer x.Close()
	y, err := contentFrom(o, other.size, other.compressed)
	if err != nil {
		return 0, false, err
	}
	defer y.Close()
	return compareContents(x, y)
}

// contentFrom reads the content of a file from its beginning.
func contentFrom(h io.ReaderAt, size int64, compressed bool) (io.ReadCloser, error) {
	if compressed {
		return source.NewGunzip(h, 0, size)
	}
	return io.NopCloser(io.NewSectionReader(h, 0, size)), nil
}

// compareContents compares mine with other as far as both go. parted: they
// differ, or mine has more.
func compareContents(mine, other io.Reader) (shared int64, parted bool, err error) {
	x, y := make([]byte, chunkBytes), make([]byte, chunkBytes)
	for {
		n, err := io.ReadFull(mine, x)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return shared, false, err
		}
		k, err := io.ReadFull(other, y[:n])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return shared, false, err
		}
		same := commonPrefix(x[:k], y[:k])
		shared += int64(same)
		if same < n {
			return shared, true, nil
		}
		if n < len(x) {
			return shared, false, nil
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
