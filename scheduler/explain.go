package scheduler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/changerate"
	"recrawld/scheduler/policy"
)

// Notes is where what the workers learned is read.
type Notes interface {
	Knowledge(ctx context.Context, bucket int16, host int64) (body []byte, learned int32, err error)
	PagesBySite(ctx context.Context) (map[int32]int64, error)

	// Note reads what Learning.Merge last wrote under a name; nil where there is nothing.
	Note(ctx context.Context, name string) ([]byte, error)
}

// Learned is what the workers know, as they last wrote it down, for one page: what explains its due time. What a worker
// holds in memory alone is not in it: the lessons of the last seconds, and what it found out about hosts that are short of
// visits. It does not change and is safe for concurrent use.
type Learned struct {
	mind  *Mind
	pages map[string]int64 // known, by budget
	usual map[string]usual // bytes of a visit, likewise
}

// OpenMind reads what is known that bears on a page. It writes nothing. What cannot be read, of another release for example,
// counts as unknown, as it does for a worker.
func OpenMind(ctx context.Context, notes Notes, page *models.Page) (*Learned, error) {
	l := &Learned{mind: NewMind(nil)}
	if err := l.read(ctx, notes, page); err != nil {
		return nil, fmt.Errorf("read what was learned: %w", err)
	}
	return l, nil
}

func (l *Learned) read(ctx context.Context, notes Notes, page *models.Page) error {
	weights, err := notes.Note(ctx, "weights")
	if err != nil {
		return err
	}
	_ = l.mind.weights.UnmarshalBinary(weights) // the defaults stay
	judged, err := notes.Note(ctx, noteForecasts())
	if err != nil {
		return err
	}
	_ = l.mind.others.UnmarshalBinary(judged) // nothing is corrected
	l.mind.correct()
	for _, account := range []string{allSites, models.SiteAccount(page.SiteID)} {
		found, err := readPrice(ctx, notes, account)
		if err != nil {
			return err
		}
		*l.mind.price(account) = found
	}
	body, _, err := notes.Knowledge(ctx, page.Bucket, page.HostID)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return err
	}
	_ = l.mind.crowdOf(page).UnmarshalBinary(body)               // a crowd that knows nothing stays
	owned := l.mind.price(models.SiteAccount(page.SiteID)).known // otherwise what its site has is not asked for: it is dear
	if l.pages, err = pagesKnown(ctx, notes, true, owned); err != nil {
		return err
	}
	l.usual, err = usualVisits(ctx, notes, allSites, models.SiteAccount(page.SiteID))
	return err
}

// readPrice reads the price of a budget, as workers last wrote it down.
func readPrice(ctx context.Context, notes Notes, account string) (p price, err error) {
	body, err := notes.Note(ctx, models.NotePrice+account)
	p.follow(body, p)
	return p, err
}

// Price is what a visit to a page of importance 1 must be worth (see Explanation), under the budget of one site or, for 0,
// under that of all; 0 where that is not known yet.
func Price(ctx context.Context, notes Notes, site int32) (time.Duration, error) {
	account := allSites
	if site != 0 {
		account = models.SiteAccount(site)
	}
	p, err := readPrice(ctx, notes, account)
	if err != nil {
		return 0, fmt.Errorf("read the price: %w", err)
	}
	return span(p.value()), nil
}

// Bound is what kept an interval from being what the price asks for.
type Bound string

// The bounds.
const (
	Unbounded   Bound = ""
	AtLeast     Bound = "shortest interval" // a visit pays sooner, but no page is visited twice in a cycle
	AtMost      Bound = "ceiling"           // a visit does not pay by then, but no page waits longer
	NothingSeen Bound = "never seen"        // there is nothing to go by yet
)

