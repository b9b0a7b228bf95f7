package filelogreceiver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// recombining has lines joined to the latest one that begins with "first", with
// a limit in time.
func recombining(limit string) map[string]any {
	return map[string]any{"operators": []any{map[string]any{
		"type": "recombine", "combine_field": "body", "is_first_entry": `body startsWith "first"`,
		"source_identifier": `attributes["log.file.name"]`, "force_flush_period": limit,
	}}}
}

// groups makes text of n groups of three lines, and the records that come of it.
func groups(n int) (text string, bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprintf("first %d\nsecond %d\nthird %d", i, i, i))
		text += bodies[i] + "\n"
	}
	return text, bodies
}

// partLines makes text of n lines that a container runtime has parted in three.
func partLines(n int) (text string, bodies []string) {
	const head = "2024-01-02T03:04:05.000000001Z stdout "
	for i := range n {
		bodies = append(bodies, fmt.Sprintf("first %d,second %d,third %d", i, i, i))
		text += fmt.Sprintf("%sP first %d,\n%sP second %d,\n%sF third %d\n", head, i, head, i, head, i)
	}
	return text, bodies
}

// onceBlocked is an answer of a sink that is late for the first batch only.
func onceBlocked(gate <-chan struct{}, entered chan<- struct{}) func(plog.Logs) error {
	var once sync.Once
	return func(plog.Logs) error {
		once.Do(func() {
			close(entered)
			<-gate
		})
		return nil
	}
}

func TestAGroupIsNotCutWhileItsFileWaitsForAConsumer(t *testing.T) {
	for name, refuses := range map[string]bool{"that is slow": false, "that refuses": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, recombining("50ms"))
			l.keys["max_batch_size"], l.keys["workers"] = 10, 1
			l.keys["retry_on_failure"] = map[string]any{"enabled": true, "initial_interval": "20ms", "max_interval": "20ms"}
			gate, entered := make(chan struct{}), make(chan struct{})
			l.sink.setAnswer(onceBlocked(gate, entered))
			if refuses {
				end, first := time.Now().Add(2*quiet), make(chan struct{})
				var once sync.Once
				l.sink.setAnswer(func(plog.Logs) error {
					once.Do(func() { close(first) })
					if time.Now().Before(end) {
						return errRefused
					}
					return nil
				})
				entered = first
			}
			text, bodies := groups(20)
			l.write("a.log", text).start()
			<-entered
			l.still() // many times as long as the limit
			close(gate)
			l.expectInOrder(bodies...)
		})
	}
}

func TestALineThatARuntimeHasPartedIsNotCutWhileItsFileWaitsForAConsumer(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{
		"max_batch_size": 10, "workers": 1, "include_file_path": true,
		"operators": []any{map[string]any{"type": "container", "add_metadata_from_filepath": false}},
	})
	gate, entered := make(chan struct{}), make(chan struct{})
	l.sink.setAnswer(onceBlocked(gate, entered))
	text, bodies := partLines(20)
	l.write("a.log", text).start()
	<-entered
	letTimePass(7 * time.Second) // the limit in time is five seconds and looked at once a second
	close(gate)
	l.expectInOrder(bodies...)
}

func TestAGroupIsNotCutWhileItsFileWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	l := newLab(t, recombining("1s"))
	l.keys["workers"] = 1
	gate, entered := make(chan struct{}), make(chan struct{})
	l.write("a.log", "first 1\nsecond 1\n").start().watched(1).polls()
	l.sink.setAnswer(onceBlocked(gate, entered))
	l.write("b.log", strings.Repeat("first\n", 3))
	<-entered
	l.write("a.log", "third 1\n")
	letTimePass(1500 * time.Millisecond) // nobody tells that the timer came
	require.Empty(t, l.sink.bodies())
	close(gate)
	l.expect("first 1\nsecond 1\nthird 1", "first", "first", "first")
}

// stopInABacklog stops a receiver when 10 of 60 lines were delivered, in the
// middle of a group.
func stopInABacklog(t *testing.T, l *lab, text string) {
	gate, entered := make(chan struct{}), make(chan struct{})
	l.keys["max_batch_size"], l.keys["workers"] = 10, 1
	l.sink.setAnswer(onceBlocked(gate, entered))
	l.write("a.log", text).start()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- l.running.Shutdown(context.Background()) }()
	l.still() // so that the turn has taken its time, and the stop is under way, when the call returns
	close(gate)
	require.NoError(t, <-stopped)
	l.running = nil
	l.closeStorage()
}

func TestAStopInABacklogCutsNoGroup(t *testing.T) {
	t.Parallel()
	text, bodies := groups(20)
	parts, whole := partLines(20)
	container := map[string]any{"include_file_path": true, "operators": []any{map[string]any{"type": "container", "add_metadata_from_filepath": false}}}
	for name, c := range map[string]struct {
		keys   map[string]any
		text   string
		bodies []string
	}{
		"recombine": {recombining("200ms"), text, bodies},
		"container": {container, parts, whole},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, c.keys).stored()
			stopInABacklog(t, l, c.text)
			require.Less(t, l.sink.count(), len(c.bodies), "there was no backlog")
			l.start().expectInOrder(c.bodies...)
		})
	}
}

func TestAStopInABacklogDeliversWhatIsHeldWhenNothingIsRemembered(t *testing.T) {
	t.Parallel()
	text, _ := groups(20)
	l := newLab(t, recombining("1h"))
	stopInABacklog(t, l, text)
	count := strings.Count(strings.Join(l.sink.bodies(), "\n"), "\n") + 1
	require.Less(t, count, 60, "there was no backlog")
	require.Zero(t, count%10, "what was read is delivered: batches of ten lines")
}

