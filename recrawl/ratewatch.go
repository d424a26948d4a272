package recrawl

import (
	"sync"
	"time"

	"recrawld/clock"
)

// rateWatch ends an exchange when a window passes in which the body brought too little. Waits of ours are no part of a
// window.
type rateWatch struct {
	limits Limits
	at     *progress
	wire   *counter

	mu     sync.Mutex
	began  time.Time     // guarded by mu; the present window
	waited time.Duration // guarded by mu; what had been waited by then
	seen   int64         // guarded by mu; bytes by then
	stop   func()        // guarded by mu; ends the present wait for a look
	ended  bool          // guarded by mu
}

// watchRate watches a body. The returned function stops that.
func (f *fetcher) watchRate(at *progress, wire *counter) (stop func()) {
	w := &rateWatch{limits: f.limits, at: at, wire: wire}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open(machineNow())
	return w.end
}

// open begins a window. The caller holds mu.
func (w *rateWatch) open(now time.Time) {
	w.began, w.waited, w.seen = now, w.at.waited(now), w.wire.n.Load()
	w.stop = clock.AfterFunc(w.limits.RateWindow, w.look)
}

// looksAWindow is how many looks there are in a window at most, when waits make it longer.
const looksAWindow = 16

func (w *rateWatch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := machineNow()
	left := w.limits.RateWindow - now.Sub(w.began) + w.at.waited(now) - w.waited
	switch {
	case w.ended:
	case left > 0:
		w.stop = clock.AfterFunc(max(left, w.limits.RateWindow/looksAWindow), w.look)
	case w.wire.n.Load()-w.seen < w.limits.RateBytes:
		w.at.cancel(errTooSlow)
	default:
		w.open(now)
	}
}

func (w *rateWatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.stop()
}
