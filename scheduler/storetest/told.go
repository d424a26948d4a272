package storetest

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// listed adds a list, page 0 of a host, and pages of it, and returns the result of the list's visit.
func (w *world) listed(pages ...models.Discovery) models.Result {
	w.Helper()
	list := found("a.example", 0)
	list.Page.DueAt, list.Page.Rule = models.At(w.now), models.RulePolicy
	w.addPages(append(pages, list)...)
	l := w.claimOne(1)
	r := w.visited(l, 0)
	r.Page.Entries = int32(len(pages))
	r.Release = true
	return r
}

// listGoesOn: a visit may give its page to another site, whose it is from then on: with what it reads of it next, and in what is counted. To write
// the same once more changes nothing.
func listGoesOn(w *world) {
	r := w.listed(w.settled("a.example", 1, 0))
	r.Page.SiteID, r.Page.Level, r.Page.Entries = 2, 1, 0
	r.Page.ETag, r.Page.Digest, r.Page.DueAt, r.Page.Rule = "", models.Digest{}, models.At(w.now), models.RuleList
	w.mustCommit(r)
	_ = w.commit(r)
	counts, err := w.store.PagesBySite(w.Context())
	w.must(err)
	if diff := cmp.Diff(map[int32]int64{1: 1, 2: 1}, counts); diff != "" {
		w.Errorf("PagesBySite (-want +got):\n%s", diff)
	}
	if l := w.claimOne(5); len(l.Pages) != 1 || l.Pages[0].SiteID != 2 || l.Pages[0].Level != 1 || !l.Pages[0].Digest.IsZero() {
		w.Errorf("claimed %+v, want the list, of site 2", l.Pages)
	}
}

// settled is a live page of a host that waits for a visit tomorrow.
func (w *world) settled(host string, n int, visitedAt models.Instant) models.Discovery {
	d := found(host, n)
	d.Page.State, d.Page.Rule = models.StateLive, models.RulePolicy
	d.Page.DueAt, d.Page.Stats.VisitedAt = models.At(w.now.Add(24*time.Hour)), visitedAt
	return d
}

// toldPagesAreForwarded: of the pages that a list tells of, those are due by it that were not visited since; whatever waits
// for something else keeps its time, and other hosts and sites are not spoken for.
func toldPagesAreForwarded(w *world) {
	now := models.At(w.now)
	tomorrow := models.At(w.now.Add(24 * time.Hour))
	cases := []struct {
		host      string
		visitedAt models.Instant
		edit      func(*models.Page)
		told, due bool
	}{
		{"a.example", now - 100, nil, true, true},
		{"a.example", now - 50, nil, false, false}, // visited since
		{"a.example", now - 55, nil, false, true},  // perhaps
		{"a.example", 0, nil, false, false},        // never visited
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RuleHint }, true, true},
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RuleDuplicate }, false, false},
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RuleOriginal }, false, false},
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RuleBudget }, true, false},
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RulePaused }, true, false},
		{"a.example", now - 100, func(p *models.Page) { p.State = models.StateGone }, false, false},
		{"a.example", now - 100, func(p *models.Page) { p.Failures = 1 }, false, false},
		{"a.example", now - 100, func(p *models.Page) { p.SiteID = 2 }, false, false},
		{"a.example", now - 100, func(p *models.Page) { p.DueAt, p.Rule = 0, models.RuleExcluded }, false, false},
		{"far.example", now - 100, nil, false, false},
	}
	var pages []models.Discovery
	for i, c := range cases {
		d := w.settled(c.host, i+1, c.visitedAt)
		if c.edit != nil {
			c.edit(&d.Page)
		}
		pages = append(pages, d)
	}
	r := w.listed(pages...)
	for i, c := range cases {
		_, id := keysOf(c.host, i+1)
		r.Told = append(r.Told, models.Told{PageID: id, Since: now - 60, At: now - 50})
	}
	r.Told = append(r.Told, models.Told{PageID: 12345, At: now}, models.Told{PageID: r.Page.ID, At: now})
	r.Telling = models.Telling{At: now + 7, Forward: 100, Marked: 100}
	w.mustCommit(r)
	for i, c := range cases {
		got := w.page(c.host, i+1)
		if (got.Rule == models.RuleSitemap) != c.due || c.due && got.DueAt != now+7 {
			w.Errorf("page %d is due at %v by %v, brought forward: want %v", i+1, got.DueAt, got.Rule, c.due)
		}
		if !c.due && got.DueAt != 0 && got.DueAt != tomorrow {
			w.Errorf("page %d is due at %v, want %v", i+1, got.DueAt, tomorrow)
		}
		if want := map[bool]models.Instant{true: now + 7}[c.told]; got.ToldAt != want {
			w.Errorf("page %d was told of at %v, want %v", i+1, got.ToldAt, want)
		}
	}
	if got := w.page("a.example", 0); got.Entries != int32(len(cases)) || got.ToldAt != 0 {
		w.Errorf("the list has %d entries and was told of at %v, want %d and never", got.Entries, got.ToldAt, len(cases))
	}
	if got := w.host("a.example").ReadyAt; got != now+7 {
		w.Errorf("the host is ready at %v, want %v", got, now+7)
	}
	w.toldStays()
}

// toldStays: a visit leaves what its page was told as it is.
func (w *world) toldStays() {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	l := w.claimOne(9)
	told := make(map[int64]models.Instant)
	results := w.visitAll(l)
	for i := range results {
		told[results[i].Page.ID] = results[i].Page.ToldAt
		results[i].Page.ToldAt = 0
	}
	w.mustCommit(results...)
	seen := 0
	for _, p := range w.dump().Pages {
		if at, visited := told[p.ID]; visited && p.ToldAt != at {
			w.Errorf("%s was told of at %v, and at %v after its visit", p.URL, at, p.ToldAt)
		} else if visited && at != 0 {
			seen++
		}
	}
	if seen == 0 || len(results) != 3 {
		w.Errorf("%d pages were leased, %d of them told of, want the three that are due, two of them told of", len(results), seen)
	}
}

// listsAreBounded: no more pages are brought forward and marked than is said, and another reading draws others.
func listsAreBounded(w *world) {
	now := models.At(w.now)
	var pages []models.Discovery
	for i := range 50 {
		pages = append(pages, w.settled("a.example", i+1, now-100))
	}
	r := w.listed(pages...)
	for i := range pages {
		_, id := keysOf("a.example", i+1)
		r.Told = append(r.Told, models.Told{PageID: id, Since: now - 90, At: now}, models.Told{PageID: id, At: now - 1000})
	}
	r.Telling = models.Telling{At: now, Forward: 5, Marked: 7}
	w.mustCommit(r)
	due, told := 0, 0
	for _, p := range w.dump().Pages {
		if p.Rule == models.RuleSitemap {
			due++
		}
		if p.ToldAt == now {
			told++
		}
	}
	if due != 5 || told != 12 {
		w.Errorf("%d pages are brought forward and %d told of, want 5 and 12", due, told)
	}
}
