package scheduler

import (
	"context"
	"slices"
	"sync"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// slowHosts keeps hosts that answer slowly, that fail, or that have never answered, from holding all fetchers: together
// they hold at most a share of them. One too many is put off to its place in line, at the pace at which the others let go;
// so a host that answers waits for none of them, however many there are and however long each takes to fail. It is safe
// for concurrent use.
type slowHosts struct {
	mu    sync.Mutex
	began []time.Time   // guarded by mu; when each fetcher that is held began, the first first
	took  time.Duration // guarded by mu; how long one holds a fetcher, smoothed; 0: not known
	line  slowLine      // guarded by mu
}

// slowFrom is the smoothed response time from which on a host is slow.
const slowFrom = 2 * time.Second

// The wait of a host that is put off, in real time: one holds a fetcher for slowTook at least where nothing is known, nobody
// comes back before slowWait, whose place is overdue comes back within slowAgain, and nobody is put off further than
// slowLongest, since who is in the line may change.
const (
	slowTook    = time.Second
	slowWait    = 100 * time.Millisecond
	slowAgain   = 2 * time.Second
	slowLongest = 10 * time.Minute
)

// AnswersSoon tells whether a host is known, by its row alone, to answer and to do so soon.
func AnswersSoon(h *models.Host) bool {
	known := h.Trials.Load.Response
	return h.Failures == 0 && known > 0 && known < slowFrom
}

// proven tells whether a host answers, and soon.
func proven(l *models.Lease) bool {
	if l.Host.Failures > 0 || l.Host.Trials.Load.Response >= slowFrom {
		return false
	}
	if AnswersSoon(&l.Host) || l.Pages[0].Stats.Records > 0 {
		return true
	}
	for i := range l.Robots {
		if l.Robots[i].GoodAt != 0 {
			return true
		}
	}
	return false
}

// slots is how many fetchers hosts that are not proven may hold; 0: there is no bound.
func (w *Worker) slots() int {
	if w.SlowShare <= 0 || w.SlowShare >= 1 || w.Fetchers < 2 {
		return 0
	}
	return max(int(w.SlowShare*float64(w.Fetchers)), 1)
}

// slowTurn is a slow host's hold of a fetcher. The zero slowTurn is that of a host that is not slow.
type slowTurn struct {
	of    *slowHosts
	began time.Time
	most  time.Duration // that it may have taken, unless the clock was set meanwhile
}

// admit lets a host hold a fetcher, or puts it off until a time. A page that somebody asks for by hand does not wait.
func (w *Worker) admit(l *models.Lease) (turn slowTurn, until time.Time) {
	slots := w.slots()
	if slots == 0 || proven(l) {
		return slowTurn{}, time.Time{}
	}
	now, s, id := w.Clock.Now(), &w.slow, l.Host.ID
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Pages[0].Rule == models.RuleManual {
		s.line.leave(id)
		return s.begin(now, w.Clock.Real(slowLongest)), time.Time{}
	}
	soon := w.Clock.Real(slowAgain)
	ahead := s.line.join(id, l.Host.Failures > 0, now.Add(-w.Clock.Real(slowGone)))
	if s.line.passes(ahead, slots-len(s.began), now.Add(-soon), now.Add(soon)) {
		s.line.serve(id)
		return s.begin(now, w.Clock.Real(slowLongest)), time.Time{}
	}
	until = earlier(s.turn(ahead, slots, now, w.Clock), now.Add(w.Clock.Real(slowLongest)))
	s.line.wait(id, until)
	return slowTurn{}, until
}

func (s *slowHosts) begin(now time.Time, most time.Duration) slowTurn {
	s.began = append(s.began, now)
	return slowTurn{s, now, most}
}

// turn is when a host with so many ahead of it in line may expect a fetcher: each who holds one keeps it for as long as those
// before did, and then those in line have it one after the other.
func (s *slowHosts) turn(ahead, slots int, now time.Time, c clock.Clock) time.Time {
	took := s.took
	if took == 0 {
		took = c.Real(slowTook)
		if len(s.began) > 0 {
			took = max(took, now.Sub(s.began[0]))
		}
	}
	at := now.Add(min(max(took/8, c.Real(slowWait)), c.Real(slowAgain)))
	free := max(slots-len(s.began), 0)
	if i := ahead%slots - free; i >= 0 {
		at = later(at, s.began[i].Add(took))
	}
	return at.Add(took * time.Duration(ahead/slots))
}

// end gives the fetcher back; a second time it does nothing.
func (t *slowTurn) end(now time.Time) {
	if t.of == nil {
		return
	}
	s := t.of
	t.of = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.began, t.began.Equal); i >= 0 {
		s.began = slices.Delete(s.began, i, i+1)
	}
	took := min(max(now.Sub(t.began), 0), t.most)
	if s.took == 0 {
		s.took = took
	}
	s.took += (took - s.took) / 8
}

// putBack ends a lease without a visit: its host has its turn at a later time, and its pages stay due as they were.
// Meanwhile its name may be looked up.
func (t *hostTurn) putBack(ctx context.Context, until time.Time) {
	w := t.worker
	if w.Prepare != nil {
		w.Prepare(ctx, t.lease.Host.Name)
	}
	f := t.out.blank()
	f.planner, f.lease, f.before = w.planner.Load(), models.Lease{Host: t.lease.Host, Until: t.lease.Until}, t.lease.Pages[0].Page
	f.outcome = models.Outcome{Kind: models.Deferred, At: w.Clock.Now(), Until: until, HostWaits: true,
		Detail: "slow hosts have their share of the fetchers"}
	f.planner.plan(&f.result, &f.lease, &f.before, &f.outcome, f.outcome.At, false)
	f.result.Release = true
	w.purses.all.settle(-1, 0) // the visit that was paid for with the lease
	t.out.deliver(f)
}
