package tail

import (
	"errors"
	"io/fs"
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
	if len(l.strangers) > 0 {
		l.noteAllRewritten()
	}
	for _, known := range []bool{true, false} {
		for _, s := range l.strangers {
			if l.Registry.KnowsLocator(s.info.Locator) == known {
				l.identify(s, now)
			}
		}
	}
}

// noteAllRewritten looks which of the files that have changed do not have what was
// read of them any more. A new file may be a copy of what such a one has now.
func (l *Loop) noteAllRewritten() {
	for _, b := range l.bodies {
		if b.rec != nil && b.pending && !b.inFlight && !b.compressed && !b.ignoring && b.handle != nil && !intact(b) {
			l.noteRewritten(b)
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
	l.followLinks(b)
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
	var header *fileid.State // of the file that what is before start was read of
	d := l.Registry.Resolve(s, answers, apart)
	for d.Kind == registry.Adopt && !d.Record.Orphan() && l.livesElsewhere(d.Record, b) {
		apart = append(apart, d.Record)
		d = l.Registry.Resolve(s, answers, apart)
	}
	if d.Kind == registry.Hold {
		shared, parted := l.compareWith(b, d.Record, 0)
		for parted {
			if at := l.savedBehind(b, d.Record, shared, s.Head); at > start {
				start, header = at, d.Record.State
			}
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
		if rec := l.fromArchive(b, s, start); rec != nil {
			l.own(b, rec, s)
			l.Logger.Info("File found in archive. Started watching file again", zap.String("path", b.path))
		} else {
			l.begin(b, s, start)
			if header != nil {
				goOnAs(b.rec.State, header)
			}
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

// savedBehind is where b begins that took the name of the file of rec when that
// left the pattern, as editors do that keep a backup, and has all that was read of
// it and more: behind that, if it is more than two files may begin alike with.
// Else 0.
func (l *Loop) savedBehind(b *body, rec *registry.Record, shared int64, head []byte) int64 {
	old, read := l.owners[rec], rec.State.Offset
	if old == nil || !old.left || old.path != b.path || !old.eof || old.pending || read <= sharedShort || shared < read {
		return 0
	}
	return l.readOf(b, rec.State, shared, read, head)
}

// sight reads how b begins. The sighting has no head when there is nothing to
// be seen yet.
func (l *Loop) sight(b *body) (registry.Sighting, error) {
	limit := max(l.FingerprintSize, l.Registry.MaxFingerprint())
	head, err := readBeginning(b.handle, limit, b.info.Size)
	if err != nil {
		return registry.Sighting{}, err
	}
	s := registry.Sighting{Locator: b.info.Locator, Head: head, Size: b.info.Size, Path: b.path}
	switch {
	case l.Compression == CompressionGzip && len(head) > 1 && !source.IsGzip(head):
		return s, errNotGzip
	case l.Compression != CompressionNone && source.IsGzip(head):
		b.compressed = true
		s.Size = -1
		s.Head, err = b.decompressHead(limit)
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
