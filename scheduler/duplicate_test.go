package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/models"
)

// long is a body that is long enough to be taken for another by its digest.
func long(word string) string { return strings.Repeat(word+" ", leastBody) }

// duplicates is of which page each result says that it is a duplicate, without the host.
func duplicates(results []models.Result) []string {
	var out []string
	for _, r := range results {
		out = append(out, strings.TrimPrefix(r.Page.DuplicateOf, "http://one.test"))
	}
	return out
}

// saying gives a visit a print whose main text and headings are those numbers.
func saying(main, headings byte, more ...func(*models.Outcome)) func(*models.Outcome) {
	return func(out *models.Outcome) {
		out.Print = models.Print{0: main, 4: main, 8: main, 15: headings}
		for _, change := range more {
			change(out)
		}
	}
}

func naming(url string) func(*models.Outcome) {
	return func(out *models.Outcome) { out.Canonical = "http://one.test" + url }
}

// known is an earlier visit's page as the store finds it.
func known(f finished) map[int64][]models.Twin {
	twins := make(map[int64][]models.Twin)
	for _, key := range keysOf(&f.result.Page) {
		twins[key] = []models.Twin{f.result.Page.Twin()}
	}
	return twins
}

// Of pages that say the same the one known first is the original, however they come, and a duplicate's relative links are
// not followed.
func TestDuplicatesInABatch(t *testing.T) {
	t.Parallel()
	first := brought(t, "/first", long("one"), nil)
	first.result.Page.Stats.FirstAt -= 5
	got, _, _ := commitAll(t, &ledger{}, &shelf{}, brought(t, "/a", long("one"), nil), first, brought(t, "/b", "short", nil),
		brought(t, "/c", "short", nil), brought(t, "/d", "x", saying(1, 1)), brought(t, "/e", "y", saying(2, 1)),
		brought(t, "/f", "z", saying(1, 2)))
	if diff := cmp.Diff([]string{"/first", "", "", "", "", "", ""}, duplicates(got)); diff != "" {
		t.Errorf("duplicates (-want +got):\n%s", diff)
	}
	a := got[0]
	if len(a.Discovered) != 1 || a.Discovered[0].Page.URL != "http://one.test/absolute" || len(a.Links) != 1 || a.Page.Children != 1 {
		t.Errorf("a duplicate discovers %d pages and has %d links, want the absolute one alone", len(a.Discovered), len(a.Links))
	}
	if len(got[1].Filed) != 1 || len(got[2].Filed) != 0 || len(got[4].Filed) != 3 {
		t.Errorf("filings: %d of an original, %d of a short body, %d by a print, want 1, 0, 3", len(got[1].Filed), len(got[2].Filed),
			len(got[4].Filed))
	}
	if diff := cmp.Diff([]models.Filing{{Key: followers("http://one.test/first"), PageBucket: a.Page.Bucket, PageID: a.Page.ID}}, a.Filed); diff != "" {
		t.Errorf("filings of a duplicate (-want +got):\n%s", diff)
	}
}

// A start page keeps its links: two sites may begin with the same words, and somebody asked for both.
func TestStartPageThatIsADuplicateKeepsItsLinks(t *testing.T) {
	t.Parallel()
	first, start := brought(t, "/first", long("one"), nil), brought(t, "/a", long("one"), nil)
	first.result.Page.Stats.FirstAt -= 5
	start.result.Page.Level = 0
	got, _, _ := commitAll(t, &ledger{}, &shelf{}, start, first)
	if got[0].Page.DuplicateOf == "" || len(got[0].Discovered) != 2 || len(got[0].Links) != 2 {
		t.Errorf("a start page is the duplicate of %q, discovers %d pages and has %d links, want all of them",
			got[0].Page.DuplicateOf, len(got[0].Discovered), len(got[0].Links))
	}
}

