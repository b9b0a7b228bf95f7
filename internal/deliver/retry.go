package deliver

import (
	"math/rand/v2"
	"time"
)

// Retry paces the repetition of refused batches.
type Retry struct {
	Enabled         bool          // false: a refused batch is let go at once
	InitialInterval time.Duration // pause after the first refusal
	MaxInterval     time.Duration // the pause grows by half each time, up to this
	MaxElapsedTime  time.Duration // then the batch is let go; 0: never
}

// longestPauseWithoutRetry is how long a batch waits at most that was let go
// because retrying is off. Who switches it off wants no waiting, and the
// intervals are then often what somebody else has written.
const longestPauseWithoutRetry = time.Second

// shortestPause keeps intervals of next to nothing from making a refusing
// consumer, and this process, busy with nothing but refusals.
const shortestPause = 10 * time.Millisecond

// pause is how long to wait after so many refusals in a row: growing by half
// from the initial interval to the largest, and spread by half to either side so
// that many receivers do not come back at the same moment, but never shorter than
// shortestPause.
func (r Retry) pause(refusals int) time.Duration {
	d := float64(max(r.InitialInterval, shortestPause)) // what grows must not be zero
	for i := 1; i < refusals && d < float64(r.MaxInterval); i++ {
		d *= 1.5
	}
	d = min(d, float64(r.MaxInterval))
	return max(time.Duration(d*(0.5+rand.Float64())), shortestPause)
}

// Again is how long a file rests of which a batch was let go, with that time
// between two polls.
func (r Retry) Again(poll time.Duration) time.Duration {
	d := min(r.InitialInterval, r.MaxInterval)
	if !r.Enabled {
		d = min(d, longestPauseWithoutRetry)
	}
	return max(d, poll, shortestPause)
}
