package tail

import (
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/watch"
)

// hints spare the look at files of which the kernel tells that nobody writes to
// them. A system call costs about a microsecond on a virtual machine, and a
// thousand files five times a second are half a per cent of a core: with hints
// a poll at rest is three system calls, whatever the number of files. A hint is
// no proof, so everything is looked at every lookAtAll all the same.
type hints struct {
	watcher *watch.Watcher                 // nil: not watching
	offTill time.Time                      // not before: watching failed, or cost more than it spared
	allAt   time.Time                      // when everything is looked at next
	places  map[watch.Place]map[string]int // names of a directory, to entries
	debt    int                            // by how much watching has cost more than it spared, in events

	directories map[string]watch.Place
}

const (
	// lookAtAll is how often files without a hint are looked at. What writes without
	// an event waits so long: a mapping, or a container host past an overlay. A file
	// with several links does not: a write through one is told for that one only.
	lookAtAll = 4 * time.Second
	// hintsPause is for how long files are looked at without hints when
	// watching failed or cost more than it spared.
	hintsPause = time.Minute
	// eventsPerLook is how many events cost what a look costs. Each write makes
	// one, unless it repeats the one before: an allocation and a lock for the
	// writer, and 32 bytes and a search for the name here.
	eventsPerLook = 2
)

// takeHints marks the entries that were written to. It tells whether all have
// to be looked at.
func (l *Loop) takeHints(now time.Time) (all bool) {
	h := &l.hints
	if h.watcher == nil && (len(l.entries) < l.WatchFrom || l.WatchFrom <= 0 || now.Before(h.offTill)) {
		return true
	}
	if h.watcher == nil {
		w, err := watch.New()
		if err != nil {
			h.offTill = now.Add(hintsPause)
			l.Logger.Debug("Directories cannot be watched; files are looked at in each poll", zap.Error(err))
			return true
		}
		h.watcher, h.places, h.debt = w, map[watch.Place]map[string]int{}, 0
		l.watchEntries()
		return true
	}
	spared := len(l.entries)
	events, err := h.watcher.Drain(func(in watch.Place, name []byte) {
		if i, ok := h.places[in][string(name)]; ok && !l.entries[i].hinted {
			l.entries[i].hinted = true
			spared--
		}
	})
	// A few files that are written to without a pause cost more than the looks
	// at many that rest. A burst is no reason to stop.
	h.debt = max(h.debt+events.Count-eventsPerLook*spared, 0)
	switch {
	case err != nil || h.debt > 4*len(l.entries)+1024 || len(l.entries) < l.WatchFrom:
		l.stopHints()
		h.offTill = now.Add(hintsPause)
		return true
	case events.Lost:
		l.watchEntries()
		return true
	case !now.Before(h.allAt):
		h.allAt = now.Add(lookAtAll)
		return true
	}
	return false
}

// watchEntries watches the directories of all entries. It is called when names
// have changed.
func (l *Loop) watchEntries() {
	h := &l.hints
	if h.watcher == nil {
		return
	}
	clear(h.places)
	h.directories = map[string]watch.Place{}
	for i := range l.entries {
		e := &l.entries[i]
		dir, name := directoryOf(e.name)
		place, seen := h.directories[dir]
		if !seen {
			place = h.watcher.Add(dir)
			h.directories[dir] = place
			if place != 0 && h.places[place] == nil {
				h.places[place] = map[string]int{}
			}
		}
		e.watched = place != 0
		if e.watched {
			h.places[place][name] = i
		}
	}
}

// watchAgain looks whether a directory that was listed anew is still the one
// that is watched.
func (l *Loop) watchAgain(directory string) {
	h := &l.hints
	if h.watcher == nil {
		return
	}
	if place, known := h.directories[directory]; !known || h.watcher.Add(directory) != place {
		l.watchEntries()
	}
}

// directoryOf splits a path; the directory is never empty.
func directoryOf(path string) (directory, name string) {
	directory, name = filepath.Split(path)
	if directory == "" {
		directory = "."
	}
	return directory, name
}

// stopHints ends watching.
func (l *Loop) stopHints() {
	if l.hints.watcher == nil {
		return
	}
	if err := l.hints.watcher.Close(); err != nil {
		l.Logger.Debug("Failed to stop watching directories", zap.Error(err))
	}
	l.hints.watcher = nil
}
