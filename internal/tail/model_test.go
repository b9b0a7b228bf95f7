package tail

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// act is one step of a random run. Its numbers are taken modulo what there is
// to choose from, so that a sequence stays meaningful when steps are left out.
type act struct {
	kind    string
	a, b, c int
}

// actKinds are the kinds of steps with their weights.
var actKinds = []struct {
	kind   string
	weight int
}{
	{"poll", 30}, {"append", 18}, {"partial", 6}, {"create", 8}, {"rotate", 8},
	{"out", 3}, {"in", 4}, {"rename", 3}, {"copytruncate", 4}, {"slow copytruncate", 3},
	{"copy", 2}, {"truncate", 3}, {"cut", 2}, {"rewrite", 4}, {"delete", 3}, {"replace", 3},
	{"gzip", 4}, {"deny", 2}, {"allow", 3}, {"hide", 2}, {"show", 3},
	{"block", 3}, {"refuse", 3}, {"accept", 5}, {"pass", 3}, {"wait", 2},
	{"stop", 3}, {"start", 5}, {"kill", 2}, {"kill between", 2},
}

func randomActs(rng *rand.Rand, n int, without ...string) []act {
	total := 0
	skipped := strings.Join(without, ",")
	var kinds []string
	for _, k := range actKinds {
		if strings.Contains(","+skipped+",", ","+k.kind+",") {
			continue
		}
		for range k.weight {
			kinds = append(kinds, k.kind)
		}
		total += k.weight
	}
	acts := make([]act, n)
	for i := range acts {
		acts[i] = act{kinds[rng.IntN(total)], rng.IntN(1000), rng.IntN(1000), rng.IntN(1000)}
	}
	return acts
}

// setting is the configuration of a run.
type setting struct {
	fingerprint, handles, perPoll, workers, batch int
	hashed, archive, retry, mutates, long         bool
}

func randomSetting(rng *rand.Rand) setting {
	return setting{
		fingerprint: []int{16, 24, 64, 1000}[rng.IntN(4)],
		handles:     []int{1000, 1000, 1000, 2}[rng.IntN(4)],
		perPoll:     []int{0, 0, 0, 2}[rng.IntN(4)],
		workers:     []int{1, 1, 2}[rng.IntN(3)],
		batch:       []int{1, 3, 100}[rng.IntN(3)],
		hashed:      rng.IntN(3) == 0,
		archive:     rng.IntN(3) == 0,
		retry:       rng.IntN(2) == 0,
		mutates:     rng.IntN(3) == 0,
		long:        rng.IntN(6) == 0,
	}
}

// play runs the steps on real files and returns what is wrong in the end, ""
// if nothing is.
func play(t *testing.T, s setting, acts []act) (fault string, trace []string) {
	r := newRig(t)
	r.conf.FingerprintSize = s.fingerprint
	r.conf.MaxOpenFiles = s.handles
	r.conf.FilesPerPoll = s.perPoll
	r.conf.Workers = s.workers
	r.conf.MaxBatchRecords = s.batch
	r.conf.Compression = CompressionAuto
	r.hashed, r.sink.mutates = s.hashed, s.mutates
	r.maxAge = time.Hour
	r.retry = deliverRetry(s.retry)
	if s.archive {
		r.slots = 2
	}
	w := newWorld(r)
	w.long = s.long
	r.start()
	defer func() {
		if r.loop != nil {
			r.sink.set(accepting)
			r.stop()
		}
	}()
	for _, a := range acts {
		if fault = w.act(a); fault != "" {
			return fault, w.trace
		}
	}
	return w.finish(), w.trace
}

// finish brings everything to light, waits and compares.
func (w *world) finish() string {
	if w.loop == nil {
		w.start()
		w.note("start")
	}
	w.sink.set(accepting)
	w.settle()
	for _, f := range w.named(false) {
		if f.denied != permitted {
			w.deny(f, permitted)
		}
		if f.hidden {
			w.hide(f, false)
		}
	}
	w.note("the end: wait")
	w.pass(30 * time.Second)
	return w.compare()
}