func TestAStopDeliversAGroupOfAFileThatWasReadToItsEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t, recombining("1h")).stored()
	text, bodies := groups(2)
	l.write("a.log", text).start().await(1)
	l.polls().stop()
	require.Equal(t, bodies, l.sink.bodies())
	l.write("a.log", "first\n").start().polls().stop()
	require.Equal(t, append(bodies, "first"), l.sink.bodies())
}

func TestAStopCutsNoGroupOfWhichMoreWasWrittenSinceTheLatestPoll(t *testing.T) {
	t.Parallel()
	l := newLab(t, recombining("1h")).stored()
	l.keys["poll_interval"] = "1h"
	l.write("a.log", "first 1\nfirst 2\nsecond 2\n").start().await(1)
	l.write("a.log", "third 2\n").stop()
	require.Equal(t, []string{"first 1"}, l.sink.bodies())
	l.keys["poll_interval"] = "10ms"
	l.start().polls().stop()
	require.Equal(t, []string{"first 1", "first 2\nsecond 2\nthird 2"}, l.sink.bodies())
}

// lag is what the receiver says of the bytes that are not accepted, and for how
// long they are known.
func (l *lab) lag() (bytes int64, age float64) {
	metric, err := l.telemetry.GetMetric("otelcol_file_log_unread_bytes")
	require.NoError(l.t, err)
	bytes = metric.Data.(metricdata.Gauge[int64]).DataPoints[0].Value
	metric, err = l.telemetry.GetMetric("otelcol_file_log_oldest_unread_age")
	require.NoError(l.t, err)
	return bytes, metric.Data.(metricdata.Gauge[float64]).DataPoints[0].Value
}

// awaitLag waits until so many bytes are not accepted, and more than that age has passed.
func (l *lab) awaitLag(want int64, older float64) {
	l.t.Helper()
	var bytes int64
	var age float64
	require.Eventually(l.t, func() bool {
		bytes, age = l.lag()
		return bytes == want && (want == 0 && age == 0 || want > 0 && age > older)
	}, waitLimit, time.Millisecond, "%d bytes for %v seconds, want %d", &bytes, &age, want)
}

func TestWhatOperatorsHoldIsUnreadUntilItIsAccepted(t *testing.T) {
	text, _ := groups(1)
	for name, answer := range map[string]func(open <-chan struct{}) error{
		"while a consumer blocks": func(open <-chan struct{}) error { <-open; return nil },
		"while a consumer refuses": func(open <-chan struct{}) error {
			select {
			case <-open:
				return nil
			default:
				return errRefused
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, recombining("20ms"))
			l.keys["retry_on_failure"] = map[string]any{"enabled": true, "initial_interval": "20ms", "max_interval": "20ms"}
			l.telemetry = componenttest.NewTelemetry()
			open, entered := make(chan struct{}), make(chan struct{}, 1000)
			l.sink.setAnswer(func(plog.Logs) error {
				select {
				case entered <- struct{}{}:
				default:
				}
				return answer(open)
			})
			l.write("a.log", text).start()
			<-entered
			l.awaitLag(int64(len(text)), 0.3)
			l.polls().awaitLag(int64(len(text)), 0.3)
			close(open)
			l.awaitLag(0, 0)
			l.stop()
			require.NoError(t, l.telemetry.Shutdown(context.Background()))
		})
	}
}

func TestTheLagOfAFileWhoseLatestGroupIsAlwaysHeldIsThatGroup(t *testing.T) {
	l := newLab(t, recombining("1h"))
	l.telemetry = componenttest.NewTelemetry()
	l.write("a.log", "first 0\n").start()
	l.awaitLag(8, 0.2)
	_, before := l.lag()
	l.write("a.log", "first 1\n").await(1)
	require.Eventually(t, func() bool {
		bytes, age := l.lag()
		return bytes == 8 && age < before
	}, waitLimit, time.Millisecond)
	l.awaitLag(8, 0)
	l.stop()
	require.NoError(t, l.telemetry.Shutdown(context.Background()))
}

func TestALineThatIsNotFinishedIsNotUnread(t *testing.T) {
	l := newLab(t, map[string]any{"force_flush_period": "0s"})
	l.telemetry = componenttest.NewTelemetry()
	l.write("a.log", "line\nunfinished").start().await(1)
	l.awaitLag(0, 0)
	l.stop()
	require.NoError(t, l.telemetry.Shutdown(context.Background()))
}

// What an operator holds of a file when that is copied and truncated comes once.
func TestWhatOperatorsHoldOfAFileThatIsCopiedAndTruncatedComesOnce(t *testing.T) {
	for name, later := range map[string]func(l *lab){
		"and written to at once": func(l *lab) { l.write("a.log", "S two\n") },
		"and left empty":         func(*lab) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"include_file_path": true, "operators": []any{map[string]any{
				"type": "recombine", "combine_field": "body", "is_first_entry": `body startsWith "S"`,
				"source_identifier": `attributes["log.file.path"]`, "force_flush_period": "300ms",
			}}})
			l.write("a.log", "S one\n").start().watched(1).polls()
			l.copyFile("a.log", "a.log.1").truncate("a.log", 0)
			later(l)
			l.await(1)
			want := []string{"S one"}
			if name == "and written to at once" {
				want = append(want, "S two")
			}
			l.expect(want...)
			l.still()
			l.expect(want...)
		})
	}
}