// A duplicate keeps what it needs to be shown, and what of that is a relative link of it as that alone.
func TestADuplicateKeepsItsRequisites(t *testing.T) {
	t.Parallel()
	first := brought(t, "/first", long("one"), nil)
	first.result.Page.Stats.FirstAt -= 5
	a := brought(t, "/a", long("one"), func(out *models.Outcome) {
		out.Requisites = []models.FoundLink{{URL: "http://one.test/a/relative", Host: "one.test", Relative: true},
			{URL: "http://one.test/a/image", Host: "one.test", Relative: true}}
	})
	got, _, _ := commitAll(t, &ledger{}, &shelf{}, a, first)
	want := map[string]bool{"http://one.test/absolute": false, "http://one.test/a/relative": true, "http://one.test/a/image": true}
	if diff := cmp.Diff(want, discovered(got[0])); diff != "" || got[0].Page.DuplicateOf == "" || len(got[0].Links) != 1 {
		t.Errorf("the duplicate of %q has %d links; it found, and whether as requisites (-want +got):\n%s", got[0].Page.DuplicateOf,
			len(got[0].Links), diff)
	}
}

// A duplicate waits as long as fr_max lets it, where the site wants that; what the policy alone asks for is kept.
func TestDuplicatesAreVisitedAtTheCeiling(t *testing.T) {
	t.Parallel()
	for _, wanted := range []bool{true, false} {
		first, f := brought(t, "/a", "one", saying(1, 1)), brought(t, "/b", "other", saying(1, 1))
		c := testConfig()
		c.Sites[0].Settings.Duplicates = wanted
		f.planner = testPlanner(t, c)
		first.result.Page.Stats.FirstAt -= 5
		policy := f.result.Page
		got, _, _ := commitAll(t, &ledger{twins: known(first)}, &shelf{}, f)
		p, ceiling := got[0].Page, f.planner.calendar.Interval(noon, c.Sites[0].Settings.FRMax)
		if p.DuplicateOf == "" || p.Wanted != policy.Wanted || p.FRMax != policy.FRMax || got[0].Visit.Rule != p.Rule {
			t.Errorf("duplicate of %q, wanted %v, fr_max %d, rule of the visit %v, want what the policy asks for (%v, %d)",
				p.DuplicateOf, p.Wanted, p.FRMax, got[0].Visit.Rule, policy.Wanted, policy.FRMax)
		}
		if !wanted {
			if p.Rule != models.RulePolicy || p.DueAt != policy.DueAt {
				t.Errorf("where the site does not want it: due %v by %v, want %v by policy", p.DueAt, p.Rule, policy.DueAt)
			}
			if len(got[0].Links) != 2 || len(got[0].Discovered) != 2 || p.Children != 2 {
				t.Errorf("where the site does not want it: %d links, %d pages discovered, want both links followed", len(got[0].Links),
					len(got[0].Discovered))
			}
			continue
		}
		if wait := p.DueAt.Time().Sub(noon); p.Rule != models.RuleDuplicate || wait < ceiling/2 || wait > ceiling*2 {
			t.Errorf("due in %v by %v, want about %v by duplicate", wait, p.Rule, ceiling)
		}
	}
}

// TestALateDuplicateIsLookedAtSooner: a page that says what another said long before it was there may be the other's new name, and the only one soon.
// It is looked at after as long as it has been known, a start interval at least and the ceiling at most; one that was found with its original waits.
func TestALateDuplicateIsLookedAtSooner(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, test := range []struct{ later, known, least, most time.Duration }{
		{20 * day, 0, 20 * time.Hour, 30 * time.Hour},
		{20 * day, 3 * day, 3 * day, 3 * day},
		{20 * day, 300 * day, 25 * day, 31 * day},
		{10 * day, 0, 25 * day, 31 * day},
	} {
		original, f := brought(t, "/a", "one", saying(1, 1)), brought(t, "/b", "other", saying(1, 1))
		f.result.Page.Stats.FirstAt = models.At(noon.Add(-test.known))
		original.result.Page.Stats.FirstAt = models.At(noon.Add(-test.known - test.later))
		got, _, _ := commitAll(t, &ledger{twins: known(original)}, &shelf{}, f)
		if wait := got[0].Page.DueAt.Time().Sub(noon); got[0].Page.Rule != models.RuleDuplicate || wait < test.least || wait > test.most {
			t.Errorf("a page known for %v, of another known for %v more: due in %v by %v, want %v to %v by duplicate", test.known, test.later, wait,
				got[0].Page.Rule, test.least, test.most)
		}
	}
}

