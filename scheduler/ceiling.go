package scheduler

import (
	"context"
	"fmt"
	"math"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

// ceilingRounds is in how many rounds of a budget over all its pages each is visited once at least. At one round nothing is left to spend on
// pages that are worth more: the policy is visiting in turn. See BENCHMARKS.md, What the ceiling costs.
const ceilingRounds = 3

// Ceiling is the longest interval of a page in cycles of a length: its site's fr_max; under the policy adaptive as far as a third of the budget pays for
// visiting all pages so often. even is the interval at which the budget visits all its pages alike; 0: it has no bound, or that is not known. What is put off
// for another reason than its worth, as what is gone or fails, waits for fr_max at most.
func Ceiling(s *config.Settings, cycle, even time.Duration) int {
	if s.Policy != policy.AdaptiveName {
		return s.FRMax
	}
	return max(s.FRMax, int(min(ceilingRounds*float64(even)/float64(max(cycle, 1)), math.MaxInt32)))
}

// Ceiling is the longest interval of the pages of a site at a time, in cycles.
func (p *Planner) Ceiling(site int32, now time.Time) int {
	s, t := p.settings(site), p.purses.term(site)
	if t.even == 0 {
		return s.FRMax
	}
	return Ceiling(s, p.calendar.Mean(now, 1, 0), t.even)
}

// Even is the interval at which the budget that pays for a site, for 0 that of all sites, visits all its pages alike; 0: it has no bound, or that is not
// known (see Counted).
func (p *Planner) Even(site int32) time.Duration {
	if p.purses == nil || site != 0 {
		return p.purses.term(site).even
	}
	all := p.purses.terms.Load()
	return p.purses.sized(all.all, all.pages).even
}

// longestFrom is that interval from a moment on.
func (p *Planner) longestFrom(from, now time.Time, site int32) time.Duration {
	return p.lasts(p.Ceiling(site, now), p.settings(site), from, now)
}

// lasts is how long a ceiling is from a moment on. One that is not fr_max follows the budget, so it is as long as its cycles are on average: those of a
// cron schedule need not be counted.
func (p *Planner) lasts(ceiling int, s *config.Settings, from, now time.Time) time.Duration {
	if ceiling != s.FRMax {
		return p.calendar.Mean(now, ceiling, 0)
	}
	return p.calendar.Interval(from, ceiling)
}

// Counted returns a planner that knows for how many pages the budgets pay, by what was counted of each site, and, of budgets of bytes, how many a visit
// has, as workers last wrote it down. A worker's knows that itself.
func (p *Planner) Counted(ctx context.Context, notes Notes, bySite map[int32]int64) (*Planner, error) {
	pages, b := make(map[string]int64, len(bySite)+1), budgetsOf(p.config)
	var accounts []string
	if b.all.Bytes > 0 {
		accounts = append(accounts, allSites)
	}
	for site, n := range bySite {
		pages[models.SiteAccount(site)] = n
		pages[allSites] += n
		if own, known := b.sites[site]; own.Bytes > 0 || !known && b.other.Bytes > 0 {
			accounts = append(accounts, models.SiteAccount(site))
		}
	}
	visits, err := usualVisits(ctx, notes, accounts...)
	if err != nil {
		return nil, err
	}
	return p.paying(pages, visits), nil
}

// usualVisits is how many bytes a visit has that budgets pay for, by their names, as far as that is known.
func usualVisits(ctx context.Context, notes Notes, accounts ...string) (map[string]usual, error) {
	visits := make(map[string]usual, len(accounts))
	for _, account := range accounts {
		body, err := notes.Note(ctx, models.NoteBudget+account)
		if err != nil {
			return nil, fmt.Errorf("read what a visit takes of the budget: %w", err)
		}
		visits[account] = decodeNote(body, time.Unix(0, math.MaxInt64), 0).usual
	}
	return visits, nil
}

// paying is the planner where the budgets pay for so many pages, and visits of so many bytes, by their names.
func (p *Planner) paying(pages map[string]int64, visits map[string]usual) *Planner {
	q := *p
	q.purses = &purses{usual: visits}
	q.purses.terms.Store(newTerms(budgetsOf(p.config), pages))
	return &q
}
