package scheduler

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"recrawld/models"
)

// maxGivenTurns bounds how often within one lease a page gives its turn to robots.txt, one for http and one for https, or
// to a probe of the host.
const maxGivenTurns = 3

// visitHost visits the pages of a lease, as many at a time as their site allows, each no sooner than the host's
// politeness lets it, and stops early where the lease would not outlast another visit or the host asks for rest.
// Every lease ends with one result that releases it.
// Where there is a reader the lease goes on with further pages.
func (w *Worker) visitHost(ctx context.Context, t *hostTurn) {
	defer w.release()
	slow, until := w.admit(&t.lease)
	if !until.IsZero() {
		t.putBack(ctx, until)
		return
	}
	defer func() { slow.end(w.Clock.Now()) }()
	planner, site := w.planner.Load(), t.lease.Pages[0].SiteID
	if t.learns = planner.learns; t.learns {
		if err := w.mind.open(ctx, &t.lease.Host); err != nil {
			w.Log.Warn("what is known of a host cannot be used", "host", t.lease.Host.Name, "err", err)
		}
	}
	t.visitNext(ctx) // alone: it may bring the host's robots.txt
	if t.lease.Host.Failures == 0 && t.lease.Host.Trials.Load.Response < slowFrom {
		slow.end(w.Clock.Now()) // it has proved to answer
	}
	width := planner.settings(site).Concurrency
	if w.Fetchers == 0 {
		width = 1
	}
	t.visitAll(ctx, min(width, t.leased))
	t.finish(ctx)
}

// giveBack ends a lease without a visit.
func (w *Worker) giveBack(ctx context.Context, lease models.Lease, out delivery) {
	defer w.release()
	t := newHostTurn(w, lease, out, nil)
	planner := w.planner.Load()
	page, slot, ok := t.next(ctx, planner)
	if !ok {
		return
	}
	t.result(planner, page, slot, &models.Outcome{Kind: models.Interrupted, At: w.Clock.Now()})
	t.last.result.Release = true
	out.deliver(t.last)
}

// delivery is where the visits of a lease go to be written. It is safe for concurrent use unless there are no fetchers.
type delivery interface {
	blank() *finished  // to be filled, with anything in it
	deliver(*finished) // it belongs to the receiver from then on
}

// hostTurn is a lease being worked on.
type hostTurn struct {
	worker *Worker
	out    delivery
	reader *furtherReader // nil: the lease ends with the pages that it came with
	goesOn time.Time      // until then it may go on with further pages, and whoever else waits
	leased int            // pages that the lease came with
	learns bool           // what is learned of the host is kept

	mu    sync.Mutex
	lease models.Lease        // guarded by mu; its host moves on with each result
	pages []models.LeasedPage // guarded by mu
	begun bool                // guarded by mu; a page was taken
	given int                 // guarded by mu; turns given to robots.txt or a probe
	meets map[int32]time.Time // guarded by mu; when its pages gather, by site, where robots.txt must be fetched; zero: not asked, or now
	saved map[int32]time.Time // guarded by mu; until when they wait for the budget to be saved up, by site
	owed  bool                // guarded by mu; the last turn was given away: the page's own is paid for on credit
	last  *finished           // guarded by mu; kept back, because only the last result releases the host

	latest time.Time // guarded by mu; when the latest visit began that asked its host, or is under way

	behind []models.LeasedPage // guarded by mu; that come after pages
	came   sync.Cond           // on mu: what was asked for is there
	asked  bool                // guarded by mu; further pages are being read
	dry    bool                // guarded by mu; there are no further pages
	chunk  int                 // guarded by mu; pages that came last; of a worker without fetchers, all that came
	handed models.Handed       // by what was read last; not read while nothing is asked
	had    map[int64]bool      // guarded by mu; IDs of the pages so far; nil: those of the lease alone

	claimed time.Time // of a worker without fetchers: what is due later is not of this lease

	tellings []models.Result // guarded by mu; what lists told in it (see heardMeanwhile)

	memory     []byte // guarded by mu; the newest Outcome.HostMemory, for the last result
	memoryTurn int64  // guarded by mu; its Outcome.HostTurn
}

func newHostTurn(w *Worker, lease models.Lease, out delivery, reader *furtherReader) *hostTurn {
	t := new(hostTurn)
	t.begin(w, lease, out, reader)
	return t
}

