package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
)

// What a cache kept too long says nothing of the page since the visit before, which had the cache fetch it: the page is asked for once more,
// and that visit counts.
func TestPlanAsksAStaleCacheAgain(t *testing.T) {
	t.Parallel()
	page, now := livePage(), noon
	p, lease := testPlanner(t, testConfig()), testLease(page)
	visit := func(out models.Outcome) models.Result {
		r := p.Plan(lease, page, &out, now)
		page, lease.Host = r.Page, r.Host
		return r
	}
	stale := models.Outcome{Kind: models.NotModified, Status: 304, Sent: 1, ETag: `"1"`, CacheAge: 24 * time.Hour, Stale: true}
	visit(stale)
	if page.Rule != models.RuleStale || page.DueAt != models.At(now.Add(refilled)) || page.Stats != livePage().Stats || page.FRMax != livePage().FRMax {
		t.Fatalf("after a stale 304: due by %v in %v, stats %+v, fr_max %d; want to be asked again after %v, and no record",
			page.Rule, page.DueAt.Time().Sub(now), page.Stats, page.FRMax, refilled)
	}
	now = now.Add(refilled)
	anew := with(models.Changed, "two")
	anew.CacheAge, anew.Stale = refilled, true // it may be kept for seconds alone
	r := visit(anew)
	if page.Rule != models.RulePolicy || page.Stats.Records != 11 || page.Stats.Changes != 1 || r.Events[0].NotBefore != livePage().Stats.VisitedAt {
		t.Errorf("the visit after that: due by %v, stats %+v, events %+v; want a change since the visit before both", page.Rule, page.Stats, r.Events)
	}
	if got := lease.Host.Trials.By[models.HintStale]; got.Hits != 1 {
		t.Errorf("the ledger says %+v, want that the cache had fetched it", got)
	}
}

// A cache that gives out the same again, since what lies behind it is down or since it keeps answers as long as it is told elsewhere, is not
// asked twice any more, but for a try a day later. What is hardly older than the visit, and what is a requisite, is not either.
func TestPlanLeavesAStaleCache(t *testing.T) {
	t.Parallel()
	stale := models.Outcome{Kind: models.NotModified, Status: 304, Sent: 1, ETag: `"1"`, CacheAge: 24 * time.Hour, Stale: true}
	p, lease, asked := testPlanner(t, testConfig()), testLease(livePage()), 0
	for range 20 {
		r := p.Plan(lease, livePage(), &stale, noon)
		page := r.Page
		if lease.Host = r.Host; page.Rule == models.RuleStale {
			asked++
			r = p.Plan(lease, page, &stale, noon.Add(refilled))
			page, lease.Host = r.Page, r.Host
		}
		if page.Rule != models.RulePolicy || page.Stats.Records != 11 {
			t.Fatalf("after all stale answers the page is due by %v with %d records, want its interval and one more", page.Rule, page.Stats.Records)
		}
	}
	if asked != 10 {
		t.Errorf("a cache that gives out the same was asked twice %d times, want 10", asked)
	}
	if r := p.Plan(lease, livePage(), &stale, noon.Add(triedAnew+time.Hour)); r.Page.Rule != models.RuleStale {
		t.Errorf("a day later the page is due by %v, want that it is tried", r.Page.Rule)
	}
	hardly, requisite := stale, livePage()
	hardly.CacheAge, requisite.Requisite = time.Hour, true
	for name, r := range map[string]models.Result{"an hour of a day": plan(t, livePage(), hardly), "a requisite": plan(t, requisite, stale)} {
		if r.Page.Rule != models.RulePolicy || r.Page.Stats.Records != 11 {
			t.Errorf("%s: due by %v with %d records, want a visit as any", name, r.Page.Rule, r.Page.Stats.Records)
		}
	}
}

