package tail

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// modelLine is one line that was written, and what the model knows of it.
type modelLine struct {
	text string
	// stream and number: lines of a stream are delivered in order of number,
	// as long as the stream is ordered.
	stream, number int
	excused        bool // the file system did not keep it until it could be read
	mayRepeat      bool // a kill, a copy or a truncation makes it known anew
}

// modelFile is one physical file: the bytes that it has and the lines in them.
type modelFile struct {
	name    string // below the rig's folder; "" when it was deleted
	content []byte
	lines   []*modelLine // whole lines of the content, in order
	partial *modelLine   // the last one, of which only a part is written
	rest    string       // the other part
	stream  int
	packed  bool
	hidden  bool // by age
	denied  denial
	// followed: the loop polled while the file could be read, so it must read
	// all of it through its handle, whatever becomes of the name.
	followed bool
	// behind: a copy whose original has grown since. Only a loop that saw both
	// knows that all of it was read.
	behind bool
	// remembered: the loop that was stopped last followed it.
	remembered bool
	// seenAs is the name that the loop knows it by.
	seenAs string
}

// world is the model: files with the lines in them.
type world struct {
	*rig
	files     []*modelFile // all with a name, and deleted ones that are followed
	lines     map[string]*modelLine
	all       []*modelLine
	harmless  map[string]bool // texts that are no line of the model: beginnings, pieces
	streams   []int           // next number of each
	unordered map[int]bool    // streams whose order is not promised any more
	long      bool            // lines of some kilobytes
	denied    map[string]denial
	remains   []remains
	trace     []string
}

// beginnings are what files begin with: few, so that many begin alike.
var beginnings = []string{"", "begin\n", "begin with more than sixteen bytes\n", "begin\nand go on\n"}