// again is a visit to the page of another visit's result that finds it unchanged.
func again(t *testing.T, f finished, kind models.OutcomeKind) finished {
	t.Helper()
	out := f.outcome
	out.Kind, out.Body, out.At = kind, nil, noon.Add(time.Hour)
	if kind == models.NotModified {
		out.Digest, out.Links, out.LinksKnown, out.Print = models.Digest{}, nil, false, models.Print{}
		out.ETag, out.LastModified = `"1"`, "Thu, 01 Jan 2026 00:00:00 GMT"
	}
	g := finished{planner: f.planner, lease: f.lease, before: f.result.Page, outcome: out}
	g.result = g.planner.Plan(&g.lease, g.before, &g.outcome, out.At)
	return g
}

// A page is a duplicate as long as its original is there and says the same; then its own policy and links count again.
func TestDuplicateBecomesAPageOfItsOwn(t *testing.T) {
	t.Parallel()
	original, f := brought(t, "/a", "one", saying(1, 1)), brought(t, "/b", "other", saying(1, 1))
	original.result.Page.Stats.FirstAt -= 5
	f.result.Page.DuplicateOf = original.result.Page.URL
	for what, test := range map[string]struct {
		change func(*models.Page)
		kind   models.OutcomeKind
		stays  bool
	}{
		"stays":              {func(*models.Page) {}, models.NotModified, true},
		"stays, read again":  {func(*models.Page) {}, models.SameBytes, true},
		"is missing a while": {func(p *models.Page) { p.State = models.StateMissing }, models.NotModified, true},
		"fails":              {func(p *models.Page) { p.Failures, p.Class = 3, models.ServerError }, models.NotModified, true},
		"is gone":            {func(p *models.Page) { p.State = models.StateGone }, models.NotModified, false},
		"is excluded":        {func(p *models.Page) { p.State = models.StateExcluded }, models.SameBytes, false},
		"moved":              {func(p *models.Page) { p.State = models.StateMoved }, models.NotModified, false},
		"was removed":        {func(p *models.Page) { p.URL = "" }, models.NotModified, false},
		"is a duplicate":     {func(p *models.Page) { p.DuplicateOf = "http://one.test/c" }, models.SameBytes, false},
		"says other things":  {func(p *models.Page) { p.Print = models.Print{0: 9, 15: 1} }, models.SameBytes, false},
		"is paused":          {func(p *models.Page) { p.SiteID = 2 }, models.SameBytes, false},
	} {
		old := original
		test.change(&old.result.Page)
		twins := known(old)
		wantFiled := len(twins)
		twins[followers(f.result.Page.DuplicateOf)] = []models.Twin{f.result.Page.Twin()}
		visit := again(t, f, test.kind)
		visit.planner = testPlanner(t, testConfig(), 2)
		got, _, _ := commitAll(t, &ledger{twins: twins}, &shelf{}, visit)
		r := got[0]
		wantRule, wantLinks := models.RulePolicy, 2
		if test.stays {
			wantRule, wantLinks, wantFiled = models.RuleDuplicate, 1, 0
		}
		if test.kind == models.NotModified {
			wantLinks = 0
		}
		if (r.Page.DuplicateOf != "") != test.stays || r.Page.Rule != wantRule || len(r.Links) != wantLinks || len(r.Filed) != wantFiled {
			t.Errorf("the original %s: duplicate of %q, due by %v, %d links, %d filings, want %v, %v, %d, %d", what,
				r.Page.DuplicateOf, r.Page.Rule, len(r.Links), len(r.Filed), test.stays, wantRule, wantLinks, wantFiled)
		}
		if unconditional := r.Page.ETag == ""; test.kind == models.NotModified && unconditional == test.stays {
			t.Errorf("the original %s: the next visit is unconditional: %v", what, unconditional)
		}
		wantUnfiled := btoi(!test.stays)
		if what == "was removed" { // its own go, too
			wantUnfiled += wantFiled
		}
		if len(r.Unfiled) != wantUnfiled {
			t.Errorf("the original %s: %d filings are removed, want %d", what, len(r.Unfiled), wantUnfiled)
		}
		if diff := cmp.Diff(kindsIf(!test.stays, models.EventRefreshed), kindsOf(r.Events)); diff != "" {
			t.Errorf("the original %s: whoever follows is told (-want +got):\n%s", what, diff)
		}
		for _, e := range r.Events {
			if e.LastModified != visit.outcome.LastModified || e.Previous != e.Version {
				t.Errorf("the original %s: the copy told of is version %d after %d, changed %q, want that which there is", what, e.Version, e.Previous,
					e.LastModified)
			}
		}
	}
}

