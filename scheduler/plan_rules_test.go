package scheduler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/models"
)

// An answer ends every run of misses and skips; a 304 says nothing of the type and the wish of the copy.
func TestAnswerEndsRuns(t *testing.T) {
	t.Parallel()
	p := livePage()
	p.State, p.MissingSince, p.MissingVisits, p.Skips = models.StateMissing, models.At(noon), 2, 3
	p.ContentType, p.NoArchive, p.Threshold = "text/html", true, 400
	out := same
	out.Threshold = 320
	got := plan(t, p, out).Page
	if got.MissingSince != 0 || got.MissingVisits != 0 || got.Skips != 0 {
		t.Errorf("after an answer: %d misses since %v, %d skips, want none", got.MissingVisits, got.MissingSince, got.Skips)
	}
	if got.ContentType != "text/html" || !got.NoArchive || got.Threshold != 320 {
		t.Errorf("after a 304: type %q, no archive %v, threshold %d, want text/html, true, 320", got.ContentType, got.NoArchive, got.Threshold)
	}
	if again := plan(t, got, same).Page; again.Threshold != 320 {
		t.Errorf("a visit that names no threshold left %d, want 320", again.Threshold)
	}
}

// A new body after failures is news by itself.
func TestRefreshedIsNotRestored(t *testing.T) {
	t.Parallel()
	body := []byte("one ")
	refreshed := models.Outcome{Kind: models.SameText, Status: 200, Sent: 1, Body: body, Digest: models.DigestOf(body)}
	_, events := steps(t, livePage(), broken, broken, broken, refreshed)
	if diff := cmp.Diff([]models.EventKind{models.EventFailing, models.EventRefreshed}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A hint puts a visit off no further than the ceiling of fr_max.
func TestHintKeepsTheCeiling(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.FRMax = 8
	out := same
	out.At, out.FreshUntil = noon, noon.AddDate(0, 0, 6)
	p := livePage()
	r := testPlanner(t, c).Plan(testLease(p), p, &out, noon)
	if want := models.At(noon.Add(48 * time.Hour)); r.Page.DueAt > want {
		t.Errorf("due %v, want no later than %v: 8 cycles of 6h", r.Page.DueAt, want)
	}
}

// Only a full crawl brings children forward, and no page is its own child.
func TestFullCrawlBringsChildrenForward(t *testing.T) {
	t.Parallel()
	p := livePage()
	p.FullAt = models.At(noon.Add(-time.Hour))
	out := models.Outcome{Kind: models.SameBytes, Status: 200, Sent: 1, Digest: p.Digest, LinksKnown: true,
		Links: []models.FoundLink{{URL: p.URL, Host: "one.test"}, {URL: "http://one.test/b", Host: "one.test"}}}
	r := plan(t, p, out)
	if r.Forward != 0 || len(r.Links) != 1 || len(r.Discovered) != 1 {
		t.Errorf("an ordinary visit: forward %v, %d links, %d discovered, want never, 1, 1", r.Forward, len(r.Links), len(r.Discovered))
	}
	out.Full = true
	if r = plan(t, p, out); r.Forward == 0 || r.ForwardOf != p.FullAt {
		t.Errorf("a full crawl: forward %v of %v, want now, of %v", r.Forward, r.ForwardOf, p.FullAt)
	}
}

// What a person asks for does not wait for a window.
func TestManualVisitIgnoresWindows(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Windows = []config.Window{window(t, 22*time.Hour, 6*time.Hour, "UTC")}
	p := livePage()
	p.Rule = models.RuleManual
	if put, held := testPlanner(t, c).hold(&p, noon); held {
		t.Errorf("held: %s, want a visit", put.why)
	}
}

// What an archive has lost may be all of a site: it is visited first in the next window, and not at once as what a person asks for by name.
func TestLostPagesWaitForAWindow(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Windows = []config.Window{window(t, 22*time.Hour, 6*time.Hour, "UTC")}
	planner := testPlanner(t, c)
	for _, rule := range []models.Rule{models.RuleLost, models.RuleManual} { // the one by which earlier releases made them due
		p := livePage()
		p.Rule, p.Lost = rule, true
		out := deferredBy(t, planner, &p, noon)
		r := planner.Plan(testLease(p), p, &out, noon)
		if due := r.Page.DueAt.Time(); due.Before(noon.Add(10*time.Hour)) || due.After(noon.Add(18*time.Hour)) || r.Page.Rule != rule {
			t.Errorf("by %v: due at %v by %v, want in the window from 22:00 to 06:00, as before", rule, due, r.Page.Rule)
		}
		if put, held := planner.hold(&r.Page, r.Page.DueAt.Time()); held {
			t.Errorf("by %v: held inside the window: %s", rule, put.why)
		}
	}
}

// Resuming a site asks for none of its pages: outside its windows they wait for the next one.
func TestResumedPagesWaitForAWindow(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Windows = []config.Window{window(t, 22*time.Hour, 6*time.Hour, "UTC")}
	p := livePage()
	p.Rule = models.RuleResumed
	planner := testPlanner(t, c)
	out := deferredBy(t, planner, &p, noon)
	r := planner.Plan(testLease(p), p, &out, noon)
	if due := r.Page.DueAt.Time(); due.Before(noon.Add(10*time.Hour)) || due.After(noon.Add(18*time.Hour)) || r.Page.Rule != models.RuleWindow {
		t.Errorf("due at %v by %v, want in the window from 22:00 to 06:00", due, r.Page.Rule)
	}
	if put, held := planner.hold(&p, noon.Add(11*time.Hour)); held {
		t.Errorf("held inside the window: %s", put.why)
	}
}

// What is gone or excluded is looked at as rarely as the ceiling allows, whatever the page's own interval.
func TestGoneAndExcludedAreRare(t *testing.T) {
	t.Parallel()
	for _, out := range []models.Outcome{goneAway, forbidden} {
		r, _ := steps(t, livePage(), out, out)
		if wait := r.Page.DueAt.Time().Sub(r.Visit.At.Time()); wait < 25*24*time.Hour || r.Page.FRMax != livePage().FRMax {
			t.Errorf("%v: due in %v, fr_max %d, want about 120 cycles of 6h and %d as before", out.Kind, wait, r.Page.FRMax, livePage().FRMax)
		}
	}
}

// What has been gone for long is looked at ever more rarely: a site whose pages come and go has more of them each year, and visits to all of them each month
// would in the end be all that its budget pays for. Ten years after the last of a thousand went they are a visit in nine hours, where they were 33 a day.
func TestGoneForLongIsLookedAtEverMoreRarely(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, cycle := range []string{"6h", "0 */6 * * *"} {
		c := testConfig()
		c.Cycle = cycle
		planner := testPlanner(t, c)
		for age, want := range map[time.Duration]time.Duration{time.Hour: 30 * day, 60 * day: 30 * day, 200 * day: 100 * day, 700 * day: 350 * day, 10 * 365 * day: 366 * day} {
			for _, out := range []models.Outcome{goneAway, notFound} {
				p := livePage()
				p.State, p.MissingVisits, p.MissingSince = models.StateGone, 7, models.At(noon.Add(-age))
				out.At = noon
				wait := planner.Plan(testLease(p), p, &out, noon).Page.DueAt.Time().Sub(noon)
				if most := want + 7*time.Hour; wait > most || wait < want*8/10 { // 15 % earlier, and whole cycles
					t.Errorf("%v, in cycles %q: what has been gone for %v is due in %v, want about %v", out.Kind, cycle, age, wait, want)
				}
			}
		}
	}
}

// A redirect is news although there never was a copy: it says where the copy is.
func TestFirstRedirectIsNews(t *testing.T) {
	t.Parallel()
	r := plan(t, NewPage("http://one.test/a", "one.test", 1, 1, 4), redirect)
	if diff := cmp.Diff([]models.EventKind{models.EventMoved}, eventKinds(r)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A resume finds the pages it has to bring back by their rule, in a site with windows too.
func TestPausedRuleOutranksWindows(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Windows = []config.Window{window(t, 22*time.Hour, 6*time.Hour, "UTC")}
	planner, p := testPlanner(t, c, 1), livePage()
	out := deferredBy(t, planner, &p, noon)
	if r := planner.Plan(testLease(p), p, &out, noon.Add(-3*time.Hour)); r.Page.Rule != models.RulePaused {
		t.Errorf("rule %v, want paused", r.Page.Rule)
	}
}

// A short Retry-After does not shorten the host's own back-off, nor an answer the opening that others wait for.
func TestRestsAreNotShortened(t *testing.T) {
	t.Parallel()
	p := livePage()
	lease := testLease(p)
	lease.Host.OpenAt, lease.Host.Failures = models.At(noon.Add(time.Hour)), 9
	out := models.Outcome{Kind: models.Failed, Class: models.TooManyRequests, Status: 429, Sent: 1, At: noon, RetryAfter: noon.Add(time.Second)}
	h := testPlanner(t, testConfig()).Plan(lease, p, &out, noon).Host
	if h.OpenAt != lease.Host.OpenAt || h.BackoffUntil < models.At(noon.Add(time.Hour)) {
		t.Errorf("host opens %v and rests until %v, want 13:00 and later than that", h.OpenAt, h.BackoffUntil)
	}
}
