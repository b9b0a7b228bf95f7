package batch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

func requireHeld(t *testing.T, p *Pipeline, file uint64, offset int64) {
	t.Helper()
	at, held := p.Held(file)
	require.True(t, held, "file %d holds nothing", file)
	require.Equal(t, Position{Offset: offset}, at)
}

func requireNothingHeld(t testing.TB, p *Pipeline, files ...uint64) {
	t.Helper()
	for _, file := range files {
		at, held := p.Held(file)
		require.False(t, held, "file %d is held at %v", file, at)
	}
	if len(p.ledger.files) == 0 {
		require.Empty(t, p.ledger.absorbed)
	}
}

const (
	firstEntry = `
operators:
  - {type: recombine, combine_field: body, is_first_entry: 'body matches "^A"', overwrite_with: %s, force_flush_period: 1h}`
	lastEntry = `
operators:
  - {type: recombine, combine_field: body, is_last_entry: 'body matches "Z$"', overwrite_with: %s, force_flush_period: 1h}`
)

func TestHeldStandsBeforeTheOldestRecordOfAnOpenGroup(t *testing.T) {
	for _, overwrite := range []string{"oldest", "newest"} {
		t.Run("first entry, "+overwrite, func(t *testing.T) {
			p := newPipeline(t, fmt.Sprintf(firstEntry, overwrite))
			f := p.NewFeeder()
			feed(t, f, 1, 10, "A1", "b1")
			require.Zero(t, f.Len())
			requireHeld(t, p, 1, 10)
			feed(t, f, 1, 12, "c1")
			requireHeld(t, p, 1, 10)
			feed(t, f, 1, 13, "A2")
			requireHeld(t, p, 1, 10)
			require.Equal(t, []string{"A1\nb1\nc1"}, bodies(f))
			requireHeld(t, p, 1, 13)
			feed(t, f, 2, 50, "A3")
			requireHeld(t, p, 2, 50)
			requireHeld(t, p, 1, 13)
			require.NoError(t, p.Stop())
			f.Drain()
			require.ElementsMatch(t, []string{"A2", "A3"}, bodies(f))
			requireNothingHeld(t, p, 1, 2)
		})
		t.Run("last entry, "+overwrite, func(t *testing.T) {
			p := newPipeline(t, fmt.Sprintf(lastEntry, overwrite))
			f := p.NewFeeder()
			feed(t, f, 1, 0, "a", "b", "cZ", "d")
			requireHeld(t, p, 1, 0)
			require.Equal(t, []string{"a\nb\ncZ"}, bodies(f))
			requireHeld(t, p, 1, 3)
			feed(t, f, 1, 4, "eZ", "fZ")
			require.Equal(t, []string{"d\neZ", "fZ"}, bodies(f))
			requireNothingHeld(t, p, 1)
		})
	}
}

func TestHeldEndsOnlyWhenTheBatchIsAccepted(t *testing.T) {
	p := newPipeline(t, fmt.Sprintf(lastEntry, "oldest"))
	f := p.NewFeeder()
	feed(t, f, 1, 0, "a", "bZ")
	feed(t, f, 2, 9, "cZ")
	b := f.Take(0)
	requireHeld(t, p, 1, 0)
	requireHeld(t, p, 2, 9)
	assert.Equal(t, []uint64{1, 2}, b.Accepted())
	requireNothingHeld(t, p, 1, 2)
}

func TestHeldFollowsARecordThroughTwoHoldingOperators(t *testing.T) {
	p := newPipeline(t, `
operators:
  - {type: recombine, id: pairs, combine_field: body, combine_with: '', is_last_entry: 'body matches "[.!]$"', force_flush_period: 1h}
  - {type: recombine, id: lines, combine_field: body, combine_with: '', is_last_entry: 'body matches "!$"', overwrite_with: newest, force_flush_period: 1h}
`)
	f := p.NewFeeder()
	feed(t, f, 1, 0, "a", "b.", "c", "d.", "e")
	require.Zero(t, f.Len())
	requireHeld(t, p, 1, 0)
	feed(t, f, 1, 5, "f!", "g")
	requireHeld(t, p, 1, 0)
	require.Equal(t, []string{"ab.cd.ef!"}, bodies(f))
	requireHeld(t, p, 1, 6)
	require.NoError(t, p.Stop())
	f.Drain()
	require.Equal(t, []string{"g"}, bodies(f))
	requireNothingHeld(t, p, 1)
}