// Whoever indexes no duplicates is told of a page that became one though it says what it said; of one that says other things that is told
// already.
func TestBecomingADuplicateIsTold(t *testing.T) {
	t.Parallel()
	original, f := brought(t, "/a", "one", saying(1, 1)), brought(t, "/b", "other", saying(1, 1))
	original.result.Page.Stats.FirstAt -= 5
	got, _, _ := commitAll(t, &ledger{twins: known(original)}, &shelf{}, again(t, f, models.SameBytes), brought(t, "/c", "new", saying(1, 1)))
	for i, want := range []models.EventKind{models.EventRefreshed, models.EventNew} {
		if diff := cmp.Diff(kindsIf(true, want), kindsOf(got[i].Events)); diff != "" || got[i].Page.DuplicateOf == "" {
			t.Errorf("%s, of %q (-want +got):\n%s", got[i].Page.URL, got[i].Page.DuplicateOf, diff)
		}
	}
}

func kindsIf(told bool, kind models.EventKind) []models.EventKind {
	if told {
		return []models.EventKind{kind}
	}
	return nil
}

func kindsOf(events []models.Event) (kinds []models.EventKind) {
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// A page that names another one as canonical is its duplicate, whichever came first, if that one agrees.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		older, newer func(*models.Outcome) // what they say; the newer one is at /b
		want         []string
	}{
		"nobody names":           {saying(1, 1), saying(1, 1), []string{"", "/a"}},
		"the older one names":    {saying(1, 1, naming("/b")), saying(1, 1), []string{"/b", ""}},
		"the newer one names":    {saying(1, 1), saying(1, 1, naming("/a")), []string{"", "/a"}},
		"each names the other":   {saying(1, 1, naming("/b")), saying(1, 1, naming("/a")), []string{"", "/a"}},
		"other text":             {saying(1, 1, naming("/b")), saying(2, 1), []string{"", ""}},
		"one that is not there":  {saying(1, 1, naming("/c")), saying(1, 1, naming("/c")), []string{"", "/a"}},
		"nothing is to be read":  {func(out *models.Outcome) { out.Canonical = "http://one.test/b" }, nil, []string{"", ""}},
		"names a third, younger": {saying(1, 1, naming("/c")), saying(1, 1), []string{"/b", ""}},
	} {
		older, newer := brought(t, "/a", "older", test.older), brought(t, "/b", "newer", test.newer)
		older.result.Page.Stats.FirstAt -= 5
		got, _, _ := commitAll(t, &ledger{}, &shelf{}, newer, older)
		got[0], got[1] = got[1], got[0]
		if diff := cmp.Diff(test.want, duplicates(got)); diff != "" {
			t.Errorf("%s: duplicates (-want +got):\n%s", what, diff)
		}
	}
}

// Two workers that decide at a time, each of a page that the other has just written, do not make each page a duplicate of
// the other.
func TestNoTwoPagesAreEachOthersDuplicates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		pages := make([]finished, 2)
		for i := range pages {
			var more []func(*models.Outcome)
			if rapid.Bool().Draw(rt, "names") {
				more = append(more, naming(rapid.SampledFrom([]string{"/a", "/b", "/c"}).Draw(rt, "canonical")))
			}
			pages[i] = brought(t, []string{"/a", "/b"}[i], fmt.Sprint(i), saying(1, 1, more...))
			pages[i].result.Page.Stats.FirstAt += models.Instant(rapid.IntRange(0, 1).Draw(rt, "later"))
		}
		a, _, _ := commitAll(t, &ledger{twins: known(pages[1])}, &shelf{}, pages[0])
		b, _, _ := commitAll(t, &ledger{twins: known(pages[0])}, &shelf{}, pages[1])
		if (a[0].Page.DuplicateOf != "") == (b[0].Page.DuplicateOf != "") {
			rt.Fatalf("duplicates of %q and %q, want one of them", a[0].Page.DuplicateOf, b[0].Page.DuplicateOf)
		}
	})
}
