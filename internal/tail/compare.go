package tail

import (
	"bytes"
	"io"
	"math"
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

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
	if b.inFlight && (b.pending || b.changedSince()) {
		return false // what its turn has read may be gone from it by now
	}
	reached, newest := b.reached()
	if newest == (fileid.Frontier{}) || newest.Offset != reached || b.compressed {
		return true
	}
	answers, err := frontiersAt(b.handle, []int64{newest.Offset})
	return err != nil || len(answers) == 1 && answers[0] == newest
}

// changedSince tells whether the file of b, whose handle is open, is not as it was
// when it was looked at last.
func (b *body) changedSince() bool {
	info, err := b.handle.Stat()
	return err != nil || versionOf(info) != versionOf(b.info)
}

// compareLater lets a worker compare the content of b with that of another file,
// when one of them is compressed or both are.
func (l *Loop) compareLater(b, original *body) {
	t := b.twin
	t.busy = true
	seen, originally := versionOf(b.info), original.info
	mine, other := compared{b.info.Size, b.compressed}, compared{original.info.Size, original.compressed}
	if !other.compressed {
		other.size = math.MaxInt64 // it may have grown since it was looked at
	}
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
			t.shared, t.seen = shared, seen
			switch {
			case !parted:
				t.same(seen, originally)
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
	size       int64 // on disk; of a plain one no more than that is compared
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
