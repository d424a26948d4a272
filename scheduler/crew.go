package scheduler

import (
	"context"
	"slices"
	"sync"

	"recrawld/models"
)

// crew is the fetchers of a worker: goroutines that visit the pages of leases. Each begins with another lease when it ends
// with one, as long as there are some in waiting.
type crew struct {
	worker  *Worker
	visits  context.Context // of the visits; it ends when they shall be given up
	lanes   *lanes
	further *furtherReader
	at      map[int64]bool // guarded by worker.mu; IDs of the hosts that fetchers are at
	working sync.WaitGroup
	reading sync.WaitGroup
}

func newCrew(w *Worker, visits context.Context, lanes *lanes) *crew {
	c := &crew{worker: w, visits: visits, lanes: lanes, further: newFurtherReader(w), at: make(map[int64]bool)}
	c.reading.Go(func() { c.further.run(visits) })
	return c
}

// start has a lease visited, at once or when a fetcher is free.
func (c *crew) start(l models.Lease) {
	w := c.worker
	w.mu.Lock()
	w.queue = append(w.queue, l)
	waits := w.busy >= w.Fetchers
	w.mu.Unlock()
	if waits && w.Prepare != nil {
		w.Prepare(c.visits, l.Host.Name)
	}
	c.muster()
}

// muster sends out fetchers while leases wait and there is room for what they fetch.
func (c *crew) muster() {
	for {
		lease, ok := c.next(nil)
		if !ok {
			return
		}
		c.working.Go(func() {
			for ok {
				t := newHostTurn(c.worker, lease, c.lanes, c.further)
				c.worker.visitHost(c.visits, t)
				lease, ok = c.next(t)
			}
		})
	}
}

// next is the lease that waits longest, for a fetcher: one that is done with a turn, or, where that is nil, one more. Without a
// lease for it, it is not at work any more.
func (c *crew) next(done *hostTurn) (lease models.Lease, ok bool) {
	w := c.worker
	w.mu.Lock()
	defer w.mu.Unlock()
	if done != nil {
		w.busy--
		c.left(&done.lease.Host)
	}
	if w.busy >= w.Fetchers || w.full() || w.ending {
		return lease, false
	}
	i := slices.IndexFunc(w.queue, func(l models.Lease) bool { return !c.at[l.Host.ID] })
	if i < 0 {
		return lease, false
	}
	lease = w.queue[i]
	copy(w.queue[1:], w.queue[:i])
	w.queue[0] = models.Lease{}
	w.queue = w.queue[1:]
	w.busy++
	c.at[lease.Host.ID] = true
	return lease, true
}

// left takes note that no fetcher is at a host any more. Where the machine slept or its clock was set ahead, the lease was over
// in the midst of a visit, and the host is here once more, as it was before: it opens no sooner for that. The caller holds
// the worker's mu.
func (c *crew) left(host *models.Host) {
	delete(c.at, host.ID)
	for i := range c.worker.queue {
		if again := &c.worker.queue[i].Host; again.ID == host.ID {
			again.OpenAt = max(again.OpenAt, host.OpenAt)
		}
	}
}

// leave gives back the leases that nobody began with, waits until the fetchers have ended, and ends what reads for them.
func (c *crew) leave() {
	w := c.worker
	w.mu.Lock()
	waiting := w.queue
	w.queue = nil
	w.mu.Unlock()
	for _, lease := range waiting {
		w.giveBack(c.visits, lease, c.lanes)
	}
	c.working.Wait()
	c.further.close()
	c.reading.Wait()
}
