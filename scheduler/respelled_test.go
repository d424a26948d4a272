package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
)

// TestRespelled holds that a page that leads to its own address with a slash, or without, is looked at as rarely as a duplicate once that was seen
// twice, and at once where the other one leads elsewhere or is not found: both at the usual pace would cost twice the requests.
func TestRespelled(t *testing.T) {
	t.Parallel()
	for from, c := range map[string]struct {
		to     string
		rarely bool
	}{
		"http://one.test/a": {"http://one.test/a/", true}, "http://one.test/a/?b=/": {"http://one.test/a?b=/", true},
		"http://one.test/": {"http://one.test/b/", false}, "http://one.test/c": {"http://one.test/b/", false},
	} {
		p := NewPage(from, "one.test", 1, 1, 4)
		out := models.Outcome{Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: c.to, Links: []models.FoundLink{{URL: c.to, Host: "one.test"}}}
		first := plan(t, p, out)
		if first.Page.Rule == models.RuleDuplicate {
			t.Errorf("%s is looked at rarely from its first visit on", from)
		}
		again := plan(t, first.Page, out)
		far := again.Page.DueAt.Time().Sub(noon) > 20*24*time.Hour
		if far != c.rarely || far != (again.Page.Rule == models.RuleDuplicate) {
			t.Errorf("%s leads to %s again: due %v by %v, want rarely: %v", from, c.to, again.Page.DueAt.Time(), again.Page.Rule, c.rarely)
		}
	}
	live := livePage()
	live.URL = "http://one.test/a/"
	other := models.PageID("http://one.test/a")
	for name, out := range map[string]models.Outcome{
		"turned round": {Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: "http://one.test/a"}, "not found": {Kind: models.Missing, Status: 404, Sent: 1},
		"gone": {Kind: models.Gone, Status: 410, Sent: 1}, "unchanged": {Kind: models.NotModified, Status: 304, Sent: 1},
	} {
		r := plan(t, live, out)
		if freed := len(r.Duplicates) == 1 && r.Duplicates[0].PageID == other && r.Duplicates[0].DueAt.Time().Equal(noon.Add(time.Second)); freed != (name != "unchanged") {
			t.Errorf("%s: it brings %v forward", name, r.Duplicates)
		}
	}
}

// TestTurnedRound holds that a page that leads back to the one that led to it brings that forward at once, and forgets it where it shows what this one
// did since this one last was there.
func TestTurnedRound(t *testing.T) {
	t.Parallel()
	other := NewPage("http://one.test/a", "one.test", 1, 1, 4)
	shown := brought(t, "/a/", "one", saying(1, 1))
	shown.result.Page.Chain = []int64{7, other.ID}
	loop := func(before models.Page) finished {
		f := finished{planner: shown.planner, lease: shown.lease, before: before, outcome: models.Outcome{Kind: models.Failed, Status: 301, Sent: 1, Class: models.RedirectLoop}}
		f.result = f.planner.Plan(&f.lease, before, &f.outcome, noon.Add(24*time.Hour))
		return f
	}
	looped := shown.result.Page
	for failure := range failingAfter {
		f := loop(looped)
		if looped = f.result.Page; len(f.result.Duplicates) != 3 || f.result.Duplicates[0].PageID != other.ID || !f.result.Duplicates[1].Led {
			t.Errorf("failure %d brings %v forward", failure+1, f.result.Duplicates)
		}
	}
	looped.Failures--
	for what, change := range map[string]func(*models.Twin){
		"": func(*models.Twin) {}, "redirects": func(p *models.Twin) { p.State = models.StateMoved }, "was seen before": func(p *models.Twin) { p.VisitedAt = looped.Stats.VisitedAt },
		"says something else": func(p *models.Twin) { p.Print = models.Print{1: 1} }, "is another": func(p *models.Twin) { p.ID++ },
	} {
		twin := looped.Twin()
		twin.ID, twin.URL, twin.VisitedAt = other.ID, other.URL, twin.VisitedAt+1
		change(&twin)
		got, _, _ := commitAll(t, &ledger{twins: map[int64][]models.Twin{keysOf(&looped)[0]: {twin}}}, &shelf{}, loop(looped))
		if p := got[0].Page; len(p.Chain) == 1 != (what == "") || p.State != models.StateLive || p.Failures != failingAfter {
			t.Errorf("the other page %q: what led to this one is %v, it is %v with %d failures", what, p.Chain, p.State, p.Failures)
		}
	}
}
