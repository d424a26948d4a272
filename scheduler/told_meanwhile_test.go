package scheduler

import (
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// A list may tell of a page whose visit is under way beside its own: where that finds nothing it may have begun before the change, and the page
// is visited once more. It is not where it was found to have changed, or its visit began after the list was read; nor where the list is not believed.
func TestWhatAListTellsOfDuringAVisitIsVisitedOnceMore(t *testing.T) {
	t.Parallel()
	change := noon.Add(time.Second)
	for name, test := range map[string]struct {
		found models.Outcome
		began time.Time
		trial models.Trial
		at    time.Time // from when on a visit has seen the change
		again bool
	}{
		"not modified":             {same, noon, models.Trial{Hits: 500}, change, true},
		"changed":                  {with(models.Changed, "new"), noon, models.Trial{Hits: 500}, change, false},
		"out of reach":             {models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1}, noon, models.Trial{Hits: 500}, change, false},
		"begun afterwards":         {same, noon.Add(2 * time.Second), models.Trial{Hits: 500}, change, false},
		"by a list of no standing": {same, noon, models.Trial{}, change, false},
		"told of before":           {same, noon, models.Trial{Hits: 500}, noon.Add(-30 * time.Hour), false},
	} {
		clk := clock.NewVirtual(noon)
		w := budgeted(t, clk, same)
		list, lease := listPage()
		page := livePage()
		page.ID, page.URL = page.ID+1, "http://one.test/b"
		lease.Host.Trials.By[models.HintSitemap] = test.trial
		turn := newHostTurn(w, *lease, new(pile), nil)
		says := reading(models.Told{PageID: page.ID, Since: models.At(test.at.Add(-time.Hour)), At: models.At(test.at)})
		finds := func(p models.Page, at time.Time, out *models.Outcome) models.Result {
			if err := clk.SleepUntil(t.Context(), at); err != nil {
				t.Fatal(err)
			}
			turn.result(w.planner.Load(), &models.LeasedPage{Page: p}, slot{}, out)
			return turn.last.result
		}
		told := finds(list, noon.Add(time.Second), &says).Telling.At
		test.found.At = test.began
		got := finds(page, noon.Add(3*time.Second), &test.found)
		if again := got.Page.Rule == models.RuleSitemap && got.Page.DueAt == told; again != test.again {
			t.Errorf("%s: due at %v by %v, want it once more as it was told of: %v", name, got.Page.DueAt, got.Page.Rule, test.again)
		}
	}
}
