package tail

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// errMoved says that the path led to another file when it was opened.
var errMoved = errors.New("another file has taken the name")

// errNotGzip says that a file is not compressed although compression: gzip
// says that all are.
var errNotGzip = errors.New("not a gzip file")

// identifyStrangers finds out who the files are that are not followed yet.
// Those whose locator is known come first: a file that is where it was is not
// to lose its State to a copy of itself that sorts before it.
func (l *Loop) identifyStrangers(now time.Time) {
	for _, known := range []bool{true, false} {
		for _, s := range l.strangers {
			if l.Registry.KnowsLocator(s.info.Locator) == known {
				l.identify(s, now)
			}
		}
	}
}

// identify opens the file behind a name, finds out whose content it has and
// begins to follow it. A file that is empty, as far as can be seen, is left for
// the next poll.
func (l *Loop) identify(s stranger, now time.Time) {
	e := &l.entries[s.entry]
	initial := e.initial
	e.initial = false
	if e.body != nil || s.info.Size == 0 {
		return
	}
	if known := l.bodies[s.info.Locator]; known != nil {
		l.bind(e, known)
		return
	}
	l.lastID++
	b := &body{id: l.lastID, path: e.name, info: s.info}
	defer b.pin()()
	if err := l.openHandle(b); err != nil {
		l.openFailed(e.name, err)
		l.Registry.KeepLocator(s.info.Locator, keepPolls)
		return
	}
	sighting, err := l.sight(b)
	if err != nil || len(sighting.Head) == 0 {
		l.closeHandle(b)
		if err != nil {
			l.trouble(e.name, err)
		}
		return
	}
	l.untrouble(e.name)
	l.bodies[b.info.Locator] = b
	l.bind(e, b)
	b.looked, b.grewAt = true, now
	l.investigate(b, sighting, func(answers []fileid.Frontier, err error, now time.Time) {
		if err != nil {
			if !errors.Is(err, source.ErrIncomplete) {
				l.trouble(b.path, err)
			}
			l.disown(b)
			return
		}
		l.take(b, sighting, answers, nil, l.startOf(b, initial), now)
	})
}

// disown makes b unknown again, so that the next poll identifies its file anew.
func (l *Loop) disown(b *body) {
	if i, ok := l.byName[b.path]; ok && l.entries[i].body == b {
		l.entries[i].body = nil
		b.refs--
	}
	l.discard(b)
}

// take resolves whose content b has and acts on the decision. The records in
// apart are known to be other files. If b is none that is known, it is read
// from start on.
func (l *Loop) take(b *body, s registry.Sighting, answers []fileid.Frontier, apart []*registry.Record, start int64, now time.Time) {
	d := l.Registry.Resolve(s, answers, apart)
	for d.Kind == registry.Adopt && !d.Record.Orphan() && l.livesElsewhere(d.Record, b) {
		apart = append(apart, d.Record)
		d = l.Registry.Resolve(s, answers, apart)
	}
	if d.Kind == registry.Hold {
		shared, parted := l.compareWith(b, d.Record, 0)
		for parted {
			apart = append(apart, d.Record)
			if d = l.Registry.Resolve(s, answers, apart); d.Kind != registry.Hold {
				break
			}
			shared, parted = l.compareWith(b, d.Record, 0)
		}
		if d.Kind == registry.Hold {
			l.hold(b, d.Record, shared, apart, start, now)
			return
		}
	}
	l.Observer.decided(d)
	l.Logger.Debug("File identified", zap.String("path", b.path), zap.Stringer("decision", d.Kind), zap.String("reason", d.Reason))
	switch d.Kind {
	case registry.Continue, registry.Adopt:
		l.own(b, d.Record, s)
	case registry.Rewritten:
		if l.OnTruncate != TruncateByContent && !b.compressed && s.Size < d.Record.State.Offset {
			// It was cut while nobody looked.
			l.own(b, d.Record, s)
			l.truncated(b, now)
		} else {
			l.goOn(b, d.Record, s, answers, d.Offset)
		}
	default:
		if rec := l.fromArchive(b, s); rec != nil {
			l.own(b, rec, s)
			l.Logger.Info("File found in archive. Started watching file again", zap.String("path", b.path))
		} else {
			l.begin(b, s, start)
			l.Logger.Info("Started watching file", zap.String("path", b.path))
		}
	}
	if len(l.queue.small)+len(l.queue.backlog) >= keepFresh {
		b.gz = nil
	}
	if b.rec != nil && !b.ignoring {
		b.pending = true
		b.unread = now
		l.enqueue(b, now)
	}
}

// sight reads how b begins. The sighting has no head when there is nothing to
// be seen yet.
func (l *Loop) sight(b *body) (registry.Sighting, error) {
	head := make([]byte, max(l.FingerprintSize, l.Registry.MaxFingerprint()))
	n, err := source.ReadFull(b.handle, head, 0)
	if err != nil {
		return registry.Sighting{}, err
	}
	head = head[:n]
	s := registry.Sighting{Locator: b.info.Locator, Head: head, Size: b.info.Size, Path: b.path}
	switch {
	case l.Compression == CompressionGzip && n > 1 && !source.IsGzip(head):
		return s, errNotGzip
	case l.Compression != CompressionNone && source.IsGzip(head):
		b.compressed = true
		s.Size = -1
		s.Head, err = b.decompressHead(head)
		if errors.Is(err, source.ErrIncomplete) {
			if err = nil; beingWritten(b.info, l.Now()) {
				s.Head = nil // what will follow may tell who it is
			}
		}
		return s, err
	case l.Compression == CompressionGzip:
		s.Head = nil // one byte says nothing yet
	}
	return s, nil
}

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

