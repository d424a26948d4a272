package scheduler

import (
	"context"
	"fmt"
	"math"
	"time"

	"recrawld/models"
	"recrawld/scheduler/policy"
)

// A robots.txt holds for a day (RFC 9309, section 2.4), so a visit costs two requests where the host was not asked of late,
// and one where it was. On a host with few visits a day that is up to half of the budget. Its pages gather: they are visited
// on one day, as things are ordered together that share the cost of an order (joint replenishment; Balintfy 1964, Silver 1974
// call it the can-order policy). With V the worth of a visit to a page and p the price, the host is asked for robots.txt when
//
//	Σ max(0, V − p) ≥ p
//
// over its pages, because then the visits together are worth the requests that they take, and those with V ≥ p are made
// with it. A page alone is visited at V = 2p. While robots.txt is valid a page is visited at V = p like any other.

// fewVisits is how many visits a day a host has, where all pages are visited alike, from which on its robots.txt counts for
// nothing. For fewer it counts for more, up to a whole request. mostGathered bounds the pages of a host that are looked at for
// it, so that it costs a visit little.
const (
	fewVisits    = 6
	mostGathered = 1000
)

// robotsCost is what part of a request robots.txt counts for on a host of so many pages, where the budget visits all pages
// alike at an interval; 0: there is no budget.
func robotsCost(pages int32, even time.Duration) float64 {
	if even <= 0 || pages > mostGathered {
		return 0
	}
	return max(0, 1-float64(pages)*float64(24*time.Hour)/float64(even)/fewVisits)
}

// robotsShare is what robots.txt adds to what a visit must be worth.
type robotsShare struct {
	cost  float64   // see robotsCost
	until time.Time // no visit before then asks for it
}

// of is the part of a request that falls to each page, where as many are visited together as the last time.
func (r robotsShare) of(c *crowd) float64 { return r.cost / float64(max(c.party, 1)) }

// robotsUntil is how long no robots.txt need be asked for; the zero time: none was asked for.
func robotsUntil(rows []models.Robots) (until time.Time) {
	for i := range rows {
		until = later(until, rows[i].ExpiresAt.Time())
	}
	return until
}

// robotsToAsk tells whether the next visit must ask for robots.txt first, where that could be had before. A host that was never
// asked is.
func robotsToAsk(rows []models.Robots, now time.Time) bool {
	for i := range rows {
		if rows[i].Class != models.ClassNone {
			return false
		}
	}
	return len(rows) > 0 && !robotsUntil(rows).After(now)
}

// robotsShareOf is what robots.txt, as last fetched, adds on a host of so many pages.
func robotsShareOf(rows []models.Robots, pages int32, even time.Duration) robotsShare {
	if len(rows) == 0 {
		return robotsShare{}
	}
	return robotsShare{cost: robotsCost(pages, even), until: robotsUntil(rows)}
}

// gathers tells whether a page whose turn has come, due or early, waits for other pages of its host, or until a small budget is saved up,
// because a visit would have to ask for robots.txt, and until when.
func (t *hostTurn) gathers(ctx context.Context, p *Planner, page *models.Page, now time.Time) (deferral, bool) {
	w, s := t.worker, p.settings(page.SiteID)
	if _, held := p.hold(page, now); held {
		return deferral{}, false
	}
	if s.Policy != policy.AdaptiveName || page.Rule == models.RuleBudget || !byValue(page, s, now) {
		return deferral{}, false
	}
	t.mu.Lock()
	host, meets, ask := t.lease.Host, t.meets[page.SiteID], robotsToAsk(t.lease.Robots, now)
	t.mu.Unlock()
	if !ask {
		return deferral{}, false
	}
	if put, saves := t.savesUp(ctx, p, page, now); saves {
		return put, true
	}
	if meets.IsZero() {
		var err error
		if meets, err = w.mind.gather(ctx, p, &host, page, now); err != nil && ctx.Err() == nil {
			w.Log.Warn("pages cannot be gathered", "host", host.Name, "err", err)
		}
		t.mu.Lock()
		if t.meets == nil {
			t.meets = make(map[int32]time.Time)
		}
		t.meets[page.SiteID] = meets // of this site alone: another one has a budget of its own
		t.mu.Unlock()
	}
	return deferral{until: meets, gathers: true, why: "waits for other pages of its host"}, meets.After(now)
}