func TestHeldRecordDroppedBehindTheOperatorIsDelivered(t *testing.T) {
	p := newPipeline(t, fmt.Sprintf(lastEntry, "oldest")+`
  - {type: filter, expr: 'body matches "secret"'}`)
	f := p.NewFeeder()
	feed(t, f, 1, 0, "a secret", "bZ")
	require.Zero(t, f.Len())
	requireNothingHeld(t, p, 1)
}

func TestHeldRecordWithTwoOutputsIsSettledWhenBothAreAccepted(t *testing.T) {
	p := newPipeline(t, `
operators:
  - {type: recombine, combine_field: body, is_last_entry: 'body matches "Z$"', force_flush_period: 1h, output: [one, two]}
  - {type: noop, id: one, output: two}
  - {type: noop, id: two}`)
	f := p.NewFeeder()
	feed(t, f, 1, 0, "a", "bZ")
	require.Equal(t, 2, f.Len())
	f.Take(1).Accepted()
	requireHeld(t, p, 1, 0)
	f.Take(1).Accepted()
	requireNothingHeld(t, p, 1)
}

func TestTimerThatLetsGoCallsForADrain(t *testing.T) {
	p := newPipeline(t, strings.ReplaceAll(fmt.Sprintf(lastEntry, "oldest"), "1h", "50ms"))
	f := p.NewFeeder()
	feed(t, f, 1, 0, "a", "b")
	p.Rest(1)
	select {
	case <-p.Ready():
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was let go")
	}
	requireHeld(t, p, 1, 0)
	f.Drain()
	require.Equal(t, []string{"a\nb"}, bodies(f))
	requireNothingHeld(t, p, 1)
}

func TestSizeAndSourceLimitsOfRecombineLetGo(t *testing.T) {
	p := newPipeline(t, `
operators:
  - {type: recombine, combine_field: body, is_last_entry: 'body matches "Z$"', force_flush_period: 1h, max_batch_size: 2, max_sources: 2, max_log_size: 10}`)
	f := p.NewFeeder()
	feed(t, f, 1, 0, "a", "b", "c")
	require.Equal(t, []string{"a\nb"}, bodies(f))
	requireHeld(t, p, 1, 2)
	feed(t, f, 2, 0, "0123456789X", "d")
	require.Equal(t, []string{"0123456789X"}, bodies(f))
	requireHeld(t, p, 2, 1)
	feed(t, f, 3, 0, "e") // a third source: the other two have to go
	require.ElementsMatch(t, []string{"c", "d"}, bodies(f))
	requireNothingHeld(t, p, 1, 2)
	requireHeld(t, p, 3, 0)
}

const containerOperators = "operators: [{type: container, add_metadata_from_filepath: false}]"

func TestContainerPartialsOfInterleavedFilesAreHeldAndJoined(t *testing.T) {
	p := newPipeline(t, containerOperators)
	f := p.NewFeeder()
	const at = "2024-04-13T07:59:37.505201169Z "
	feed(t, f, 1, 0, at+"stdout F whole", at+"stdout P one ", at+"stderr P two ")
	require.Equal(t, []string{"whole"}, bodies(f))
	requireHeld(t, p, 1, 1)
	feed(t, f, 2, 0, at+"stderr P other ")
	requireHeld(t, p, 2, 0)
	feed(t, f, 1, 3, at+"stdout F three", at+"stdout F whole again")
	logs := f.Take(0)
	require.Equal(t, []string{"one two three", "whole again"}, bodiesOf(logs.Logs))
	assert.Equal(t, map[string]any{"log.file.path": "/var/log/1.log", "log.iostream": "stdout", "logtag": "P"},
		firstRecord(logs.Logs).Attributes().AsRaw(), "the first part stands for the line, with its own tag")
	assert.Equal(t, "2024-04-13T07:59:37.505201169Z", firstRecord(logs.Logs).Timestamp().AsTime().Format(time.RFC3339Nano))
	logs.Accepted()
	requireNothingHeld(t, p, 1)
	requireHeld(t, p, 2, 0)
	feed(t, f, 2, 1, at+"stderr F end")
	require.Equal(t, []string{"other end"}, bodies(f))
	requireNothingHeld(t, p, 1, 2)
}

