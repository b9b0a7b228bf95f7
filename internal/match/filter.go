package match

import "time"

// maxHiddenAsked is how many of the files that are hidden by their age are asked
// for news at each poll. If there are more, they take turns, so that a heap of old
// files does not cost a stat call each at every poll; then it takes a few polls
// until it shows that an old file was written again.
const maxHiddenAsked = 1000

// A filter decides which of the matched files are read, and in which order.
type filter struct {
	limit    time.Duration // of the age; 0: none
	ordering *ordering
	hidden   int    // files hidden by their age after the last poll
	turn     uint64 // counts polls
}

func newFilter(c Config) (*filter, error) {
	o, err := newOrdering(c)
	if err != nil {
		return nil, err
	}
	return &filter{limit: c.ExcludeOlderThan, ordering: o}, nil
}

// passesAll reports whether the filter changes nothing at all.
func (f *filter) passesAll() bool { return f.limit == 0 && len(f.ordering.rules) == 0 }

// watches reports whether files have to be asked for their modification times.
func (f *filter) watches() bool { return f.limit != 0 || f.ordering.byMtime }

// observe asks files for their modification times as far as the answer can make a
// difference. It reports whether one did, and whether failures came or went.
func (f *filter) observe(files []*file, now time.Time) (changed, failuresChanged bool) {
	f.turn++
	every := uint64(1 + f.hidden/maxHiddenAsked)
	nowNanos, limit := now.UnixNano(), int64(f.limit)
	f.hidden = 0
	for i, file := range files {
		if f.isDue(file, nowNanos, (uint64(i)+f.turn)%every == 0) {
			before := *file
			file.ask()
			if !before.asked || before.kind != file.kind || f.ordering.byMtime && before.modified != file.modified {
				changed = true
			}
			failuresChanged = failuresChanged || before.failure != file.failure
		}
		tooOld := limit != 0 && file.kind == kindFile && nowNanos-file.modified > limit
		if tooOld != file.tooOld {
			file.tooOld, changed = tooOld, true
		}
		if tooOld {
			f.hidden++
		}
	}
	return changed, failuresChanged
}

// isDue reports whether a file has to be asked. One that is young enough has not
// if only its age matters: it can have become younger since, but not older.
func (f *filter) isDue(file *file, now int64, itsTurn bool) bool {
	switch {
	case !file.asked, file.kind != kindFile, f.ordering.byMtime:
		return true
	case file.tooOld:
		return itsTurn
	default:
		return now-file.modified > int64(f.limit)
	}
}

// ask notes the modification time of a file.
func (f *file) ask() {
	var st fileStat
	err := statPath(f.path, &st)
	f.asked, f.kind, f.modified = true, st.kind, st.modified
	if !sameFailure(f.failure, err) {
		f.failure = wrapFailure("cannot ask for modification time", err)
	}
}

// selectInto appends those of the files that are to be read, in the order to read
// them, to an empty slice. The files are sorted by path.
func (f *filter) selectInto(selected, files []*file) []*file {
	if f.passesAll() {
		return append(selected, files...)
	}
	for _, file := range files {
		if f.watches() && (file.kind != kindFile || file.tooOld) {
			continue
		}
		if file.rank == nil {
			file.rank = f.ordering.rank(file.name())
		}
		if !file.rank.unranked {
			selected = append(selected, file)
		}
	}
	return f.ordering.arrange(selected)
}
