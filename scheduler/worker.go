package scheduler

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// Worker claims hosts, has their due pages visited and commits what was learned. Any number of workers may run on one
// database.
type Worker struct {
	Config
	planner atomic.Pointer[Planner]
	metrics *metrics
	outage  outage
	mind    *Mind
	purses  *purses
	early   early
	slow    slowHosts

	owns    *[models.Buckets]bool // used by the loop alone; nil: not known yet
	sharers []Peer                // the workers by which it was worked out

	mu     sync.Mutex
	cancel context.CancelFunc // guarded by mu; ends the present sleep; nil: the loop is awake
	woken  bool               // guarded by mu; the loop shall look again before it sleeps
	leases int                // guarded by mu; hosts held: those that are visited and those in waiting
	queue  []models.Lease     // guarded by mu; held hosts for which no fetcher is free yet
	busy   int                // guarded by mu; fetchers at work
	others bool               // guarded by mu; more hosts may be ready than are held
	held   int64              // guarded by mu; bytes of bodies fetched and not yet stored
	ending bool               // guarded by mu; nothing new begins
	lag    lateness           // guarded by mu
	share  float64            // guarded by mu; of the buckets that this worker wants; 0: not said yet, all it can get
}

// Config is what a worker is made of.
type Config struct {
	Store   Store
	Visitor Visitor
	Archive Archive
	Clock   clock.Clock
	Log     *slog.Logger

	Name     string        // of the worker, unique among those of the database
	Fetchers int           // visits under way at most; 0: one after the other, in the loop's own goroutine (simulation)
	Lease    time.Duration // real time
	Grace    time.Duration // real time: how long visits may go on after Run's context ends
	Memory   int64         // bytes of bodies held from which on no further visit begins
	Writers  int           // batches that the store commits at a time; 0: one

	// SlowShare is the share of the fetchers, 0–1, that hosts may hold which answer slowly, fail or have never answered. 0
	// or 1: there is no bound.
	SlowShare float64

	// Prepare is called with the name of a host, see models.Host, whose turn comes soon; nil: not at all. It returns at once.
	Prepare func(ctx context.Context, host string)

	// Live lists the workers that are alive, this one included; nil: this one alone. Each prefers its share of the
	// buckets, and any may take any: what they prefer is for speed, not for safety.
	Live func() []Peer

	// Hold tells why nothing may be claimed now ("disk is full"), "" where claiming may go on; nil: never.
	Hold func() string

	// Weights are what the adaptive policy begins with, where the database knows nothing; nil: the defaults.
	Weights *changerate.Weights

	// Beat is called on every turn of the loop; nil: not at all.
	Beat func()

	Metrics prometheus.Registerer // nil: unregistered
}

// NewWorker returns a worker that plans by p.
func NewWorker(c Config, p *Planner) *Worker {
	w := &Worker{Config: c, metrics: newMetrics(c.Metrics), mind: NewMind(c.Store), purses: newPurses(c.Store, c.Clock)}
	if c.Weights != nil {
		w.mind.weights, w.mind.base = c.Weights.Clone(), c.Weights.Clone()
	}
	w.mind.alone, w.mind.walkEvery = c.Live == nil, c.Clock.Real(walkEvery)
	w.SetPlanner(p)
	watch(c.Metrics, w.mind, w.purses)
	return w
}

// SetPlanner changes the plan and the budgets for visits that begin from now on. It is safe to call while Run runs.
func (w *Worker) SetPlanner(p *Planner) {
	w.purses.follow(p.config)
	w.planner.Store(p.with(w.mind, w.purses))
	w.early.clear()
}

// Planner is the plan in force, with what the worker knows and may spend.
func (w *Worker) Planner() *Planner { return w.planner.Load() }

// Wake ends the worker's sleep, because something may be ready that was not before.
func (w *Worker) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rouse()
}

// rouse ends the present sleep, or lets the next one not begin. The caller holds mu.
func (w *Worker) rouse() {
	w.woken = true
	if w.cancel != nil {
		w.cancel()
	}
}

// patient is the politeness delay, in real time, from which on a host is held for one page at a time: less would cost
// more in claims than it frees.
const patient = time.Second

// idle is how long the loop sleeps at most, in real time: what other processes add is seen that soon.
const idle = 500 * time.Millisecond

