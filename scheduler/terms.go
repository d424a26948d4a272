package scheduler

import (
	"math"
	"time"

	"recrawld/config"
	"recrawld/models"
)

// allSites is the name of the budget of all sites together.
const allSites = "all"

// budgets are those of a configuration.
type budgets struct {
	all   config.Budget
	sites map[int32]config.Budget // of each site of the configuration its own; zero: it has none
	other config.Budget           // of a site that the configuration does not have any more

	windows map[string][]config.Window // in which it pays for visits, by its name; none: at any time
}

func budgetsOf(c *config.Config) budgets {
	b := budgets{all: c.EffectiveBudget(), sites: make(map[int32]config.Budget), other: c.SiteBudget(&c.Defaults),
		windows: map[string][]config.Window{allSites: allWindows(c)}}
	for i := range c.Sites {
		s := &c.Sites[i]
		b.sites[s.ID] = c.SiteBudget(&s.Settings)
		b.windows[models.SiteAccount(s.ID)] = s.Settings.Windows
	}
	return b
}

// allWindows are those of all sites together; none where pages of one may be visited at any time.
func allWindows(c *config.Config) (all []config.Window) {
	if len(c.Sites) == 0 {
		return c.Defaults.Windows
	}
	seen := make(map[string]bool)
	for i := range c.Sites {
		windows := c.Sites[i].Settings.Windows
		if len(windows) == 0 {
			return nil
		}
		for _, w := range windows {
			if name := w.String(); !seen[name] {
				seen[name] = true
				all = append(all, w)
			}
		}
	}
	return all
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

// terms are the budgets in force and what they come to for the pages known. They are never changed in place.
type terms struct {
	budgets budgets
	pages   map[string]int64 // known to the database when last counted, by the name of the budget
	bounded bool             // there is a budget of all sites together
	owned   bool             // there is a site with a budget of its own
	all     term
	sites   map[int32]term // of the sites of the configuration that have a budget of their own
}

// term is what the budget that pays for a site's pages comes to.
type term struct {
	allowance
	account string        // the budget by whose price its pages are visited
	own     bool          // that is the site's own
	perPage bool          // it is for each page known
	even    time.Duration // the interval at which it visits all its pages alike, 0 where it has no bound or, of bytes, it is not known how many a visit has

	windows []config.Window // in which it pays for visits; none: at any time
	usual   usual           // of its visits of late, where bytes bound more than requests do; else zero
}

func newTerms(b budgets, pages map[string]int64) *terms {
	t := &terms{budgets: b, pages: pages, bounded: !b.all.IsZero(), owned: b.owned(), sites: make(map[int32]term)}
	t.all = termOf(allSites, b.all, pages)
	t.all.windows = b.windows[allSites]
	for id, own := range b.sites {
		if !own.IsZero() {
			site := ownTerm(id, own, pages)
			site.windows = b.windows[site.account]
			t.sites[id] = site
		}
	}
	return t
}

func ownTerm(id int32, b config.Budget, pages map[string]int64) term {
	t := termOf(models.SiteAccount(id), b, pages)
	t.own = true
	return t
}

func termOf(account string, b config.Budget, pages map[string]int64) term {
	known := pages[account]
	t := term{account: account, allowance: allow(b, known), perPage: b.Requests.PerPage}
	t.even = evenly(known, t.requests)
	return t
}

// evenly is the interval at which so many visits a day visit all pages alike; 0 where they are not bounded or no page is known.
func evenly(pages int64, perDay float64) time.Duration {
	if math.IsInf(perDay, 1) || pages <= 0 {
		return 0
	}
	return time.Duration(min(float64(pages)/perDay*24*float64(time.Hour), float64(longest)))
}

// of is the term of the budget that pays for a site: its own, where it has one, or that of all.
func (t *terms) of(site int32) term {
	if !t.owned {
		return t.all
	}
	if own, ok := t.sites[site]; ok {
		return own
	}
	if _, known := t.budgets.sites[site]; known || t.budgets.other.IsZero() {
		return t.all
	}
	return ownTerm(site, t.budgets.other, t.pages)
}

// ownAllowance is what comes in for a site's own budget: without bound where it has none any more.
func (t *terms) ownAllowance(site int32) allowance {
	if own := t.of(site); own.own {
		return own.allowance
	}
	return allow(config.Budget{}, 0)
}
