package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
)

// TestPlanFindsWhatStandsForAPage: a page that another address stands for makes that a page, on its own level, and is looked at again within a week.
func TestPlanFindsWhatStandsForAPage(t *testing.T) {
	t.Parallel()
	p := NewPage("http://one.test/i?path=1&product=7", "one.test", 1, 10, 4)
	r := plan(t, p, models.Outcome{Kind: models.Excluded, Aside: true, Links: []models.FoundLink{{URL: "http://one.test/i?product=7", Host: "one.test"}}})
	if len(r.Discovered) != 1 || r.Discovered[0].Page.URL != "http://one.test/i?product=7" || r.Discovered[0].Page.Level != 10 {
		t.Errorf("found are %+v, want the plain address on level 10", r.Discovered)
	}
	if due := r.Page.DueAt.Time(); r.Page.State != models.StateExcluded || due.After(noon.Add(8*24*time.Hour)) {
		t.Errorf("it is %s and due %s", r.Page.State, due)
	}
}

// TestPlanLooksAtWhatSpeaksForOthers: a duplicate by which it is known what others of its family say is looked at within a week, too.
func TestPlanLooksAtWhatSpeaksForOthers(t *testing.T) {
	t.Parallel()
	p := livePage()
	p.DuplicateOf = "http://one.test/b"
	for aside, within := range map[bool]bool{true: true, false: false} {
		r := plan(t, p, models.Outcome{Kind: models.NotModified, Status: 304, Sent: 1, ETag: `"1"`, Aside: aside})
		if due := r.Page.DueAt.Time(); due.Before(noon.Add(8*24*time.Hour)) != within || r.Page.Rule != models.RuleDuplicate {
			t.Errorf("speaking %v it is due %s by the rule %s", aside, due, r.Page.Rule)
		}
	}
}