// begin is a new turn in the place of one that is over, or of none.
func (t *hostTurn) begin(w *Worker, lease models.Lease, out delivery, reader *furtherReader) {
	*t = hostTurn{worker: w, lease: lease, pages: lease.Pages, leased: len(lease.Pages), out: out, reader: reader,
		chunk: len(lease.Pages), dry: len(lease.Pages) < w.pagesPerClaim()}
	t.came.L = &t.mu
	if w.Fetchers == 0 {
		t.claimed = w.Clock.Now()
	}
	if reader != nil {
		held := longestHeld - time.Duration(chance(lease.Host.ID, int32(lease.Host.LeaseToken), useHeld)*float64(longestHeld/4))
		t.goesOn = w.Clock.Now().Add(w.Clock.Real(held))
		t.handed = models.HandedOut(&lease.Pages[len(lease.Pages)-1].Page)
	}
}

// visitAll visits what is left, so many pages at a time.
func (t *hostTurn) visitAll(ctx context.Context, width int) {
	if width > 1 {
		var others sync.WaitGroup
		defer others.Wait()
		for range width - 1 {
			others.Go(func() { t.visitAll(ctx, 1) })
		}
	}
	for t.visitNext(ctx) {
	}
}

// visitNext visits the next page and tells whether there may be another.
func (t *hostTurn) visitNext(ctx context.Context) bool {
	w := t.worker
	page, slot, ok := t.next(ctx, w.planner.Load())
	if !ok {
		return false
	}
	reached := t.reach(ctx, &slot)
	planner := w.planner.Load() // after the sleep: what was set meanwhile counts
	if !reached || t.tooLate(planner) {
		t.result(planner, page, slot, &models.Outcome{Kind: models.Interrupted, At: w.Clock.Now()})
		return false
	}
	now := w.Clock.Now()
	if page.GivenUp() {
		out := models.Outcome{Kind: models.Excluded, At: now, Detail: givenUpDetail(&page.Page)}
		t.result(planner, page, slot, &out)
		return true
	}
	put, held := t.disbelieves(planner, &page.Page, now)
	if !held {
		put, held = t.gathers(ctx, planner, &page.Page, now)
	}
	if !held {
		put, held = w.waits(ctx, planner, &page.Page, slot.owed, now)
	}
	if slot.paid = !held; held {
		out := put.outcome(now)
		t.result(planner, page, slot, &out)
		return true
	}
	turn := t.turn(page, now)
	out := w.visit(ctx, &turn)
	w.onlyKnown(ctx, &turn.Host, out.Listing)
	t.result(planner, page, slot, &out)
	return true
}

func (t *hostTurn) disbelieves(p *Planner, page *models.Page, now time.Time) (deferral, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.disbelieves(&t.lease.Host, page, now)
}

func (t *hostTurn) turn(page *models.LeasedPage, now time.Time) models.Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return models.Turn{Host: t.lease.Host, Robots: t.lease.Robots, Page: *page, Now: now}
}

// result plans what the visit means and passes the result before it on.
func (t *hostTurn) result(planner *Planner, page *models.LeasedPage, taken slot, out *models.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.worker.Clock.Now()
	t.worker.judgeNetwork(t.lease.Host.ID, out, now)
	t.free(&taken, out.Sent > 0)
	f := t.out.blank()
	f.planner, f.lease.Until, f.lease.Robots = planner, t.lease.Until, t.lease.Robots
	f.lease.Host = t.lease.Host
	f.before = page.Page
	f.outcome = *out
	f.held = heldBy(&f.outcome)
	t.worker.hold(f.held)
	late := t.worker.late(&page.Page, taken, t.lease.Host.Delay)
	t.keepMemory(&f.outcome)
	planner.plan(&f.result, &f.lease, &f.before, &f.outcome, now, late)
	t.heardMeanwhile(f)
	t.worker.purses.settle(&page.Page, &f.outcome, taken.paid)
	t.lease.Host = f.result.Host
	t.keepRobots(out.Robots)
	if givesTurn(out.Kind) && t.given < maxGivenTurns {
		t.given++
		// Had the page to wait for its turn as others do, a small budget on many hosts, or of one site, would bring it when robots.txt is
		// too old again, and buy nothing else.
		t.owed = !t.worker.purses.all.rate().unbounded() || t.worker.purses.own(page.SiteID) != nil
		t.pages = append([]models.LeasedPage{{Page: f.result.Page, Share: page.Share}}, t.pages...)
	}
	t.pass(f)
}

