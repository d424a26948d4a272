package scheduler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/config"
	"recrawld/models"
)

func testConfig() *config.Config {
	c := config.Default()
	c.Cycle = "6h"
	c.Sites = []config.Site{{ID: 1, Name: "one", URL: "http://one.test/", Settings: c.Defaults}}
	return &c
}

func testPlanner(t interface{ Fatal(...any) }, c *config.Config, paused ...int32) *Planner {
	stopped := make(map[int32]bool)
	for _, id := range paused {
		stopped[id] = true
	}
	p, err := NewPlanner(c, stopped)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// livePage is a page with a good copy and ten records, none of which differ.
func livePage() models.Page {
	p := NewPage("http://one.test/a", "one.test", 1, 1, 4)
	p.State, p.Visits, p.Version, p.Bytes = models.StateLive, 10, 1, 100
	p.DueAt = models.At(noon)
	p.ETag, p.Digest = `"1"`, models.DigestOf([]byte("one"))
	p.Stats = models.ChangeStats{Records: 10, FirstAt: models.At(noon.Add(-240 * time.Hour)), VisitedAt: models.At(noon.Add(-24 * time.Hour))}
	return p
}

func testLease(p models.Page) *models.Lease {
	return &models.Lease{Host: models.Host{Bucket: p.Bucket, ID: p.HostID, Name: "one.test", LeaseToken: 7}}
}

func plan(t *testing.T, p models.Page, out models.Outcome) models.Result {
	t.Helper()
	if out.At.IsZero() {
		out.At = noon
	}
	return testPlanner(t, testConfig()).Plan(testLease(p), p, &out, noon.Add(time.Second))
}

func eventKinds(r models.Result) []models.EventKind {
	var kinds []models.EventKind
	for _, e := range r.Events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestPlanNotModified(t *testing.T) {
	t.Parallel()
	before := livePage()
	r := plan(t, before, models.Outcome{Kind: models.NotModified, Status: 304, Sent: 1, ETag: `"1"`})
	if r.Version != nil || len(r.Events) > 0 || r.Page.Version != 1 || r.Page.Digest != before.Digest {
		t.Errorf("a 304 wrote version %v, events %v, page version %d", r.Version, r.Events, r.Page.Version)
	}
	if s := r.Page.Stats; s.Records != 11 || s.Changes != 0 || s.Bits != 0 {
		t.Errorf("stats after a 304 = %+v, want 11 records, no change", s)
	}
	if r.Page.FRMax != 7 { // (4 + 11) / 2
		t.Errorf("fr_max = %d, want 7", r.Page.FRMax)
	}
	if want := models.At(noon.Add(11 * time.Second)); r.Host.OpenAt != want {
		t.Errorf("host opens at %v, want %v: 10 s after the answer", r.Host.OpenAt, want)
	}
	if r.Visit.Number != 11 || r.Page.Visits != 11 {
		t.Errorf("visit %d, page visits %d, want 11 and 11", r.Visit.Number, r.Page.Visits)
	}
}

func TestPlanChanged(t *testing.T) {
	t.Parallel()
	body := []byte("two")
	r := plan(t, livePage(), models.Outcome{Kind: models.Changed, Status: 200, Sent: 1, Body: body,
		Digest: models.DigestOf(body), ETag: `"2"`, ContentType: "text/html"})
	if r.Version == nil || r.Version.Number != 2 || !r.Version.Significant || r.Version.Bytes != 3 {
		t.Fatalf("version = %+v, want a significant number 2 of 3 bytes", r.Version)
	}
	if s := r.Page.Stats; s.Changes != 1 || s.Bits != 1 || s.ChangedAt == 0 {
		t.Errorf("stats = %+v, want one change in bit 0", s)
	}
	if diff := cmp.Diff([]models.EventKind{models.EventChanged}, eventKinds(r)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if e := r.Events[0]; e.Previous != 1 || e.NotBefore != livePage().Stats.VisitedAt || e.NotAfter != models.At(noon.Add(time.Second)) {
		t.Errorf("event = %+v, want the change between the last two visits", e)
	}
	if r.Page.ETag != `"2"` {
		t.Errorf("ETag = %s, want the new one", r.Page.ETag)
	}
}

// Other bytes with the same text are a version of their own, but no change of the page.
func TestPlanSameText(t *testing.T) {
	t.Parallel()
	body := []byte("one ")
	r := plan(t, livePage(), models.Outcome{Kind: models.SameText, Status: 200, Body: body, Digest: models.DigestOf(body)})
	if r.Version == nil || r.Version.Significant {
		t.Errorf("version = %+v, want an insignificant one", r.Version)
	}
	if r.Page.Stats.Changes != 0 {
		t.Errorf("changes = %d, want 0", r.Page.Stats.Changes)
	}
	if diff := cmp.Diff([]models.EventKind{models.EventRefreshed}, eventKinds(r)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A failure moves nothing but the error clock: rate, interval, copy and validators stay, for every class.
func TestPlanFailureTeachesNothing(t *testing.T) {
	t.Parallel()
	for class := models.DNSNotFound; class <= models.Shell; class++ {
		before := livePage()
		r := plan(t, before, models.Outcome{Kind: models.Failed, Class: class, Sent: 1, Detail: "no"})
		after := r.Page
		after.DueAt, after.Rule, after.Visits, after.TriedAt = before.DueAt, before.Rule, before.Visits, before.TriedAt
		after.Failures, after.Class, after.Note = 0, 0, ""
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%v changed the page (-before +after):\n%s", class, diff)
		}
		if r.Version != nil || len(r.Events) > 0 {
			t.Errorf("%v wrote a version or an event", class)
		}
		if class.Ours() && (r.Page.Failures != 0 || r.Host.Failures != 0) {
			t.Errorf("%v, a fault of ours, counts against the page or its host", class)
		}
		if !r.Page.DueAt.Time().After(noon) {
			t.Errorf("%v: due %v, want later than the visit", class, r.Page.DueAt)
		}
	}
}

func TestPlanFailingAndRestored(t *testing.T) {
	t.Parallel()
	p := livePage()
	var kinds []models.EventKind
	for range 5 {
		r := plan(t, p, models.Outcome{Kind: models.Failed, Class: models.ServerError, Status: 500, Sent: 1})
		kinds = append(kinds, eventKinds(r)...)
		p = r.Page
	}
	r := plan(t, p, models.Outcome{Kind: models.SameBytes, Status: 200, Sent: 1, Digest: p.Digest})
	kinds = append(kinds, eventKinds(r)...)
	if diff := cmp.Diff([]models.EventKind{models.EventFailing, models.EventRestored}, kinds); diff != "" {
		t.Errorf("events of five failures and an answer (-want +got):\n%s", diff)
	}
	if r.Page.Failures != 0 || r.Host.Failures != 0 || r.Host.BackoffUntil != 0 {
		t.Errorf("after an answer: %d failures, host %+v", r.Page.Failures, r.Host)
	}
}

// A 404 is gone after three visits over 48 hours and not before; its copy stays.
func TestPlanMissing(t *testing.T) {
	t.Parallel()
	p, now := livePage(), noon
	planner := testPlanner(t, testConfig())
	var states []models.PageState
	for range 4 {
		out := models.Outcome{Kind: models.Missing, Status: 404, Sent: 1, At: now}
		r := planner.Plan(testLease(p), p, &out, now)
		states = append(states, r.Page.State)
		if r.Page.Version != 1 || r.Page.FRMax != p.FRMax {
			t.Fatalf("a 404 touched the copy or fr_max: %+v", r.Page)
		}
		p, now = r.Page, r.Page.DueAt.Time()
	}
	want := []models.PageState{models.StateMissing, models.StateMissing, models.StateGone, models.StateGone}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states of four 404s (-want +got):\n%s", diff)
	}
}

func TestPlanGoneAtOnce(t *testing.T) {
	t.Parallel()
	r := plan(t, livePage(), models.Outcome{Kind: models.Gone, Status: 410, Sent: 1})
	if r.Page.State != models.StateGone || r.Page.Version != 1 {
		t.Errorf("state %v, version %d, want gone with the copy kept", r.Page.State, r.Page.Version)
	}
	if diff := cmp.Diff([]models.EventKind{models.EventGone}, eventKinds(r)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestPlanMoved(t *testing.T) {
	t.Parallel()
	p := livePage()
	p.Chain = []int64{5}
	target := models.FoundLink{URL: "http://one.test/b", Host: "one.test"}
	out := models.Outcome{Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: target.URL, Links: []models.FoundLink{target}}
	r := plan(t, p, out)
	if r.Page.State != models.StateMoved || r.Page.Stats.Changes != 1 || len(r.Events) != 1 {
		t.Errorf("first redirect: state %v, %d changes, %d events", r.Page.State, r.Page.Stats.Changes, len(r.Events))
	}
	if len(r.Discovered) != 1 || r.Discovered[0].Page.Level != p.Level {
		t.Fatalf("discovered %+v, want the target on the same level", r.Discovered)
	}
	if diff := cmp.Diff([]int64{5, p.ID}, r.Discovered[0].Page.Chain); diff != "" {
		t.Errorf("chain of the target (-want +got):\n%s", diff)
	}
	again := plan(t, r.Page, out)
	if again.Page.Stats.Changes != 1 || len(again.Events) != 0 {
		t.Errorf("the same redirect again: %d changes, %d events, want 1 and 0", again.Page.Stats.Changes, len(again.Events))
	}
}

func TestPlanLinks(t *testing.T) {
	t.Parallel()
	body := []byte("links")
	out := models.Outcome{Kind: models.First, Status: 200, Sent: 1, Body: body, Digest: models.DigestOf(body), LinksKnown: true}
	p := NewPage("http://one.test/", "one.test", 1, 0, 4)
	for i := range 600 {
		out.Links = append(out.Links, models.FoundLink{URL: "http://one.test/" + string(rune('a'+i%26)) + time.Duration(i).String(), Host: "one.test"})
	}
	r := plan(t, p, out)
	if len(r.Links) != 500 || len(r.Discovered) != 600 || r.Page.Children != 500 {
		t.Errorf("%d links kept, %d found, %d children, want 500, 600, 500", len(r.Links), len(r.Discovered), r.Page.Children)
	}
	out.Links[0].Aside = true
	if aside := plan(t, p, out); len(aside.Discovered) != 599 || cmp.Diff(r.Links, aside.Links) != "" {
		t.Errorf("with a link that is left aside %d pages are found, want 599, and the same children", len(aside.Discovered))
	}
	p.Level = 10
	deep := plan(t, p, out)
	if len(deep.Discovered) != 0 {
		t.Errorf("a page at the level limit discovered %d pages, want none", len(deep.Discovered))
	}
	if diff := cmp.Diff(r.Links, deep.Links); diff != "" {
		t.Errorf("the children of a page at the level limit, which are known by other pages (-want +got):\n%.500s", diff)
	}
}

func TestPlanServerHint(t *testing.T) {
	t.Parallel()
	out := models.Outcome{Kind: models.NotModified, Status: 304, FreshUntil: noon.Add(72 * time.Hour)}
	r := plan(t, livePage(), out)
	if want := models.At(noon.Add(72 * time.Hour)); r.Page.DueAt != want || r.Page.Rule != models.RuleHint {
		t.Errorf("due %v by %v, want %v by hint", r.Page.DueAt, r.Page.Rule, want)
	}
	out.FreshUntil = noon.AddDate(900, 0, 0)
	r = plan(t, livePage(), out)
	if latest := noon.Add(time.Second).Add(7 * 24 * time.Hour); r.Page.DueAt > models.At(latest) {
		t.Errorf("an absurd Expires put the visit off to %v, want no later than %v", r.Page.DueAt, latest)
	}
}

func TestPlanRetryAfterRestsTheHost(t *testing.T) {
	t.Parallel()
	out := models.Outcome{Kind: models.Failed, Class: models.TooManyRequests, Status: 429, Sent: 1, RetryAfter: noon.Add(time.Hour)}
	r := plan(t, livePage(), out)
	if want := models.At(noon.Add(time.Hour)); r.Host.BackoffUntil != want {
		t.Errorf("host rests until %v, want %v", r.Host.BackoffUntil, want)
	}
	out.RetryAfter = noon.AddDate(10, 0, 0)
	if r = plan(t, livePage(), out); r.Host.BackoffUntil > models.At(noon.Add(25*time.Hour)) {
		t.Errorf("a Retry-After of ten years rests the host until %v, want a day at most", r.Host.BackoffUntil)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Windows = []config.Window{window(t, 22*time.Hour, 6*time.Hour, "UTC")}
	p := livePage()
	planner := testPlanner(t, c)
	out := deferredBy(t, planner, &p, noon)
	r := planner.Plan(testLease(p), p, &out, noon)
	if due := r.Page.DueAt.Time(); due.Hour() >= 6 && due.Hour() < 22 || r.Page.Rule != models.RuleWindow {
		t.Errorf("deferred to %v by %v, want into the night by window", due, r.Page.Rule)
	}
	for _, rule := range []models.Rule{models.RuleAnnounced, models.RuleOriginal, models.RuleDuplicate} {
		kept := p
		kept.Rule = rule
		if a := planner.Plan(testLease(kept), kept, &out, noon); a.Page.DueAt != r.Page.DueAt || a.Page.Rule != rule {
			t.Errorf("due by %v, a page is deferred to %v by %v, want to %v, and as before", rule, a.Page.DueAt, a.Page.Rule, r.Page.DueAt)
		}
	}
	if r.Page.TriedAt != p.TriedAt || r.Page.Stats != p.Stats || r.Host.OpenAt != 0 {
		t.Errorf("a deferred visit counted as one")
	}
	deferredBy(t, testPlanner(t, testConfig(), 1), &p, noon) // its site is paused
}

// deferredBy is the outcome of a page that a planner holds.
func deferredBy(t *testing.T, p *Planner, page *models.Page, now time.Time) models.Outcome {
	t.Helper()
	put, held := p.hold(page, now)
	if !held {
		t.Fatal("the page is not held")
	}
	return put.outcome(now)
}

// Skipped turns put a parent off, but not past the ceiling of fr_max since it was last seen.
func TestPlanSkipped(t *testing.T) {
	t.Parallel()
	p := livePage()
	r := plan(t, p, models.Outcome{Kind: models.Skipped})
	if r.Page.Skips != 1 || r.Page.FRMax != p.FRMax || r.Page.Stats != p.Stats || r.Host.OpenAt != 0 {
		t.Errorf("after a skip: %d skips, fr_max %d, host opens %v", r.Page.Skips, r.Page.FRMax, r.Host.OpenAt)
	}
	p.FRMax = 100 // seen a day ago: 125 cycles from then are beyond the ceiling of 120
	r = plan(t, p, models.Outcome{Kind: models.Skipped})
	if latest := p.Stats.VisitedAt.Add(30 * 24 * time.Hour); r.Page.DueAt > latest {
		t.Errorf("due %v, want no later than %v, 30 days after it was seen", r.Page.DueAt, latest)
	}
	p.FRMax = 120
	r = plan(t, p, models.Outcome{Kind: models.Skipped})
	if r.Page.Skips < 3 {
		t.Errorf("%d skips, want as many as are allowed, so that the next turn is a visit", r.Page.Skips)
	}
}

// The turn that is skipped last before the ceiling is the last that is, though the next one comes no sooner than a cycle later, behind the ceiling, and
// wherever within a millisecond and a cycle these lie.
func TestPlanSkipsNoTurnBehindTheCeiling(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Parents.MaxSkips = 1000
	for _, vary := range []float64{0, 0.15} {
		c.Sites[0].Settings.Vary = vary
		planner := testPlanner(t, c)
		for visits := range int32(20) {
			p := livePage()
			p.FRMax, p.Skips, p.Visits = 1, 100, visits
			now := noon.Add(time.Duration(visits) * 137 * time.Microsecond)
			p.Stats.VisitedAt = models.At(now.Add(-119*6*time.Hour - 3*time.Hour)) // half a cycle before the ceiling of 120
			r := planner.Plan(testLease(p), p, &models.Outcome{Kind: models.Skipped, At: now}, now)
			if r.Page.Skips < 1000 || r.Page.DueAt > models.At(now.Add(6*time.Hour)) {
				t.Errorf("vary %v, at %v: due in %v, skipped %d times, want within a cycle, and no more skips", vary, now.Sub(noon), r.Page.DueAt.Time().Sub(now), r.Page.Skips)
			}
		}
	}
}

// Whatever happens to a page, it stays scheduled: a finite due time after now, 1 ≤ fr ≤ fr_max ≤ ceiling.
func TestPlanKeepsEveryPageScheduled(t *testing.T) {
	t.Parallel()
	c := testConfig()
	rapid.Check(t, func(t *rapid.T) {
		c := *c
		c.Cycle = rapid.SampledFrom([]string{"6h", "0 3 * * *", "1m"}).Draw(t, "cycle")
		c.Sites = []config.Site{c.Sites[0]}
		c.Sites[0].Settings.Policy = rapid.SampledFrom([]string{"fixed", "classic"}).Draw(t, "policy")
		planner := testPlanner(t, &c)
		p, now := livePage(), noon
		for range 30 {
			out := models.Outcome{
				Kind:       models.OutcomeKind(rapid.IntRange(int(models.NotModified), int(models.Probed)).Draw(t, "kind")),
				Class:      models.ErrorClass(rapid.IntRange(1, int(models.Shell)).Draw(t, "class")),
				Sent:       1,
				FreshUntil: now.Add(time.Duration(rapid.Int64().Draw(t, "fresh"))),
				RetryAfter: now.Add(time.Duration(rapid.Int64().Draw(t, "retry"))),
				RedirectTo: rapid.SampledFrom([]string{"http://one.test/x", "http://one.test/y"}).Draw(t, "target"),
			}
			if givesTurn(out.Kind) || out.Kind == models.Interrupted {
				continue
			}
			p = planner.Plan(testLease(p), p, &out, now).Page
			if !p.DueAt.Time().After(now) || p.DueAt.Time().Sub(now) > 200*366*24*time.Hour {
				t.Fatalf("%v: due %v at %v", out.Kind, p.DueAt, now)
			}
			if p.FRMax < 1 || int(p.FRMax) > c.Sites[0].Settings.FRMax {
				t.Fatalf("%v: fr_max %d", out.Kind, p.FRMax)
			}
			if fr := planner.Calendar().CyclesUntil(now, p.DueAt.Time()); p.Rule == models.RulePolicy && (fr < 1 || fr > int(p.FRMax)) {
				t.Fatalf("%v: fr %d, fr_max %d", out.Kind, fr, p.FRMax)
			}
			now = p.DueAt.Time()
		}
	})
}

// A page whose copy is lost gets it back from a visit that finds the same bytes: the version stays what it was.
func TestPlanOfALostCopy(t *testing.T) {
	t.Parallel()
	before, body := livePage(), []byte("one")
	before.Lost = true
	same := models.Outcome{Kind: models.SameBytes, Status: 200, Sent: 1, Body: body, Digest: before.Digest, ETag: `"1"`, ContentType: "text/html"}
	r := plan(t, before, same)
	if !r.Regained || r.Version == nil || r.Version.Number != 1 || r.Page.Version != 1 || r.Version.Digest != before.Digest {
		t.Errorf("regained %v, version %+v, page version %d; want number 1 regained", r.Regained, r.Version, r.Page.Version)
	}
	if diff := cmp.Diff([]models.EventKind{models.EventRefreshed}, eventKinds(r)); diff != "" || r.Page.Stats.Changes != 0 {
		t.Errorf("%d changes, events (-want +got):\n%s", r.Page.Stats.Changes, diff)
	}
	changed := same
	changed.Kind, changed.Body, changed.Digest = models.Changed, []byte("two"), models.DigestOf([]byte("two"))
	if r = plan(t, before, changed); !r.Regained || r.Version == nil || r.Version.Number != 2 {
		t.Errorf("of a changed page: regained %v with version %+v, want number 2", r.Regained, r.Version)
	}
	if r = plan(t, before, models.Outcome{Kind: models.Failed, Class: models.ConnReset, Sent: 1}); r.Regained || r.Version != nil {
		t.Errorf("of a visit that failed: regained %v with version %+v, want nothing", r.Regained, r.Version)
	}
	before.Lost = false
	if r = plan(t, before, same); r.Regained || r.Version != nil {
		t.Errorf("of a copy that is there: regained %v with version %+v, want nothing", r.Regained, r.Version)
	}
}
