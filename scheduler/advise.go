package scheduler

import (
	"cmp"
	"math"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/changerate"
	"recrawld/scheduler/policy"
)

// question is what the adaptive policy is asked about a page.
type question struct {
	page     *models.Page
	settings *config.Settings
	now      time.Time
	cycle    time.Duration      // the shortest interval
	ceiling  time.Duration      // the longest
	top      int                // the same in cycles
	even     time.Duration      // the interval at which the budget visits all pages alike; 0: no budget
	usual    usual              // of the visits that the budget pays for, where it bounds bytes; else zero
	account  string             // the budget that pays; "": that of all sites
	spread   int64              // how many pages it pays for, where most of them lie on other hosts; else 0
	lost     float64            // visits that were lost of that budget since the visit before (see purse.takeLost)
	dated    time.Time          // when what the visit found came to be, where its date can be trusted; zero: not known
	robots   robotsShare        // what robots.txt adds to the price; asked for by outlook alone
	told     bool               // a list told of the change that the visit may find, as it would have of one before
	length   int64              // of the content that the visit found, in bytes; asked for the first record alone
	kind     models.OutcomeKind // of the visit; asked for by observed alone
}

// payer is the name of the budget that pays.
func (q *question) payer() string { return cmp.Or(q.account, allSites) }

// days is a moment as the change rate model counts it: days since 1970.
func days(t models.Instant) float64 { return float64(t) / float64(24*time.Hour/time.Millisecond) }

// about is the page of a question as the model sees it, until the next one is asked for. The caller holds mu.
func (m *Mind) about(c *crowd, q *question) *changerate.Subject {
	p, known := q.page, m.place(c, q.page)
	m.subject = changerate.Subject{
		Names: known.names, Place: &known.at, KnownAt: days(p.Stats.FirstAt), LastAt: days(p.Stats.VisitedAt),
		New:       c.Since() > 0 && days(p.Stats.FirstAt) > c.Since()+settling,
		ChangedAt: days(p.Stats.ChangedAt), Visits: max(int(p.Stats.Records)-1, 0),
		Bytes:    p.Bytes,
		Evidence: changerate.Evidence{Shape: float64(p.Evidence.Changes), Days: float64(p.Evidence.Days)},
		Cycle:    q.even.Hours() / 24,
	}
	m.subject.Told = c.recall(p)
	return &m.subject
}

// settling is for how many days after its first page the pages of a host are those that were there before us. What is
// found later is new.
const settling = 7

// importance of a page; what was never set is 1.
func importance(p *models.Page) float64 {
	if p.Importance > 0 {
		return float64(p.Importance)
	}
	return 1
}

// byValue tells whether a page waits for a visit to be worth its price, or for its budget, and for nothing else. A window
// that moved the time of another visit says nothing of that.
func byValue(p *models.Page, s *config.Settings, now time.Time) bool {
	if !p.Rule.ByValue() || p.Stats.Records == 0 || heard(p) || p.Entries > 0 || p.Lost { // what is said of it, or a list says, is worth more, and a copy that is lost is worth nothing
		return false
	}
	promised := s.HintMax > 0 && p.FreshUntil.Time().After(now)
	return p.Rule != models.RuleWindow || p.State == models.StateLive && p.Failures == 0 && !promised
}

// forecast is what is expected of a page at the moment of the question. Until another page is looked at, m.reading has
// what it was made of. The caller holds mu.
func (m *Mind) forecast(c *crowd, q *question) changerate.Forecast {
	m.reading.Read(m.weights, c.Crowd, m.about(c, q))
	return m.reading.Forecast(days(models.At(q.now)))
}

// crowdOf is what is known of a page's host. The caller holds mu.
func (m *Mind) crowdOf(p *models.Page) *crowd {
	key := hostKey{p.Bucket, p.HostID}
	c := m.crowds[key]
	if c == nil {
		c = &crowd{Crowd: new(changerate.Crowd)}
		m.crowds[key] = c
	}
	return c
}

// observed learns from a visit that saw the content of before, and what it was worth. late tells that the page waited
// for its host and not for the budget.
func (m *Mind) observed(before question, changed, late bool) models.Evidence {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, p := m.crowdOf(before.page), before.page
	c.lessons++
	c.since++
	m.lessons++
	c.payer = before.payer()
	now := days(models.At(before.now))
	if p.Stats.Records == 0 {
		first := m.about(c, &before) // whose row has nothing of it yet
		first.Names, first.Bytes = first.Names.KnownAt(now), before.length
		c.Known(first, now)
		return evidenceOf(changerate.Begin(first, changerate.Sight{At: now, ChangedAt: days(models.At(before.dated))}))
	}
	f := m.forecast(c, &before)
	if !before.told { // that it had changed is known from elsewhere
		m.judge(f, changed)
	}
	c.sought(p, f, changed)
	c.answers(p, before.kind)
	m.served(c, &before, importance(p)*f.Value()/before.cost(c).in(&f, 0), late)
	e := changerate.Learn(m.weights, c.Crowd, &m.subject, changerate.Sight{At: now, Changed: changed,
		ChangedAt: days(models.At(before.dated)), First: before.told})
	return evidenceOf(e)
}