// savesUp tells whether a page, due or early, waits until the budget can pay for a robots.txt and several visits.
func (t *hostTurn) savesUp(ctx context.Context, p *Planner, page *models.Page, now time.Time) (deferral, bool) {
	w, early := t.worker, page.DueAt.Time().After(now)
	until := t.savedBy(ctx, page.SiteID, early, now)
	switch {
	case !until.After(now):
		return deferral{}, false
	case early:
		w.early.save(earlier(until, now.Add(models.RobotsHold))) // by then the budget may have grown with its pages
		return deferral{until: until, why: "not due yet"}, true
	}
	q := p.question(page, p.settings(page.SiteID), now)
	most := page.Stats.VisitedAt.Time().Add(q.ceiling)
	until = earlier(until.Add(time.Duration(float64(robotsPlaces)/max(w.mind.worth(q), 1))), most) // others may spend all that comes in
	return deferral{until: until, gathers: true, why: "the budget is saved up for visits that share a robots.txt"}, until.After(now)
}

// savedBy is when the budget can pay for that; the zero time: it can. Where that is not yet, the due pages of a site wait for the same, and it is asked once.
func (t *hostTurn) savedBy(ctx context.Context, site int32, early bool, now time.Time) time.Time {
	t.mu.Lock()
	until := t.saved[site]
	t.mu.Unlock()
	if !early && until.After(now) {
		return until
	}
	until, err := t.worker.purses.bearsRobots(ctx, site, early)
	if err != nil { // a budget that cannot be looked at stops nobody
		return time.Time{}
	}
	if !early && until.After(now) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.saved == nil {
			t.saved = make(map[int32]time.Time)
		}
		t.saved[site] = until
	}
	return until
}

// robotsPlaces is within what time, once the budget can pay for a robots.txt, all pages are due that waited for that: what is worth the most comes first.
const robotsPlaces = time.Minute

// gather finds out when a visit to a host, which must be asked for robots.txt, pays. Where that is not yet, the pages that will
// be visited then get that due time, but for the first, whose turn it is; where it is, or the zero time is returned, those that
// are visited with it are due now. They are the company in which the price learns from them.
func (m *Mind) gather(ctx context.Context, p *Planner, h *models.Host, first *models.Page, now time.Time) (time.Time, error) {
	g := &gathering{mind: m, planner: p, now: now, crowd: m.crowdAt(h)}
	if g.cost = robotsCost(h.Pages, p.purses.term(first.SiteID).even); g.cost == 0 {
		return time.Time{}, nil
	}
	err := m.store.HostPages(ctx, h.Bucket, h.ID, func(page *models.Page) bool {
		g.add(page)
		return ctx.Err() == nil
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("gather the pages of %s: %w", h.Name, err)
	}
	meets := now.Add(span(g.meets()))
	slack := max(now.Sub(first.Stats.VisitedAt.Time())/16, p.calendar.Interval(now, 1))
	waits := meets.Sub(later(now, first.DueAt.Time())) > slack
	due := g.due(first, meets, waits)
	if len(due) > 0 {
		if err := m.store.Reschedule(ctx, due); err != nil {
			return time.Time{}, fmt.Errorf("gather the pages of %s: %w", h.Name, err)
		}
	}
	if !waits {
		return time.Time{}, nil
	}
	return meets, nil
}

// crowdAt is what is known of a host.
func (m *Mind) crowdAt(h *models.Host) *crowd {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.crowdOf(&models.Page{Bucket: h.Bucket, HostID: h.ID})
}

// gathered tells whether a page is one of those that are to be visited with the robots.txt fetched last, or next.
func (m *Mind) gathered(p *models.Page) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, joined := m.crowdOf(p).company[p.ID]
	return joined
}

// gathering is the pages of a host that may be visited together.
type gathering struct {
	mind    *Mind
	planner *Planner
	crowd   *crowd
	now     time.Time
	cost    float64 // of robots.txt, beside that of a visit; in (0, 1]
	members []member
}

// member is a page of a gathering.
type member struct {
	page  models.Page
	pays  float64 // in so many days it is worth a visit; 0: it is
	alone float64 // in so many days it is worth one and the robots.txt; ≥ pays
	over  float64 // the part of the robots.txt that it is worth now beside a visit
}

// bears is the part of the robots.txt that the page is worth in so many days beside a visit, taken as linear between the
// times when it is none and all of it.
func (x *member) bears(days float64) float64 {
	switch {
	case days >= x.alone:
		return 1
	case days < x.pays:
		return 0
	}
	return x.over + (1-x.over)*(days-x.pays)/(x.alone-x.pays)
}

