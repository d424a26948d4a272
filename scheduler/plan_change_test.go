package scheduler

import (
	"fmt"
	"math"
	"math/bits"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

// with is an outcome of a kind whose body is this one.
func with(kind models.OutcomeKind, body string) models.Outcome {
	return models.Outcome{Kind: kind, Status: 200, Sent: 1, ETag: `"1"`, Body: []byte(body), Digest: models.DigestOf([]byte(body)),
		TextDigest: models.DigestOf([]byte("text of " + body)), LinkPrint: int64(len(body)), ContentType: "text/html"}
}

// Other bytes in which nothing that matters changed are kept, and teach the schedule what a 304 does.
func TestPlanNoise(t *testing.T) {
	t.Parallel()
	out := with(models.Noise, "12:00")
	out.Significance, out.Reasons = 0.2, models.ReasonDateOnly|models.ReasonVolatile
	r, still := plan(t, livePage(), out), plan(t, livePage(), same)
	v := r.Version
	if v == nil || v.Number != 2 || v.Significant || v.Significance != 0.2 || v.Reasons != out.Reasons {
		t.Errorf("version = %+v, want an insignificant number 2 with its reasons", v)
	}
	if diff := cmp.Diff([]models.EventKind{models.EventRefreshed}, eventKinds(r)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	if e := r.Events[0]; e.Significance != 0.2 || e.Reasons != out.Reasons || e.Version != 2 || e.Previous != 1 {
		t.Errorf("event = %+v, want version 2 after 1 with the reasons", e)
	}
	p := r.Page
	if p.Digest != out.Digest || p.TextDigest != out.TextDigest || p.LinkPrint != out.LinkPrint {
		t.Errorf("page = %+v, want the prints of what was seen", p)
	}
	if p.ByteChanges != 1 || p.BytesAt != models.At(noon.Add(time.Second)) {
		t.Errorf("%d changes of bytes, the last at %v, want one now", p.ByteChanges, p.BytesAt)
	}
	if p.Stats != still.Page.Stats || p.DueAt != still.Page.DueAt || p.FRMax != still.Page.FRMax || p.Evidence != still.Page.Evidence {
		t.Errorf("schedule after noise %+v, after a 304 %+v", p, still.Page)
	}
}

func TestPlanChangeCarriesItsReasons(t *testing.T) {
	t.Parallel()
	out := with(models.Changed, "two")
	out.Significance, out.Reasons = 0.9, models.ReasonText
	r := plan(t, livePage(), out)
	if v, e := r.Version, r.Events[0]; !v.Significant || v.Significance != 0.9 || v.Reasons != models.ReasonText ||
		e.Kind != models.EventChanged || e.Significance != 0.9 || e.Reasons != models.ReasonText {
		t.Errorf("version %+v, event %+v, want both with significance and reasons", v, e)
	}
}

// Every body that differs counts for the rate of the bytes, and those before they were counted by the version.
func TestBytesAreCounted(t *testing.T) {
	t.Parallel()
	counted := map[models.OutcomeKind]bool{models.SameText: true, models.Noise: true, models.Changed: true}
	for kind := models.NotModified; kind <= models.Probed; kind++ {
		p := livePage()
		p.Version, p.ByteChanges, p.BytesAt = 5, 9, 7
		out := with(kind, "other")
		if kind == models.SameBytes || !kind.Observed() {
			out.Body, out.Digest = nil, p.Digest
		}
		got := plan(t, p, out).Page
		want, at := int32(9), models.Instant(7)
		if counted[kind] {
			want, at = 10, models.At(noon.Add(time.Second))
		}
		if got.ByteChanges != want || got.BytesAt != at {
			t.Errorf("%v: %d changes of bytes, the last at %v, want %d at %v", kind, got.ByteChanges, got.BytesAt, want, at)
		}
	}
	old := livePage()
	old.Version = 5
	if got := plan(t, old, with(models.Noise, "other")).Page; got.ByteChanges != 5 {
		t.Errorf("%d changes of bytes for six versions of a page that did not count them, want 5", got.ByteChanges)
	}
	if got := plan(t, old, same).Page; got.ByteChanges != 4 || got.BytesAt != 0 {
		t.Errorf("%d changes of bytes, the last at %v, for five versions that were not counted, want 4", got.ByteChanges, got.BytesAt)
	}
}

// What is remembered is written whatever the visit found, also where it found no page.
func TestMemoriesAreWritten(t *testing.T) {
	t.Parallel()
	for _, kind := range []models.OutcomeKind{models.Changed, models.Noise, models.Failed, models.Missing, models.Probed} {
		out := models.Outcome{Kind: kind, Class: models.Shell, Sent: 1, Memory: []byte("page"), HostMemory: []byte("host")}
		if r := plan(t, livePage(), out); string(r.Memory) != "page" || string(r.HostMemory) != "host" {
			t.Errorf("%v: memories %q and %q are written, want those of the outcome", kind, r.Memory, r.HostMemory)
		}
	}
}

// A flip of the host's template is one event, beside that of the page at which it was recognised.
func TestTemplateIsOneEvent(t *testing.T) {
	t.Parallel()
	out := with(models.Noise, "flipped")
	out.Template, out.Significance, out.Reasons = "menu: Home, Prices", 0.1, models.ReasonNav
	r := plan(t, livePage(), out)
	if diff := cmp.Diff([]models.EventKind{models.EventRefreshed, models.EventTemplate}, eventKinds(r)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	if e := r.Events[1]; e.Note != out.Template || e.Reasons != models.ReasonTemplate || e.PageID != r.Page.ID || e.Significance != 0 {
		t.Errorf("event = %+v, want the template and the page", e)
	}
	if e := r.Events[0]; e.Note != "" || e.Reasons != models.ReasonNav {
		t.Errorf("event of the page = %+v, want its own reasons", e)
	}
}

// It is recognised also by a visit that brings no version.
func TestTemplateWithoutAVersion(t *testing.T) {
	t.Parallel()
	out := models.Outcome{Kind: models.Failed, Class: models.Shell, Status: 200, Sent: 1, Template: "menu", Retract: true}
	p := livePage()
	p.Stats.Bits, p.Stats.Changes, p.Stats.ChangedAt = 5, 2, p.Stats.VisitedAt
	r := plan(t, p, out)
	if diff := cmp.Diff([]models.EventKind{models.EventTemplate}, eventKinds(r)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if s := r.Page.Stats; s.Bits != 4 || s.Changes != 1 || s.Records != p.Stats.Records {
		t.Errorf("stats = %+v, want the last change taken back and no record", s)
	}
}

// A page that turned into an error page, a log-in form, a block page or an empty shell keeps its copy and its rate, and
// shows at once that something is wrong; the event log says so after some visits.
func TestTransientKeepsTheLastGoodVersion(t *testing.T) {
	t.Parallel()
	for class := models.ErrorPage; class <= models.OlderCopy; class++ {
		shell := models.Outcome{Kind: models.Failed, Class: class, Status: 200, Sent: 1, Detail: "no content", ETag: `"shell"`}
		before := livePage()
		once, _ := steps(t, before, shell)
		p := once.Page
		if p.Class != class || p.Note != "no content" || p.Failures != 1 || p.State != models.StateLive || len(once.Events) > 0 {
			t.Errorf("%v: page = %+v, %d events, want the error at once and no event yet", class, p, len(once.Events))
		}
		if p.Version != before.Version || p.Digest != before.Digest || p.ETag != before.ETag || p.Stats != before.Stats ||
			p.ByteChanges != 0 || p.FRMax != before.FRMax {
			t.Errorf("%v: copy or rate moved: %+v", class, p)
		}
		longest := FirstRetry(class)
		if wait := p.DueAt.Time().Sub(noon); wait > longest || wait < longest*3/4 {
			t.Errorf("%v: asked again after %v, want some %v", class, wait, longest)
		}
		_, events := steps(t, before, shell, shell, shell, shell, same)
		if diff := cmp.Diff([]models.EventKind{models.EventFailing, models.EventRestored}, events); diff != "" {
			t.Errorf("%v: events of four shells and the page (-want +got):\n%s", class, diff)
		}
		_, events = steps(t, before, shell, shell, shell, with(models.Noise, "back"))
		if diff := cmp.Diff([]models.EventKind{models.EventFailing, models.EventRefreshed}, events); diff != "" {
			t.Errorf("%v: events of three shells and the page with another clock (-want +got):\n%s", class, diff)
		}
	}
}

// A cache that is behind others for some hours is asked again once meanwhile, and nobody is told.
func TestAnOlderCopyPassesUntold(t *testing.T) {
	t.Parallel()
	p, planner := livePage(), testPlanner(t, testConfig())
	p.Wanted = time.Hour
	asked := 0
	for now := noon; now.Before(noon.Add(9 * time.Hour)); now = p.DueAt.Time() {
		out := models.Outcome{Kind: models.Failed, Class: models.OlderCopy, Status: 200, Sent: 1, At: now}
		r := planner.Plan(testLease(p), p, &out, now)
		if len(r.Events) > 0 {
			t.Errorf("after %v: %v", now.Sub(noon), eventKinds(r))
		}
		p, asked = r.Page, asked+1
	}
	if asked != 2 {
		t.Errorf("asked %d times in 9 hours, want 2", asked)
	}
}

// A page that answers without its content is asked again soon, and then no more often and no less often than always, but for an hour.
func TestTransientIsAskedAtThePagesPace(t *testing.T) {
	t.Parallel()
	for pace, want := range map[time.Duration][]time.Duration{
		5 * time.Minute: {15 * time.Minute, 30 * time.Minute, time.Hour, time.Hour, time.Hour, time.Hour},
		3 * time.Hour:   {15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 3 * time.Hour},
		0:               {15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour}, // not known: fr_max cycles
	} {
		p, now := livePage(), noon
		p.Wanted = pace
		planner := testPlanner(t, testConfig())
		longest := planner.calendar.Interval(now, int(p.FRMax))
		for n, want := range want {
			if pace == 0 {
				want = min(want, max(longest, time.Hour))
			}
			out := models.Outcome{Kind: models.Failed, Class: models.ErrorPage, Status: 200, Sent: 1, At: now}
			p = planner.Plan(testLease(p), p, &out, now).Page
			if wait := p.DueAt.Time().Sub(now); wait > want || wait < want*3/4-time.Second {
				t.Errorf("at a pace of %v it is asked again after %v for the %d. time, want some %v", pace, wait, n+1, want)
			}
			now = p.DueAt.Time()
		}
	}
}

// A page that never showed anything but a log-in form is asked as rarely as the budget pays for, once some retries brought nothing; one with a copy at its pace.
func TestWhatNeverShowedAnythingIsAskedAsTheBudgetPays(t *testing.T) {
	t.Parallel()
	even := 20 * 24 * time.Hour
	planner := testPlanner(t, testConfig())
	planner.purses = new(purses)
	planner.purses.terms.Store(&terms{all: term{allowance: allowance{math.Inf(1), math.Inf(1)}, account: allSites, even: even}})
	for version, want := range map[int32]time.Duration{0: even, 1: 3 * time.Hour} {
		p := livePage()
		p.Version, p.Failures, p.Wanted = version, 20, 3*time.Hour
		if version == 0 {
			p = NewPage(p.URL, "one.test", 1, 1, 4)
			p.Failures = 20
		}
		r := planner.Plan(testLease(p), p, &models.Outcome{Kind: models.Failed, Class: models.LoginWall, Status: 200, Sent: 1, At: noon}, noon)
		want = max(want, FirstRetry(models.LoginWall))
		if wait := r.Page.DueAt.Time().Sub(noon); wait > want || wait < want*3/4 {
			t.Errorf("with %d versions it is asked again after %v, want some %v", version, wait, want)
		}
	}
}

// What stands in a page's place is looked at as soon as a visit tells whether it is the page, if not sooner, but not before the first retry.
func TestAPageIsSeenWhenWhatStandsInItsPlaceIsThePage(t *testing.T) {
	t.Parallel()
	planner := testPlanner(t, testConfig())
	for until, want := range map[time.Duration][2]time.Duration{
		-time.Hour:       {3 * time.Hour, 4 * time.Hour},
		10 * time.Second: {15 * time.Minute, 15 * time.Minute},
		2 * time.Hour:    {2*time.Hour + time.Minute, 2*time.Hour + time.Minute},
		30 * time.Hour:   {3 * time.Hour, 4 * time.Hour},
	} {
		p := livePage()
		p.Wanted, p.Failures = 24*time.Hour, 4
		out := models.Outcome{Kind: models.Failed, Class: models.ErrorPage, Status: 200, Sent: 1, At: noon, Until: noon.Add(until)}
		p = planner.Plan(testLease(p), p, &out, noon).Page
		if wait := p.DueAt.Time().Sub(noon); wait < want[0] || wait > want[1] {
			t.Errorf("where that is in %v it is asked again after %v, want %v to %v", until, wait, want[0], want[1])
		}
	}
}

// TestRetractionTakesTheLastChangeBack: after any history, the record that was called a change is as if it had not differed,
// but for when the change before it was.
func TestRetractionTakesTheLastChangeBack(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy = "classic"
	planner := testPlanner(t, c)
	rapid.Check(t, func(t *rapid.T) {
		p, now := livePage(), noon
		p.Stats = models.ChangeStats{}
		visit := func(out models.Outcome) models.Result {
			out.At = now
			return planner.Plan(testLease(p), p, &out, now)
		}
		for _, changed := range rapid.SliceOfN(rapid.Bool(), 1, 80).Draw(t, "records") {
			out := same
			if changed {
				out = with(models.Changed, now.String())
			}
			p = visit(out).Page
			now = now.Add(time.Duration(rapid.Int64Range(1, int64(40*24*time.Hour)).Draw(t, "later")))
		}
		retracting := same
		retracting.Retract = true
		reported, quiet := p.Stats.Bits&1 == 1, visit(same).Page
		got := visit(retracting).Page
		want := quiet.Stats
		if reported {
			want.Bits &^= 2
			want.Changes--
			want.ChangedAt = got.Stats.ChangedAt
			if got.Stats.ChangedAt != 0 && (got.Stats.ChangedAt < got.Stats.FirstAt || got.Stats.ChangedAt > p.Stats.ChangedAt) {
				t.Fatalf("the change before was at %v, want between %v and %v", got.Stats.ChangedAt, got.Stats.FirstAt, p.Stats.ChangedAt)
			}
			if (got.Stats.ChangedAt == 0) != (got.Stats.Changes == 0) {
				t.Fatalf("%d changes, the last at %v", got.Stats.Changes, got.Stats.ChangedAt)
			}
		}
		if diff := cmp.Diff(want, got.Stats); diff != "" {
			t.Fatalf("stats (-want +got):\n%s", diff)
		}
		if int(got.Stats.Changes) < bits.OnesCount64(got.Stats.Bits) || got.FRMax < quiet.FRMax {
			t.Fatalf("after a retraction %d changes in bits %b, fr_max %d, without it %d", got.Stats.Changes, got.Stats.Bits,
				got.FRMax, quiet.FRMax)
		}
	})
}

// Where visits are evenly apart, the change before the one that is taken back is found to the millisecond, as far back as the
// bits go.
func TestRetractionFindsTheChangeBefore(t *testing.T) {
	t.Parallel()
	day := models.Instant((24 * time.Hour).Milliseconds())
	for _, test := range []struct {
		before int // the record that differed before the last of 0 to 99; 0: none
		want   int // the record it is taken to be
	}{{98, 98}, {50, 50}, {36, 36}, {20, 35}, {0, 0}} {
		s := models.ChangeStats{Records: 100, Changes: 1, Bits: 1, FirstAt: day, VisitedAt: 100 * day, ChangedAt: 100 * day}
		if test.before > 0 {
			s.Changes++
			s.Bits |= 1 << (99 - test.before) // of a record further back than the bits nothing is left
		}
		want := models.Instant(test.want)
		if test.want > 0 {
			want++ // the first record is on day 1
		}
		if got := withoutLast(s).ChangedAt; got != want*day {
			t.Errorf("record %d differed before the last: the change is of day %d, want %d", test.before, got/day, want)
		}
	}
}

// The page as it was leased is the caller's: a retraction does not write to it.
func TestRetractionLeavesTheLeasedPage(t *testing.T) {
	t.Parallel()
	before := livePage()
	before.Stats.Bits, before.Stats.Changes, before.Stats.ChangedAt = 1, 1, before.Stats.VisitedAt
	kept, out := before, same
	out.Retract, out.At = true, noon
	planner, lease := testPlanner(t, testConfig()), testLease(before)
	var r models.Result
	planner.plan(&r, lease, &before, &out, noon, false)
	if diff := cmp.Diff(kept, before); diff != "" || r.Page.Stats.Changes != 0 || r.Page.Stats.ChangedAt != 0 {
		t.Errorf("%d changes after the retraction; the leased page (-before +after):\n%s", r.Page.Stats.Changes, diff)
	}
}

// TestNoiseTeachesWhatA304Does: under every policy, a page that differs by noise on any of its visits is scheduled as one that
// never differs and is as long: the same stats, intervals and evidence, visit for visit.
func TestNoiseTeachesWhatA304Does(t *testing.T) {
	t.Parallel()
	for name := range policy.ByName {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { noiseTeachesNothing(t, name) })
		})
	}
}

func noiseTeachesNothing(t *rapid.T, policyName string) {
	c := config.Default()
	c.Budget.Requests = config.Rate{PerDay: 10}
	c.Sites = []config.Site{{ID: 1, Name: "one", URL: "http://one.test/", Settings: c.Defaults}}
	c.Sites[0].Settings.Policy = policyName
	noisy, quiet := testPlanner(t, &c), testPlanner(t, &c)
	a, b, now := livePage(), livePage(), noon
	for i, kind := range rapid.SliceOfN(rapid.SampledFrom([]models.OutcomeKind{models.NotModified, models.SameBytes, models.SameText,
		models.Noise, models.Changed}), 1, 40).Draw(t, "kinds") {
		out, still := with(kind, fmt.Sprintf("%-*s", a.Bytes, now)), same // as long as it was: lengths teach by themselves
		switch kind {
		case models.NotModified, models.SameBytes:
			out.Body, out.Digest = nil, a.Digest
		case models.Changed:
			still = out
		}
		out.At, still.At = now, now
		a = noisy.Plan(testLease(a), a, &out, now).Page
		b = quiet.Plan(testLease(b), b, &still, now).Page
		if a.Stats != b.Stats || a.DueAt != b.DueAt || a.FRMax != b.FRMax || a.Wanted != b.Wanted || a.Evidence != b.Evidence || a.Rule != b.Rule {
			t.Fatalf("visit %d, %v: the noisy page is %+v, the quiet one %+v", i, kind, a, b)
		}
		if a.ByteChanges < b.ByteChanges || kind.OtherBytes() && a.BytesAt != models.At(now) {
			t.Fatalf("visit %d, %v: %d changes of bytes, the last at %v", i, kind, a.ByteChanges, a.BytesAt)
		}
		now = a.DueAt.Time()
	}
}
