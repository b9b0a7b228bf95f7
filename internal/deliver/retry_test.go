package deliver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAFileOfWhichABatchWasLetGoRestsNoLongerThanItsConfigurationSays(t *testing.T) {
	const poll = 200 * time.Millisecond
	ends := Retry{Enabled: true, InitialInterval: time.Second, MaxInterval: 30 * time.Second, MaxElapsedTime: time.Minute}
	off := ends
	off.Enabled = false
	for _, c := range []struct {
		name             string
		retry            Retry
		initial, longest time.Duration
		poll, want       time.Duration
	}{
		{"as it is by default, with an end", ends, time.Second, 30 * time.Second, poll, time.Second},
		{"as it is by default, off", off, time.Second, 30 * time.Second, poll, time.Second},
		{"the longest pause bounds the first", ends, time.Hour, 2 * time.Second, poll, 2 * time.Second},
		{"without retry an hour is not waited", off, time.Hour, 2 * time.Hour, poll, time.Second},
		{"a long first pause counts with an end", ends, time.Hour, 2 * time.Hour, poll, time.Hour},
		{"a poll at least, with an end", ends, time.Millisecond, time.Millisecond, poll, poll},
		{"a poll at least, off", off, time.Millisecond, time.Millisecond, poll, poll},
		{"polls and pauses of next to nothing", off, 0, 0, time.Nanosecond, shortestPause},
		{"slow polls", off, time.Second, 30 * time.Second, time.Minute, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.retry.InitialInterval, c.retry.MaxInterval = c.initial, c.longest
			require.Equal(t, c.want, c.retry.Again(c.poll))
		})
	}
}

func TestPausesOfNextToNothingAreLongEnoughNotToKeepAProcessBusy(t *testing.T) {
	for _, r := range []Retry{
		{Enabled: true},
		{Enabled: true, InitialInterval: time.Nanosecond, MaxInterval: time.Nanosecond},
		{Enabled: true, InitialInterval: time.Minute},
	} {
		for refusals := 1; refusals < 100; refusals++ {
			require.Equal(t, shortestPause, r.pause(refusals))
		}
	}
}

func TestPausesGrowFromZeroToo(t *testing.T) {
	r := Retry{Enabled: true, MaxInterval: time.Minute}
	require.InDelta(t, shortestPause, r.pause(1), float64(shortestPause/2))
	require.InDelta(t, time.Minute, r.pause(100), float64(time.Minute/2))
}