// add takes in a page, if it waits for nothing but to be worth a visit.
func (g *gathering) add(page *models.Page) {
	s := g.planner.settings(page.SiteID)
	if page.State != models.StateLive || s.Policy != policy.AdaptiveName || page.Rule == models.RuleBudget || !byValue(page, s, g.now) {
		return
	}
	q := g.planner.question(page, s, g.now)
	x := g.mind.weighBoth(g.crowd, &q, g.cost)
	seen := page.Stats.VisitedAt.Time()
	least, most := seen.Add(q.cycle).Sub(g.now).Hours()/24, max(seen.Add(q.ceiling).Sub(g.now).Hours()/24, 0)
	x.pays, x.alone = min(max(x.pays, least), most), min(max(x.alone, least), most)
	x.page = *page
	g.members = append(g.members, x)
}

// weighBoth finds out when a page is worth a visit, and when one and a part of a request more.
func (m *Mind) weighBoth(c *crowd, q *question, more float64) (x member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, price := m.asked(c, q)
	x.pays = m.dueIn(q, &f, price, math.Inf(1))
	x.alone = max(m.dueIn(q, &f, price*(1+more), math.Inf(1)), x.pays)
	if over := (f.Value()/price - 1) / more; over > 0 {
		x.over = min(over, 1)
	}
	return x
}

// meets is in how many days the pages together are worth the robots.txt: found by halving, to a minute or two.
func (g *gathering) meets() float64 {
	low, high := 0.0, math.Inf(1)
	for i := range g.members {
		high = min(high, g.members[i].alone)
	}
	if math.IsInf(high, 1) || g.bear(0) >= 1 {
		return 0
	}
	for high-low > 0.001 && high-low > 1e-9*high {
		if middle := (low + high) / 2; g.bear(middle) >= 1 {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// bear is how many robots.txt the pages together are worth in so many days.
func (g *gathering) bear(days float64) (sum float64) {
	for i := range g.members {
		sum += g.members[i].bears(days)
	}
	return sum
}

// due is the new due times of pages: where they wait, of those that will be visited when they meet; otherwise of those that are
// visited now or within a day, while robots.txt is valid.
func (g *gathering) due(first *models.Page, meets time.Time, waits bool) (moved []models.Due) {
	join := max(meets.Sub(g.now), 0).Hours() / 24
	var company []int64
	for i := range g.members {
		x := &g.members[i]
		at, joins := g.now.Add(span(x.pays)), x.pays <= join
		switch {
		case joins && waits:
			at = meets
		case joins:
			at = earlier(g.now, x.page.DueAt.Time())
			at = later(at, x.page.Stats.VisitedAt.Time().Add(g.planner.calendar.Interval(g.now, 1)))
			company = append(company, x.page.ID)
		case waits || x.pays > 1:
			continue
		}
		if d, ok := x.move(g.planner, at, g.now); ok && x.page.ID != first.ID {
			moved = append(moved, d)
		}
	}
	if !waits {
		g.mind.accompany(g.crowd, company, g.cost)
	}
	return moved
}

// move gives the page that due time, moved into its site's windows; false where it has it.
func (x *member) move(p *Planner, at, now time.Time) (models.Due, bool) {
	page, s := &x.page, p.settings(x.page.SiteID)
	rule, in := models.RulePolicy, InTurn(s.Windows, page.HostID, at, now, chance(page.ID, page.Visits, useWindow))
	if !in.Equal(at) {
		rule = models.RuleWindow
	}
	cycle := p.calendar.Interval(now, 1)
	every := max(in.Sub(page.Stats.VisitedAt.Time()), cycle)
	return models.Due{Bucket: page.Bucket, HostID: page.HostID, PageID: page.ID, Visits: page.Visits, WasDue: page.DueAt,
		DueAt: models.At(in), FRMax: int32(policy.Cycles(every, cycle, p.Ceiling(page.SiteID, now), chance(page.ID, page.Visits, useRound))),
		Wanted: every, Rule: rule}, models.At(in) != page.DueAt
}

// accompany takes note of which pages of a host are visited with one robots.txt: to each falls its part of what that costs.
func (m *Mind) accompany(c *crowd, pages []int64, cost float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(c.company)
	c.party = len(pages)
	if c.company == nil {
		c.company = make(map[int64]float64, len(pages))
	}
	for _, id := range pages {
		c.company[id] = math.Log1p(cost / float64(len(pages)))
	}
}
