package difftest

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
)

// parallel is how many trials are under way at once. They mostly wait.
const parallel = 24

// TestBothReceiversMakeTheSameRecordsOfTheSameFiles tries generated files and
// configurations. DIFFTEST_SEED sets the first seed, DIFFTEST_ROUNDS how many
// times the usual number of trials there are.
func TestBothReceiversMakeTheSameRecordsOfTheSameFiles(t *testing.T) {
	first := setting(t, "DIFFTEST_SEED", 1)
	rounds := setting(t, "DIFFTEST_ROUNDS", 1)
	slots := make(chan struct{}, parallel)
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for i := range uint64(k.count) * rounds {
				seed := first + i
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					compare(t, k.make(newDice(seedOf(k.name, seed))))
				})
			}
		})
	}
}

func setting(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func seedOf(kind string, seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, kind, seed)
	return h.Sum64()
}

// compare lets both receivers perform a trial and fails if they differ in
// something that no fault explains.
func compare(t *testing.T, tr trial) {
	t.Helper()
	compareAnd(t, tr, func(own map[string][]shape, _ []string) string { return tr.untruth(own) })
}

// compareAnd is compare with something more to be true of our records, and of the
// faults that explain differences. It says what is not.
func compareAnd(t *testing.T, tr trial, more func(own map[string][]shape, used []string) (problem string)) {
	t.Helper()
	problem := ""
	for _, p := range []patience{brisk, calm} {
		theirs, own := tr.perform(t, p)
		var used []string
		if problem, used = tr.difference(theirs, own); problem == "" {
			problem = more(own, used)
		}
		if problem == "" {
			for _, name := range used {
				t.Logf("a difference explained by: %s", name)
			}
			return
		}
	}
	t.Errorf("%s\n%s", problem, tr)
}

// difference describes the first difference that no fault explains, and names
// the faults that explain others.
func (t trial) difference(theirs, own map[string][]shape) (problem string, used []string) {
	all := maps.Clone(theirs)
	maps.Copy(all, own)
	for _, name := range sorted(all) {
		if slices.Equal(theirs[name], own[name]) {
			continue
		}
		a, b := theirs[name], own[name]
		var here []string
		for _, f := range faults {
			if !f.may(t, name) {
				continue
			}
			before := a
			a, b = f.forgive(t, name, a, b)
			if !slices.Equal(before, a) {
				here = append(here, f.name)
			}
			if slices.Equal(a, b) {
				break
			}
		}
		if !slices.Equal(a, b) {
			return describe(name, a, b), nil
		}
		used = append(used, here...)
	}
	return "", used
}

// untruth describes the first of our records that is not what it has to be, where
// that is known.
func (t trial) untruth(own map[string][]shape) string {
	for _, name := range t.files() {
		expected, known := t.truthOf(name)
		if !known {
			continue
		}
		got := placesOf(own[name])
		for i := range max(len(got), len(expected)) {
			if i >= len(got) || i >= len(expected) || got[i] != expected[i] {
				return fmt.Sprintf("file %q: record %d is not what it has to be\n  ours:  %s\n  truth: %s", name, i,
					excerpt(fmt.Sprintf("%#v", got[i:min(i+2, len(got))])), excerpt(fmt.Sprintf("%#v", expected[i:min(i+2, len(expected))])))
			}
		}
	}
	return ""
}

// describe shows the first record that differs, and what of it.
func describe(name string, theirs, own []shape) string {
	at := 0
	for at < len(theirs) && at < len(own) && theirs[at] == own[at] {
		at++
	}
	head := fmt.Sprintf("file %q: contrib %d records, ours %d, different from record %d on", name, len(theirs), len(own), at)
	switch {
	case at >= len(theirs):
		return fmt.Sprintf("%s\n  only ours: %s", head, excerpt(fmt.Sprintf("%+v", own[at])))
	case at >= len(own):
		return fmt.Sprintf("%s\n  only contrib: %s", head, excerpt(fmt.Sprintf("%+v", theirs[at])))
	}
	a, b := reflect.ValueOf(theirs[at]), reflect.ValueOf(own[at])
	for i := range a.NumField() {
		if x, y := a.Field(i).Interface(), b.Field(i).Interface(); x != y {
			head += fmt.Sprintf("\n  %s, contrib: %s\n  %s, ours:    %s", a.Type().Field(i).Name, excerpt(fmt.Sprintf("%#v", x)),
				a.Type().Field(i).Name, excerpt(fmt.Sprintf("%#v", y)))
		}
	}
	return head
}
