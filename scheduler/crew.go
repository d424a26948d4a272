package scheduler

import (
	"context"
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
	working sync.WaitGroup
	reading sync.WaitGroup
}

func newCrew(w *Worker, visits context.Context, lanes *lanes) *crew {
	c := &crew{worker: w, visits: visits, lanes: lanes, further: newFurtherReader(w)}
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
		lease, ok := c.next(false)
		if !ok {
			return
		}
		c.working.Go(func() {
			for ; ok; lease, ok = c.next(true) {
				c.worker.visitHost(c.visits, newHostTurn(c.worker, lease, c.lanes, c.further))
			}
		})
	}
}

// next is the lease that waits longest, for a fetcher: one that is at work, or one more. Without a lease for it, it is not
// at work any more.
func (c *crew) next(working bool) (lease models.Lease, ok bool) {
	w := c.worker
	w.mu.Lock()
	defer w.mu.Unlock()
	if working {
		w.busy--
	}
	if len(w.queue) == 0 || w.busy >= w.Fetchers || w.full() || w.ending {
		return lease, false
	}
	lease = w.queue[0]
	w.queue[0] = models.Lease{}
	w.queue = w.queue[1:]
	w.busy++
	return lease, true
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
