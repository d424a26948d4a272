package scheduler

import (
	"math"
	"slices"
	"time"

	"recrawld/models"
	"recrawld/scheduler/changerate"
	"recrawld/scheduler/policy"
)

// What leads to new pages is worth more than itself: as long as nobody has found them they are not fresh, and they are found where no list names
// them by visits to the pages that link to them. The policy adaptive alone would not make these: of a page that changes faster than the budget can follow
// it expects nothing.

// A start page is where what is new can be reached from. Before its visits say how much that is, all start pages together have a part of the budget, and
// each is visited once a day at most for it.
const (
	startShare = 0.1
	startRest  = 24 * time.Hour
)

// startEvery is how often a page is visited at least because it is a start page, or where one redirects to: as a tenth of the budget pays for all
// start pages. false: it is none.
func (p *Planner) startEvery(page *models.Page) (time.Duration, bool) {
	if !p.isStart(page) {
		return 0, false
	}
	t, starts := p.purses.term(page.SiteID), len(p.starts)
	if t.own {
		starts = 1
	}
	pages := max(p.purses.known(t.account), 1)
	return max(startRest, span(float64(starts)/float64(pages)/startShare*t.even.Hours()/24)), true
}

// isStart tells whether a page is a start page, or where one redirects to.
func (p *Planner) isStart(page *models.Page) bool {
	return p.starts[page.ID] || slices.ContainsFunc(page.Chain, func(id int64) bool { return p.starts[id] })
}

// leadEvery is how often a page is visited at least under the policy adaptive because it leads to new ones, as it is seen to or as a start page. false:
// it does not, or it is a list, which is read by what it names.
func (p *Planner) leadEvery(page *models.Page, now time.Time) (every time.Duration, leads bool) {
	s := p.settings(page.SiteID)
	if s.Policy != policy.AdaptiveName || page.State != models.StateLive || page.Stats.Records == 0 || page.Entries > 0 {
		return 0, false
	}
	every, leads = p.startEvery(page)
	if !leads {
		every = time.Duration(math.MaxInt64)
	}
	if worth, byVisit := p.mind.leads(page); worth > 0 {
		q := p.question(page, s, now)
		price := p.mind.priceOf(q)
		if byVisit {
			stretch := p.leadStretch(&q)
			price *= stretch * stretch
		}
		every, leads = min(every, max(restock(price, worth), q.cycle)), true
	}
	return every, leads
}

// leads is what the new pages are worth, a day, to which a page is known to lead, and whether its visits find as many however soon they are made.
func (m *Mind) leads(page *models.Page) (worth float64, byVisit bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, worth, byVisit = m.crowdOf(page).Leads(page.ID)
	return worth, byVisit
}

// leadTime is when a page is visited at the latest because it leads to new ones.
func (p *Planner) leadTime(page *models.Page, now time.Time) (time.Time, bool) {
	every, leads := p.leadEvery(page, now)
	return page.Stats.VisitedAt.Time().Add(every), leads
}

// ledVisit is what a visit says of where its page leads.
type ledVisit struct {
	page int64
	gone bool // it is not there any more
	changerate.Finds
}

// teach teaches a crowd that.
func (l ledVisit) teach(c *crowd) {
	c.asks = nil
	if l.gone {
		c.LeadsNoMore(l.page)
		return
	}
	c.Led(l.page, l.Finds)
}

// mostUnsaved bounds what is remembered of a host until it is written.
const mostUnsaved = 1024

// led learns to how many new pages a visit led that was written. What is known of the host may have been written before and is read anew where another
// worker had it meanwhile: what was learned since is kept until it is written.
func (p *Planner) led(f *finished) {
	after, before := &f.result.Page, &f.before
	leaves := after.State != models.StateLive && after.State != models.StateMissing
	if p.settings(after.SiteID).Policy != policy.AdaptiveName || after.Entries > 0 || after.Stats.Records == before.Stats.Records && !leaves {
		return
	}
	l := ledVisit{page: after.ID, gone: leaves, Finds: changerate.Finds{At: days(after.Stats.VisitedAt), Site: after.SiteID}}
	for i := range f.result.Discovered {
		if d := &f.result.Discovered[i]; d.New && !d.Page.Requisite {
			l.Pages++
			l.Worth += importance(&d.Page)
		}
	}
	if before.Stats.Records > 0 {
		l.Since = l.At - days(before.Stats.VisitedAt)
	}
	p.mind.mu.Lock()
	defer p.mind.mu.Unlock()
	c := p.mind.crowdOf(after)
	l.teach(c)
	if len(c.unsaved) < mostUnsaved {
		c.unsaved = append(c.unsaved, l)
	}
}