// A list is not held wrong for a page that a cache shows as it was.
func TestPlanHearsAListPastAStaleCache(t *testing.T) {
	t.Parallel()
	page := livePage()
	page.ToldAt, page.Rule = models.At(noon.Add(-time.Hour)), models.RuleSitemap
	out := models.Outcome{Kind: models.NotModified, Status: 304, Sent: 1, ETag: `"1"`, CacheAge: 24 * time.Hour, Stale: true}
	r := plan(t, page, out)
	if got := r.Host.Trials.By[models.HintSitemap]; got != (models.Trial{}) {
		t.Errorf("a stale answer says of the sitemap: %+v, want nothing", got)
	}
	if !heard(&r.Page) {
		t.Error("the visit after it is not made for what the sitemap said, and what it finds would be learned as chance")
	}
	lease, anew := testLease(page), with(models.Changed, "two")
	lease.Host = r.Host
	r = testPlanner(t, testConfig()).Plan(lease, r.Page, &anew, noon.Add(time.Minute))
	if got := r.Host.Trials.By[models.HintSitemap]; got.Hits != 1 {
		t.Errorf("the visit after it says of the sitemap: %+v, want that it was right", got)
	}
}

// Two visits a minute apart are one record also where the first of them found something: of the policy a page would change every minute, or half as
// often as it does.
func TestPlanCountsAnAnswerAskedForAgainOnce(t *testing.T) {
	t.Parallel()
	fresh := NewPage("http://one.test/a", "one.test", 1, 1, 4)
	stale := func(out models.Outcome) models.Outcome {
		out.CacheAge, out.Stale = 20*time.Hour, true
		return out
	}
	for name, test := range map[string]struct {
		page          models.Page
		first, second models.Outcome
		changes       int32
	}{
		"a first visit":            {fresh, with(models.First, "one"), with(models.Changed, "two"), 0},
		"a change":                 {livePage(), with(models.Changed, "two"), models.Outcome{Kind: models.NotModified, Status: 304, Sent: 1}, 1},
		"a change, and one more":   {livePage(), with(models.Changed, "two"), with(models.Changed, "three"), 1},
		"not found a minute later": {livePage(), with(models.Changed, "two"), models.Outcome{Kind: models.Missing, Status: 404, Sent: 1}, 1},
	} {
		for _, policy := range []string{"classic", "adaptive"} {
			c := testConfig()
			c.Sites[0].Settings.Policy = policy
			p, lease, first := testPlanner(t, c), testLease(test.page), stale(test.first)
			once := p.Plan(lease, test.page, &first, noon)
			if once.Page.Rule != models.RuleStale {
				t.Fatalf("%s: due by %v, want to be asked again", name, once.Page.Rule)
			}
			at := noon.Add(refilled)
			twice := p.Plan(lease, once.Page, &test.second, at).Page
			if s := twice.Stats; s.Records != once.Page.Stats.Records || s.Changes != test.changes || twice.FRMax != once.Page.FRMax || twice.Evidence != once.Page.Evidence {
				t.Errorf("%s under %s: both visits make %+v and fr_max %d, want what the first made: %+v and %d", name, policy, s, twice.FRMax, once.Page.Stats, once.Page.FRMax)
			}
			if test.second.Kind.Observed() && (twice.Stats.VisitedAt != models.At(at) || twice.Rule != models.RulePolicy || twice.Wanted != once.Page.Wanted) {
				t.Errorf("%s under %s: seen at %v, due by %v after %v; want a minute later, and as often as the first visit made it", name, policy, twice.Stats.VisitedAt.Time(), twice.Rule, twice.Wanted)
			}
		}
	}
}

// A page that is another one at each visit, and whose cache answers what is old each time, is not asked again and again where its site's budget puts
// the second visit off.
func TestPlanAsksOnceWhereTheBudgetPutsOff(t *testing.T) {
	t.Parallel()
	p, page, now := testPlanner(t, testConfig()), livePage(), noon
	lease := testLease(page)
	for visit := range 3 {
		out := with(models.Changed, string(rune('a'+visit)))
		out.CacheAge, out.Stale = 24*time.Hour, true
		page = p.Plan(lease, page, &out, now).Page
		if asked := page.Rule == models.RuleStale; asked != (visit == 0) {
			t.Errorf("after visit %d in %v it is asked again: %v", visit, now.Sub(noon), asked)
		}
		now = now.Add(10 * time.Minute)
		put := models.Outcome{Kind: models.Deferred, Spent: true, Until: now.Add(10 * time.Minute)}
		page.DueAt = models.At(now)
		page = p.Plan(lease, page, &put, now).Page
		now = now.Add(10 * time.Minute)
	}
}
