package recrawl

import (
	"errors"
	"sync"
	"time"
)

// ownWait adds up for how long nobody reads because of a bound of ours, which is not the server's fault. It is safe for
// concurrent use, and the zero ownWait has not waited.
type ownWait struct {
	mu    sync.Mutex
	waits bool          // guarded by mu
	since time.Time     // guarded by mu; while it waits
	past  time.Duration // guarded by mu; of the waits that are over
}

// errOwnWaits says that a time limit passed, for the greater part, in waits of ours.
var errOwnWaits = errors.New("the time limit is over, most of it in waiting for network.bandwidth or worker.memory")

func (o *ownWait) begin(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waits, o.since = true, now
}

func (o *ownWait) end(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waits, o.past = false, o.past+now.Sub(o.since)
}

// total is how long it has waited until now, a wait that goes on included.
func (o *ownWait) total(now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waits {
		return o.past + now.Sub(o.since)
	}
	return o.past
}