// Explanation is a decision of the policy adaptive with its numbers, by what is known at one moment. Worths and prices are
// in time: for so long, on average, a visit makes a page of importance 1 fresh that would not be.
type Explanation struct {
	Changes, Visits int              // seen, in so many visits that could tell
	Rate            changerate.Rate  // of the changes to come, by all that is known, with the interval that holds with 95 %
	Told            float64          // the share of the changes that lists of its host or its publisher tell of: visits look for the others
	Prior           float64          // the share of the rate that comes from other pages and not from the page's own visits
	News            float64          // how many times the usual number of changes its neighbours showed since its last visit
	Hours           changerate.Hours // in which most of its host's changes come; none: not known
	Stale           float64          // the probability that the page has changed since
	Importance      float64
	Leads           float64 // to how many new pages a day visits to it lead, which nobody named before; 0: to none, as far as is known

	Price     time.Duration // what a visit must be worth
	Cost      float64       // that is for how many usual visits, by its bytes, which the budget bounds; 0: they do not count
	Worth     time.Duration // what a visit is worth now
	WorthThen time.Duration // what it will be worth when it is due
	DueAt     time.Time     // when a visit is worth its price, by what is known now; inside the bounds
	Bound     Bound         // what held DueAt

	Budget   config.Budget // what pays; zero: there is none
	OwnSite  bool          // the budget is the site's own
	Even     time.Duration // the interval at which the budget visits all pages alike; 0: not known
	AheadOf  time.Duration // how much sooner than the page's due time DueAt is; negative: later
	Adaptive bool          // the policy of the page's site is adaptive at all
	Robots   float64       // what part of a request robots.txt counts for, because its host has few visits; 0: nothing
	ValidTo  time.Time     // until then no visit to its host asks for robots.txt
}

// Follow adds what the lists of the host of the page, and its publisher's word, proved to be worth.
func (l *Learned) Follow(h *models.Host) {
	l.mind.mu.Lock()
	defer l.mind.mu.Unlock()
	l.mind.crowdOf(&models.Page{Bucket: h.Bucket, HostID: h.ID}).trusted = tellersOf(h)
}

// Explain says what a worker would think of a page at a moment.
func (l *Learned) Explain(p *Planner, page *models.Page, now time.Time) Explanation {
	settings := p.config.Site(page.SiteID).Settings
	q := p.paying(l.pages, l.usual).question(page, &settings, now)

	e := Explanation{Changes: int(page.Stats.Changes), Visits: max(int(page.Stats.Records)-1, 0), Importance: importance(page),
		Adaptive: settings.Policy == policy.AdaptiveName, Even: q.even}
	e.Budget, e.OwnSite = payer(p.config, &settings)
	l.mind.explain(&e, q)
	e.AheadOf = page.DueAt.Time().Sub(e.DueAt)
	return e
}

// ExplainRobots adds what the robots.txt of the page's host, as last fetched, costs a visit: pages wait for each other to share
// it, and are visited sooner while it is valid.
func (e *Explanation) ExplainRobots(h *models.Host, rows []models.Robots) {
	share := robotsShareOf(rows, h.Pages, e.Even)
	e.Robots, e.ValidTo = share.cost, share.until
}

// payer is the budget that pays for the visits of a site, and whether it is the site's own.
func payer(c *config.Config, s *config.Settings) (b config.Budget, own bool) {
	if b := c.SiteBudget(s); !b.IsZero() {
		return b, true
	}
	return c.EffectiveBudget(), false
}

// explain fills in what the mind knows.
func (m *Mind) explain(e *Explanation, q question) {
	m.mu.Lock()
	c := m.crowdOf(q.page)
	each := m.priceAt(c, &q)
	f := m.forecast(c, &q)
	asked := q.asks(c, &f, each)
	price := asked * e.Importance
	if q.usual.bytes > 0 && each > 0 {
		e.Cost = price / each
	}
	pays := q.now.Add(span(m.dueIn(&q, &f, asked, math.Inf(1))))
	e.Hours, e.Stale = c.Hours(m.weights), m.correction.Of(f.Stale())
	e.Leads, _, _ = c.Leads(q.page.ID)
	m.mu.Unlock()

	all := f.All()
	low, high := all.Interval(0.95)
	e.Rate = changerate.Rate{PerDay: all.Mean(), Low: low, High: high}
	e.Prior, e.Told, e.News = f.Prior, f.Told, f.News
	e.Price, e.Worth = span(price), span(e.Importance*f.Value())
	ahead := max(q.page.DueAt.Time().Sub(q.now), 0).Hours() / 24
	e.WorthThen = span(e.Importance * f.Rate.Utility(f.Elapsed+ahead))

	seen := q.page.Stats.VisitedAt.Time()
	e.DueAt = pays
	switch {
	case q.page.Stats.Records == 0:
		e.Bound, e.DueAt = NothingSeen, q.page.DueAt.Time()
	case !pays.After(seen.Add(q.cycle)):
		e.Bound, e.DueAt = AtLeast, seen.Add(q.cycle)
	case !pays.Before(seen.Add(q.ceiling)):
		e.Bound, e.DueAt = AtMost, seen.Add(q.ceiling)
	}
}
