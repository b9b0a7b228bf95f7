package tail

import (
	"fmt"
	"strings"
	"time"

	"github.com/otelfilelog/filelogreceiver/internal/deliver"
)

func deliverRetry(enabled bool) deliver.Retry {
	return deliver.Retry{Enabled: enabled, InitialInterval: time.Millisecond, MaxInterval: time.Millisecond}
}

// pick chooses one of files; nil if there is none.
func pick(files []*modelFile, n int) *modelFile {
	if len(files) == 0 {
		return nil
	}
	return files[n%len(files)]
}

// act does one step. It returns what is wrong already, "" if nothing is.
func (w *world) act(a act) string {
	switch a.kind {
	case "poll", "pass", "wait", "block", "refuse", "accept", "stop", "start", "kill", "kill between":
		return w.actOnLoop(a)
	case "create":
		name := fmt.Sprintf("in/%c", 'a'+a.a%4)
		if w.byName(name) == nil {
			w.create(name, beginnings[a.b%len(beginnings)], w.newStream(), a.c%4)
		}
		return ""
	case "in":
		if f := pick(w.outside(), a.a); f != nil {
			if to := fmt.Sprintf("in/%c.%d", 'a'+a.b%4, a.c%3); w.byName(to) == nil {
				w.move(f, to)
			}
		}
		return ""
	}
	if f := pick(w.named(true), a.a); f != nil {
		w.actOnFile(f, a)
	}
	return ""
}

func (w *world) outside() (files []*modelFile) {
	for _, f := range w.named(false) {
		if !f.inPattern() {
			files = append(files, f)
		}
	}
	return files
}

func (w *world) actOnLoop(a act) string {
	switch a.kind {
	case "start":
		if w.loop == nil {
			w.note("start")
			w.start()
		}
	case "block":
		w.note("the sink blocks")
		w.sink.set(blocking)
	case "refuse":
		w.note("the sink refuses")
		w.sink.set(refusing)
	case "accept":
		w.note("the sink accepts")
		w.sink.set(accepting)
	}
	if w.loop == nil {
		return ""
	}
	switch a.kind {
	case "poll":
		w.note("poll")
		w.poll()
		w.looked()
	case "pass":
		w.note("pass 3 s")
		w.pass(3 * time.Second)
		w.looked()
	case "wait":
		w.note("the sink accepts; pass 15 s")
		w.sink.set(accepting)
		w.pass(15 * time.Second)
		w.looked()
		return w.compareNow()
	case "block", "refuse", "accept":
		w.settle()
	case "stop":
		w.note("stop")
		if w.sink.mode == blocking {
			w.sink.set(refusing)
		}
		w.stopping()
		w.stop()
		w.stopped(false)
	case "kill":
		w.note("kill")
		w.stopping()
		w.kill()
		w.stopped(true)
	case "kill between":
		w.note("poll; kill before its turns are taken in")
		w.now = w.now.Add(w.conf.PollInterval)
		w.loop.poll()
		w.stopping()
		w.kill()
		w.stopped(true)
	}
	return ""
}

// compareNow checks that all that could be read for a long time was delivered.
func (w *world) compareNow() string {
	count := w.deliveredTexts()
	for _, f := range w.named(true) {
		if !f.readable() {
			continue
		}
		for _, l := range f.lines {
			if count[l.text] == 0 && !l.excused {
				return fmt.Sprintf("%.60q of %q is not delivered though nothing hinders", l.text, f.name)
			}
		}
	}
	return ""
}