func TestContainerStopLetsPartialsGo(t *testing.T) {
	p := newPipeline(t, containerOperators)
	f := p.NewFeeder()
	feed(t, f, 1, 0, "2024-04-13T07:59:37.5-07:00 stdout P one")
	require.NoError(t, p.Stop())
	f.Drain()
	require.Equal(t, []string{"one"}, bodies(f))
	requireNothingHeld(t, p, 1)
}

func TestContainerLetsPassWhatItCannotJoin(t *testing.T) {
	const at = "2024-04-13T07:59:37Z "
	for name, tc := range map[string]struct {
		operators string
		lines     []string
		want      []string
	}{
		"a docker line": {
			containerOperators,
			[]string{`{"log":"hi","stream":"stdout","time":"2024-04-13T07:59:37.505201169Z"}`},
			[]string{"hi"},
		},
		"garbage between partials": {
			"operators: [{type: container, add_metadata_from_filepath: false, on_error: send_quiet}]",
			[]string{at + "stdout P a", "garbage", at + "stdout F b"},
			[]string{"ab", "garbage"},
		},
		"a partial line dropped for an error": {
			"operators: [{type: container, add_metadata_from_filepath: false, on_error: drop_quiet}]",
			[]string{"notimeZ stdout P a", at + "stdout F b"},
			[]string{"b"},
		},
		"lines that `if` leaves out": {
			`operators: [{type: container, add_metadata_from_filepath: false, if: 'not (body contains " P ")'}]`,
			[]string{at + "stdout P a", at + "stdout F b"},
			[]string{at + "stdout P a", "b"},
		},
		"a tag that is neither P nor F joins": {
			containerOperators,
			[]string{at + "stdout P:x a", at + "stdout F b"},
			[]string{"ab"},
		},
		"a line with nothing behind the tag": {
			containerOperators,
			[]string{at + "stdout P", at + "stdout F"},
			[]string{""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(t, tc.operators)
			f := p.NewFeeder()
			feed(t, f, 1, 0, tc.lines...)
			require.ElementsMatch(t, tc.want, bodies(f))
			requireNothingHeld(t, p, 1)
		})
	}
}

func TestContainerErrorLeavesAPartialLineAsItWas(t *testing.T) {
	p := newPipeline(t, "operators: [{type: container, on_error: send_quiet}]") // metadata from a path that has none
	f := p.NewFeeder()
	feed(t, f, 1, 0, "bad stdout P a", "2024-04-13T07:59:37Z stdout P b")
	b := f.Take(0)
	defer b.Accepted()
	records := b.Logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
	require.Equal(t, 2, records.Len())
	tags := []any{records.At(0).Attributes().AsRaw()["logtag"], records.At(1).Attributes().AsRaw()["logtag"]}
	assert.Equal(t, []any{"P", "P"}, tags)
	assert.Equal(t, []string{"bad stdout P a", "b"}, bodiesOf(b.Logs))
}

func TestContainerTakesMetadataFromThePath(t *testing.T) {
	p := newPipeline(t, "operators: [{type: container}]")
	f := p.NewFeeder()
	attributes := p.NewFileAttributes(map[string]any{"log.file.path": "/var/log/pods/ns_pod_49cc7c1f/app/3.log"})
	for i, tag := range []string{"P", "F"} {
		f.Add(1, attributes, "2024-04-13T07:59:37Z stdout "+tag+" x", Position{Offset: int64(i)}, 0, 0)
	}
	require.NoError(t, f.Process(context.Background()))
	b := f.Take(0)
	require.Equal(t, []string{"xx"}, bodiesOf(b.Logs))
	assert.Equal(t, map[string]any{
		"k8s.namespace.name": "ns", "k8s.pod.name": "pod", "k8s.pod.uid": "49cc7c1f",
		"k8s.container.name": "app", "k8s.container.restart_count": "3",
	}, b.Logs.ResourceLogs().At(0).Resource().Attributes().AsRaw())
	b.Accepted()
	requireNothingHeld(t, p, 1)
}

