package scheduler

import (
	"context"
	"fmt"
	"math"
	"time"

	"recrawld/models"
	"recrawld/scheduler/policy"
)

// The due times of a host's pages are looked at again when visits to a share of its pages have taught something since
// the last time, so that it costs each visit the same, or any visit where that was long ago; and not again within a
// time, in real time.
const (
	walkShare = 200
	walkMost  = 48 * time.Hour
	walkEvery = time.Minute
)

// priceCompared is the weight of the most that a visit to a waiting page is worth, in the price.
const priceCompared = 0.3

// priceMoved is how far the price may move, as a logarithm, until the pages of a host are all put in its order again.
const priceMoved = 0.3

// walk brings the due times of a host's pages up to what its visits taught: where neighbours changed, a page is due
// sooner. Only what is due sooner is written: what is due later shows that when its turn comes. Where the price has moved
// far, though, every page gets its new place. Among those that are worth more than a visit costs by now, those that are
// worth the most come first.
func (m *Mind) walk(ctx context.Context, p *Planner, h *models.Host, now time.Time) error {
	all, ok := m.walks(h, now)
	if !ok {
		return nil
	}
	var due []models.Due
	best := 0.0
	err := m.store.HostPages(ctx, h.Bucket, h.ID, func(page *models.Page) bool {
		if d, ok := m.moved(p, page, now, all, &best); ok {
			due = append(due, d)
		}
		return ctx.Err() == nil
	})
	m.compare(h, best)
	if err == nil && len(due) > 0 {
		err = m.store.Reschedule(ctx, due)
	}
	if err != nil {
		return fmt.Errorf("walk the pages of %s: %w", h.Name, err)
	}
	m.walked.walks.Add(1)
	m.walked.pages.Add(int64(len(due)))
	return nil
}

// walks tells whether it is time to walk a host's pages, and counts it as done; all, whether every page is to be placed
// anew.
func (m *Mind) walks(h *models.Host, now time.Time) (all, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.crowds[hostKey{h.Bucket, h.ID}]
	if c == nil || c.since == 0 || now.Sub(c.walked) < m.walkEvery ||
		(c.since < int(h.Pages)/walkShare && now.Sub(c.walked) < walkMost) {
		return false, false
	}
	c.since, c.walked = 0, now
	asked := m.price(allSites).log + c.premium
	if math.Abs(asked-c.asked) > priceMoved {
		all, c.asked = true, asked
	}
	return all, true
}

// moved is the new due time of a waiting page, where it is sooner than the one it has, or other, where all are asked for.
func (m *Mind) moved(p *Planner, page *models.Page, now time.Time, all bool, best *float64) (models.Due, bool) {
	byValue := page.Rule == models.RulePolicy || page.Rule == models.RuleBudget
	if page.State != models.StateLive || !byValue || page.Stats.Records == 0 {
		return models.Due{}, false
	}
	s := p.config.SettingsOf(page.SiteID)
	if s.Policy != policy.AdaptiveName || (!all && page.DueAt.Time().Before(now)) {
		return models.Due{}, false
	}
	q := p.question(page, s, now)
	was := page.DueAt.Time().Sub(now)
	sooner, value := m.glance(&q, was)
	*best = max(*best, value)
	if !all && !sooner {
		return models.Due{}, false
	}
	due, every := m.due(q)
	left := due.Sub(now)
	if !all && left >= was-was/16 {
		return models.Due{}, false
	}
	at := IntoWindow(s.Windows, due, chance(page.ID, page.Visits, useWindow))
	cycles := policy.Cycles(every, p.calendar.Interval(now, 1), s.FRMax, chance(page.ID, page.Visits, useRound))
	return models.Due{Bucket: page.Bucket, HostID: page.HostID, PageID: page.ID, Visits: page.Visits, DueAt: models.At(at),
		FRMax: int32(cycles), Wanted: every, Rule: models.RulePolicy}, true
}

// glance tells whether a page pays within a time, as far as a look at it shows without working out how it will go on, and
// what a visit is worth now, beside that to a page of importance 1 on a host that is not short of visits.
func (m *Mind) glance(q *question, within time.Duration) (pays bool, value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.crowdOf(q.page)
	f := m.forecast(c, q)
	return f.Pays(m.priceAt(c, q)/importance(q.page), within.Hours()/24), f.Value() * importance(q.page) * math.Exp(-c.premium)
}

// know takes over how many pages there are.
func (m *Mind) know(p *purses) {
	_, pages := p.state()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pages = pages
}

// compare moves the price towards the most that a visit to a waiting page is worth, where the host has most of the pages
// there are: if each page is visited once it is worth the price, that is the price.
func (m *Mind) compare(h *models.Host, best float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.price(allSites); p.known && best > 0 && m.pages > 0 && int64(h.Pages)*2 > m.pages {
		p.log += priceCompared * (math.Log(best) - p.log)
	}
}

// due is when a waiting page's visit pays, by what is known now, and how long after its last visit that is. Where it
// pays already the moment lies in the past, the further the more it is worth: so the queue is in the order of value.
func (m *Mind) due(q question) (time.Time, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.crowdOf(q.page)
	f := m.forecast(c, &q)
	price := m.priceAt(c, &q) / importance(q.page)
	seen := q.page.Stats.VisitedAt.Time()
	at := q.now
	if value := f.Value(); value > price {
		over := math.Log(value/price) * float64(max(q.even/evenShare, q.cycle))
		at = at.Add(-time.Duration(min(over, float64(longest))))
	} else {
		at = at.Add(span(m.dueIn(c, &q, price)))
	}
	at = later(at, seen.Add(q.cycle))
	at = earlier(at, seen.Add(q.ceiling))
	return at, max(at.Sub(seen), q.cycle)
}

// evenShare sets how far apart, in time, pages lie in the queue whose worth differs e times: this share of the interval
// at which the budget visits all pages alike. It is more than the queue's pages wait.
const evenShare = 20

// later is when a page whose turn has come is worth a visit, where that lies a good deal ahead.
func (m *Mind) later(q question) time.Time {
	due, _ := m.due(q)
	if since := q.now.Sub(q.page.Stats.VisitedAt.Time()); due.Sub(q.now) < since/8 {
		return time.Time{}
	}
	return due
}

// span is a number of days as a duration, at most a century.
func span(days float64) time.Duration {
	return time.Duration(min(max(days, 0)*24*float64(time.Hour), float64(longest)))
}
