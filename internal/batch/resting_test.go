package batch

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// timed are operators that let go of a group five seconds after its first line.
var timed = map[string]struct {
	operators        string
	first, more, end string // of a group
	whole            string
}{
	"recombine first": {
		`operators: [{type: recombine, combine_field: body, is_first_entry: 'body matches "^A"', force_flush_period: 5s}]`,
		"A1", "b1", "A2", "A1\nb1",
	},
	"recombine last": {
		`operators: [{type: recombine, combine_field: body, is_last_entry: 'body matches "Z$"', overwrite_with: newest, force_flush_period: 5s}]`,
		"a", "b", "cZ", "a\nb\ncZ",
	},
	"container": {
		`operators: [{type: container, add_metadata_from_filepath: false}]`,
		"2024-04-13T07:59:37Z stdout P a", "2024-04-13T07:59:37Z stdout P b", "2024-04-13T07:59:37Z stdout F c", "abc",
	},
}

// inTime runs a test of each of them with a clock of its own.
func inTime(t *testing.T, test func(t *testing.T, p *Pipeline, f *Feeder, name string)) {
	for name := range timed {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipeline(t, timed[name].operators)
				test(t, p, p.NewFeeder(), name)
			})
		})
	}
}

// late is what the operators have let go of on their own.
func late(f *Feeder) []string {
	synctest.Wait()
	f.Drain()
	return bodies(f)
}

func TestAGroupIsNotCutByTheTimerWhileMoreOfItsFileIsToBeRead(t *testing.T) {
	inTime(t, func(t *testing.T, p *Pipeline, f *Feeder, name string) {
		c := timed[name]
		feed(t, f, 1, 0, c.first)
		time.Sleep(time.Hour)
		require.Empty(t, late(f))
		p.Resume(1)
		feed(t, f, 1, 1, c.more)
		time.Sleep(time.Hour)
		require.Empty(t, late(f))
		requireHeld(t, p, 1, 0)
		p.Resume(1)
		feed(t, f, 1, 2, c.end)
		require.Equal(t, []string{c.whole}, bodies(f), "its end lets it go whatever its age")
	})
}

func TestTheTimerLetsAGroupGoWhoseFileRests(t *testing.T) {
	inTime(t, func(t *testing.T, p *Pipeline, f *Feeder, name string) {
		feed(t, f, 1, 0, timed[name].first)
		p.Rest(1)
		time.Sleep(4 * time.Second)
		require.Empty(t, late(f))
		time.Sleep(3 * time.Second)
		require.Len(t, late(f), 1)
		requireNothingHeld(t, p, 1)
	})
}

func TestAGroupThatWasKeptFromTheTimerGetsItsTimeWhenItsFileRests(t *testing.T) {
	inTime(t, func(t *testing.T, p *Pipeline, f *Feeder, name string) {
		feed(t, f, 1, 0, timed[name].first)
		p.Rest(1)
		p.Expect(1)
		time.Sleep(time.Minute + time.Millisecond)
		p.Rest(1)
		time.Sleep(3 * time.Second)
		require.Empty(t, late(f))
		time.Sleep(4 * time.Second)
		require.Len(t, late(f), 1)
	})
}

func TestTheTimerLetsAGroupGoThatIsReadAgainOrOfAForgottenFile(t *testing.T) {
	for name, part := range map[string]func(p *Pipeline, f *Feeder){
		"read again": func(p *Pipeline, f *Feeder) { f.Take(0).Refused() },
		"forgotten":  func(p *Pipeline, f *Feeder) { bodies(f); p.Forget(1) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipeline(t, timed["recombine first"].operators)
				f := p.NewFeeder()
				feed(t, f, 1, 0, "A1", "A2")
				part(p, f)
				time.Sleep(time.Minute)
				synctest.Wait()
				for _, op := range p.graph.Operators() {
					if h, ok := op.(*heldRecombine); ok {
						require.True(t, h.holdsNothing(), "what nobody wants takes memory")
					}
				}
			})
		})
	}
}

func TestAStopLetsGoOfGroupsThatWereKeptFromTheTimer(t *testing.T) {
	inTime(t, func(t *testing.T, p *Pipeline, f *Feeder, name string) {
		feed(t, f, 1, 0, timed[name].first)
		time.Sleep(time.Minute)
		require.NoError(t, p.Stop())
		require.Len(t, late(f), 1)
	})
}

func TestAGroupThatIsKeptFromTheTimerIsStillBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipeline(t, `
operators:
  - {type: recombine, combine_field: body, is_first_entry: 'body matches "^A"', force_flush_period: 5s, max_batch_size: 3}`)
		f := p.NewFeeder()
		feed(t, f, 1, 0, "A1", "b1")
		time.Sleep(time.Minute)
		feed(t, f, 1, 2, "c1")
		require.Equal(t, []string{"A1\nb1\nc1"}, bodies(f))
	})
}

func TestTheLogSaysNothingOfGroupsThatAreKeptFromTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		set := componenttest.NewNopTelemetrySettings()
		set.Logger = zap.New(core)
		config := PipelineConfig{InputID: "file_input", InputType: "file_input", Operators: operatorsOf(t, fmt.Sprintf(lastEntry, "oldest")+`
  - {type: recombine, id: timed, combine_field: body, is_last_entry: 'body matches "Y$"', force_flush_period: 5s, source_identifier: attributes.none}`)}
		p, err := config.Build(set)
		require.NoError(t, err)
		require.NoError(t, p.Start(componenttest.NewNopHost(), nil))
		f := p.NewFeeder()
		feed(t, f, 1, 0, "aZ")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, logs.Len(), "%v", logs.All())
		require.Contains(t, logs.All()[0].Message, "source_identifier", "other messages come through")
		require.NoError(t, p.Stop())
	})
}

func TestWhatIsGivenBackDoesNotComeOutAtTheStopAndStaysHeld(t *testing.T) {
	for name, c := range timed {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(t, c.operators)
			f := p.NewFeeder()
			feed(t, f, 1, 10, c.first)
			feed(t, f, 2, 20, c.first)
			p.GiveBack(1)
			p.GiveBack(3)
			require.NoError(t, p.Stop())
			f.Drain()
			require.Len(t, bodies(f), 1)
			requireHeld(t, p, 1, 10)
			requireNothingHeld(t, p, 2, 3)
		})
	}
}