func evidenceOf(e changerate.Evidence) models.Evidence {
	return models.Evidence{Changes: float32(e.Shape), Days: float32(e.Days)}
}

// served moves the price by what a visit was worth. A visit that was made for another reason says nothing of the price:
// the shortest interval, the longest one, somebody's wish, a parent; but one that the budget had to spare and that was
// worth less says that the price is too high. Where a host cannot serve its pages in time the
// budget is not what they wait for: there the host has a price of its own, above the others'. The caller holds mu.
func (m *Mind) served(c *crowd, q *question, value float64, late bool) {
	p := m.price(q.payer())
	p.lost += q.lost
	if more, ok := c.company[q.page.ID]; ok {
		delete(c.company, q.page.ID)
		value, late = value*math.Exp(-more), false
	}
	since := q.now.Sub(q.page.Stats.VisitedAt.Time())
	free := since > q.cycle+q.cycle/8 && since < q.ceiling-q.ceiling/50
	early := q.page.DueAt.Time().After(q.now) && math.Log(value) < p.log+c.premium
	if heard(q.page) {
		if !late && q.now.Sub(wantedAt(q.page)) > q.cycle/saidLate && m.gain(c, q) > 1 {
			p.hasten(q.spread)
		}
		return
	}
	if !byValue(q.page, q.settings, q.now) || !(free || early) || !(value > 0) {
		return
	}
	if !late {
		c.premium -= premiumStep * c.premium
		p.learn(value*math.Exp(-c.premium), q.spread)
		p.cheapen(value*math.Exp(-c.premium), q.spread)
		return
	}
	if p.known {
		c.premium += premiumStep * max(-1, min(1, math.Log(value)-p.log-c.premium))
		c.premium = max(c.premium, 0)
	}
}

// saidLate is the share of a cycle within which a page is to be visited that is said to have changed.
const saidLate = 4

// wantedAt is from when on a page that is said to have changed was to be visited. Its due time may lie before (walk.passes).
func wantedAt(p *models.Page) time.Time { return max(p.DueAt, p.ToldAt, p.AnnouncedAt).Time() }

// premiumStep is the weight of one visit in a host's premium.
const premiumStep = 0.03

// price is the price of a budget, which is merged at the next occasion. The caller holds mu.
func (m *Mind) price(account string) *price {
	p := m.prices[account]
	if p == nil {
		p = new(price)
		m.prices[account] = p
	}
	p.used = true
	return p
}

// priceAt is what a visit to a page of the question's kind must be worth. Where nothing is known yet, it begins at a share of
// what this page is worth after the interval that the budget allows each page. The caller holds mu.
func (m *Mind) priceAt(c *crowd, q *question) float64 {
	p := m.price(q.payer())
	if !p.known {
		first := m.forecast(c, q).Rate.Utility(cmp.Or(q.even, guess).Hours() / 24)
		if q.even == 0 {
			return first
		}
		p.learn(first*firstPrice, 0)
	}
	return p.value() * math.Exp(c.premium)
}

// asked is the forecast of the page of a question, and what a visit to it must be worth in days of its freshness. The caller holds mu.
func (m *Mind) asked(c *crowd, q *question) (changerate.Forecast, float64) {
	price := m.priceAt(c, q)
	f := m.forecast(c, q)
	return f, q.asks(c, &f, price)
}

// priceOf is what a visit to the page of a question must be worth.
func (m *Mind) priceOf(q question) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, price := m.asked(m.crowdOf(q.page), &q)
	return price * importance(q.page)
}

// worth is how many times the price a visit to the page of a question is worth.
func (m *Mind) worth(q question) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, price := m.asked(m.crowdOf(q.page), &q)
	return f.Value() / price
}

// firstPrice is the price's beginning beside what it may become. Pages that were all seen just now are worth next to nothing,
// so the first visits buy little. A price from above would fall by that, and reach the pages of visited hosts alone: these
// would come again and again while others wait for their first visit. From below all are due, and those worth the most come first.
const firstPrice = 0.01

// guess is the interval that a budget allows each page as long as it is not known.
const guess = 5 * 24 * time.Hour

// outlook is what is expected of a page, and what a visit to it must be worth.
func (m *Mind) outlook(q question) policy.Outlook {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.crowdOf(q.page)
	f, price := m.asked(c, &q)
	due := m.dueIn(&q, &f, price, math.Inf(1))
	if more := q.robots.of(c); more > 0 && q.now.Add(span(due)).After(q.robots.until) {
		price *= 1 + more
		due = max(m.dueIn(&q, &f, price, math.Inf(1)), q.robots.until.Sub(q.now).Hours()/24)
	}
	return policy.Outlook{Forecast: f, Price: price, DueIn: due}
}

// dueIn is in how many days a visit is worth the price, where f is the forecast of the page that was looked at last; any
// number that is not less than horizon, where it is not less itself. The caller holds mu.
func (m *Mind) dueIn(q *question, f *changerate.Forecast, price, horizon float64) float64 {
	due := m.reading.DueIn(f, price, horizon)
	if due <= 0 || due >= horizon {
		return due
	}
	return m.reading.Settled(days(models.At(q.now)), due)
}
