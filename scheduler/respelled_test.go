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

// TestTurnedRound holds that a page that leads back to the one that led to it has moved there where that stays so: with the other address brought
// forward at once, and its copy kept meanwhile.
func TestTurnedRound(t *testing.T) {
	t.Parallel()
	p := livePage()
	p.URL, p.Chain = "http://one.test/a/", []int64{models.PageID("http://one.test/a")}
	loop := models.Outcome{Kind: models.Failed, Status: 301, Sent: 1, Class: models.RedirectLoop}
	for failures := range failingAfter {
		if len(p.Chain) == 0 {
			t.Errorf("after %d failures what led to the page is forgotten", failures)
		}
		r := plan(t, p, loop)
		if p = r.Page; len(r.Duplicates) != 1 || p.State != models.StateLive {
			t.Errorf("failure %d: state %v, it brings %v forward", failures+1, p.State, r.Duplicates)
		}
	}
	if r := plan(t, p, loop); len(p.Chain) > 0 || len(r.Duplicates) > 0 {
		t.Errorf("after %d failures the chain is %v, and one more brings %v forward", failingAfter, p.Chain, r.Duplicates)
	}
	p.Version, p.Failures, p.Chain = 0, failingAfter-1, []int64{5}
	if r := plan(t, p, loop); len(r.Page.Chain) == 0 {
		t.Error("a page that never was there forgets what led to it")
	}
}