// compare tells what is missing, repeated, out of order or not a line.
func (w *world) compare() string {
	count := map[string]int{}
	last := map[int]int{}
	for _, text := range w.sink.delivered() {
		l := w.lines[text]
		if l == nil {
			if !w.harmless[text] {
				return fmt.Sprintf("%.60q is not a line that was written", text)
			}
			continue
		}
		if count[text]++; count[text] > 1 {
			if !l.mayRepeat {
				return fmt.Sprintf("%.60q was delivered twice", text)
			}
			continue
		}
		if l.mayRepeat {
			continue // nor has it an order
		}
		if before, any := last[l.stream]; any && before > l.number && !w.unordered[l.stream] {
			return fmt.Sprintf("%.60q was delivered after number %d", text, before)
		}
		last[l.stream] = l.number
	}
	for _, f := range w.files {
		if !f.inPattern() && !f.followed {
			continue
		}
		for _, l := range f.lines {
			if count[l.text] == 0 && !l.excused {
				return fmt.Sprintf("%.60q of %q is missing", l.text, f.name)
			}
		}
	}
	return w.offsetsWithin()
}

// offsetsWithin checks that committed positions are inside their files.
func (w *world) offsetsWithin() string {
	for _, b := range w.loop.bodies {
		if b.rec == nil || b.compressed {
			continue
		}
		info, err := os.Stat(b.path)
		if err == nil && !b.left && b.rec.State.Offset > info.Size() {
			return fmt.Sprintf("position %d of %s is beyond its size %d", b.rec.State.Offset, b.path, info.Size())
		}
	}
	return ""
}

// modelRuns is how many random runs the suite does.
func modelRuns() int {
	if n, err := strconv.Atoi(os.Getenv("FILELOG_MODEL_RUNS")); err == nil {
		return n
	}
	return 150
}

func TestRandomFileActionsLoseAndRepeatNothing(t *testing.T) {
	seed := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("FILELOG_MODEL_SEED"), 10, 64); err == nil {
		seed = n
	}
	for i := range uint64(modelRuns()) {
		if !runSeed(t, seed+i) {
			return
		}
	}
}

// runSeed does one run and shows the smallest sequence that has its fault.
func runSeed(t *testing.T, seed uint64) bool {
	s, acts := fromSeed(seed)
	fault, _ := play(t, s, acts)
	if fault == "" {
		return true
	}
	first := fault
	s, acts = shrink(t, s, acts)
	fault, trace := play(t, s, acts)
	t.Errorf("seed %d: %s; shrunk: %s\nsetting: %#v\nacts: %#v\ntrace:\n  %s", seed, first, fault, s, acts, strings.Join(trace, "\n  "))
	return false
}

// fromSeed makes the setting and the steps of a run. Half of the runs have no
// kill, copy or cut, so that every repetition is a fault.
func fromSeed(seed uint64) (setting, []act) {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := randomSetting(rng)
	var without []string
	if seed%2 == 0 {
		without = []string{"kill", "kill between", "copy", "cut"}
	}
	if seed%3 == 0 {
		without = append(without, "stop", "start", "kill", "kill between")
	}
	if s.handles < 100 {
		// A file that is not open may have given its inode to another one, of which
		// the same must not be expected.
		without = append(without, "copy", "copytruncate", "slow copytruncate", "replace", "delete", "gzip", "deny")
	}
	return s, randomActs(rng, 10+rng.IntN(60), without...)
}

// shrink leaves out steps and simplifies the setting while there is a fault.
func shrink(t *testing.T, s setting, acts []act) (setting, []act) {
	fails := func(s setting, acts []act) bool {
		fault, _ := play(t, s, acts)
		return fault != ""
	}
	for size := len(acts) / 2; size > 0; size /= 2 {
		for again := true; again; {
			again = false
			for i := 0; i+size <= len(acts); {
				fewer := append(append([]act{}, acts[:i]...), acts[i+size:]...)
				if fails(s, fewer) {
					acts, again = fewer, true
				} else {
					i += size
				}
			}
			if size > 1 {
				break
			}
		}
	}
	for _, simpler := range []func(*setting){
		func(s *setting) { s.fingerprint = 1000 }, func(s *setting) { s.handles = 1000 },
		func(s *setting) { s.perPoll = 0 }, func(s *setting) { s.workers = 1 }, func(s *setting) { s.batch = 100 },
		func(s *setting) { s.hashed = false }, func(s *setting) { s.archive = false },
		func(s *setting) { s.retry = false }, func(s *setting) { s.mutates = false }, func(s *setting) { s.long = false },
	} {
		candidate := s
		simpler(&candidate)
		if fails(candidate, acts) {
			s = candidate
		}
	}
	return s, acts
}
