package tail

import (
	"bytes"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// What is here says which lines a loop need not deliver, may deliver twice or out
// of order, since nobody could know better.

// followedNow tells whether the loop has a handle of f just now.
func (w *world) followedNow(f *modelFile) bool {
	if w.loop == nil {
		return false
	}
	for _, b := range w.loop.bodies {
		if w.isFile(b, f) && b.handle != nil {
			return true
		}
	}
	return false
}

// known tells whether the loop follows f, open or not.
func (w *world) known(f *modelFile) bool {
	if w.loop == nil {
		return false
	}
	for _, b := range w.loop.bodies {
		if w.isFile(b, f) {
			return true
		}
	}
	return false
}

// readUnderItsName tells whether f is being read, not only held as a twin.
func (w *world) readUnderItsName(f *modelFile) bool {
	if w.loop == nil {
		return false
	}
	for _, b := range w.loop.bodies {
		if b.rec != nil && w.isFile(b, f) {
			return true
		}
	}
	return false
}

// heldForNameless tells whether f is held as a copy of a file that has no name
// in the pattern any more.
func (w *world) heldForNameless(f *modelFile) bool {
	for _, b := range w.loop.bodies {
		if b.twin == nil || !w.isFile(b, f) {
			continue
		}
		original := w.loop.owners[b.twin.of]
		return original == nil || original.left || w.nameless(original)
	}
	return false
}

// nameless tells whether no file of the model that has a name is b.
func (w *world) nameless(b *body) bool {
	return !slices.ContainsFunc(w.named(true), func(f *modelFile) bool { return w.isFile(b, f) })
}

// reappears notes that f can be looked at again. If it got its name while it could
// not, nobody could know that it stands there: it was as good as out of the pattern.
func (w *world) reappears(f *modelFile) {
	if f.seenAs != w.path(f.name) && w.forgotten(f) {
		w.repeat(f)
	}
}

// forgotten tells whether nothing is known of f any more by its inode.
func (w *world) forgotten(f *modelFile) bool {
	info, err := source.OS.Stat(w.path(f.name))
	return err == nil && w.loop != nil && !w.loop.Registry.KnowsLocator(info.Locator)
}

func (w *world) isFile(b *body, f *modelFile) bool {
	info, err := source.OS.Stat(w.path(f.name))
	return err == nil && info.Locator == b.info.Locator
}

// written notes that lines were written to f: while nobody holds it open, it has to
// be there at the next poll.
func (w *world) written(f *modelFile) {
	if !w.followedNow(f) {
		f.followed = false
	}
}

// carried tells whether another file has the line and the loop will read it there.
func (w *world) carried(l *modelLine, but *modelFile) bool {
	for _, f := range w.files {
		if f == but || !(f.inPattern() || f.followed) {
			continue
		}
		for _, has := range f.lines {
			if has == l {
				return true
			}
		}
	}
	return false
}

// destroyed notes that these lines are no longer in f: what was not delivered
// and stands nowhere else is excused.
func (w *world) destroyed(f *modelFile, lines []*modelLine) {
	delivered := w.deliveredTexts()
	for _, l := range lines {
		if delivered[l.text] == 0 && !w.carried(l, f) {
			l.excused = true
		}
	}
}

// readElsewhere tells whether something of f was delivered.
func (w *world) readElsewhere(f *modelFile) bool {
	delivered := w.deliveredTexts()
	return slices.ContainsFunc(f.lines, func(l *modelLine) bool { return delivered[l.text] > 0 })
}

func (w *world) deliveredTexts() map[string]int {
	count := map[string]int{}
	for _, b := range w.sink.delivered() {
		count[b]++
	}
	return count
}

func (w *world) repeat(f *modelFile) {
	for _, l := range f.lines {
		l.mayRepeat = true
	}
	if f.partial != nil {
		f.partial.mayRepeat = true
	}
	w.unordered[f.stream] = true
}

// gone notes that f has no name any more.
func (w *world) gone(f *modelFile) {
	delete(w.denied, w.path(f.name))
	if f.partial != nil {
		f.partial.excused = true
	}
	if !f.followed || w.loop == nil {
		f.followed = false
		w.destroyed(f, f.lines)
	}
	f.name = ""
}

// remains is what a file had when it went away.
type remains struct {
	locator fileid.Locator
	content []byte
}

// bury keeps what f has, which is about to go away, and its inode.
func (w *world) bury(f *modelFile) {
	info, err := source.OS.Stat(w.path(f.name))
	if err != nil {
		w.t.Fatal(err)
	}
	content := f.content
	if f.packed {
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			w.t.Fatal(err)
		}
		if content, err = io.ReadAll(z); err != nil {
			w.t.Fatal(err)
		}
	}
	w.remains = append(w.remains, remains{info.Locator, bytes.Clone(content)})
}

