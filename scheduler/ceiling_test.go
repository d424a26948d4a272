package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
)

// The ceiling is fr_max, but under the policy adaptive as far as a third of the budget pays for it; and a page that waits for longer than fr_max is
// not called when other settings change.
func TestCeiling(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	c := testConfig()
	c.Cycle = "6h"
	s := &c.Sites[0].Settings
	for _, test := range []struct {
		policy string
		pages  int64
		want   time.Duration
	}{
		{"adaptive", 0, 30 * day}, {"adaptive", 900, 30 * day}, {"adaptive", 1200, 36 * day}, {"adaptive", 5000, 150 * day}, {"classic", 5000, 30 * day},
		{"adaptive", 200_000, 6000 * day},
	} {
		s.Policy, s.FRMax, c.Budget.Requests.PerDay = test.policy, 120, 100
		p := testPlanner(t, c).Counted(map[int32]int64{c.Sites[0].ID: test.pages - test.pages/3, 77: test.pages / 3})
		page := models.Page{SiteID: c.Sites[0].ID}
		if got := time.Duration(p.Ceiling(page.SiteID, noon)) * 6 * time.Hour; got != test.want {
			t.Errorf("%s, %d pages at 100/day: %v, want %v", test.policy, test.pages, got, test.want)
		}
		if q := p.question(&page, s, noon); q.ceiling != test.want || q.top != int(test.want/(6*time.Hour)) {
			t.Errorf("%s, %d pages at 100/day: the policy is asked with %v, %d cycles", test.policy, test.pages, q.ceiling, q.top)
		}
	}
	s.Policy = "adaptive"
	page := models.Page{SiteID: c.Sites[0].ID, State: models.StateLive, Rule: models.RulePolicy, Wanted: 100 * day, FRMax: 400, DueAt: models.At(noon.Add(90 * day))}
	page.Stats = models.ChangeStats{Records: 5, VisitedAt: models.At(noon.Add(-10 * day)), FirstAt: 1}
	if d, moved := testPlanner(t, c).Counted(map[int32]int64{c.Sites[0].ID: 5000}).Reschedule(&page, noon); moved {
		t.Errorf("a page that may wait for 100 days is moved to %v", d.DueAt)
	}
	if _, moved := testPlanner(t, c).Counted(map[int32]int64{c.Sites[0].ID: 50}).Reschedule(&page, noon); !moved {
		t.Error("one that may not is left")
	}
}
