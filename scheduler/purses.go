package scheduler

import (
	"context"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// purses are the budgets of a worker: that of all sites together and those of single sites. It is safe for concurrent
// use. A nil one has no budgets.
type purses struct {
	store Store
	clock clock.Clock
	all   *purse
	terms atomic.Pointer[terms] // read several times a visit
	usual map[string]usual      // bytes of a visit by the name of the budget that pays, where none of the purses is at work

	mu      sync.Mutex
	sites   map[string]*purse // guarded by mu; of the sites that have a budget, by its name
	counted time.Time         // guarded by mu; when the pages were last counted
	resting time.Duration     // guarded by mu; how long not to count again
}

func newPurses(s Store, clk clock.Clock) *purses {
	p := &purses{store: s, clock: clk, sites: make(map[string]*purse)}
	p.terms.Store(newTerms(budgets{}, nil))
	p.all = &purse{note: models.NoteBudget + allSites, store: s, clock: clk, rate: func() allowance { return p.terms.Load().all.allowance },
		open: func() []config.Window { return p.terms.Load().all.windows }}
	return p
}

// follow takes over the budgets of a configuration. What their pages are is counted anew.
func (p *purses) follow(c *config.Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	p.all.revise(now)
	for _, own := range p.sites {
		own.revise(now)
	}
	p.terms.Store(newTerms(budgetsOf(c), p.terms.Load().pages))
	p.counted = time.Time{}
}

// term is what the budget that pays for a site's pages comes to.
func (p *purses) term(site int32) term {
	if p == nil {
		return term{account: allSites}
	}
	all := p.terms.Load()
	return p.sized(all.of(site), all.pages)
}

// sized is a term whose bytes pay for visits as long as they are of late.
func (p *purses) sized(t term, pages map[string]int64) term {
	if math.IsInf(t.bytes, 1) {
		return t
	}
	u := p.usualOf(t.account)
	if even := evenly(pages[t.account], t.bytes/u.bytes); even > t.even {
		t.even, t.usual = even, u
	}
	return t
}

// usualOf is how many bytes a visit has that the budget of that name pays for; zero: not known.
func (p *purses) usualOf(account string) usual {
	if p.usual != nil {
		return p.usual[account]
	}
	one := p.all
	if account != allSites {
		p.mu.Lock()
		one = p.sites[account]
		p.mu.Unlock()
	}
	if one == nil || one.usual.Load() == nil {
		return usual{}
	}
	return *one.usual.Load()
}

// known is how many pages the budget of that name pays for, as last counted.
func (p *purses) known(account string) int64 {
	if p == nil {
		return 0
	}
	return p.terms.Load().pages[account]
}

// takeLost is what the budget of that name lost since it was asked last (see purse.takeLost).
func (p *purses) takeLost(account string) float64 {
	if p == nil {
		return 0
	}
	if account == allSites {
		return p.all.takeLost()
	}
	p.mu.Lock()
	own := p.sites[account]
	p.mu.Unlock()
	return own.takeLost()
}

// own is a site's purse, nil where it has no budget.
func (p *purses) own(id int32) *purse {
	t := p.terms.Load().of(id)
	if !t.own {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.sites[t.account]
	if own == nil {
		own = &purse{note: models.NoteBudget + t.account, store: p.store, clock: p.clock}
		own.rate = func() allowance { return p.terms.Load().ownAllowance(id) }
		own.open = func() []config.Window { return p.terms.Load().of(id).windows }
		p.sites[t.account] = own
	}
	return own
}

// settle corrects what was paid for a visit by what it used. paid tells that the budget of its site has paid too, as it has not
// for a page that was put off, or whose lease ended before. A page that it paid for in advance keeps its place in the line
// until it is visited: what was asked instead is paid for beside that.
func (p *purses) settle(page *models.Page, out *models.Outcome, paid bool) {
	all, site := p.costs(page, out)
	p.all.settle(all-1, out.Received())
	p.all.sees(page, out)
	own := p.own(page.SiteID)
	switch {
	case own == nil || !paid:
	case page.Rule == models.RuleBudget && keepsTurn(out):
		own.reserves(site, out.Received())
	default:
		own.settle(site-1, out.Received())
		own.sees(page, out)
	}
}

// costs is for how many requests of a visit the budget of all and that of the page's site pay. A budget that is for each page
// known keeps pages fresh; it does not pay for their first visit, or a new site of some pages would be read for days.
func (p *purses) costs(page *models.Page, out *models.Outcome) (all, site int) {
	all, site = out.Sent, out.Sent
	if page.Stats.Records > 0 {
		return all, site
	}
	t := p.terms.Load()
	if t.all.perPage {
		all = 0
	}
	if own := t.of(page.SiteID); own.own && own.perPage {
		site = 0
	}
	return all, site
}

// close gives back what is held, so that others have it, or the next start.
func (p *purses) close(ctx context.Context) error {
	for _, one := range p.each() {
		if err := one.close(ctx); err != nil {
			return err
		}
	}
	return nil
}

// each is all of them.
func (p *purses) each() []*purse {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := []*purse{p.all}
	for _, own := range p.sites {
		all = append(all, own)
	}
	return all
}

// mayBeEarly tells whether a visit before its time is worth trying: where the budget of all has one to spare, or where
// there is none and the sites' own say (purse.spare).
func (p *purses) mayBeEarly(paid change, now time.Time) bool {
	if t := p.terms.Load(); !t.bounded {
		return t.owned
	}
	return !paid.full.After(now)
}

// recount is how old the numbers of pages may be, in real time, where a budget is shared among them, and recountShare how
// many times as long as the counting took at least.
const (
	recount      = time.Minute
	recountShare = 100
)

// count counts the pages again where there is a budget to share among them.
func (p *purses) count(ctx context.Context, now time.Time) error {
	t := p.terms.Load()
	if !t.bounded && !t.owned {
		return nil
	}
	p.mu.Lock()
	fresh := !p.counted.IsZero() && now.Sub(p.counted) < p.resting && !now.Before(p.counted)
	p.mu.Unlock()
	if fresh {
		return nil
	}
	pages, err := pagesKnown(ctx, p.store, t.bounded, t.owned)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.terms.Load(); !maps.Equal(pages, t.pages) {
		p.terms.Store(newTerms(t.budgets, pages))
	}
	p.counted, p.resting = now, max(p.clock.Real(recount), recountShare*p.clock.Now().Sub(now))
	return nil
}

// counter counts pages.
type counter interface {
	PagesBySite(ctx context.Context) (map[int32]int64, error)
}

// pagesKnown counts the pages of all sites together, and of each, by the names of their budgets.
func pagesKnown(ctx context.Context, store counter, all, sites bool) (map[string]int64, error) {
	pages := make(map[string]int64)
	bySite, err := store.PagesBySite(ctx)
	for id, n := range bySite {
		if all {
			pages[allSites] += n
		}
		if sites {
			pages[models.SiteAccount(id)] = n
		}
	}
	return pages, err
}

// line is when all are served that wait for a site's own budget by now; the zero time for the budget of all, which nobody
// waits for in a line.
func (p *purses) line(ctx context.Context, account string) (time.Time, error) {
	if p == nil || account == allSites {
		return time.Time{}, nil
	}
	p.mu.Lock()
	own := p.sites[account]
	p.mu.Unlock()
	if own == nil {
		return time.Time{}, nil
	}
	return own.line(ctx)
}
