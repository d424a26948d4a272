package scheduler

import (
	"context"
	"math"
	"strconv"
	"sync"
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

	mu      sync.Mutex
	of      budgets           // guarded by mu
	sites   map[string]*purse // guarded by mu; of the sites that have a budget, by its name
	pages   map[string]int64  // guarded by mu; known to the database when last counted, by budget; never changed in place
	counted time.Time         // guarded by mu
	resting time.Duration     // guarded by mu; how long not to count again
}

// budgets are those of a configuration.
type budgets struct {
	all   config.Budget
	sites map[int32]config.Budget // of each site of the configuration its own; zero: it has none
	other config.Budget           // of a site that the configuration does not have any more
}

func budgetsOf(c *config.Config) budgets {
	b := budgets{all: c.EffectiveBudget(), sites: make(map[int32]config.Budget), other: c.SiteBudget(&c.Defaults)}
	for i := range c.Sites {
		b.sites[c.Sites[i].ID] = c.SiteBudget(&c.Sites[i].Settings)
	}
	return b
}

// site is a site's own budget.
func (b *budgets) site(id int32) config.Budget {
	if own, ok := b.sites[id]; ok {
		return own
	}
	return b.other
}

// owned tells whether any site has a budget of its own.
func (b *budgets) owned() bool {
	for _, own := range b.sites {
		if !own.IsZero() {
			return true
		}
	}
	return !b.other.IsZero()
}

func newPurses(s Store, clk clock.Clock) *purses {
	p := &purses{store: s, clock: clk, sites: make(map[string]*purse)}
	p.all = &purse{name: allSites, store: s, clock: clk, rate: func() allowance {
		p.mu.Lock()
		defer p.mu.Unlock()
		return allow(p.of.all, p.pages[allSites])
	}}
	return p
}

// allSites is the name of the budget of all sites together.
const allSites = "all"

// siteAccount is the name of a site's own budget.
func siteAccount(id int32) string { return "site/" + strconv.Itoa(int(id)) }

// follow takes over the budgets of a configuration. What their pages are is counted anew.
func (p *purses) follow(c *config.Config) {
	of := budgetsOf(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of, p.counted = of, time.Time{}
}

// account is the name of the budget by whose price a site's pages are visited: its own, where it has one.
func (p *purses) account(site int32) string {
	if p == nil {
		return allSites
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.of.site(site); b.IsZero() {
		return allSites
	}
	return siteAccount(site)
}

// own is a site's purse, nil where it has no budget.
func (p *purses) own(id int32) *purse {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.of.site(id); b.IsZero() {
		return nil
	}
	name := siteAccount(id)
	own := p.sites[name]
	if own == nil {
		own = &purse{name: name, store: p.store, clock: p.clock}
		own.rate = func() allowance {
			p.mu.Lock()
			defer p.mu.Unlock()
			return allow(p.of.site(id), p.pages[name])
		}
		p.sites[name] = own
	}
	return own
}

// settle corrects what was paid for a visit by what it used. A page that was put off has not paid out of its site's budget.
func (p *purses) settle(page *models.Page, out *models.Outcome) {
	all, site := p.costs(page, out)
	p.all.settle(all-1, out.WireBytes)
	if out.Kind == models.Deferred && !out.HostWaits { // it has not paid; one whose host waits has
		return
	}
	if own := p.own(page.SiteID); own != nil {
		own.settle(site-1, out.WireBytes)
	}
}

// costs is for how many requests of a visit the budget of all and that of the page's site pay. A budget that is for each page
// known keeps pages fresh; it does not pay for their first visit, or a new site of some pages would be read for days.
func (p *purses) costs(page *models.Page, out *models.Outcome) (all, site int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, site = out.Sent, out.Sent
	if page.Stats.Records > 0 {
		return all, site
	}
	if p.of.all.Requests.PerPage {
		all = 0
	}
	if p.of.site(page.SiteID).Requests.PerPage {
		site = 0
	}
	return all, site
}

// close gives back what is held, so that others have it, or the next start.
func (p *purses) close(ctx context.Context) error {
	p.mu.Lock()
	all := []*purse{p.all}
	for _, own := range p.sites {
		all = append(all, own)
	}
	p.mu.Unlock()
	for _, one := range all {
		if err := one.close(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mayBeEarly tells whether a visit before its time is worth trying: where the budget of all has one to spare, or where
// there is none and the sites' own say (purse.spare).
func (p *purses) mayBeEarly(paid change, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of.all.IsZero() {
		return p.of.owned()
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
	p.mu.Lock()
	all, sites := !p.of.all.IsZero(), p.of.owned()
	fresh := !p.counted.IsZero() && now.Sub(p.counted) < p.resting && !now.Before(p.counted)
	p.mu.Unlock()
	if fresh || !all && !sites {
		return nil
	}
	pages, err := pagesKnown(ctx, p.store, all, sites)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages, p.counted = pages, now
	p.resting = max(p.clock.Real(recount), recountShare*p.clock.Now().Sub(now))
	return nil
}

// counter counts pages.
type counter interface {
	PagesKnown(ctx context.Context) (int64, error)
	PagesBySite(ctx context.Context) (map[int32]int64, error)
}

// pagesKnown counts the pages of all sites together, and of each, by the names of their budgets.
func pagesKnown(ctx context.Context, store counter, all, sites bool) (map[string]int64, error) {
	pages := make(map[string]int64)
	if all {
		n, err := store.PagesKnown(ctx)
		if err != nil {
			return nil, err
		}
		pages[allSites] = n
	}
	if !sites {
		return pages, nil
	}
	bySite, err := store.PagesBySite(ctx)
	for id, n := range bySite {
		pages[siteAccount(id)] = n
	}
	return pages, err
}

// even is the interval at which the budget that pays for a site visits all its pages alike, 0 where there is none.
func (p *purses) even(site int32) time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	budget, account := p.of.all, allSites
	if own := p.of.site(site); !own.IsZero() {
		budget, account = own, siteAccount(site)
	}
	pages := p.pages[account]
	a := allow(budget, pages)
	if math.IsInf(a.requests, 1) || pages == 0 {
		return 0
	}
	return time.Duration(min(float64(pages)/a.requests*24*float64(time.Hour), float64(longest)))
}

// line is when all are served that wait for a site's own budget by now; the zero time for the budget of all, which nobody
// waits for in a line.
func (p *purses) line(ctx context.Context, account string) (time.Time, error) {
	if p == nil {
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
