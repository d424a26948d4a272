package scheduler

import (
	"context"
	"time"

	"recrawld/models"
)

// slot is a visit's place in its host's politeness: it may begin at `at`, and until it ends the host opens for the next
// one at `until` instead of at `before`.
type slot struct {
	at            time.Time
	before, until models.Instant
	began, after  time.Time // when it did begin, and the visit before it
	paid          bool      // the budget of the page's site has paid for the visit
	owed          bool      // the page gave its turn away just before, and is visited on credit
	follows       bool      // it is not the first of its lease
}

// next takes the next page and a slot for it: several visits at a time begin a delay apart, and the end of each moves
// the host's opening on.
func (t *hostTurn) next(ctx context.Context, p *Planner) (*models.LeasedPage, slot, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, h := t.worker, &t.lease.Host
	t.await()
	t.readOn(ctx)
	now := w.Clock.Now()
	open := later(now, later(h.OpenAt.Time(), h.BackoffUntil.Time()))
	visited := t.last != nil
	t.owed = t.owed && !t.foregoes(ctx)
	switch {
	case len(t.pages) == 0, visited && w.resting():
		return nil, slot{}, false
	case visited && (!t.owed && h.Delay >= w.Clock.Real(patient) && open.After(now) || h.BackoffUntil.Time().Sub(now) >= w.Clock.Real(patient)):
		return nil, slot{}, false // nobody holds a host only to wait
	case visited && h.Failures > 0 && w.slots() > 0:
		return nil, slot{}, false // whether it may hold a fetcher is to be asked anew
	case visited && open.Add(w.Clock.Real(p.pageTime+leaseMargin(w.Lease))).After(t.lease.Until):
		return nil, slot{}, false
	case visited && !t.owed && t.reader != nil && now.After(t.goesOn) && w.othersWait():
		return nil, slot{}, false // it had its share of the fetcher's time
	case t.owed:
		w.purses.all.settle(1, 0)
	case t.begun && !w.affords(ctx):
		return nil, slot{}, false
	}
	owed := t.owed
	t.owed = false
	t.begun = true // with a visit that was paid for when the lease was taken
	page := &t.pages[0]
	t.pages = t.pages[1:]
	t.askFurther(now)
	taken := slot{at: open, before: h.OpenAt, until: opensAfter(open, h.Delay), owed: owed, follows: visited}
	h.OpenAt = taken.until
	return page, taken, true
}

// opensAfter is when a host opens that was asked at a moment: no sooner than its delay later. One without a delay does not wait for the next millisecond.
func opensAfter(at time.Time, delay time.Duration) models.Instant {
	if delay == 0 {
		return models.At(at)
	}
	return models.NotBefore(at.Add(delay))
}

// foregoes tells whether the page that gave its turn away can do without credit: other hosts want the fetcher that would wait here for a delay, and the
// budget of its site, the only one there is, has something left for when the page comes again. The caller holds mu.
func (t *hostTurn) foregoes(ctx context.Context) bool {
	w := t.worker
	if len(t.pages) == 0 || !w.purses.all.rate().unbounded() || !w.othersWait() {
		return false
	}
	own := w.purses.own(t.pages[0].SiteID)
	if own == nil {
		return false
	}
	paid, err := own.take(ctx, 1)
	own.settle(-paid.requests, 0)
	return err == nil && paid.requests > 0
}

// reach waits for a slot, for longer where the host asked for rest, or for a longer delay, since the slot was given. It tells
// whether the visit may begin: nobody holds a host only to wait.
func (t *hostTurn) reach(ctx context.Context, s *slot) bool {
	w := t.worker
	for at := s.at; w.Clock.SleepUntil(ctx, at) == nil; {
		now := w.Clock.Now()
		if at = t.opens(s, now); !at.After(now) {
			return true
		}
		if at.Sub(now) >= w.Clock.Real(patient) {
			return false
		}
	}
	return false
}

// opens is when the visit of a slot may begin. One that may now begins.
func (t *hostTurn) opens(s *slot, now time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	opens := later(t.lease.Host.BackoffUntil.Time(), t.latest.Add(t.lease.Host.Delay))
	if !opens.After(now) {
		s.began, s.after, t.latest = now, t.latest, now
	}
	return opens
}

// tooLate tells whether a visit that begins now might go on when the lease is over, because the process was frozen since
// the lease was taken: somebody else may hold the host by then; or whether nobody knows, nor whether the host's delay has passed.
func (t *hostTurn) tooLate(p *Planner) bool {
	w := t.worker
	return w.InDoubt != nil && w.InDoubt() || w.Clock.Now().Add(w.Clock.Real(p.pageTime)).After(t.lease.Until)
}

// leaseMargin is what must be left of a lease, in real time, after the longest visit, to write its result.
func leaseMargin(lease time.Duration) time.Duration { return min(20*time.Second, lease/6) }

// free takes back a slot whose visit is over: if it asked anybody, the host opens a delay after its end, and that delay may be
// another than the slot was given with. The caller holds mu.
func (t *hostTurn) free(s *slot, asked bool) {
	if t.lease.Host.OpenAt == s.until {
		t.lease.Host.OpenAt = s.before
	}
	if !asked && t.latest.Equal(s.began) {
		t.latest = s.after
	}
}