// givesTurn tells whether a visit asked for something else in the page's place, so that the page's turn comes next.
func givesTurn(k models.OutcomeKind) bool { return k == models.RobotsFetched || k == models.Probed }

// keepsTurn tells whether a visit leaves the page due as it was.
func keepsTurn(out *models.Outcome) bool {
	return givesTurn(out.Kind) || out.Kind == models.Interrupted || out.HostWaits
}

// atOnce is how long after the visit before it, in real time, the next one of a lease begins at once, where its host has no delay: a clock goes on
// between the two.
const atOnce = 10 * time.Millisecond

// late tells whether a page waited for its host and not for the budget: it was due before the host opened, and is visited
// as soon as that was to be had. One that gave its turn away waits after that for the delay of what was asked in its place, which
// says nothing of why it came to its turn no sooner.
func (w *Worker) late(page *models.Page, taken slot, delay time.Duration) bool {
	soon := min(delay/2, w.Clock.Real(time.Second))
	if taken.follows {
		soon = max(soon, w.Clock.Real(atOnce))
	}
	return !taken.owed && page.DueAt < taken.before && taken.at.Sub(taken.before.Time()) <= soon
}

// keepMemory takes what is remembered of the host out of an outcome. It is written once, with the last result: each visit
// that finds another body would write it anew, and of visits at a time the one that ends last may know less.
func (t *hostTurn) keepMemory(out *models.Outcome) {
	if len(out.HostMemory) > 0 && out.HostTurn >= t.memoryTurn {
		t.memory, t.memoryTurn = out.HostMemory, out.HostTurn
	}
	out.HostMemory = nil
}

func (t *hostTurn) keepRobots(fetched *models.Robots) {
	if fetched == nil {
		return
	}
	kept := []models.Robots{*fetched}
	for _, r := range t.lease.Robots {
		if r.Origin != fetched.Origin {
			kept = append(kept, r)
		}
	}
	t.lease.Robots = kept
}

// pass hands on the result kept back and keeps back this one.
func (t *hostTurn) pass(f *finished) {
	if t.last != nil {
		t.out.deliver(t.last)
	}
	t.last = f
}

// finish releases the host with the last result, what was learned of it included.
func (t *hostTurn) finish(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.learns {
		defer t.worker.mind.leave(&t.lease.Host)
	}
	if t.last == nil {
		return
	}
	if t.learns {
		t.last.result.Knowledge = t.taught(ctx)
	}
	t.last.result.HostMemory = t.memory
	t.last.result.Release = true
	t.out.deliver(t.last)
	t.last = nil
}

// taught brings the due times of the host's pages up to what its visits taught, and returns what is known of the host where
// it is time to write that. The caller holds mu.
func (t *hostTurn) taught(ctx context.Context) []byte {
	w, host, now := t.worker, &t.last.lease.Host, t.worker.Clock.Now()
	end := t.lease.Until.Add(-w.Clock.Real(leaseMargin(w.Lease)) / 2)
	planner, site := w.planner.Load(), t.last.result.Page.SiteID
	robots := robotsShareOf(t.lease.Robots, host.Pages, planner.purses.term(site).even)
	if err := w.mind.walk(ctx, planner, host, robots, w.Clock, end); err != nil && ctx.Err() == nil {
		w.Log.Warn("due times are not brought up to what was learned", "host", host.Name, "err", err)
	}
	return w.mind.save(host, now)
}

// visit asks the visitor. A panic is a bug of ours, contained to this page and named in the log.
func (w *Worker) visit(ctx context.Context, turn *models.Turn) (out models.Outcome) {
	w.metrics.underWay(1)
	defer w.metrics.underWay(-1)
	defer func() {
		if p := recover(); p != nil {
			w.Log.Error("visit panicked", "page", turn.Page.URL, "panic", p, "stack", string(debug.Stack()))
			out = models.Outcome{Kind: models.Failed, Class: models.OwnPanic, Detail: fmt.Sprint(p), At: turn.Now, Sent: 1,
				Delay: turn.Host.Delay}
		}
	}()
	return w.Visitor.Visit(ctx, *turn)
}
