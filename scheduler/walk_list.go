package scheduler

import (
	"math"
	"time"

	"recrawld/models"
	"recrawld/scheduler/changerate"
	"recrawld/scheduler/policy"
)

// What a list told of is not due sooner than the list was read, and a list not before its interval is over. So both would wait
// behind all pages that were due before, for hours where a budget is short, though they are worth more. The walk that follows a
// visit to their host gives them their place in the queue: as Mind.due does with pages that are worth more than a visit costs, it puts
// their due time into the past, the further the more they are worth. How far is bounded, so nothing waits longer for them than
// that: what is due by then comes before whatever is told of later. A host has no more turns for it.
const (
	mostAhead = 3 // as a logarithm: what is worth more than so many times the price counts as that
	listAhead = 2 // likewise; what a list is held for that was right
)

// passes is the new due time of a list, or of a page that is said to have changed, whose time has come, where that lets it pass others.
func (w *walk) passes(page *models.Page) (models.Due, bool) {
	s := w.planner.settings(page.SiteID)
	if page.DueAt.Time().After(w.now) || !page.Rule.Movable() || page.State != models.StateLive || page.Failures > 0 ||
		s.Policy != policy.AdaptiveName {
		return models.Due{}, false
	}
	ahead := w.mind.ahead(w, w.question(page, s))
	turn := w.now.Add(-ahead)
	if !turn.Before(waitsSince(s.Windows, page).Add(-ahead / 16)) {
		return models.Due{}, false
	}
	at := InTurn(s.Windows, page.HostID, turn, w.now, 0)
	return models.Due{Bucket: page.Bucket, HostID: page.HostID, PageID: page.ID, Visits: page.Visits, WasDue: page.DueAt,
		DueAt: models.At(at), FRMax: page.FRMax, Wanted: page.Wanted, Rule: page.Rule}, true
}

// leads is the due time of a page that waits for its own worth longer than for what it leads to.
func (w *walk) leads(page *models.Page) (models.Due, bool) {
	s := w.planner.settings(page.SiteID)
	if !byValue(page, s, w.now) {
		return models.Due{}, false
	}
	every, leads := w.planner.leadEvery(page, w.now)
	if !leads {
		return models.Due{}, false
	}
	turn := page.Stats.VisitedAt.Time().Add(every)
	q := w.question(page, s)
	if !turn.After(w.now) {
		turn = w.now.Add(-w.leadAhead(q))
	}
	at := InTurn(s.Windows, page.HostID, turn, w.now, chance(page.ID, page.Visits, useWindow))
	if !at.Before(page.DueAt.Time()) {
		return models.Due{}, false
	}
	return models.Due{Bucket: page.Bucket, HostID: page.HostID, PageID: page.ID, Visits: page.Visits, WasDue: page.DueAt, DueAt: models.At(at),
		FRMax: int32(policy.Cycles(every, q.cycle, q.top, chance(page.ID, page.Visits, useRound))), Wanted: every, Rule: models.RuleList}, true
}

// leadAhead is how long before now a page has its place that leads to others, and whose time has come: as a list that was right, and as a start page
// before what waits since the budget began its round, for there are few.
func (w *walk) leadAhead(q *question) time.Duration {
	if every, start := w.planner.startEvery(q.page); start && !q.page.Stats.VisitedAt.Time().Add(every).After(w.now) {
		return q.even
	}
	return time.Duration(listAhead * q.spaced())
}

// ahead is how long before now the page of the question has its place. A page that has changed is worth as many days as its new
// copy will be up to date, if it has: as likely as the lists of its host, or its publisher, were right; half as likely where lists did not
// say for sure. So is one whose copy is lost, for certain.
func (m *Mind) ahead(w *walk, q *question) time.Duration {
	switch list := q.page.Entries > 0 || q.page.Stats.Records == 0; {
	case q.page.Rule != models.RuleList:
	case !list:
		return w.leadAhead(q)
	case !w.lists.Believed():
		return 0
	default:
		return time.Duration(listAhead * q.spaced())
	}
	said := &w.lists
	if q.page.Rule == models.RuleAnnounced {
		said = &w.publisher
	}
	right := float64(int(said.Hits)+1) / float64(int(said.Hits)+int(said.FalseAlarms)+2)
	switch {
	case q.page.Rule == models.RuleLost:
		right = 1
	case !heard(q.page):
		right /= 2
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	over := math.Log(right * m.gain(w.crowd, q))
	if !(over > 0) {
		return 0
	}
	return time.Duration(min(over, mostAhead) * q.spaced())
}

// gain is how many times the price the page of a question is worth, if it has changed: the days for which a new copy is up to date, by
// all changes to come. The caller holds mu.
func (m *Mind) gain(c *crowd, q *question) float64 {
	price := m.priceAt(c, q)
	f := m.forecast(c, q)
	return f.All().Fresh(q.ceiling.Hours()/24) * importance(q.page) / (q.cost(c).whole() * price)
}

// vain tells whether a page that is said to have changed does so so often that it is not worth a visit even when it has. Visits to such
// pages alone would take a small budget: with 0.3 visits a change, and 30 % of the changes said, pages were staler by far than with
// visits in turn.
func (m *Mind) vain(q question) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gain(m.crowdOf(q.page), &q) < 1
}

// tellers is who is believed when he tells of changes of a host's pages.
type tellers [changerate.Tellers]bool

func tellersOf(h *models.Host) tellers {
	return tellers{
		changerate.Lists:     h.Trials.By[models.HintSitemap].Believed(),
		changerate.Publisher: h.Trials.By[models.HintAnnounced].Believed(),
	}
}

// toldAt is when the tellers last told of a page; 0: they never did.
func toldAt(p *models.Page) [changerate.Tellers]models.Instant {
	return [...]models.Instant{changerate.Lists: p.ToldAt, changerate.Publisher: p.AnnouncedAt}
}

// said tells whether somebody who is believed told of a page since its last visit.
func (c *crowd) said(p *models.Page) bool {
	for by, at := range toldAt(p) {
		if c.trusted[by] && at > p.Stats.VisitedAt && p.Stats.Records > 0 {
			return true
		}
	}
	return false
}

// recall is the share of a page's changes that are said before a visit finds them, in [0, 1), by whoever tells of more. Of
// a page that is said to have changed and waits for its visit it is 0: no other word will bring it. So it is of lists: that one
// changes is what they are read for, and nobody tells of it.
func (c *crowd) recall(p *models.Page) float64 {
	if c.said(p) || p.Entries > 0 {
		return 0
	}
	share := 0.0
	for by, at := range toldAt(p) {
		if c.trusted[by] {
			share = max(share, 1-c.Untold(changerate.Teller(by), at != 0))
		}
	}
	return share
}

// sought learns what goes untold from a visit that looked for it: to a page that nobody who is believed told of, and not because of
// somebody's word, be it one without a mark (models.Result.Tells), nor to a list. A visit that was asked for finds a change more
// often than one whose time had come, as whoever asks may know of it.
func (c *crowd) sought(p *models.Page, f changerate.Forecast, changed bool) {
	if c.said(p) || p.Entries > 0 || p.Rule.Heard() || p.Rule == models.RuleManual {
		return
	}
	for by, at := range toldAt(p) {
		if c.trusted[by] {
			c.Sought(changerate.Teller(by), at != 0, f, changed)
		}
	}
}
