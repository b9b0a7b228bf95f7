package tail

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// inspect is sight with the answers to the registry's questions.
func (l *Loop) inspect(b *body) (registry.Sighting, []fileid.Frontier, error) {
	s, err := l.sight(b)
	if err != nil || len(s.Head) == 0 {
		return s, nil, err
	}
	answers, err := frontiersOf(b, l.Registry.Questions(s))
	return s, answers, ignoreEnd(err)
}

// beingWritten tells whether a compressed file that is not whole was written to
// so lately that the rest may be on its way. What it has is not enough to tell
// whether it is the compressed content of another file.
func beingWritten(info source.Info, now time.Time) bool {
	return now.Sub(time.Unix(0, info.ModTime)) < incompleteGrace
}

// investigate answers the registry's questions about b and goes on with then:
// at once, or when a worker has done it, if that takes long because much has to
// be decompressed. Until then b is held by nobody. The error is ErrIncomplete
// when b is a compressed file in the making that does not tell enough yet.
func (l *Loop) investigate(b *body, s registry.Sighting, then func(answers []fileid.Frontier, err error, now time.Time)) {
	questions := l.Registry.Questions(s)
	if !b.compressed || len(questions) == 0 || questions[0] <= inlineDecompress {
		answers, err := frontiersOf(b, questions)
		now := l.Now()
		if errors.Is(err, source.ErrIncomplete) && !beingWritten(b.info, now) {
			err = nil
		}
		then(answers, err, now)
		return
	}
	info := b.info
	l.investigated++
	l.errand(func(files []source.Handle, err error) func(time.Time) {
		var answers []fileid.Frontier
		if err == nil {
			answers, err = frontiersOfCompressed(files[0], info.Size, questions)
		}
		return func(now time.Time) {
			l.investigated--
			if errors.Is(err, source.ErrIncomplete) && !beingWritten(info, now) {
				err = nil
			}
			switch {
			case l.bodies[info.Locator] != b || b.rec != nil:
				// It was let go meanwhile.
			case err == nil && !answeredAll(l.Registry.Questions(s), questions):
				l.investigate(b, s, then)
			default:
				then(answers, err, now)
			}
		}
	}, b)
}

// answeredAll tells whether all questions were asked; both are descending.
func answeredAll(questions, asked []int64) bool {
	for _, q := range questions {
		if !slices.Contains(asked, q) {
			return false
		}
	}
	return true
}

// frontiersAt makes the frontiers of a plain file at offsets, as far as it is
// long enough.
func frontiersAt(r io.ReaderAt, offsets []int64) ([]fileid.Frontier, error) {
	var buf [fileid.Window]byte
	answers := make([]fileid.Frontier, 0, len(offsets))
	for _, offset := range offsets {
		window := buf[:fileid.WindowLen(offset)]
		n, err := source.ReadFull(r, window, offset-int64(len(window)))
		if err != nil {
			return nil, err
		}
		if n == len(window) {
			answers = append(answers, fileid.NewFrontier(offset, window))
		}
	}
	return answers, nil
}

// frontiersOf makes the frontiers of the content of b at offsets.
func frontiersOf(b *body, offsets []int64) ([]fileid.Frontier, error) {
	if len(offsets) == 0 {
		return nil, nil
	}
	switch {
	case !b.compressed:
		return frontiersAt(b.handle, offsets)
	case b.gz != nil && b.gz.fresh && b.gz.rest.start == 0:
		return b.gz.frontiers(offsets)
	default:
		return frontiersOfCompressed(b.handle, b.info.Size, offsets)
	}
}

// ignoreEOF drops the error that only says that the end was reached.
func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// ignoreEnd drops the errors that only say that there is no more for now.
func ignoreEnd(err error) error {
	if errors.Is(err, source.ErrIncomplete) {
		return nil
	}
	return ignoreEOF(err)
}
