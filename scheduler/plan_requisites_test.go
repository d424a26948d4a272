package scheduler

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/models"
)

// needs are requisites by their paths on one host.
func needs(paths ...string) []models.FoundLink {
	var found []models.FoundLink
	for _, path := range paths {
		found = append(found, models.FoundLink{URL: "http://one.test" + path, Host: "one.test"})
	}
	return found
}

// discovered is what a result found, each with whether it is a requisite.
func discovered(r models.Result) map[string]bool {
	found := make(map[string]bool)
	for _, d := range r.Discovered {
		found[d.Page.URL] = d.Page.Requisite
	}
	return found
}

// What a page needs is found as that, beside its links and however deep the page lies, due at once, and is nobody's child; what is a link, too,
// is a page like others. Of what is no document links are not known, and what it needs is.
func TestPlanRequisites(t *testing.T) {
	t.Parallel()
	c := testConfig()
	limit := c.Sites[0].Settings.Level
	for name, test := range map[string]struct {
		level int
		out   models.Outcome
		want  map[string]bool
		links int
	}{
		"a document": {1, models.Outcome{Links: needs("/b", "/both.png"), LinksKnown: true, Requisites: needs("/both.png", "/a.css", "/a")},
			map[string]bool{"http://one.test/b": false, "http://one.test/both.png": false, "http://one.test/a.css": true}, 2},
		"a style": {1, models.Outcome{Requisites: needs("/font", "/more.css")},
			map[string]bool{"http://one.test/font": true, "http://one.test/more.css": true}, 0},
		"at the limit of levels": {limit, models.Outcome{Links: needs("/b", "/both.png"), LinksKnown: true, Requisites: needs("/both.png", "/a.css")},
			map[string]bool{"http://one.test/both.png": true, "http://one.test/a.css": true}, 2},
		"as deep as styles may import styles": {limit + mostNested - 1, models.Outcome{Requisites: needs("/more.css")}, map[string]bool{"http://one.test/more.css": true}, 0},
		"without end":                         {limit + mostNested, models.Outcome{Requisites: needs("/more.css")}, map[string]bool{}, 0},
		"as deep as can be":                   {math.MaxInt16, models.Outcome{Requisites: needs("/more.css")}, map[string]bool{}, 0},
	} {
		before := livePage()
		before.Level = int16(test.level)
		test.out.Kind, test.out.Status, test.out.Sent = models.SameBytes, 200, 1
		r := plan(t, before, test.out)
		if diff := cmp.Diff(test.want, discovered(r)); diff != "" || len(r.Links) != test.links || int(r.Page.Children) != test.links {
			t.Errorf("%s: %d links, %d children, want %d; found, and whether as requisites (-want +got):\n%s", name, len(r.Links), r.Page.Children,
				test.links, diff)
		}
		for _, d := range r.Discovered {
			if want := min(test.level+1, math.MaxInt16); int(d.Page.Level) != want || d.Page.DueAt != models.At(noon.Add(time.Second)) ||
				d.Page.Rule != models.RuleStart || d.Page.SiteID != 1 {
				t.Errorf("%s: %+v is found, want it on level %d of the site and due at once", name, d.Page, want)
			}
		}
	}
}

// Where a requisite leads is one, too, however deep it lies; where a page leads is none.
func TestPlanMovedRequisite(t *testing.T) {
	t.Parallel()
	for _, requisite := range []bool{false, true} {
		before := livePage()
		before.Requisite = requisite
		if requisite {
			before.Level = int16(testConfig().Sites[0].Settings.Level) + 3
		}
		r := plan(t, before, models.Outcome{Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: "http://one.test/b", Links: needs("/b")})
		if len(r.Discovered) != 1 || r.Discovered[0].Page.Requisite != requisite || r.Discovered[0].Page.Level != before.Level ||
			len(r.Discovered[0].Page.Chain) != 1 {
			t.Errorf("requisite %v: found %+v, want where it leads, on the same level and as what it is itself", requisite, r.Discovered)
		}
		if len(r.Events) != 1 || r.Events[0].Requisite != requisite {
			t.Errorf("requisite %v: events %+v, want one that says so", requisite, r.Events)
		}
	}
}

