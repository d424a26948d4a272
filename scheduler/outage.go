package scheduler

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// outage tells a fault of our own network from faults of the sites: when host after host cannot be reached and nobody
// answers in between, it is us. Then claiming rests, and what failed meanwhile does not count against the sites.
type outage struct {
	heardAt  atomic.Int64 // the last answer, a models.Instant
	troubled atomic.Bool  // hosts could not be reached since then; without that an answer changes nothing else

	mu      sync.Mutex
	silent  map[int64]bool // guarded by mu; hosts that could not be reached since the last answer
	rest    time.Time      // guarded by mu; since when whoever looks at the clock finds it: some have looked a moment before it began
	restEnd time.Time      // guarded by mu
	rests   int32          // guarded by mu; in a row
}

// ownSilence is how many hosts in a row must be out of reach before we take it for our own fault.
const ownSilence = 5

// Outage tells why nothing is claimed where our own network is down, "" otherwise.
func (w *Worker) Outage() string { return w.outage.holding(w.Clock.Now()) }

// judgeNetwork takes note of what an outcome says of our own network, and says once in the log that it is down, and once that it is not any more.
func (w *Worker) judgeNetwork(host int64, out *models.Outcome, now time.Time) {
	switch began, ended := w.outage.judge(host, out, now, w.Clock); {
	case began:
		w.Log.Warn("crawling pauses", "why", w.Outage())
	case ended:
		w.Log.Info("crawling resumes: our own network is back")
	}
}

// judge takes note of an outcome, and calls it a fault of ours where it is one more of them. It tells whether an outage begins or ends with it.
func (o *outage) judge(host int64, out *models.Outcome, now time.Time, clk clock.Clock) (began, ended bool) {
	if answered(out) {
		return false, o.heard(now)
	}
	if !unreached(out) {
		return false, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	asked := visitedAt(out, now)
	if heard := models.Instant(o.heardAt.Load()); models.At(asked) < heard && heard <= models.At(now) {
		return false, false // others answered while this one was asked
	}
	o.troubled.Store(true)
	if o.silent == nil {
		o.silent = make(map[int64]bool)
	}
	o.silent[host] = true
	if len(o.silent) < ownSilence {
		return false, false
	}
	out.Kind, out.Class, out.Robots = models.Failed, models.OwnNetwork, nil
	if asked.Before(o.restEnd) && !now.Before(o.rest) {
		return false, false // it tells nothing of the time since, unless the clock was set back
	}
	o.rests++
	o.rest, o.restEnd = now.Add(-clk.Real(clockSet)), now.Add(clk.Real(backoff(o.rests, 15*time.Second, 10*time.Minute, 0)))
	return o.rests == 1, false
}

// heard ends an outage, if there was one: somebody answered.
func (o *outage) heard(now time.Time) (ended bool) {
	o.heardAt.Store(int64(models.At(now)))
	if !o.troubled.Load() {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	ended = o.rests > 0
	o.silent, o.rests, o.rest, o.restEnd = nil, 0, time.Time{}, time.Time{}
	o.troubled.Store(false)
	return ended
}

// answered tells whether a server answered, whatever it said: not where nothing was asked, nor where we failed.
func answered(out *models.Outcome) bool {
	class := requestClass(out)
	return out.Sent > 0 && out.Kind != models.Interrupted && !unreached(out) && !class.Ours() && class != models.BlockedAddress
}

// requestClass is why the request failed: that for a robots.txt says so in its row.
func requestClass(out *models.Outcome) models.ErrorClass {
	if out.Kind == models.RobotsFetched && out.Robots != nil {
		return out.Robots.Class
	}
	return out.Class
}

// unreached tells whether nobody answered. A refused connection is an answer.
func unreached(out *models.Outcome) bool {
	switch requestClass(out) {
	case models.DNSNotFound, models.DNSTemporary, models.ConnTimeout, models.ConnOther:
		return true
	}
	return false
}

// holding tells why claiming rests, or "".
func (o *outage) holding(now time.Time) string {
	if !o.troubled.Load() {
		return ""
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.resting(now) {
		return fmt.Sprintf("%d hosts in a row are out of reach: our own network is down", len(o.silent))
	}
	return ""
}

// resting tells whether claiming rests; not where the clock was set back to before it began to. The caller holds mu.
func (o *outage) resting(now time.Time) bool { return !now.Before(o.rest) && now.Before(o.restEnd) }
