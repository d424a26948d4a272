package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
)

// A page behind a list is picked where none of another bucket is due before; then its bucket has the turn of the page behind that one,
// and otherwise that of the page. What is due, or is the first of all, is picked whatever others have.
func TestPick(t *testing.T) {
	t.Parallel()
	at := func(hours int) time.Time { return noon.Add(time.Duration(hours) * time.Hour) }
	host := func(first models.Rule, due int) (pages []models.LeasedPage) {
		for i, hours := range []int{due, 10, 20} {
			p := models.Page{ID: int64(i), DueAt: models.At(at(hours)), Rule: models.RulePolicy}
			if i == 0 {
				p.Rule = first
			}
			pages = append(pages, models.LeasedPage{Page: p})
		}
		return pages
	}
	for name, test := range map[string]struct {
		pages  []models.LeasedPage
		others time.Time
		want   int64
		turn   time.Time // its bucket's
	}{
		"no others":         {host(models.RuleList, 1), time.Time{}, 1, at(20)},
		"others later":      {host(models.RuleList, 1), at(11), 1, at(20)},
		"others before":     {host(models.RuleList, 1), at(9), 0, at(10)},
		"the list is due":   {host(models.RuleList, 0), at(9), 0, at(0)},
		"no list":           {host(models.RulePolicy, 2), at(1), 0, at(2)},
		"nothing but lists": {host(models.RuleList, 1)[:1], time.Time{}, 0, at(1)},
	} {
		var e early
		got, turn := e.pick(test.pages, noon, test.others), test.pages[0].DueAt.Time()
		if _, rests := e.rests(0, &turn); len(got) != 1 || got[0].ID != test.want || rests || !turn.Equal(test.turn) {
			t.Errorf("%s: picked %v, and its turn is at %v (rests: %v), want page %d and %v", name, got, turn, rests, test.want, test.turn)
		}
	}
	if got := new(early).pick(nil, noon, noon); len(got) != 0 {
		t.Errorf("of no pages %v is picked", got)
	}
}

// A page that was visited just now and is the next one again, as where its time was moved to the hours at which its host changes, leaves the visit to
// one that has waited for longer, as far as none of another bucket is due before that; where there is none it is picked.
func TestPickTurnsToWhoHasWaited(t *testing.T) {
	t.Parallel()
	page := func(id int64, rule models.Rule, seen, due time.Duration) models.LeasedPage {
		p := models.Page{ID: id, Rule: rule, DueAt: models.At(noon.Add(due))}
		p.Stats.VisitedAt = models.At(noon.Add(-seen))
		return models.LeasedPage{Page: p}
	}
	const hour = time.Hour
	again, fresh, long := page(1, models.RulePolicy, hour, 50*hour), page(2, models.RulePolicy, hour, 51*hour), page(3, models.RulePolicy, 90*hour, 52*hour)
	list := page(4, models.RuleList, 90*hour, 51*hour)
	for name, test := range map[string]struct {
		pages  []models.LeasedPage
		others time.Time
		want   int64
	}{
		"one has waited":       {[]models.LeasedPage{again, fresh, long}, time.Time{}, 3},
		"others are due later": {[]models.LeasedPage{again, long}, noon.Add(53 * hour), 3},
		"others before":        {[]models.LeasedPage{again, long}, noon.Add(51 * hour), 1},
		"none has":             {[]models.LeasedPage{again, fresh}, time.Time{}, 1},
		"a list has":           {[]models.LeasedPage{again, list}, time.Time{}, 1},
		"behind a list":        {[]models.LeasedPage{list, fresh, long}, time.Time{}, 2},
		"it is due":            {[]models.LeasedPage{page(5, models.RulePolicy, hour, 0), long}, time.Time{}, 5},
	} {
		var e early
		if got := e.pick(test.pages, noon, test.others); len(got) != 1 || got[0].ID != test.want {
			t.Errorf("%s: picked %v, want page %d", name, got, test.want)
		}
	}
}

// What was found behind the first page of a bucket is forgotten where nothing is found there any more: the bucket would never rest.
func TestPickForgets(t *testing.T) {
	t.Parallel()
	follower := models.LeasedPage{Page: models.Page{ID: 1, DueAt: models.At(noon.Add(time.Hour)), Rule: models.RuleOriginal}}
	behind := models.LeasedPage{Page: models.Page{ID: 2, DueAt: models.At(noon.Add(3 * time.Hour)), Rule: models.RulePolicy}}
	var e early
	e.pick([]models.LeasedPage{follower, behind}, noon, noon.Add(2*time.Hour))
	e.rest(&follower.Page, follower.DueAt.Time())
	e.pick([]models.LeasedPage{follower}, noon, noon.Add(4*time.Hour))
	e.rest(&follower.Page, follower.DueAt.Time())
	var turn time.Time
	if until, rests := e.rests(0, &turn); !rests || !until.Equal(noon.Add(time.Hour)) {
		t.Errorf("the bucket rests: %v, until %v, want until %v", rests, until, noon.Add(time.Hour))
	}
}