func newWorld(r *rig) *world {
	w := &world{
		rig: r, lines: map[string]*modelLine{}, harmless: map[string]bool{},
		unordered: map[int]bool{}, denied: map[string]denial{},
	}
	for _, b := range beginnings {
		for _, line := range strings.Split(b, "\n") {
			w.harmless[line] = true
		}
	}
	deny := func(call, path string, from denial) error {
		if w.denied[path] >= from {
			return &os.PathError{Op: call, Path: path, Err: os.ErrPermission}
		}
		return nil
	}
	r.layer.open = func(path string) error { return deny("open", path, unreadable) }
	r.layer.stat = func(path string, _ *source.Info) error { return deny("stat", path, invisible) }
	return w
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// denial is what of a file is not permitted.
type denial int

const (
	permitted  denial = iota
	unreadable        // it cannot be opened
	invisible         // nor looked at
)

// inPattern tells whether the file has a name that the loop looks at.
func (f *modelFile) inPattern() bool { return strings.HasPrefix(f.name, "in/") }

// readable tells whether a poll now gets hold of the file.
func (f *modelFile) readable() bool {
	return f.inPattern() && !f.hidden && f.denied == permitted && len(f.content) > 0
}

// named returns the files that have a name, in the pattern or not.
func (w *world) named(pattern bool) (files []*modelFile) {
	for _, f := range w.files {
		if f.name != "" && (!pattern || f.inPattern()) {
			files = append(files, f)
		}
	}
	return files
}

func (w *world) byName(name string) *modelFile {
	for _, f := range w.files {
		if f.name == name {
			return f
		}
	}
	return nil
}

func (w *world) newStream() int {
	w.streams = append(w.streams, 0)
	return len(w.streams) - 1
}

// newLine makes a line of a stream.
func (w *world) newLine(stream int) *modelLine {
	l := &modelLine{stream: stream, number: w.streams[stream]}
	w.streams[stream]++
	l.text = fmt.Sprintf("s%d-%d", stream, l.number)
	if w.long {
		// A frontier tells by 256 bytes: no two lines have so many in common.
		l.text = strings.Repeat(l.text+" long ", 600) + l.text
	} else if l.number%3 == 1 {
		l.text += " with some more text, so that lines differ in length"
	}
	w.lines[l.text] = l
	w.all = append(w.all, l)
	return l
}

// put writes the content of f anew or, with grown, appends what it lacks.
func (w *world) put(f *modelFile, from int) {
	flags := os.O_WRONLY | os.O_CREATE
	if from == 0 {
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(w.path(f.name), flags, 0o644)
	if err == nil {
		_, err = file.WriteAt(f.content[from:], int64(from))
		_ = file.Close()
	}
	if err != nil {
		w.t.Fatalf("write %s: %v", f.name, err)
	}
	if f.hidden {
		w.reappears(f)
		f.hidden = false
	}
	w.changed(f.name)
}

// appendLines writes n lines, the last one only in part if partial.
func (w *world) appendLines(f *modelFile, n int, partial bool) {
	from := len(f.content)
	w.extend(f, n, partial)
	w.put(f, from)
	w.written(f)
	w.note("append %d lines (partial %v) to %s, now %d bytes", n, partial, f.name, len(f.content))
}

func (w *world) extend(f *modelFile, n int, partial bool) {
	if f.partial != nil {
		f.content = append(f.content, f.rest+"\n"...)
		f.lines = append(f.lines, f.partial)
		f.partial = nil
	} else if k := len(f.content); k > 0 && f.content[k-1] != '\n' {
		w.endPiece(f)
	}
	for range n {
		l := w.newLine(f.stream)
		f.content = append(f.content, l.text+"\n"...)
		f.lines = append(f.lines, l)
	}
	if partial {
		l := w.newLine(f.stream)
		half := len(l.text) / 2
		f.content = append(f.content, l.text[:half]...)
		f.partial, f.rest = l, l.text[half:]
	}
}

// endPiece ends a piece of a line that a truncation or a copy left.
func (w *world) endPiece(f *modelFile) {
	w.harmless[lastPiece(f.content)] = true
	f.content = append(f.content, '\n')
}

func lastPiece(content []byte) string {
	return strings.TrimSpace(string(content[bytes.LastIndexByte(content, '\n')+1:]))
}

// create makes a new file of that name.
func (w *world) create(name string, beginning string, stream, n int) *modelFile {
	f := &modelFile{name: name, content: []byte(beginning), stream: stream}
	w.extend(f, n, false)
	w.files = append(w.files, f)
	w.put(f, 0)
	delete(w.denied, w.path(name))
	w.note("create %s: %q and %d lines, stream %d, %d bytes", name, beginning, n, stream, len(f.content))
	return f
}

// cut drops the content of f behind size, at a line's end or in its middle.
func (w *world) cut(f *modelFile, size int) {
	kept := f.lines[:0:0]
	end := 0
	for _, l := range f.lines {
		at := bytes.Index(f.content, []byte(l.text+"\n"))
		if end = at + len(l.text) + 1; at >= 0 && end <= size {
			kept = append(kept, l)
		}
	}
	lost := append([]*modelLine{}, f.lines[len(kept):]...)
	if f.partial != nil {
		lost = append(lost, f.partial)
		f.partial = nil
	}
	f.lines = kept
	f.content = f.content[:size:size]
	piece := lastPiece(f.content)
	for _, b := range beginnings {
		for line := range strings.Lines(b) {
			if rest, cut := strings.CutPrefix(line, piece); cut {
				w.harmless[strings.TrimSpace(rest)] = true // of the next file that begins so
			}
		}
	}
	w.destroyed(f, lost)
	for _, l := range append(lost, kept...) {
		l.mayRepeat = true // reading goes on behind what verifies
	}
}

// move renames f.
func (w *world) move(f *modelFile, to string) {
	if other := w.byName(to); other != nil && other != f {
		w.gone(other)
	}
	if f.inPattern() != strings.HasPrefix(to, "in/") && !w.followedNow(f) {
		f.followed = false // nobody has to look where it goes, or it is let go of and has to be found first
	}
	if !f.inPattern() && strings.HasPrefix(to, "in/") && !w.known(f) && (w.loop != nil || !f.remembered) {
		w.repeat(f) // it was away for longer than it is remembered
	}
	if f.hidden {
		w.repeat(f)
	}
	if f.denied == invisible {
		w.repeat(f) // nobody sees that it is still there, and it may be forgotten
	}
	if !w.known(f) {
		w.unordered[f.stream] = true // nobody saw it under the name of the one that it follows
	}
	w.rename(f.name, to)
	w.note("rename %s to %s", f.name, to)
	w.renameDenied(f, to)
	f.name = to
}

func (w *world) renameDenied(f *modelFile, to string) {
	delete(w.denied, w.path(f.name))
	delete(w.denied, w.path(to))
	if f.denied != permitted {
		w.denied[w.path(to)] = f.denied
	}
}

func (w *world) delete(f *modelFile) {
	w.bury(f)
	w.remove(f.name)
	w.note("delete %s (followed %v)", f.name, f.followed)
	w.gone(f)
}

// duplicate copies f.
func (w *world) duplicate(f *modelFile, to string) *modelFile {
	w.overwrittenUnseen(f)
	if w.loop != nil && !w.readUnderItsName(f) && w.readElsewhere(f) {
		w.repeat(f) // two copies of the same file: either may take its place, and then the other is one that begins alike
	}
	if w.conf.MaxOpenFiles < 100 {
		w.repeat(f) // the copy may get the inode of an emptied file that is not open
	}
	if other := w.byName(to); other != nil {
		w.bury(other)
		w.remove(to)
		w.gone(other)
	}
	c := &modelFile{
		name: to, content: bytes.Clone(f.content), stream: f.stream, packed: f.packed,
		lines: append([]*modelLine{}, f.lines...),
	}
	w.files = append(w.files, c)
	w.put(c, 0)
	if w.continuesAnother(c, c.content) {
		w.repeat(c)
	}
	delete(w.denied, w.path(to))
	w.note("copy %s to %s", f.name, to)
	return c
}

// pack compresses f into a file of its own and deletes f.
func (w *world) pack(f *modelFile) {
	to := f.name + ".gz"
	if f.packed || len(to) > 20 || w.byName(to) != nil {
		return
	}
	w.overwrittenUnseen(f)
	if f.behind || f.denied == invisible { // nobody sees that an invisible one is still there
		w.repeat(f)
	}
	if !w.readUnderItsName(f) {
		w.unordered[f.stream] = true // the packed file is not known to follow the one that had its name
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(f.content)
	_ = z.Close()
	if piece := lastPiece(f.content); piece != "" {
		w.harmless[piece] = true
	}
	g := &modelFile{name: to, content: packed.Bytes(), packed: true, stream: f.stream, lines: append([]*modelLine{}, f.lines...)}
	w.files = append(w.files, g)
	w.put(g, 0)
	if w.continuesAnother(g, f.content) {
		w.repeat(g)
	}
	delete(w.denied, w.path(to))
	w.note("gzip %s", f.name)
	w.delete(f)
}

func (w *world) deny(f *modelFile, denied denial) {
	f.denied = denied
	if denied != permitted && !w.known(f) {
		w.repeat(f) // whose copy it is may be forgotten until it can be read
	}
	if denied == permitted {
		w.reappears(f)
	}
	w.denied[w.path(f.name)] = denied
	w.note("deny %s: %d", f.name, denied)
}

// hide makes f too old to be looked at, or young again.
func (w *world) hide(f *modelFile, hidden bool) {
	f.hidden = hidden
	if hidden && !w.known(f) {
		w.repeat(f)
	} else if !hidden {
		w.reappears(f)
	}
	at := w.now
	if hidden {
		at = at.Add(-2 * time.Hour)
	}
	if err := os.Chtimes(w.path(f.name), at, at); err != nil {
		w.t.Fatal(err)
	}
	w.note("hide %s: %v", filepath.Base(f.name), hidden)
}