// lastWrite is how long results may still be written, in real time, after the visits were given up.
const lastWrite = 5 * time.Second

// Run works until the context ends, then lets the visits under way finish for the grace period, cancels the rest, and
// returns nil when everything learned is written. It returns an error where the archive can no longer be trusted, or
// where the database still takes no results a little after the grace period: what they say is then learned again.
func (w *Worker) Run(ctx context.Context) error {
	defer w.farewell(ctx)
	if w.Fetchers == 0 {
		return w.runInline(ctx)
	}
	group, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	visiting, cancelVisits := context.WithCancel(failed)
	defer cancelVisits()
	writing, cancelWrites := context.WithCancel(failed)
	defer cancelWrites()
	written, done := context.WithCancel(context.Background())
	lanes := w.lanes()
	var committers sync.WaitGroup
	for _, l := range lanes {
		committers.Add(1)
		group.Go(func() error {
			defer committers.Done()
			err := l.run(writing)
			if err != nil { // nobody may wait for a committer that is gone
				group.Go(func() error { discard(l.arrivals); return nil })
			}
			return err
		})
	}
	group.Go(func() error { committers.Wait(); done(); return nil })
	group.Go(func() error {
		defer lanes.close()
		claiming, stop := context.WithCancel(ctx)
		defer stop()
		context.AfterFunc(failed, stop)
		c := newCrew(w, visiting, lanes)
		w.loop(claiming, c.start, c.muster)
		w.end()
		group.Go(func() error { w.giveUp(written, cancelVisits, cancelWrites); return nil })
		c.leave()
		return nil
	})
	return group.Wait()
}

// farewell leaves what was learned of all pages with the database. Where it cannot, the last minute's lessons are lost.
func (w *Worker) farewell(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if w.Fetchers > 0 {
		go func() {
			if w.Clock.SleepUntil(ctx, w.Clock.Now().Add(w.Clock.Real(lastWrite))) == nil {
				cancel()
			}
		}()
	}
	if err := w.mind.sync(ctx); err != nil {
		w.Log.Warn("what was learned last of all pages together is lost", "err", err)
	}
	if err := w.purses.close(ctx); err != nil {
		w.Log.Warn("what was not spent is lost", "err", err)
	}
}

// giveUp ends, unless everything is written before, the visits after the grace period and the writing soon after.
func (w *Worker) giveUp(written context.Context, visits, writes context.CancelFunc) {
	end := w.Clock.Now().Add(w.Clock.Real(w.Grace))
	if w.Clock.SleepUntil(written, end) != nil {
		return
	}
	visits()
	if w.Clock.SleepUntil(written, end.Add(w.Clock.Real(lastWrite))) == nil {
		writes()
	}
}

func discard(arrivals <-chan *finished) {
	for range arrivals {
	}
}

func (w *Worker) committer() *committer {
	return &committer{
		store: w.Store, archive: w.Archive, clock: w.Clock, log: w.Log, metrics: w.metrics,
		done: func(f *finished) { w.hold(-int64(len(f.outcome.Body))) },
		wake: w.Wake,
	}
}

// loop claims and hands out leases until the context ends. Before each look it calls muster.
func (w *Worker) loop(ctx context.Context, start func(models.Lease), muster func()) {
	var trouble int32
	sleep, cancel := context.WithCancel(ctx)
	defer func() { cancel() }()
	for ctx.Err() == nil {
		if w.Beat != nil {
			w.Beat()
		}
		w.mu.Lock()
		w.woken = false
		w.mu.Unlock()
		muster()
		next, err := w.round(ctx, start)
		switch {
		case err != nil && ctx.Err() == nil:
			trouble++
			w.Log.Warn("nothing can be claimed", "tries", trouble, "err", err)
			next = w.Clock.Now().Add(w.Clock.Real(backoff(trouble, idle, 10*time.Second, 0)))
		case err == nil:
			trouble = 0
		}
		if !next.IsZero() {
			if sleep.Err() != nil {
				sleep, cancel = context.WithCancel(ctx)
			}
			w.sleep(sleep, cancel, next) // woken, stopped or slept: the next round looks
		}
	}
}

