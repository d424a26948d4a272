package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/changerate"
	"recrawld/scheduler/policy"
)

// The due times of a host's pages are looked at again when visits to a share of its pages have taught something since
// the last time, so that it costs each visit the same, or any visit where that was long ago; and not again within walkEvery,
// nor within walkRest times as long as the last look took, which is much where the clock is fast.
const (
	walkShare = 200
	walkMost  = 48 * time.Hour
	walkEvery = time.Minute
	walkRest  = 20
)

// What a visit to a waiting page is worth at most has this weight in the price, for each visit since it was last looked for, and
// so much at most. More for each visit would take back at once what makes the budget be kept for when visits are worth more.
const (
	priceCompared     = 0.015
	priceComparedMost = 0.3
)

// priceMoved is how far the price may move, as a logarithm, until the pages of a host are all put in its order again: give or
// take a third, another for each host, so that not all of them are at once.
const priceMoved = 0.3

// walkSlice is how many new due times are written at a time.
const walkSlice = 50_000

// walk is one look at the due times of a host's pages.
type walk struct {
	mind      *Mind
	planner   *Planner
	crowd     *crowd  // of the host
	scale     float64 // how much less than the price a visit's worth counts, because the host is short of visits
	now       time.Time
	all       bool         // every page is placed anew
	again     bool         // some were placed: what has its place by and large keeps it, though the price moves meanwhile
	payer     string       // the budget that paid for the host's last visit
	robots    robotsShare  // where it costs anything, what is due when it must be fetched anew is left to Mind.gather
	lineEnd   time.Time    // when all are served that wait for that budget
	best      float64      // the most that a visit to a page of that budget is worth
	visits    int          // that taught something since the walk before
	lists     models.Trial // what the host's lists proved to be worth
	publisher models.Trial // and the word of who publishes its pages
	due       []models.Due
	slice     int      // how many are written at a time
	asked     question // the last one
	site      int32    // whose page it was about
	account   string   // that pays for the site
}

// walk brings the due times of a host's pages up to what its visits taught: where neighbours changed, a page is due
// sooner. Only what is due sooner is written: what is due later shows that when its turn comes. Where the price has moved
// far, though, every page gets its new place. Among those that are worth more than a visit costs by now, those that are
// worth the most come first. It ends early at the given time: the next walk goes on.
func (m *Mind) walk(ctx context.Context, p *Planner, h *models.Host, robots robotsShare, clk clock.Clock, end time.Time) error {
	now := clk.Now()
	w, ok := m.walks(h, now)
	if !ok {
		return nil
	}
	w.planner, w.robots = p, robots
	err := w.stroll(ctx, h, func() bool { return clk.Now().After(end) })
	m.rests(w.crowd, walkRest*clk.Now().Sub(now))
	if err != nil {
		return fmt.Errorf("walk the pages of %s: %w", h.Name, err)
	}
	m.walked.walks.Add(1)
	return nil
}

// stroll passes over the pages, again where there were more new due times than are written at a time: those that are
// written are not met again.
func (w *walk) stroll(ctx context.Context, h *models.Host, expired func() bool) (err error) {
	if w.lineEnd, err = w.planner.purses.line(ctx, w.payer); err != nil {
		return err
	}
	for more := true; more; {
		w.due = w.due[:0]
		more = false
		seen := 0
		err := w.mind.store.HostPages(ctx, h.Bucket, h.ID, func(page *models.Page) bool {
			if d, ok := w.moved(page); ok {
				w.due = append(w.due, d)
			}
			seen++
			over := seen%256 == 0 && (ctx.Err() != nil || expired())
			more = len(w.due) >= w.slice && !over
			return !more && !over
		})
		if err == nil && len(w.due) > 0 {
			err = w.mind.store.Reschedule(ctx, w.due)
		}
		if err != nil {
			return err
		}
		w.mind.walked.pages.Add(int64(len(w.due)))
		w.again = true
	}
	if w.robots.cost == 0 {
		w.compare(h)
	}
	return nil
}

// rests lets a host's pages alone for a time since they were walked.
func (m *Mind) rests(c *crowd, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.rest = d
}