// continuesAnother tells whether f, which is new and has that content, got the
// inode of a file that is gone and has all that was read of that.
func (w *world) continuesAnother(f *modelFile, content []byte) (yes bool) {
	info, err := source.OS.Stat(w.path(f.name))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range w.remains {
		yes = yes || r.locator == info.Locator && bytes.HasPrefix(content, r.content)
	}
	if w.loop == nil {
		return yes
	}
	w.loop.Registry.Unowned(func(rec *registry.Record) {
		s := rec.State
		newest, read := s.Ladder.Newest()
		switch {
		case s.Locator != info.Locator || newest.Offset > int64(len(content)):
			return
		case !read:
			yes = yes || s.Offset == 0 && s.Fingerprint.IsPrefixOf(content)
			return
		}
		window := content[newest.Offset-int64(fileid.WindowLen(newest.Offset)) : newest.Offset]
		yes = yes || fileid.NewFrontier(newest.Offset, window) == newest
	})
	return yes
}

// overwrittenUnseen notes that f is about to be copied or packed: if its content
// was overwritten and the loop has not seen that yet, the two look unrelated
// until it has, and both are read.
func (w *world) overwrittenUnseen(f *modelFile) {
	if w.loop == nil {
		return
	}
	for _, b := range w.loop.bodies {
		if !w.isFile(b, f) {
			continue
		}
		if info, err := source.OS.Stat(w.path(f.name)); b.twin != nil && err == nil && versionOf(info) != versionOf(b.info) {
			w.repeat(f) // the copy may be identified first, and f be held for its copy, which it may outgrow
		}
		if b.rec == nil || b.handle == nil {
			continue
		}
		newest, _ := b.rec.State.Ladder.Newest()
		answers, err := frontiersAt(b.handle, []int64{newest.Offset})
		same := newest.Offset == 0 || err == nil && len(answers) == 1 && answers[0] == newest
		head := b.rec.State.Fingerprint
		if !same || head.Len() == 0 || !head.IsPrefixOf(f.content) {
			w.repeat(f)
		}
	}
}

// looked notes what the loop has got hold of by a poll.
func (w *world) looked() {
	for _, f := range w.files {
		if info, err := source.OS.Stat(w.path(f.name)); err == nil && f.name != "" && w.loop.bodies[info.Locator] != nil {
			f.seenAs = w.loop.bodies[info.Locator].path
		}
		if f.readable() && w.conf.FilesPerPoll == 0 && w.conf.MaxOpenFiles >= 100 {
			f.followed = true
		}
	}
}

// stopping notes what the loop follows at its end.
func (w *world) stopping() {
	for _, f := range w.files {
		f.remembered = f.name != "" && w.known(f)
		if (f.denied != permitted || f.hidden) && w.heldForNameless(f) {
			w.repeat(f) // what is known of it goes by a name that is gone, and is forgotten until it can be read
		}
	}
}

// stopped notes that the loop has let go of all handles.
func (w *world) stopped(killed bool) {
	for _, f := range w.files {
		f.followed = false
		if f.behind {
			w.repeat(f)
		}
	}
	kept := w.files[:0]
	for _, f := range w.files {
		if f.name == "" {
			w.destroyed(f, f.lines)
		} else {
			kept = append(kept, f)
		}
	}
	w.files = kept
	if killed {
		for _, l := range w.all {
			l.mayRepeat = true
		}
	}
	for i := range w.streams {
		w.unordered[i] = true // files that follow each other are not known to any more
	}
}