func TestRefusedRecordsAreReadAgainWithoutMixingWithWhatIsHeld(t *testing.T) {
	p := newPipeline(t, fmt.Sprintf(lastEntry, "oldest"))
	f := p.NewFeeder()
	feed(t, f, 1, 0, "aZ", "b", "cZ", "d")
	feed(t, f, 2, 0, "x", "yZ", "z")
	require.Equal(t, []string{"aZ"}, bodiesOf(takeAccepted(f, 1)))
	_, again := p.Resume(1)
	require.False(t, again)

	require.Equal(t, []uint64{1}, f.Take(1).Refused())
	requireHeld(t, p, 1, 1)
	require.Equal(t, []string{"x\nyZ"}, bodies(f), "the other file goes on")
	requireHeld(t, p, 2, 2)

	at, again := p.Resume(1)
	require.True(t, again)
	require.Equal(t, Position{Offset: 1}, at)
	_, again = p.Resume(1)
	require.False(t, again, "once is enough")

	feed(t, f, 1, 1, "b", "cZ", "d", "eZ")
	require.Equal(t, []string{"b\ncZ", "d\neZ"}, bodies(f), "the first d is not joined to the second")
	requireNothingHeld(t, p, 1)
	require.NoError(t, p.Stop())
	f.Drain()
	require.Equal(t, []string{"z"}, bodies(f), "the first d was read again and is left out")
	requireNothingHeld(t, p, 1, 2)
}

func takeAccepted(f *Feeder, limit int) plog.Logs {
	b := f.Take(limit)
	defer b.Accepted()
	return b.Logs
}

func TestRecordsThatGoInBeforeARefusedFileIsResumedAreReadAgain(t *testing.T) {
	p := newPipeline(t, fmt.Sprintf(lastEntry, "oldest"))
	f := p.NewFeeder()
	feed(t, f, 1, 0, "aZ")
	late := f.Take(0)
	feed(t, f, 1, 1, "bZ")
	late.Refused()
	require.Zero(t, f.Take(0).Records, "b will come again")
	feed(t, f, 1, 2, "cZ")
	b := f.Take(0)
	require.Zero(t, b.Records)
	b.Accepted()
	requireHeld(t, p, 1, 0)
	at, again := p.Resume(1)
	require.True(t, again)
	require.Zero(t, at.Offset)
}

func TestForgottenFileLeavesNothingBehind(t *testing.T) {
	p := newPipeline(t, fmt.Sprintf(lastEntry, "oldest"))
	f := p.NewFeeder()
	feed(t, f, 1, 0, "aZ")
	f.Take(0).Refused()
	require.NotEmpty(t, p.ledger.files)
	p.Forget(1)
	require.Empty(t, p.ledger.files)
	requireNothingHeld(t, p, 1)
}