// walks tells whether it is time to walk a host's pages, and counts it as done.
func (m *Mind) walks(h *models.Host, now time.Time) (*walk, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.crowds[hostKey{h.Bucket, h.ID}]
	if c == nil || c.since == 0 {
		return nil, false
	}
	passed := now.Sub(c.walked).Abs() // the clock may have been set back
	if passed < max(walkEvery, c.rest) || c.since < int(h.Pages)/walkShare && passed < walkMost {
		return nil, false
	}
	w := &walk{mind: m, crowd: c, scale: math.Exp(-c.premium), now: now, slice: walkSlice, payer: cmp.Or(c.payer, allSites),
		visits: c.since, lists: h.Trials.By[models.HintSitemap], publisher: h.Trials.By[models.HintAnnounced]}
	c.since, c.walked = 0, now
	asked := m.price(w.payer).log + c.premium
	if math.Abs(asked-c.asked) > priceMoved*(2+2*chance(h.ID, 0, useWalk))/3 {
		w.all, c.asked = true, asked
	}
	return w, true
}

// moved is the new due time of a waiting page, where it is sooner than the one it has, or other, where all are asked for.
// A page that waits for its site's budget keeps its place in the line, but for the line's growing shorter.
func (w *walk) moved(page *models.Page) (models.Due, bool) {
	if page.Rule == models.RuleBudget {
		return w.advanced(page)
	}
	if due, ok := w.leads(page); ok {
		return due, true
	}
	if page.Rule.Heard() || page.Rule == models.RuleList || page.Rule == models.RuleLost || heard(page) {
		return w.passes(page)
	}
	s := w.planner.settings(page.SiteID)
	if page.State != models.StateLive || s.Policy != policy.AdaptiveName || !byValue(page, s, w.now) ||
		(!w.all && page.DueAt.Time().Before(w.now)) {
		return models.Due{}, false
	}
	q := w.question(page, s)
	was := page.DueAt.Time().Sub(w.now)
	due, every, ok := w.mind.weigh(w, q, was)
	if !ok {
		return models.Due{}, false
	}
	if w.robots.cost > 0 && due.After(w.robots.until) {
		return models.Due{}, false
	}
	rule, at := models.RulePolicy, InTurn(s.Windows, page.HostID, due, w.now, chance(page.ID, page.Visits, useWindow))
	if !at.Equal(due) {
		rule = models.RuleWindow
	}
	left := at.Sub(w.now)
	if sooner := left < was-was.Abs()/16; !sooner && (!w.all || models.At(at) == page.DueAt || w.again && left-was < max(was.Abs()/16, lineSlack)) {
		return models.Due{}, false
	}
	cycles := policy.Cycles(every, q.cycle, q.top, chance(page.ID, page.Visits, useRound))
	return models.Due{Bucket: page.Bucket, HostID: page.HostID, PageID: page.ID, Visits: page.Visits, WasDue: page.DueAt,
		DueAt: models.At(at), FRMax: int32(cycles), Wanted: every, Rule: rule}, true
}

// advanced moves a page that waits in a line for longer than the line by now is, and than until the window that its end falls into is over:
// its budget was raised since.
func (w *walk) advanced(page *models.Page) (models.Due, bool) {
	end, windows := later(w.lineEnd, w.now), w.planner.settings(page.SiteID).Windows
	if w.planner.purses.term(page.SiteID).account != w.payer || !page.DueAt.Time().After(lastOf(windows, end).Add(lineSlack)) {
		return models.Due{}, false
	}
	at := w.now.Add(time.Duration(chance(page.ID, page.Visits, useLine) * float64(end.Sub(w.now))))
	at = InTurn(windows, page.HostID, at, w.now, chance(page.ID, page.Visits, useWindow))
	return models.Due{Bucket: page.Bucket, HostID: page.HostID, PageID: page.ID, Visits: page.Visits, WasDue: page.DueAt,
		DueAt: models.At(at), FRMax: page.FRMax, Wanted: page.Wanted, Rule: page.Rule}, true
}

// lineSlack is how far behind the end of its line a page may wait.
const lineSlack = time.Minute

// question is the adaptive policy's about a page. Pages of one site come in a row, and but for the page it is the same.
func (w *walk) question(page *models.Page, s *config.Settings) *question {
	if w.asked.settings != s || w.site != page.SiteID {
		w.asked, w.site = w.planner.question(page, s, w.now), page.SiteID
		w.account = w.asked.payer()
	}
	w.asked.page = page
	return &w.asked
}

