package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// scenario is one kind of work.
type scenario struct {
	name  string
	work  string // what is done, for people
	files int    // how many files are watched; 0: it is about a backlog
	keys  string // YAML of the receiver beside include, start_at and storage
	lines layout
	do    func(*trial) (figures, error)
}

// backlogFiles is over how many files a backlog is spread.
const backlogFiles = 4

// linesBefore is how many lines a watched file has at the start.
const linesBefore = 10

// patience is how long a distribution may take for what it has to do.
const patience = 3 * time.Minute

var scenarios = []scenario{
	{name: "plain", work: "read a backlog of lines of 226 bytes in 4 files, no operators", do: readBacklog},
	{name: "cri", work: "the same, CRI lines through the container operator", do: readBacklog, lines: criLines,
		keys: "    include_file_path: true\n    operators:\n      - type: container\n        add_metadata_from_filepath: false\n"},
	{name: "regex", work: "the same, regex_parser with timestamp and severity, then move", do: readBacklog, keys: `    operators:
      - type: regex_parser
        regex: '^(?P<time>\S+) (?P<level>[A-Z]+) +(?P<message>.*)$'
        timestamp:
          parse_from: attributes.time
          layout_type: gotime
          layout: '2006-01-02T15:04:05.000000Z'
        severity:
          parse_from: attributes.level
      - type: move
        from: attributes.message
        to: body
`},
	{name: "idle", work: "watch 1,000 quiet files", files: 1000, do: watchQuiet},
	{name: "idle10k", work: "watch 10,000 quiet files, all of them open", files: 10000, do: watchQuiet,
		keys: "    max_concurrent_files: 20480\n"},
	{name: "busy", work: "watch 1,000 files that get a line a second each", files: 1000, do: watchBusy},
	{name: "restart", work: "stop, append a line to each of 1,000 files, start, until all have arrived, each once", files: 1000, do: restart},
}

// choose finds scenarios by name; none means all.
func choose(names []string) ([]scenario, error) {
	if len(names) == 0 {
		return scenarios, nil
	}
	var chosen []scenario
	for _, name := range names {
		found := false
		for _, s := range scenarios {
			if s.name == name {
				chosen, found = append(chosen, s), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no scenario %q (see -list)", name)
		}
	}
	return chosen, nil
}

// describe says what the scenario does with these options.
func (s *scenario) describe(o options) string {
	switch {
	case s.files == 0:
		return fmt.Sprintf("%s (%d lines)", s.work, o.lines)
	case o.files > 0:
		return fmt.Sprintf("%s (but %d files)", s.work, o.files)
	default:
		return s.work
	}
}

// trial is one run of one distribution.
type trial struct {
	scenario *scenario
	o        options
	c        contender
	dir      string
	files    []*logFile
	next     int // number of the next line
	p        *process
}

// measure runs c once, on new files.
func (s *scenario) measure(c contender, o options) (figures, error) {
	t := &trial{scenario: s, o: o, c: c, dir: filepath.Join(o.work, c.name)}
	if err := os.RemoveAll(t.dir); err != nil {
		return figures{}, err
	}
	if err := t.writeFiles(); err != nil {
		return figures{}, err
	}
	defer t.stop()
	if err := t.start(); err != nil {
		return figures{}, err
	}
	return s.do(t)
}

func (t *trial) writeFiles() error {
	count, each := t.scenario.files, linesBefore
	if count == 0 {
		count, each = backlogFiles, t.o.lines/backlogFiles
	} else if t.o.files > 0 {
		count = t.o.files
	}
	logs := filepath.Join(t.dir, "logs")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	for i := range count {
		f := &logFile{path: filepath.Join(logs, fmt.Sprintf("app-%05d.log", i)), layout: t.scenario.lines}
		if err := f.append(t.next, each); err != nil {
			return err
		}
		t.next += each
		t.files = append(t.files, f)
	}
	return nil
}

func (t *trial) start() (err error) {
	t.p, err = start(t.c, t.dir, t.scenario.keys, t.o)
	return err
}

func (t *trial) stop() {
	if t.p != nil {
		t.p.stop()
		t.p = nil
	}
}

// appendToAll appends a line to each file.
func (t *trial) appendToAll() error {
	for _, f := range t.files {
		if err := f.append(t.next, 1); err != nil {
			return err
		}
		t.next++
	}
	return nil
}

// readBacklog measures from the start of the process until every line has
// arrived.
func readBacklog(t *trial) (figures, error) {
	began := time.Now()
	if err := t.p.await(t.next, patience); err != nil {
		return figures{}, err
	}
	wall := time.Since(began)
	u, err := t.p.usage()
	if err != nil {
		return figures{}, err
	}
	return between(usage{}, u, wall, t.next), nil
}

// watchQuiet measures what watching costs when nothing happens.
func watchQuiet(t *trial) (figures, error) {
	return t.watch(3*time.Second, func() error {
		time.Sleep(t.o.duration) // what a process costs in that time is measured
		return nil
	})
}

// watchBusy measures what it costs when every file grows by a line a second.
func watchBusy(t *trial) (figures, error) {
	return t.watch(2*time.Second, func() error {
		began := time.Now()
		for second := time.Duration(1); second <= t.o.duration/time.Second; second++ {
			if err := t.appendToAll(); err != nil {
				return err
			}
			time.Sleep(time.Until(began.Add(second * time.Second))) // a line a second
		}
		return t.p.await(t.next, 30*time.Second)
	})
}

// watch waits until all lines have arrived and another while, then measures
// what happens during act.
func (t *trial) watch(settle time.Duration, act func() error) (figures, error) {
	if err := t.p.await(t.next, patience); err != nil {
		return figures{}, err
	}
	time.Sleep(settle) // nothing shows when a process has come to rest
	before, err := t.p.usage()
	if err != nil {
		return figures{}, err
	}
	began, lines := time.Now(), t.next
	if err := act(); err != nil {
		return figures{}, err
	}
	wall := time.Since(began)
	after, err := t.p.usage()
	if err != nil {
		return figures{}, err
	}
	return between(before, after, wall, t.next-lines), nil
}

// restart measures the second start of a distribution.
func restart(t *trial) (figures, error) {
	if err := t.p.await(t.next, patience); err != nil {
		return figures{}, err
	}
	time.Sleep(time.Second) // its last save cannot be seen from outside
	t.stop()
	lines := t.next
	if err := t.appendToAll(); err != nil {
		return figures{}, err
	}
	began := time.Now()
	if err := t.start(); err != nil {
		return figures{}, err
	}
	if err := t.p.await(t.next-lines, patience); err != nil {
		return figures{}, err
	}
	wall := time.Since(began)
	u, err := t.p.usage()
	if err != nil {
		return figures{}, err
	}
	time.Sleep(time.Second) // that nothing comes twice cannot be waited for
	got, err := t.p.accepted()
	if err != nil {
		return figures{}, err
	}
	if got != t.next-lines {
		return figures{}, fmt.Errorf("%d records arrived after the restart, want exactly %d", got, t.next-lines)
	}
	return between(usage{}, u, wall, got), nil
}