// sleep sleeps until then, or until something woke the loop since it looked last; cancel ends its context.
func (w *Worker) sleep(ctx context.Context, cancel context.CancelFunc, until time.Time) {
	w.mu.Lock()
	woken := w.woken
	w.cancel = cancel
	w.mu.Unlock()
	if !woken {
		_ = w.Clock.SleepUntil(ctx, until)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel = nil
}

// round claims what is ready, as far as the budget goes, and starts it. It returns when to look again: zero for at once.
func (w *Worker) round(ctx context.Context, start func(models.Lease)) (time.Time, error) {
	now := w.Clock.Now()
	latest := now.Add(w.Clock.Real(idle))
	room := w.room()
	if why := w.holding(now); why != "" || room == 0 {
		w.see(true)
		return latest, nil
	}
	if err := w.purses.count(ctx, now); err != nil {
		return latest, err
	}
	w.mind.know(w.purses)
	if err := w.mind.share(ctx, now, w.Clock.Real(shareEvery)); err != nil {
		return latest, err
	}
	leases, next, err := w.claim(ctx, now, room)
	if err != nil {
		return latest, err
	}
	w.see(len(leases) > 0) // until the next round, at once, finds none
	for _, l := range leases {
		w.take(1)
		start(l)
	}
	if len(leases) == 0 {
		return w.until(next, latest), nil
	}
	return time.Time{}, nil
}

// until is when to look again: nobody else adds anything to a simulation, so only outside it the sleep has a limit.
func (w *Worker) until(next, latest time.Time) time.Time {
	if next.IsZero() || (next.After(latest) && w.Fetchers > 0) {
		return latest
	}
	return next
}

// claim leases up to so many hosts of what is ready, or, where nothing is and the budget has a visit to spare, what will be
// first. Without any it returns when to look again, zero for no particular time.
func (w *Worker) claim(ctx context.Context, now time.Time, room int) ([]models.Lease, time.Time, error) {
	ready, err := w.Store.Ready(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	buckets, next := w.mine(ready, now)
	if len(buckets) == 0 {
		room = 1 // what is not used is missed by others
	}
	room = min(room, hostsPerClaim)
	paid, err := w.purses.all.take(ctx, room)
	if err != nil || paid.requests == 0 {
		return nil, paid.next, err
	}
	c := models.ClaimRequest{Now: now, Lease: w.Clock.Real(w.Lease), Owner: w.Name, Buckets: buckets, Hosts: paid.requests,
		Pages: w.pagesPerLease(), Patient: w.Clock.Real(patient)}
	var leases []models.Lease
	switch {
	case len(buckets) > 0:
		leases, err = w.Store.Claim(ctx, c)
		next = time.Time{}
	case w.purses.mayBeEarly(paid, now):
		leases, next, err = w.claimEarly(ctx, c, next)
	default:
		next = sooner(next, paid.full)
	}
	w.purses.all.settle(len(leases)-paid.requests, 0) // each lease has one visit paid for
	return leases, next, err
}

// claimEarly leases the host with the page that is due first of those that may be visited early, for that page. Without
// one it returns the time given, or when there may be one if that is sooner.
func (w *Worker) claimEarly(ctx context.Context, c models.ClaimRequest, next time.Time) ([]models.Lease, time.Time, error) {
	resting := w.early.resting(c.Now)
	ahead, err := w.Store.Ahead(ctx, c.Now, len(resting)+1)
	if err != nil {
		return nil, next, err
	}
	for _, first := range ahead {
		if until, rests := resting[first.Bucket]; rests {
			next = sooner(next, until)
			continue
		}
		c.Buckets, c.Ahead, c.Hosts, c.Pages = []int16{first.Bucket}, first.At, 1, 1
		leases, err := w.Store.Claim(ctx, c)
		return leases, next, err
	}
	return nil, next, nil
}

// sooner is the earlier of two moments of which either may be zero, for never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// holding tells why nothing may be claimed.
func (w *Worker) holding(now time.Time) string {
	if w.Hold != nil {
		if why := w.Hold(); why != "" {
			return why
		}
	}
	return w.outage.holding(now)
}

// PageTime is the longest page time of any site, the one that leases must outlast.
func PageTime(c *config.Config) time.Duration {
	longest := c.Defaults.PageTime
	for _, s := range c.Sites {
		longest = max(longest, s.Settings.PageTime)
	}
	return longest
}
