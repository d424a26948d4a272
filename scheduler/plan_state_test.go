package scheduler

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/models"
)

// steps plans outcomes one after the other, each when the page is due, and gives the last result and all events.
func steps(t *testing.T, p models.Page, outcomes ...models.Outcome) (models.Result, []models.EventKind) {
	t.Helper()
	planner, now := testPlanner(t, testConfig()), noon
	var last models.Result
	var kinds []models.EventKind
	for _, out := range outcomes {
		out.At = now
		last = planner.Plan(testLease(p), p, &out, now)
		kinds = append(kinds, eventKinds(last)...)
		p, now = last.Page, last.Page.DueAt.Time()
	}
	return last, kinds
}

var (
	notFound   = models.Outcome{Kind: models.Missing, Status: 404, Sent: 1}
	goneAway   = models.Outcome{Kind: models.Gone, Status: 410, Sent: 1}
	same       = models.Outcome{Kind: models.NotModified, Status: 304, Sent: 1}
	broken     = models.Outcome{Kind: models.Failed, Class: models.BodyShort, Status: 200, Sent: 1, Detail: "cut off"}
	forbidden  = models.Outcome{Kind: models.Excluded, Detail: "robots.txt line 2"}
	otherBytes = models.Outcome{Kind: models.Noise, Status: 200, Sent: 1, Body: []byte("b"), Digest: models.DigestOf([]byte("b"))}
	redirect   = models.Outcome{Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: "http://one.test/b"}
)

// Each state is announced once when it is entered, and once when it is left.
func TestStatesAreAnnouncedOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		outcomes []models.Outcome
		state    models.PageState
		events   []models.EventKind
	}{
		{"410, then 404s, then the page again", []models.Outcome{goneAway, goneAway, notFound, notFound, notFound, goneAway, same},
			models.StateLive, []models.EventKind{models.EventGone, models.EventRestored}},
		{"a gone page that fails is gone", []models.Outcome{goneAway, goneAway, broken, broken, broken, broken, notFound},
			models.StateGone, []models.EventKind{models.EventGone}},
		{"excluded, failing meanwhile, allowed again", []models.Outcome{forbidden, broken, broken, broken, forbidden, same},
			models.StateLive, []models.EventKind{models.EventExcluded, models.EventRestored}},
		{"failing, excluded, allowed and failing again", []models.Outcome{broken, broken, broken, forbidden, broken, same,
			broken, broken, broken, same}, models.StateLive, []models.EventKind{models.EventFailing, models.EventExcluded,
			models.EventRestored, models.EventFailing, models.EventRestored}},
		{"moved, failing, moved to the same place", []models.Outcome{redirect, broken, broken, broken, redirect},
			models.StateMoved, []models.EventKind{models.EventMoved, models.EventFailing, models.EventMoved}},
		{"moved, missing once, moved to the same place", []models.Outcome{redirect, notFound, redirect},
			models.StateMoved, []models.EventKind{models.EventMoved}},
		{"moved and back", []models.Outcome{redirect, notFound, same},
			models.StateLive, []models.EventKind{models.EventMoved, models.EventRestored}},
		{"gone, and back with other bytes", []models.Outcome{goneAway, goneAway, otherBytes},
			models.StateLive, []models.EventKind{models.EventGone, models.EventRefreshed}},
		{"excluded for good", []models.Outcome{forbidden, forbidden, forbidden},
			models.StateExcluded, []models.EventKind{models.EventExcluded}},
	} {
		last, events := steps(t, livePage(), test.outcomes...)
		if diff := cmp.Diff(test.events, events); diff != "" || last.Page.State != test.state {
			t.Errorf("%s: state %v, want %v; events (-want +got):\n%s", test.name, last.Page.State, test.state, diff)
		}
	}
}

// A page that was never seen tells nobody that it is not there.
func TestPagesNeverSeenAreNoNews(t *testing.T) {
	t.Parallel()
	fresh := NewPage("http://one.test/a", "one.test", 1, 1, 4)
	last, events := steps(t, fresh, notFound, notFound, notFound, broken, broken, broken, forbidden)
	if len(events) > 0 || last.Page.State != models.StateExcluded {
		t.Errorf("events %v, state %v, want none and excluded", events, last.Page.State)
	}
}