// The turn of a requisite that no page names is the last: it keeps its copy and is due never. What is gone stays gone; what is excluded already
// is no news.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state, want models.PageState
		events      int
	}{
		{models.StateLive, models.StateExcluded, 1}, {models.StateMoved, models.StateExcluded, 1}, {models.StateMissing, models.StateExcluded, 1},
		{models.StateExcluded, models.StateExcluded, 0}, {models.StateGone, models.StateGone, 0},
	} {
		before := livePage()
		before.Requisite, before.State, before.RedirectTo, before.Failures = true, c.state, "http://one.test/b", 3
		before.UnnamedAt, before.Rule = models.At(noon.AddDate(0, 0, -8)), models.RuleUnnamed
		r := plan(t, before, models.Outcome{Kind: models.Excluded, Detail: givenUpDetail(&before)})
		p := r.Page
		if p.State != c.want || p.DueAt != 0 || p.Rule != models.RuleUnnamed || p.Failures != 0 || p.Version != 1 || len(r.Events) != c.events {
			t.Errorf("%s: %+v with %d events, want it %s, due never, with its copy and %d events", c.state, p, len(r.Events), c.want, c.events)
		}
		if want := "no page names it, since " + noon.AddDate(0, 0, -8).Format(time.DateOnly); c.want == models.StateExcluded && p.Note != want {
			t.Errorf("%s: the note says %q, want %q", c.state, p.Note, want)
		}
		if p.LeadsAway() != (c.want != models.StateGone) {
			t.Errorf("%s: it leads away: %v, want it where it did unless it is gone", c.state, p.LeadsAway())
		}
	}
}

// Requisites are lost all at once where a site has a new release: they are gone as their visits say, guarded host and site or not, and nobody is
// guarded for them.
func TestLostRequisitesAreNotGuarded(t *testing.T) {
	t.Parallel()
	front := models.Outcome{Kind: models.Moved, Status: 302, Sent: 1, RedirectTo: "http://one.test/"}
	for name, test := range map[string]struct {
		out    models.Outcome
		state  models.PageState
		guards map[int32]SiteGuard
		since  models.Instant
	}{
		"404":                   {notFound, models.StateGone, nil, 0},
		"410":                   {goneAway, models.StateGone, nil, 0},
		"to the front page":     {front, models.StateMoved, nil, 0},
		"404 of a guarded site": {notFound, models.StateGone, map[int32]SiteGuard{1: {Held: true}}, 0},
		"410 of a guarded host": {goneAway, models.StateGone, nil, models.At(noon) - 5},
	} {
		h := newLossHost(t, 30, nil, test.guards)
		h.host.Requisites, h.host.GuardedAt = 30, test.since
		if test.since != 0 {
			h.host.Trials.Losses = models.Losses{Since: test.since, Lost: 20, SeenAt: test.since}
		}
		before := h.host.Trials.Losses
		for i := range h.pages {
			h.pages[i].Requisite = true
		}
		for range config.Default().Defaults.GoneVisits {
			h.visits(0, 30, test.out)
			h.now = h.now.Add(config.Default().Defaults.GoneOver)
		}
		h.are(name, test.state, 30, test.since != 0)
		if h.host.Trials.Losses != before || len(h.events) != 30 {
			t.Errorf("%s: losses %+v, %d events, want %+v as before, and 30", name, h.host.Trials.Losses, len(h.events), before)
		}
	}
}

// The few pages of a host are those that are no requisites: all of them lost is no editor's afternoon, whatever there is beside them to show them.
func TestRequisitesAreNotOfTheFewPagesOfAHost(t *testing.T) {
	t.Parallel()
	for _, requisites := range []int32{0, 30} {
		h := newLossHost(t, 5, nil, nil)
		h.host.Pages, h.host.Requisites = 35, requisites
		h.visits(0, 5, notFound)
		h.are(fmt.Sprintf("with %d requisites", requisites), models.StateMissing, 5, requisites == 30)
	}
}

// A requisite in whose place something else stands is no sign that its host is down, and one that is as it was none that it is up.
func TestRequisitesDoNotTellOfTheirHost(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]models.Outcome{
		"an error page":      {Kind: models.Failed, Class: models.ErrorPage, Status: 200, Sent: 1},
		"the host's own 404": {Kind: models.Missing, Status: 200, Sent: 1, Detail: "says that there is no such page"},
	} {
		for _, requisite := range []bool{false, true} {
			before := livePage()
			before.Requisite = requisite
			if r := plan(t, before, out); (r.Host.Trials.AbsentAt == 0) != requisite {
				t.Errorf("%s, requisite %v: the host was without its contents at %v", name, requisite, r.Host.Trials.AbsentAt)
			}
		}
	}
	for _, requisite := range []bool{false, true} {
		before := livePage()
		before.Requisite, before.ContentType = requisite, "text/html"
		lease := testLease(before)
		lease.Host.Trials.AbsentAt = models.At(noon) - 5
		r := testPlanner(t, testConfig()).Plan(lease, before, &same, noon)
		if (r.Host.Trials.ShownAt == 0) != requisite {
			t.Errorf("requisite %v: the host showed its contents at %v", requisite, r.Host.Trials.ShownAt)
		}
	}
}

// An outcome holds what it names as requisites until they are added.
func TestRequisitesAreHeldInMemory(t *testing.T) {
	t.Parallel()
	out := models.Outcome{Body: make([]byte, 100)}
	before := heldBy(&out)
	out.Requisites = needs("/a", "/b")
	if more := heldBy(&out) - before; more < int64(2*len("http://one.test/aone.test")) {
		t.Errorf("two requisites hold %d bytes, want their texts at least", more)
	}
}
