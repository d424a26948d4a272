package storetest

import (
	"time"

	"recrawld/models"
)

// unnamedWorld is a page of a host with four requisites, all visited: two images, a style and what came without a type.
func unnamedWorld(w *world) {
	w.addPages(found("a.example", 0), requisite("a.example", 1), requisite("a.example", 2), requisite("a.example", 3), requisite("a.example", 4))
	results := w.visitAll(w.claimOne(5))
	for i := range results {
		results[i].Page.ContentType = map[string]string{pageURL("a.example", 0): "text/html", pageURL("a.example", 1): "image/png",
			pageURL("a.example", 2): "image/png", pageURL("a.example", 3): "text/css"}[results[i].Page.URL]
	}
	w.mustCommit(results...)
	w.now = w.now.Add(time.Hour)
}

// naming calls one of the functions that note whether pages are named for some of the host's pages, and checks how many change.
func (w *world) naming(note func(bucket int16, ids []int64) (int, error), want int, pages ...int) {
	w.Helper()
	var ids []int64
	for _, n := range pages {
		_, id := keysOf("a.example", n)
		ids = append(ids, id)
	}
	bucket, _ := keysOf("a.example", 0)
	if got, err := note(bucket, ids); err != nil || got != want {
		w.Fatalf("of pages %v %d change, %v, want %d", pages, got, err, want)
	}
}

func (w *world) unname(want int, pages ...int) {
	w.Helper()
	w.naming(func(bucket int16, ids []int64) (int, error) {
		return w.store.Unname(w.Context(), models.At(w.now), bucket, ids)
	}, want, pages...)
}

func (w *world) giveUp(before time.Time, want int, pages ...int) {
	w.Helper()
	w.naming(func(bucket int16, ids []int64) (int, error) {
		return w.store.GiveUp(w.Context(), models.At(w.now), models.At(before), bucket, ids)
	}, want, pages...)
}

// wantNamed checks since when a page is unnamed, whether it is due now, and by which rule.
func (w *world) wantNamed(n int, unnamed models.Instant, due bool, rule models.Rule) {
	w.Helper()
	if p := w.page("a.example", n); p.UnnamedAt != unnamed || (p.DueAt == models.At(w.now)) != due || p.Rule != rule {
		w.Errorf("page %d is unnamed since %d, due at %d by %s, want %d, due now: %v, by %s", n, p.UnnamedAt, p.DueAt, p.Rule, unnamed, due, rule)
	}
}

// unnamedUntilFound: only requisites are unnamed, once each. Whoever finds one takes that back, also where he found it before and takes it for
// known: what may name others is due then, an image stays due as it was.
func unnamedUntilFound(w *world) {
	unnamedWorld(w)
	discover := func(pages ...models.Discovery) {
		w.Helper()
		w.must(w.store.VisitNow(w.Context(), w.now, models.BucketOf("a.example"), w.page("a.example", 0).ID))
		r := w.visited(w.claimOne(1), 0)
		r.Discovered = pages
		w.mustCommit(r)
	}
	discover(requisite("a.example", 1), requisite("a.example", 3)) // so that they are familiar
	since := models.At(w.now)
	w.unname(4, 0, 1, 2, 3, 4, 9)
	w.unname(0, 0, 1, 2, 3, 4, 9)
	w.now = w.now.Add(time.Minute)
	discover(requisite("a.example", 1), found("a.example", 3)) // as a link, too
	w.wantNamed(1, 0, false, models.RulePolicy)
	w.wantNamed(3, 0, true, models.RuleNamed)
	w.wantNamed(2, since, false, models.RulePolicy)
	w.addPages(requisite("a.example", 2), requisite("a.example", 4))
	w.wantNamed(2, 0, false, models.RulePolicy)
	w.wantNamed(4, 0, true, models.RuleNamed)
	w.unname(2, 1, 2)
	w.naming(func(bucket int16, ids []int64) (int, error) {
		return w.store.NameAgain(w.Context(), models.At(w.now), bucket, ids)
	}, 1, 0, 2, 3)
	w.wantNamed(1, models.At(w.now), false, models.RulePolicy)
}

// givenUpUntilNamed: what was unnamed before is given up, in a turn that leaves it due never; then it is not handed out until it is named again.
func givenUpUntilNamed(w *world) {
	unnamedWorld(w)
	since := w.now
	w.unname(2, 1, 2)
	w.now = w.now.Add(time.Hour)
	w.unname(1, 3)
	w.giveUp(since.Add(-time.Minute), 0, 1, 2, 3)
	w.giveUp(since, 1, 0, 1, 3, 4)
	w.giveUp(since, 0, 1)
	w.wantNamed(1, models.At(since), true, models.RuleUnnamed)
	l := w.claimOne(5)
	if len(l.Pages) != 1 {
		w.Fatalf("%d pages are due, want the one that was given up", len(l.Pages))
	}
	w.mustCommit(givenUp(w, l))
	w.now = w.now.Add(48 * time.Hour)
	if l := w.claimOne(5); len(l.Pages) != 4 {
		w.Errorf("%d pages are handed out two days later, want the other four", len(l.Pages))
	}
	w.addPages(requisite("a.example", 1))
	w.wantNamed(1, 0, true, models.RuleNamed)
}

// givenUp is the result of the turn in which a page is given up.
func givenUp(w *world, l models.Lease) models.Result {
	r := w.visited(l, 0)
	r.Page.DueAt, r.Page.State, r.Page.Rule, r.Visit.Kind, r.Visit.Rule = 0, models.StateExcluded, models.RuleUnnamed, models.Excluded, models.RuleUnnamed
	return r
}

// namedMeanwhile: what is named again while its turn is under way, to be given up or to be visited, is due for that.
func namedMeanwhile(w *world) {
	unnamedWorld(w)
	w.unname(2, 1, 3)
	w.giveUp(w.now, 1, 1)
	l := w.claimOne(1)
	w.now = w.now.Add(time.Second)
	w.addPages(requisite("a.example", 1))
	w.mustCommit(givenUp(w, l))
	w.wantNamed(1, 0, true, models.RuleNamed)
	w.mustCommit(w.visited(w.claimOne(1), 0))

	bucket, id := keysOf("a.example", 3)
	w.must(w.store.VisitNow(w.Context(), w.now, bucket, id))
	r := w.visited(w.claimOne(1), 0)
	w.now = w.now.Add(time.Second)
	w.addPages(requisite("a.example", 3))
	w.mustCommit(r)
	w.wantNamed(3, 0, true, models.RuleNamed)
}
