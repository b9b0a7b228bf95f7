// Package tail is the loop: it polls, hands out turns to workers, applies what
// they report and saves. It alone knows the other rooms.
//
// One goroutine, Loop.Run, owns everything that is remembered: bodies, the
// registry, the checkpoint's States. Workers own one turn each: copies of what
// they need go in, a report comes out. The loop never waits for a worker.
package tail
