package scheduler

import (
	"fmt"
	"sync"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// outage tells a fault of our own network from faults of the sites: when host after host cannot be reached and nobody
// answers in between, it is us. Then claiming rests, and what failed meanwhile does not count against the sites.
type outage struct {
	mu      sync.Mutex
	silent  map[int64]bool // guarded by mu; hosts that could not be reached since the last answer
	restEnd time.Time      // guarded by mu
	rests   int32          // guarded by mu; in a row
}

// ownSilence is how many hosts in a row must be out of reach before we take it for our own fault.
const ownSilence = 5

// judge takes note of an outcome, and calls it a fault of ours where it is one more of them.
func (o *outage) judge(host int64, out *models.Outcome, now time.Time, clk clock.Clock) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !unreached(out) {
		if out.Kind.Asked() {
			o.silent, o.rests, o.restEnd = nil, 0, time.Time{}
		}
		return
	}
	if o.silent == nil {
		o.silent = make(map[int64]bool)
	}
	o.silent[host] = true
	if len(o.silent) < ownSilence {
		return
	}
	out.Class = models.OwnNetwork
	if !now.Before(o.restEnd) {
		o.rests++
		o.restEnd = now.Add(clk.Real(backoff(o.rests, 15*time.Second, 10*time.Minute, 0)))
	}
}

// unreached tells whether nobody answered. A refused connection is an answer.
func unreached(out *models.Outcome) bool {
	if out.Kind != models.Failed {
		return false
	}
	switch out.Class {
	case models.DNSNotFound, models.DNSTemporary, models.ConnTimeout, models.ConnOther:
		return true
	}
	return false
}

// holding tells why claiming rests, or "".
func (o *outage) holding(now time.Time) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Before(o.restEnd) {
		return fmt.Sprintf("%d hosts in a row are out of reach: our own network is down", len(o.silent))
	}
	return ""
}
