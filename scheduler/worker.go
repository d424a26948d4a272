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
	ready   []models.BucketReady  // the buckets that were ready last, used again by each look of the loop
	looked  []int16               // their numbers

	lookedAt time.Time // when that was
	left     []int16   // those of them, the first first, that may have more than was claimed since
	counted  lastCount

	opening []models.Instant // when hosts may be asked again, the first first; of a worker without fetchers, by its loop alone

	alarm  alarm
	barred atomic.Bool // nothing may be claimed (holding)

	mu     sync.Mutex
	leases int            // guarded by mu; hosts held: those that are visited and those in waiting
	queue  []models.Lease // guarded by mu; held hosts for which no fetcher is free yet
	busy   int            // guarded by mu; fetchers at work
	others bool           // guarded by mu; more hosts may be ready than are held
	held   int64          // guarded by mu; bytes of bodies fetched and not yet stored
	ending bool           // guarded by mu; nothing new begins
	lag    lateness       // guarded by mu
	share  float64        // guarded by mu; of the buckets that this worker wants; 0: not said yet, all it can get
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

	// WriterOf is which of the writers, from 0 on, the results of a bucket belong to; nil: any, but always the same. It is
	// asked once for each bucket, when Run begins.
	WriterOf func(bucket int16) int

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

	// InDoubt tells whether the time may not be what it seems, because a clock was set: no visit begins meanwhile. nil: never.
	InDoubt func() bool

	// Weights are what the adaptive policy begins with, where the database knows nothing; nil: the defaults.
	Weights *changerate.Weights

	// Beat is called on every turn of the loop; nil: not at all.
	Beat func()

	Metrics prometheus.Registerer // nil: none are kept
}

// NewWorker returns a worker that plans by p.
func NewWorker(c Config, p *Planner) *Worker {
	w := &Worker{Config: c, metrics: newMetrics(c.Metrics), mind: NewMind(c.Store), purses: newPurses(c.Store, c.Clock)}
	if c.Weights != nil {
		w.mind.weights, w.mind.base = c.Weights.Clone(), c.Weights.Clone()
	}
	w.mind.alone = c.Live == nil
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
func (w *Worker) Wake() { w.alarm.ring() }

// ClockMoved is told that the clock was set forward by so much, or back where that is negative, before the time is out of doubt again: what
// a budget has for the time that did not pass is no worker's, and what waits for a moment that lies far ahead now is looked at again.
func (w *Worker) ClockMoved(ctx context.Context, by time.Duration) error {
	w.early.clear()
	defer w.alarm.ring() // who sleeps may do so until a moment by the clock as it was
	return w.purses.moved(ctx, by)
}

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
	for _, l := range lanes.all {
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

// PageTime is the longest page time of any site, the one that leases must outlast.
func PageTime(c *config.Config) time.Duration {
	longest := c.Defaults.PageTime
	for _, s := range c.Sites {
		longest = max(longest, s.Settings.PageTime)
	}
	return longest
}
