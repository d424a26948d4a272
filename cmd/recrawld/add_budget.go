package main

import "recrawld/config"

// within holds the cost against the budgets of a site with so many pages, a visit to which receives so many bytes. The first visits are not
// among what is spent for each page known, and what answers 304 costs no bytes.
func (c *surveyCost) within(force *config.Config, s *config.Settings, pages int, bytes int64) {
	c.bound(force.SiteBudget(s), "the budget of ", pages, bytes)
	c.bound(force.EffectiveBudget(), "the budget of all sites of ", pages, bytes)
}

// bound makes the first pass as long, and a day's requests and bytes as few, as a budget has them.
func (c *surveyCost) bound(b config.Budget, name string, pages int, bytes int64) {
	name += budgetWords(b)
	const day = 24 * 3600
	first := 0.0 // seconds
	if b.Requests.PerDay > 0 && !b.Requests.PerPage {
		first = float64(pages) / b.Requests.PerDay * day
	}
	if b.Bytes > 0 {
		first = max(first, float64(pages)*float64(bytes)/float64(b.Bytes)*day)
	}
	if first > c.FirstSeconds {
		c.FirstSeconds, c.FirstByBudget, c.firstBy = first, true, name
	}
	if most := b.Requests.Of(int64(pages)); most > 0 && most < c.PerDay {
		c.BytesPerDay *= most / c.PerDay
		c.PerDay, c.Limited, c.ByBudget, c.dayBy = most, false, true, name
	}
	if most := float64(b.Bytes); most > 0 && most < c.BytesPerDay {
		c.BytesPerDay, c.Limited, c.ByBudget, c.dayBy = most, false, true, name
	}
}