// TestNothingIsLostByAKill feeds random lines of several files, kills the
// pipeline at random moments - everything inside it and every batch under way
// is gone - and goes on at the committed positions. In the end every line has
// been in an accepted batch.
func TestNothingIsLostByAKill(t *testing.T) {
	for name, tc := range map[string]struct {
		operators string
		line      func(r *rand.Rand, id string) string
	}{
		"recombine first": {
			`operators: [{type: recombine, combine_field: body, is_first_entry: 'body matches "^A"', force_flush_period: 2ms, max_batch_size: 5}]`,
			func(r *rand.Rand, id string) string { return pick(r, "A", "b", "b") + id },
		},
		"recombine last and newest, shared source, then filter": {
			`operators: [{type: recombine, combine_field: body, is_last_entry: 'body matches "Z$"', overwrite_with: newest, source_identifier: attributes.none, force_flush_period: 2ms}, {type: noop, output: [a, b]}, {type: noop, id: a, output: b}, {type: noop, id: b}]`,
			func(r *rand.Rand, id string) string { return id + pick(r, "Z", "", "") },
		},
		"container": {
			`operators: [{type: container, add_metadata_from_filepath: false, on_error: send_quiet, max_log_size: 100}]`,
			func(r *rand.Rand, id string) string {
				return pick(r, "2024-04-13T07:59:37Z "+pick(r, "stdout", "stderr")+pick(r, " F ", " P ", " P "), "2024-04-13T07:59:37Z "+pick(r, "stdout", "stderr")+" P ", "oops ") + id
			},
		},
		"container, most lines whole": {
			`operators: [{type: container, add_metadata_from_filepath: false, on_error: send_quiet}]`,
			func(r *rand.Rand, id string) string {
				return pick(r, "2024-04-13T07:59:37Z stdout P ", "oops ", "2024-04-13T07:59:37Z stdout F ", "2024-04-13T07:59:37Z stderr F ", "2024-04-13T07:59:37Z stdout F ") + id
			},
		},
		"container, then recombine": {
			`operators: [{type: container, add_metadata_from_filepath: false, on_error: send_quiet}, {type: recombine, combine_field: body, is_first_entry: 'body matches "^<.[.]0"', force_flush_period: 3ms}]`,
			func(r *rand.Rand, id string) string {
				return "2024-04-13T07:59:37Z stdout" + pick(r, " F ", " P ") + id
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 0))
			const files, lines = 3, 300
			var content [files][]string
			for f := range content {
				for i := range lines {
					content[f] = append(content[f], tc.line(r, fmt.Sprintf("<%d.%d>", f, i)))
				}
			}
			accepted := make(map[string]int)
			var committed [files]int64
			for committed != [files]int64{lines, lines, lines} {
				runUntilKilled(t, r, tc.operators, content[:], committed[:], accepted)
			}
			for f := range content {
				for i := range lines {
					assert.Positive(t, accepted[fmt.Sprintf("<%d.%d>", f, i)], "line %d of file %d", i, f)
				}
			}
		})
	}
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

var lineID = regexp.MustCompile(`<\d+\.\d+>`)

func runUntilKilled(t *testing.T, r *rand.Rand, operators string, content [][]string, committed []int64, accepted map[string]int) {
	p := newPipeline(t, operators)
	f := p.NewFeeder()
	read := slices.Clone(committed)
	settle := func(file uint64) {
		if at, held := p.Held(file); held {
			committed[file] = at.Offset
		} else {
			committed[file] = read[file]
		}
	}
	deliver := func() {
		for f.Len() > 0 {
			b := f.Take(1 + r.IntN(20))
			var affected []uint64
			if r.IntN(8) == 0 {
				affected = b.Refused()
			} else {
				for _, body := range bodiesOf(b.Logs) {
					for _, id := range lineID.FindAllString(body, -1) {
						accepted[id]++
					}
				}
				affected = b.Accepted()
			}
			for _, file := range affected {
				settle(file)
			}
		}
	}
	for range 5 + r.IntN(40) {
		file := uint64(r.IntN(len(content)))
		if at, again := p.Resume(file); again {
			read[file] = at.Offset
		}
		attributes := p.NewFileAttributes(map[string]any{"log.file.path": fmt.Sprint(file)})
		for range 1 + r.IntN(15) {
			if read[file] < int64(len(content[file])) {
				f.Add(file, attributes, content[file][read[file]], Position{Offset: read[file]}, 0, 0)
				read[file]++
			}
		}
		_ = f.Process(context.Background())
		if r.IntN(2) == 0 {
			p.Rest(file) // so that the timers let go of it
		}
		if r.IntN(10) == 0 {
			time.Sleep(time.Millisecond) // give the operators' timers a chance to come in between
		}
		deliver()
		settle(file)
	}
	if r.IntN(3) == 0 { // an orderly stop
		for file := range content {
			if r.IntN(4) == 0 {
				p.GiveBack(uint64(file))
			}
		}
		require.NoError(t, p.Stop())
		f.Drain()
		deliver()
		for file := range content {
			settle(uint64(file))
			if at, again := p.Resume(uint64(file)); again {
				read[file] = at.Offset
			}
		}
		require.Empty(t, p.ledger.files, "after a stop nothing is held")
		require.Empty(t, p.ledger.absorbed)
	}
}