func (w *world) actOnFile(f *modelFile, a act) {
	stem := f.name
	if i := strings.IndexByte(stem, '.'); i >= 0 {
		stem = stem[:i]
	}
	rotated := fmt.Sprintf("%s.%d", stem, a.b%3)
	if a.c%2 == 0 {
		rotated = "out/" + rotated[len("in/"):]
	}
	switch a.kind {
	case "append", "partial":
		if !f.packed {
			w.appendLines(f, a.b%4, a.kind == "partial")
		}
	case "rotate":
		if f.packed || f.name != stem {
			return
		}
		if other := w.byName(rotated); other != nil && w.known(other) && !w.followedNow(other) {
			// The new one may get the inode of the one that is overwritten, which is not
			// open, and be taken for that until it is read.
			w.unordered[f.stream] = true
		}
		w.move(f, rotated)
		if f.partial != nil {
			f.partial.number = -1 // may be finished late: of no stream any more
			f.partial.stream = w.newStream()
			f.stream = f.partial.stream
			w.create(stem, beginnings[a.b%len(beginnings)], w.newStream(), a.c%3)
			return
		}
		stream := f.stream
		f.stream = w.newStream()
		w.create(stem, beginnings[a.b%len(beginnings)], stream, a.c%3)
	case "out":
		w.move(f, "out/"+f.name[len("in/"):])
	case "rename":
		if w.byName(rotated) == nil {
			w.move(f, rotated)
		}
	case "copytruncate", "slow copytruncate":
		w.copyTruncate(f, rotated, a)
	case "copy":
		if !f.packed && rotated != f.name {
			w.repeat(f)
			c := w.duplicate(f, rotated)
			c.stream = w.newStream()
			w.splitPartial(f, c)
		}
	case "truncate":
		if !f.packed {
			w.emptied(f)
			w.put(f, 0)
			w.note("truncate %s", f.name)
		}
	case "cut":
		if !f.packed && len(f.content) > 0 {
			w.cut(f, a.b%len(f.content))
			w.repeat(f)
			w.truncate(f.name, int64(len(f.content)))
			f.hidden = false
			w.note("cut %s to %d bytes", f.name, len(f.content))
		}
	case "rewrite":
		if !f.packed {
			w.emptied(f)
			f.content = []byte(beginnings[a.b%len(beginnings)])
			w.extend(f, a.c%6, false)
			w.put(f, 0)
			w.written(f)
			w.note("rewrite %s: %q and %d lines, %d bytes", f.name, f.content[:min(20, len(f.content))], a.c%6, len(f.content))
		}
	case "delete":
		w.delete(f)
	case "replace":
		name := f.name
		if f.packed {
			return
		}
		w.delete(f)
		w.create(name, beginnings[a.b%len(beginnings)], w.newStream(), a.c%4)
	case "gzip":
		w.pack(f)
	case "deny":
		w.deny(f, unreadable+denial(a.c%2))
	case "allow":
		w.deny(f, permitted)
	case "hide", "show":
		w.hide(f, a.kind == "hide")
	}
}

// emptied notes that all of f's content is overwritten in place.
func (w *world) emptied(f *modelFile) {
	lost := f.lines
	if f.partial != nil {
		lost = append(append([]*modelLine{}, lost...), f.partial)
	}
	f.lines, f.partial = nil, nil
	w.destroyed(f, lost)
	f.content = nil
}

// splitPartial deals with the half line that a copy has, too: only the original
// may finish it.
func (w *world) splitPartial(f, c *modelFile) {
	if f.partial != nil {
		w.harmless[lastPiece(c.content)] = true
	}
}

// copyTruncate copies f and truncates it, fast or with polls in between.
func (w *world) copyTruncate(f *modelFile, to string, a act) {
	if f.packed || to == f.name || f.denied != permitted {
		return
	}
	seen := w.readUnderItsName(f)
	c := w.duplicate(f, to)
	w.splitPartial(f, c)
	for _, l := range c.lines {
		if l.stream != f.stream {
			w.unordered[l.stream] = true // what took the name of f waits for f, not for a copy of it
		}
	}
	if w.conf.FilesPerPoll > 0 {
		// What took the name of f when that was rotated waits for f, which may be seen to
		// be empty in a poll before the one that looks at the name of the copy.
		delivered := w.deliveredTexts()
		for _, l := range c.lines {
			if delivered[l.text] == 0 {
				w.unordered[l.stream] = true
			}
		}
	}
	if a.kind == "slow copytruncate" {
		for range a.b % 4 {
			if w.loop != nil {
				w.note("poll")
				w.poll()
				w.looked()
			}
			if a.c%3 == 0 {
				if !seen {
					w.repeat(c) // two files that are seen together and grow apart
				}
				w.appendLines(f, 1, false)
				c.behind = true
			}
		}
	}
	w.emptied(f)
	c.stream = w.newStream()
	w.unordered[f.stream] = true
	f.stream = w.newStream()
	w.put(f, 0)
	w.note("truncate %s", f.name)
	if a.c%5 > 1 {
		f.content = []byte(beginnings[a.b%len(beginnings)])
		w.extend(f, a.c%5, false)
		w.put(f, 0)
		w.note("write %d lines to %s, %d bytes", a.c%5, f.name, len(f.content))
	}
}
