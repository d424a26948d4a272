package scheduler

import "recrawld/models"

// heardMeanwhile sees to a page of which a list of its host, visited beside it, told while its own visit was under way: that may have seen the
// page as it was before, and found nothing. Such a page is visited once more, as if it had been told of afterwards, where the list is believed
// and says for sure that it changed since the visit before. The caller holds mu.
func (t *hostTurn) heardMeanwhile(f *finished) {
	r := &f.result
	if len(r.Told) > 0 {
		t.tellings = append(t.tellings, models.Result{Lease: r.Lease, Page: models.Page{ID: r.Page.ID, SiteID: r.Page.SiteID}, Told: r.Told, Telling: r.Telling})
	}
	if len(t.tellings) == 0 || !f.outcome.Kind.Unchanged() {
		return
	}
	page := r.Page
	page.Stats = f.before.Stats
	for i := range t.tellings {
		list := &t.tellings[i]
		if list.Telling.Marked == 0 || list.Telling.At <= r.Visit.At {
			continue
		}
		if forward, sure := list.Tells([]models.Page{page}); len(forward) > 0 && len(sure) > 0 {
			r.Page.DueAt, r.Page.Rule, r.Visit.Rule = list.Telling.At, models.RuleSitemap, models.RuleSitemap
		}
	}
}