// weigh notes what a visit to a waiting page is worth, and gives its new due time and interval; false where it is plain
// that the page keeps the time it has.
func (m *Mind) weigh(w *walk, q *question, was time.Duration) (due time.Time, every time.Duration, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	price, counts := m.priceAt(w.crowd, q), importance(q.page)
	f, costs := m.forecast(w.crowd, q), q.cost(w.crowd)
	if w.all {
		value := f.Value()
		w.note(value * counts / costs.in(&f, 0))
		due, every = m.due(q, &f, value, q.asks(w.crowd, &f, price), math.Inf(1))
		return due, every, true
	}
	ahead := was.Hours() / 24
	then := f.ValueIn(ahead) * counts / costs.in(&f, max(ahead, 0))
	if then < price && then*w.scale < w.best*certain {
		return time.Time{}, 0, false // it is worth less by now
	}
	value := f.Value()
	w.note(value * counts / costs.in(&f, 0))
	if then < price {
		return time.Time{}, 0, false
	}
	// What is not sooner by a sixteenth is not written; how much later it is need not be found out.
	horizon := was - was/16
	due, every = m.due(q, &f, value, q.asks(w.crowd, &f, price), (horizon+time.Microsecond).Hours()/24)
	return due, every, due.Sub(w.now) < horizon
}

// certain allows for the rounding of what is worth more the longer one waits.
const certain = 1 - 1e-9

// note takes note of what a visit to a page of the last question's budget is worth, beside one to a page of importance 1
// on a host that is not short of visits.
func (w *walk) note(worth float64) {
	if w.account == w.payer {
		w.best = max(w.best, worth*w.scale)
	}
}

// compare moves the price of a budget towards the most that a visit to a waiting page is worth, where the host has most of its
// pages: if each page is visited once it is worth the price, that is the price.
func (w *walk) compare(h *models.Host) {
	m := w.mind
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.price(w.payer); p.known && w.best > 0 && hasMost(h, w.planner.purses.known(w.payer)) {
		p.move(min(priceCompared*float64(w.visits), priceComparedMost), math.Log(w.best))
	}
}

// hasMost tells whether a host has most of the pages that a budget pays for; not where these were not counted.
func hasMost(h *models.Host, pages int64) bool { return pages > 0 && int64(h.Pages)*2 > pages }

// due is when a waiting page's visit pays, by its forecast and its value now, and how long after its last visit that is. Where it pays
// already the moment lies in the past, the further the more it is worth: so the queue is in the order of value. What is no
// sooner than horizon, in days, may be given as another time that is not either. The page is the one that was looked at last;
// the caller holds mu.
func (m *Mind) due(q *question, f *changerate.Forecast, value, price, horizon float64) (time.Time, time.Duration) {
	seen := q.page.Stats.VisitedAt.Time()
	at := q.now
	wait := 0.0
	if value > price && value < price*waitsFor {
		wait = m.reading.Settled(days(models.At(q.now)), 0)
	}
	switch {
	case wait > 0:
		at = at.Add(span(wait))
	case value > price:
		over := math.Log(value/price) * q.spaced()
		at = at.Add(-time.Duration(min(over, float64(longest))))
	default:
		at = at.Add(span(m.dueIn(q, f, price, horizon)))
	}
	at = later(at, seen.Add(q.cycle))
	at = earlier(at, seen.Add(q.ceiling))
	return at, max(at.Sub(seen), q.cycle)
}

// waitsFor is up to how many times the price a visit is worth that still waits for the hour of its host.
const waitsFor = 1.5

// evenShare sets how far apart, in time, pages lie in the queue whose worth differs e times: this share of the interval
// at which the budget visits all pages alike. It is more than the queue's pages wait.
const evenShare = 20

// spaced is that distance, in nanoseconds.
func (q *question) spaced() float64 { return float64(max(q.even/evenShare, q.cycle)) }

// later is when a page whose turn has come is worth a visit, where that lies a good deal ahead. One that gathered with others is
// visited with them: put off, each would be called again by the next one.
func (m *Mind) later(q question) time.Time {
	if m.gathered(q.page) {
		return time.Time{}
	}
	due := m.paysAt(&q)
	if since := q.now.Sub(q.page.Stats.VisitedAt.Time()); due.Sub(q.now) < since/8 {
		return time.Time{}
	}
	return due
}

// paysAt is when a waiting page's visit pays, by what is known now.
func (m *Mind) paysAt(q *question) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.crowdOf(q.page)
	price := m.priceAt(c, q)
	f := m.forecast(c, q)
	at, _ := m.due(q, &f, f.Value(), q.asks(c, &f, price), math.Inf(1))
	return at
}

// span is a number of days as a duration, at most a century.
func span(days float64) time.Duration {
	return time.Duration(min(max(days, 0)*24*float64(time.Hour), float64(longest)))
}
