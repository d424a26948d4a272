package scheduler

import (
	"context"
	"time"

	"recrawld/models"
	"recrawld/scheduler/policy"
)

// affords pays for one more visit of a lease.
func (w *Worker) affords(ctx context.Context) bool {
	paid, err := w.purses.all.take(ctx, 1)
	if err != nil && ctx.Err() == nil {
		w.Log.Warn("the budget cannot be looked at", "err", err)
	}
	return paid.requests > 0
}

// putOff tells whether a page whose turn has come is not visited now, because the budget of its site is spent, or because
// since it was scheduled we learned that a visit is worth less than it must be. So overload degrades by value: what is
// worth the least waits.
func (w *Worker) putOff(ctx context.Context, p *Planner, page *models.Page, now time.Time) (models.Outcome, bool) {
	if page.Rule == models.RuleManual {
		return models.Outcome{}, false
	}
	s := p.config.SettingsOf(page.SiteID)
	if s.Policy == policy.AdaptiveName && (page.Rule == models.RulePolicy || page.Rule == models.RuleBudget) && !page.DueAt.Time().After(now) {
		if until := w.mind.later(p.question(page, s, now)); until.After(now) {
			return models.Outcome{Kind: models.Deferred, At: now, Until: until, Detail: "worth less than a visit costs"}, true
		}
	}
	if until := w.purses.site(ctx, page.SiteID, now); until.After(now) {
		return models.Outcome{Kind: models.Deferred, At: now, Until: until, Detail: "the site's budget is spent"}, true
	}
	return models.Outcome{}, false
}