// livesElsewhere tells whether the file of rec, which is not being read, still
// stands where it was seen last: hidden by age or order, so no other file may
// have its State.
func (l *Loop) livesElsewhere(rec *registry.Record, b *body) bool {
	s := rec.State
	if s.Path == "" || s.Path == b.path || s.Locator.IsZero() {
		return false
	}
	info, err := l.Layer.Stat(s.Path)
	if err != nil || !standsIn(s, info) {
		return false
	}
	if other := l.bodies[info.Locator]; other != nil {
		return other.rec == rec // else of another content: the inode was used again
	}
	return !l.rewrittenIn(s)
}

// rewrittenIn tells whether the file where s was seen last, which is not
// followed, has not what was read of it any more.
func (l *Loop) rewrittenIn(s *fileid.State) bool {
	newest, ok := s.Ladder.Newest()
	if !ok || newest.Offset != s.Offset || s.Compressed {
		return false
	}
	h, err := l.Layer.Open(s.Path)
	if err != nil {
		return false
	}
	answers, err := frontiersAt(h, []int64{newest.Offset})
	_ = h.Close()
	return err == nil && (len(answers) == 0 || answers[0] != newest)
}

// standsIn tells whether info can be of the file that s was read of: the same
// locator, and not shorter than it was read.
func standsIn(s *fileid.State, info source.Info) bool {
	position := s.Offset
	if s.Compressed {
		position = s.Base
	}
	return info.Locator == s.Locator && info.Size >= position
}

// startOf is where a file begins of which nothing is known.
func (l *Loop) startOf(b *body, initial bool) int64 {
	if initial && l.StartAtEnd {
		return b.info.Size
	}
	return 0
}

// begin makes a State for b, of which nothing is known, with its first position
// at offset.
func (l *Loop) begin(b *body, s registry.Sighting, offset int64) {
	state := &fileid.State{
		Fingerprint: l.fingerprint(s.Head),
		Compressed:  b.compressed,
		Path:        b.path,
		Locator:     b.info.Locator,
	}
	if b.compressed {
		state.Base = offset
	} else {
		state.Offset = offset
		l.ladderAt(b, state)
	}
	rec := l.Registry.Add(state)
	l.adoptRecord(b, rec)
	if l.Store != nil {
		l.Store.Add(state)
	}
}

// ladderAt gives state the frontier at its position, read from the file.
func (l *Loop) ladderAt(b *body, state *fileid.State) {
	answers, err := frontiersAt(b.handle, []int64{state.Offset})
	state.Ladder = fileid.Ladder{}
	if err == nil && len(answers) == 1 {
		state.Ladder.Advance(answers[0])
	}
}

// fingerprint takes as much of the head of a sighting as the configuration says.
// It keeps the sighting's bytes unless that would waste memory.
func (l *Loop) fingerprint(head []byte) fileid.Fingerprint {
	n := min(len(head), l.FingerprintSize)
	if cap(head) > n+n/8 {
		head = slices.Clone(head[:n])
	}
	return fileid.NewFingerprint(head[:n:n])
}

// own lets b go on with the State of rec.
func (l *Loop) own(b *body, rec *registry.Record, s registry.Sighting) {
	state := rec.State
	if f := state.Fingerprint; f.IsHashed() || f.Len() != min(len(s.Head), l.FingerprintSize) {
		l.Registry.Rehead(rec, l.fingerprint(s.Head))
	}
	// Where a member begins is known of that very file only: another one may have been
	// compressed to other bytes, or go on behind what both have.
	// What contrib's receiver has stored tells no locator; there the base is all there is.
	foreign := state.Locator.IsZero() && state.Ladder.Len() == 0 && !rec.Orphan()
	moved := b.compressed && state.Base > 0 && state.Locator != b.info.Locator && !foreign && (state.Offset > 0 || state.Base != b.info.Size)
	if moved || b.compressed != state.Compressed {
		state.Compressed, state.Base, state.BaseAt = b.compressed, 0, 0
		state.StaticRevision++
	}
	l.Registry.Locate(rec, b.path, b.info.Locator)
	l.adoptRecord(b, rec)
	if state.Ladder.Len() == 0 && state.Offset > 0 && !b.compressed {
		l.ladderAt(b, state) // an older version kept none: the fingerprint had to do
	}
	l.changed(b)
}

// adoptRecord makes b the file that is read for rec.
func (l *Loop) adoptRecord(b *body, rec *registry.Record) {
	b.rec, b.twin = rec, nil
	l.owners[rec] = b
	if l.holds() {
		l.inherit(b, rec)
		l.byID[b.id] = b
	}
	l.Registry.Own(rec)
}

// fromArchive looks for the State of b among the archived ones.
func (l *Loop) fromArchive(b *body, s registry.Sighting) *registry.Record {
	if l.Store == nil {
		return nil
	}
	for _, state := range l.Store.FindArchived(s.Head) {
		var questions []int64
		if newest, ok := state.Ladder.Newest(); ok {
			questions = append(questions, newest.Offset)
		}
		answers, err := frontiersOf(b, questions)
		if err != nil || !registry.Continues(state, s, answers) {
			continue
		}
		l.Store.Revive(state)
		return l.Registry.Add(state)
	}
	return nil
}

// changed tells the checkpoint that the State of b is not what was saved.
func (l *Loop) changed(b *body) {
	if l.Store != nil && b.rec != nil {
		l.Store.Changed(b.rec.State)
	}
}

// openFailed tells about a file that could not be opened.
func (l *Loop) openFailed(name string, err error) {
	switch {
	case errors.Is(err, errMoved), errors.Is(err, fs.ErrNotExist):
		// The next poll sees what is there then.
	case isTooManyFiles(err):
		l.handlesExhausted(err)
	default:
		l.trouble(name, err)
	}
}
