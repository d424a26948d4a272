package scheduler

import (
	"context"
	"slices"
	"sync"
	"time"

	"recrawld/models"
)

// A lease goes on with further pages of its host, so that the host need not wait for the results of the last ones to be
// written and to be claimed anew: as long as no other host wants the fetcher, and for longest in real time. After that it is
// claimed anew, because what became due in the meantime before the pages at hand is seen by a claim alone. Nor does it go on
// any longer with the pages that it came with where other hosts wait: one with many pages has no more of a fetcher's time than
// one with few. Leases that began together end up to a quarter of it apart, or all of their hosts would be without a visit
// until they are claimed again.
const longestHeld = 5 * time.Second

// pagesAhead is how many pages a worker has in memory for the hosts that it visits, beyond those of the leases.
const pagesAhead = 16384

// furtherReader reads further pages for all leases under way: what is asked for while it reads is read together.
type furtherReader struct {
	worker *Worker
	wake   chan struct{} // of one

	mu     sync.Mutex
	asking []*hostTurn // guarded by mu
	closed bool        // guarded by mu
}

func newFurtherReader(w *Worker) *furtherReader {
	return &furtherReader{worker: w, wake: make(chan struct{}, 1)}
}

// ask has further pages read for a turn. It gets them, or learns that there are none (hostTurn.extend), before the reader
// ends.
func (r *furtherReader) ask(t *hostTurn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking = append(r.asking, t)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// close ends the reader when nobody asks any more.
func (r *furtherReader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		close(r.wake)
	}
}

// run reads until it is closed. When the context has ended there are no further pages.
func (r *furtherReader) run(ctx context.Context) {
	for range r.wake {
		r.mu.Lock()
		asking := r.asking
		r.asking = nil
		r.mu.Unlock()
		if len(asking) > 0 {
			r.read(ctx, asking)
		}
	}
}

func (r *furtherReader) read(ctx context.Context, asking []*hostTurn) {
	w := r.worker
	hosts := make([]models.Handed, len(asking))
	for i, t := range asking {
		hosts[i] = t.handed
	}
	limit := w.furtherPages()
	pages, err := w.Store.Further(ctx, w.Clock.Now(), limit, hosts)
	if err != nil {
		if ctx.Err() == nil {
			w.Log.Warn("no further pages of hosts can be read", "err", err)
		}
		pages = make([][]models.LeasedPage, len(asking))
	}
	for i, t := range asking {
		t.extend(pages[i], limit)
	}
}

// askFurther has further pages read when half of the last ones are taken. The caller holds mu.
func (t *hostTurn) askFurther(now time.Time) {
	w := t.worker
	if t.reader == nil || t.asked || t.dry || len(t.behind) > 0 || len(t.pages) > t.chunk/2 {
		return
	}
	if t.lease.Host.Delay >= w.Clock.Real(patient) || !now.Before(t.goesOn) || !w.mayGoOn() {
		return
	}
	t.asked = true
	t.reader.ask(t)
}

// extend takes what was read: further pages, of limit that it asked for.
func (t *hostTurn) extend(pages []models.LeasedPage, limit int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked, t.dry = false, len(pages) < limit
	if len(pages) > 0 {
		t.handed = models.HandedOut(&pages[len(pages)-1].Page)
	}
	t.behind = t.unseen(pages)
	t.chunk = len(t.behind)
	t.came.Broadcast()
}

// unseen is those of the pages that the lease has not had yet. One that was moved behind the others while it waited or while
// its result was on its way, as by somebody who asks for it, is due with a state that its visit changes: what there is to
// visit of it after that the next claim sees. The caller holds mu.
func (t *hostTurn) unseen(pages []models.LeasedPage) []models.LeasedPage {
	if t.had == nil {
		t.had = make(map[int64]bool, len(t.lease.Pages)+len(pages))
		for i := range t.lease.Pages {
			t.had[t.lease.Pages[i].ID] = true
		}
	}
	return slices.DeleteFunc(pages, func(p models.LeasedPage) bool {
		had := t.had[p.ID]
		t.had[p.ID] = true
		return had
	})
}

// await waits for pages that were asked for, where none are at hand. The caller holds mu.
func (t *hostTurn) await() {
	for len(t.pages) == 0 {
		if len(t.behind) > 0 {
			t.pages, t.behind = t.behind, nil
			return
		}
		if !t.asked {
			return
		}
		t.came.Wait()
	}
}

// readOn reads the next pages of a lease of a worker without fetchers, where those at hand are visited: those that were due
// when it was claimed. The caller holds mu.
func (t *hostTurn) readOn(ctx context.Context) {
	w := t.worker
	left := w.pagesPerLease() - t.chunk
	if w.Fetchers > 0 || len(t.pages) > 0 || t.dry || left <= 0 || t.chunk < w.pagesPerClaim() {
		return
	}
	if t.handed == (models.Handed{}) {
		t.handed = models.HandedOut(&t.lease.Pages[t.leased-1].Page)
	}
	limit := min(left, 4*t.chunk)
	pages, err := w.Store.Further(ctx, t.claimed, limit, []models.Handed{t.handed})
	if err != nil || len(pages[0]) == 0 {
		t.dry = true // the host is claimed anew
		return
	}
	t.pages, t.dry = pages[0], len(pages[0]) < limit
	t.handed = models.HandedOut(&t.pages[len(t.pages)-1].Page)
	t.chunk += len(t.pages)
}