// That a redirect leads where it led before is no change, whatever lay between; that there is content again is one.
func TestRedirectsAreRecords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		outcomes []models.Outcome
		changes  int32
	}{
		{"the same", []models.Outcome{redirect, redirect}, 1},
		{"a 404 between", []models.Outcome{redirect, notFound, redirect}, 1},
		{"excluded between", []models.Outcome{redirect, forbidden, redirect}, 1},
		{"a 404, then the content", []models.Outcome{redirect, notFound, same}, 2},
	} {
		if last, _ := steps(t, livePage(), test.outcomes...); last.Page.Stats.Changes != test.changes {
			t.Errorf("%s: %d changes, want %d", test.name, last.Page.Stats.Changes, test.changes)
		}
	}
}

// An excluded page has no error state: once it is allowed its error clock begins anew.
func TestExcludedEndsTheErrorState(t *testing.T) {
	t.Parallel()
	last, _ := steps(t, livePage(), broken, broken, forbidden)
	if p := last.Page; p.Failures != 0 || p.Class != models.ClassNone || p.Note != forbidden.Detail {
		t.Errorf("%d failures, class %v, note %q, want none and the robots line", p.Failures, p.Class, p.Note)
	}
}

// A page that is answered with what the host shows for pages that do not exist is confirmed and gone as after a 404, and
// says how.
func TestSoftMissingIsMissing(t *testing.T) {
	t.Parallel()
	soft := models.Outcome{Kind: models.Missing, Status: 200, Sent: 1, Detail: "answers 200 with the page for pages that are not there"}
	last, events := steps(t, livePage(), soft, soft, soft)
	p := last.Page
	if p.State != models.StateGone || !strings.HasPrefix(p.Note, soft.Detail+" since 20") || p.Version != 1 {
		t.Errorf("state %v, note %q, version %d, want gone with the copy kept", p.State, p.Note, p.Version)
	}
	if diff := cmp.Diff([]models.EventKind{models.EventGone}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// What a page's note says of a 404 is not what an error in between said.
func TestGoneKeepsItsNote(t *testing.T) {
	t.Parallel()
	first, _ := steps(t, livePage(), goneAway, goneAway)
	later, _ := steps(t, livePage(), goneAway, goneAway, goneAway)
	if first.Page.Note != later.Page.Note {
		t.Errorf("note %q after %q, want since when it is gone", later.Page.Note, first.Page.Note)
	}
	if mixed, _ := steps(t, livePage(), goneAway, goneAway, broken, goneAway); mixed.Page.Note == broken.Detail {
		t.Errorf("note %q of a gone page, want that it is gone", mixed.Page.Note)
	}
}

// An answer to a request that was under way when the host asked for rest does not end the rest.
func TestEarlierAnswerDoesNotEndTheRest(t *testing.T) {
	t.Parallel()
	planner, p := testPlanner(t, testConfig()), livePage()
	busy := models.Outcome{Kind: models.Failed, Class: models.TooManyRequests, Status: 429, Sent: 1, At: noon,
		RetryAfter: noon.Add(time.Hour)}
	lease := testLease(p)
	lease.Host = planner.Plan(lease, p, &busy, noon.Add(time.Second)).Host
	answer := same
	answer.At = noon
	after := planner.Plan(lease, p, &answer, noon.Add(2*time.Second)).Host
	if want := models.At(noon.Add(time.Hour)); after.BackoffUntil < want || after.Failures != 1 {
		t.Errorf("host rests until %v with %d failures, want %v and 1", after.BackoffUntil, after.Failures, want)
	}
	answer.At = noon.Add(time.Hour)
	after = planner.Plan(lease, p, &answer, answer.At).Host
	if after.BackoffUntil != 0 || after.Failures != 0 {
		t.Errorf("after an answer past the rest: until %v with %d failures, want none", after.BackoffUntil, after.Failures)
	}
}

// What asks nothing leaves the host's delay, which may come from robots.txt, as it is.
func TestDeferredKeepsTheHostsDelay(t *testing.T) {
	t.Parallel()
	p := livePage()
	lease := testLease(p)
	lease.Host.Delay = time.Minute
	for _, kind := range []models.OutcomeKind{models.Deferred, models.Interrupted} {
		out := models.Outcome{Kind: kind, At: noon}
		if r := testPlanner(t, testConfig()).Plan(lease, p, &out, noon); r.Host.Delay != time.Minute || r.Host.OpenAt != 0 {
			t.Errorf("%v: delay %v, host opens %v, want a minute and no slot taken", kind, r.Host.Delay, r.Host.OpenAt)
		}
	}
}

// A host opens no sooner than was promised, though the database keeps no more of a moment than its milliseconds.
func TestHostsOpenNoSoonerThanPromised(t *testing.T) {
	t.Parallel()
	now := noon.Add(300 * time.Microsecond)
	until := now.Add(time.Minute)
	opens := func(h *models.Host) models.Instant { return h.OpenAt }
	rests := func(h *models.Host) models.Instant { return h.BackoffUntil }
	for name, test := range map[string]struct {
		out  models.Outcome
		at   func(*models.Host) models.Instant
		want time.Time
	}{
		"after a visit":               {same, opens, now.Add(10 * time.Second)},
		"where others are visited":    {models.Outcome{Kind: models.Deferred, HostWaits: true, Until: until}, opens, until},
		"as its Retry-After says":     {models.Outcome{Kind: models.Failed, Class: models.ServerError, Status: 503, Sent: 1, RetryAfter: until}, rests, until},
		"after it refused to connect": {models.Outcome{Kind: models.Failed, Class: models.ConnRefused, Sent: 1}, rests, now.Add(10 * time.Second)},
	} {
		p := livePage()
		test.out.At = now
		h := testPlanner(t, testConfig()).Plan(testLease(p), p, &test.out, now).Host
		if early := test.want.Sub(test.at(&h).Time()); early > 0 || early < -time.Millisecond {
			t.Errorf("%s the host opens %v too early", name, early)
		}
	}
}

// A resume makes pages due, as somebody does who asks for one; a worker that has not heard of the resume yet does not put them off for
// a whole cycle.
func TestResumeIsNotForgotten(t *testing.T) {
	t.Parallel()
	for _, rule := range []models.Rule{models.RuleResumed, models.RuleManual} {
		planner, p := testPlanner(t, testConfig(), 1), livePage()
		p.Rule = rule
		plan := func() time.Duration {
			out := deferredBy(t, planner, &p, noon)
			p = planner.Plan(testLease(p), p, &out, noon).Page
			return p.DueAt.Time().Sub(noon)
		}
		if wait := plan(); wait > time.Minute || p.Rule != models.RulePaused {
			t.Errorf("%v: put off by %v, rule %v, want soon and paused", rule, wait, p.Rule)
		}
		if wait := plan(); wait < time.Hour {
			t.Errorf("%v: the second time put off by %v, want a cycle: it is still paused", rule, wait)
		}
	}
}

// A bug of ours is not tried again every minute: the site would be asked each time.
func TestPanicWaits(t *testing.T) {
	t.Parallel()
	last, _ := steps(t, livePage(), models.Outcome{Kind: models.Failed, Class: models.OwnPanic, Sent: 1})
	if wait := last.Page.DueAt.Time().Sub(noon); wait < 30*time.Minute {
		t.Errorf("after a panic the page is due in %v, want later than half an hour", wait)
	}
}

// A page outside its windows is deferred into a span that there is, although the clocks skip the next one.
func TestFault_063_WindowThatTheClocksSkip(t *testing.T) {
	t.Parallel()
	skipped := window(t, 2*time.Hour, 3*time.Hour, "Europe/Berlin")
	at := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	got := IntoWindow([]config.Window{skipped}, at, 0.5)
	if want := time.Date(2026, 3, 30, 0, 30, 0, 0, time.UTC); !got.Equal(want) || !Allowed([]config.Window{skipped}, got) {
		t.Errorf("IntoWindow(%v) = %v, want %v", at, got, want)
	}
	weekly := window(t, 2*time.Hour, 3*time.Hour, "Europe/Berlin", time.Sunday)
	if got := IntoWindow([]config.Window{weekly}, at, 0); !Allowed([]config.Window{weekly}, got) {
		t.Errorf("IntoWindow(%v) = %v, which lies outside the window", at, got)
	}
}

// Both occurrences of an hour that the clocks repeat lie in a window around it.
func TestFault_063_WindowThatTheClocksRepeat(t *testing.T) {
	t.Parallel()
	w := []config.Window{window(t, time.Hour, 4*time.Hour, "Europe/Berlin")}
	for hour := range 6 { // 2026-10-25: 00:00 UTC is 02:00, 01:00 UTC is 02:00 again
		at := time.Date(2026, 10, 24, 22+hour, 30, 0, 0, time.UTC)
		if got, want := Allowed(w, at), hour >= 1 && hour <= 4; got != want {
			t.Errorf("Allowed(%v) = %v, want %v", at, got, want)
		}
	}
}

// Of a guarded site no page that there is a copy of is gone, whatever the server says and however often, and it goes on being visited at
// its own interval; but for those that were missing when somebody approved.
func TestGuardedPagesAreNotGone(t *testing.T) {
	t.Parallel()
	visit := func(p models.Page, out models.Outcome, approvedAt models.Instant) models.Result {
		out.At = p.DueAt.Time()
		planner := testPlanner(t, testConfig()).Guard(map[int32]SiteGuard{1: {Held: true, ApprovedAt: approvedAt}})
		return planner.Plan(testLease(p), p, &out, out.At)
	}
	for name, out := range map[string]models.Outcome{"404": notFound, "410": goneAway} {
		p := livePage()
		p.FRMax = 12
		for range 6 {
			r := visit(p, out, 0)
			if len(r.Events) > 0 || r.Page.State != models.StateMissing || r.Page.Version != 1 {
				t.Fatalf("%s: %v, version %d, events %v; want it missing, with its copy, and no event", name, r.Page.State, r.Page.Version, r.Events)
			}
			p = r.Page
		}
		wait, interval := p.DueAt.Time().Sub(p.TriedAt.Time()), 12*testPlanner(t, testConfig()).Calendar().Interval(noon, 1)
		if p.Rule != models.RuleGuarded || wait > interval || wait < interval*3/4 || p.FRMax != 12 {
			t.Errorf("%s: due in %v by %v, fr_max %d; want within %v by %v, and fr_max 12", name, wait, p.Rule, p.FRMax, interval, models.RuleGuarded)
		}
		approved := p
		approved.Rule = models.RuleApproved // and this worker has not heard of it yet
		if r := visit(approved, out, 0); r.Page.State != models.StateGone || len(r.Events) != 1 {
			t.Errorf("%s: approved a moment ago it is %v, events %v; want it gone", name, r.Page.State, r.Events)
		}
		if r := visit(p, same, 0); r.Page.State != models.StateLive || r.Page.MissingSince != 0 || r.Page.MissingVisits != 0 {
			t.Errorf("%s: back again it is %v, missing %d times; want it live, as if nothing had been", name, r.Page.State, r.Page.MissingVisits)
		}
		if r := visit(p, out, p.MissingSince-1); r.Page.State != models.StateMissing {
			t.Errorf("%s: it is %v where somebody approved before it was missing", name, r.Page.State)
		}
		if r := visit(p, out, p.MissingSince); r.Page.State != models.StateGone || len(r.Events) != 1 || r.Page.Rule != models.RuleGone {
			t.Errorf("%s: it is %v by %v, events %v where somebody approved; want it gone", name, r.Page.State, r.Page.Rule, r.Events)
		}
	}
	last, _ := steps(t, livePage(), goneAway, goneAway)
	gone := last.Page
	if r := visit(gone, notFound, 0); r.Page.State != models.StateGone || len(r.Events) > 0 {
		t.Errorf("what was gone before is %v, events %v", r.Page.State, r.Events)
	}
	fresh := NewPage("http://one.test/a", "one.test", 1, 1, 4)
	if r := visit(fresh, goneAway, 0); r.Page.State != models.StateGone {
		t.Errorf("what there is no copy of is %v, want it gone", r.Page.State)
	}
}
