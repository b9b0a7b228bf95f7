package endtoend

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Entry is one record: how it is written, and the body it has to arrive with.
type Entry struct{ Text, Body string }

// Style makes the entry of that number in that log.
type Style func(r *rand.Rand, log, number int) Entry

// Plain makes one line.
func Plain(r *rand.Rand, log, number int) Entry {
	body := fmt.Sprintf("log %02d number %07d %s", log, number, strings.Repeat("x", r.IntN(100)))
	body = strings.TrimSpace(body)
	return Entry{body + "\n", body}
}

// CRI makes a line as containerd writes it, at times in two parts.
func CRI(r *rand.Rand, log, number int) Entry {
	body := Plain(r, log, number).Body
	stamp := time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z")
	if r.IntN(4) > 0 {
		return Entry{fmt.Sprintf("%s stdout F %s\n", stamp, body), body}
	}
	cut := 1 + r.IntN(len(body)-1)
	for body[cut-1] == ' ' || body[cut] == ' ' {
		cut-- // blanks at the ends of a part are trimmed; the first word has no blank
	}
	return Entry{fmt.Sprintf("%s stdout P %s\n%s stdout F %s\n", stamp, body[:cut], stamp, body[cut:]), body}
}

// Stack makes an entry of several lines, the first of which begins with "log".
func Stack(r *rand.Rand, log, number int) Entry {
	body := Plain(r, log, number).Body
	for i := range r.IntN(3) {
		body += fmt.Sprintf("\nat frame %d of %07d", i, number)
	}
	return Entry{body + "\n", body}
}

// Rotation is a way to rotate a log.
type Rotation int

// Ways to rotate.
const (
	Rename   Rotation = iota // app.log becomes app.log.N, and a new app.log begins
	Copy                     // app.log is copied to app.log.N and truncated
	Compress                 // as Rename, and with the next rotation app.log.N.gz
)

// Logs are logs that are written and rotated. Methods may be called by any
// goroutine; while one log is rotated nothing is written to it.
type Logs struct {
	style Style
	ways  []Rotation

	mu       sync.Mutex
	random   *rand.Rand
	logs     []*rotatingLog
	bodies   []string
	written  int64
	rotation int
}

type rotatingLog struct {
	path        string
	number      int
	rotations   int
	compressing string // rotated, to be compressed by the next rotation
	old         []string
}

// NewLogs makes that many logs in dir, which are rotated in any of these ways,
// or of all without one.
func NewLogs(dir string, count int, style Style, seed uint64, ways ...Rotation) *Logs {
	if len(ways) == 0 {
		ways = []Rotation{Rename, Copy, Compress}
	}
	l := &Logs{style: style, ways: ways, random: rand.New(rand.NewPCG(seed, 2))}
	for i := range count {
		l.logs = append(l.logs, &rotatingLog{path: filepath.Join(dir, fmt.Sprintf("app%02d.log", i))})
	}
	return l
}

// Write appends an entry to each of some random logs.
func (l *Logs) Write(entries int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range entries {
		if err := l.append(l.random.IntN(len(l.logs))); err != nil {
			return err
		}
	}
	return nil
}

func (l *Logs) append(i int) error {
	log := l.logs[i]
	log.number++
	entry := l.style(l.random, i, log.number)
	f, err := os.OpenFile(log.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(entry.Text); err != nil {
		f.Close()
		return err
	}
	l.written += int64(len(entry.Text))
	l.bodies = append(l.bodies, entry.Body)
	return f.Close()
}

// Rotate rotates a random log in a random way. Of each log, keep rotated files
// stay; 0 keeps all.
func (l *Logs) Rotate(keep int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	log := l.logs[l.random.IntN(len(l.logs))]
	if info, err := os.Stat(log.path); err != nil || info.Size() == 0 {
		return nil // nothing to rotate yet
	}
	if log.compressing != "" {
		if err := compress(log.compressing); err != nil {
			return err
		}
		log.old[len(log.old)-1] = log.compressing + ".gz"
		log.compressing = ""
	}
	log.rotations++
	l.rotation++
	rotated := fmt.Sprintf("%s.%04d", log.path, log.rotations)
	log.old = append(log.old, rotated)
	way := l.ways[l.random.IntN(len(l.ways))]
	if way == Copy {
		return copyAndTruncate(log.path, rotated)
	}
	if way == Compress {
		log.compressing = rotated
	}
	if err := os.Rename(log.path, rotated); err != nil {
		return err
	}
	for keep > 0 && len(log.old) > keep {
		if err := os.Remove(log.old[0]); err != nil {
			return err
		}
		log.old = log.old[1:]
	}
	return nil
}

// RemoveRotated removes all rotated files.
func (l *Logs) RemoveRotated() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, log := range l.logs {
		for _, path := range log.old {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		log.old, log.compressing = nil, ""
	}
	return nil
}

func compress(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := os.Create(path + ".gz")
	if err != nil {
		return err
	}
	w := gzip.NewWriter(f)
	if _, err := w.Write(content); err != nil {
		f.Close()
		return err
	}
	if err := w.Close(); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(path)
}

func copyAndTruncate(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	if err := target.Close(); err != nil {
		return err
	}
	return os.Truncate(from, 0)
}

// Written returns the bodies that were written, how many bytes they took, and
// how many rotations there were.
func (l *Logs) Written() (bodies []string, bytes int64, rotations int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.bodies...), l.written, l.rotation
}
