package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawld/models"
)

func sitesFollowFile(w *world) {
	sync := func(names ...string) []models.Site {
		w.Helper()
		var sites []models.Site
		for _, name := range names {
			sites = append(sites, models.Site{Name: name, URL: "https://" + name + ".example/"})
		}
		stored, err := w.store.SyncSites(w.Context(), w.now, sites)
		w.must(err)
		return stored
	}
	first := sync("a", "b")
	w.must(w.store.SetPaused(w.Context(), first[1].ID, true, w.now))
	added, err := w.store.AddSite(w.Context(), w.now, models.Site{Name: "c", URL: "https://c.example/", Settings: "cycle: 1h"})
	w.must(err)
	w.now = w.now.Add(time.Hour)
	second := sync("c", "b")
	if second[1].ID != first[1].ID || !second[1].Paused || second[1].CreatedAt != models.At(start) {
		w.Errorf("site b = %+v, want ID %d, paused, of %v", second[1], first[1].ID, start)
	}
	if second[0].ID != added.ID || second[0].Settings != "cycle: 1h" || !second[0].FromFile {
		w.Errorf("site c = %+v, want ID %d, its settings, from the file", second[0], added.ID)
	}
	all, err := w.store.Sites(w.Context())
	w.must(err)
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprint(s.Name, s.FromFile))
	}
	if want := []string{"afalse", "btrue", "ctrue"}; !slices.Equal(got, want) {
		w.Errorf("sites = %v, want %v", got, want)
	}
	if added.FromFile || first[0].ID == first[1].ID || added.ID == first[0].ID {
		w.Errorf("sites = %+v, %+v: IDs are not unique or FromFile is wrong", first, added)
	}
	if err := w.store.SetPaused(w.Context(), 99, true, w.now); !errors.Is(err, models.ErrNotFound) {
		w.Errorf("SetPaused of an unknown site: %v, want %v", err, models.ErrNotFound)
	}
}

// sitesRenamed: a site that has another name in the file is the same site, with its pages.
func sitesRenamed(w *world) {
	sync := func(sites ...models.Site) []models.Site {
		w.Helper()
		stored, err := w.store.SyncSites(w.Context(), w.now, sites)
		w.must(err)
		return stored
	}
	a, b := models.Site{Name: "a", URL: "https://a.example/"}, models.Site{Name: "b", URL: "https://b.example/"}
	first := sync(a, b)
	legal := models.Site{Name: "legal", URL: a.URL}
	if got := sync(legal, b); got[0].ID != first[0].ID || got[0].Name != "legal" || got[1].ID != first[1].ID {
		w.Errorf("a under the name legal = %+v, want ID %d", got, first[0].ID)
	}
	// With both names in the file there are two sites, and the one that was there stays.
	if got := sync(a, legal, b); got[1].ID != first[0].ID || got[0].ID == first[0].ID {
		w.Errorf("a beside legal = %+v, want legal to keep ID %d", got, first[0].ID)
	}
	all, err := w.store.Sites(w.Context())
	w.must(err)
	if len(all) != 3 {
		w.Errorf("%d sites, want 3: %+v", len(all), all)
	}
}

func pagesPerHost(w *world) {
	var pages []models.Discovery
	for i := range 5 {
		pages = append(pages, found("a.example", i), found("b.example", i%2))
	}
	added, err := w.store.AddPages(w.Context(), w.now, pages, 3)
	if want := (models.Added{Added: 5, Known: 3, Dropped: 2}); added != want || err != nil {
		w.Errorf("AddPages = %+v, %v, want %+v", added, err, want)
	}
	added, err = w.store.AddPages(w.Context(), w.now, pages, 4)
	if want := (models.Added{Added: 1, Known: 8, Dropped: 1}); added != want || err != nil {
		w.Errorf("AddPages again with one more a host = %+v, %v, want %+v", added, err, want)
	}
	if h := w.host("a.example"); h.Pages != 4 {
		w.Errorf("host has %d pages, want 4", h.Pages)
	}
}

func bigBatch(w *world) {
	const hosts, pages = 200, 60 // more than one transaction takes, and more than one statement
	var batch []models.Discovery
	for h := range hosts {
		for p := range pages {
			batch = append(batch, found(fmt.Sprintf("h%d.example", h), p))
		}
	}
	if got, want := w.addPages(batch...), (models.Added{Added: hosts * pages}); got != want {
		w.Errorf("AddPages = %+v, want %+v", got, want)
	}
	if got, want := w.addPages(batch[:1000]...), (models.Added{Known: 1000}); got != want {
		w.Errorf("AddPages again = %+v, want %+v", got, want)
	}
	var results []models.Result
	for leases := w.claim(hosts, 3); len(leases) > 0; leases = w.claim(hosts, 3) { // it may give fewer than are ready
		for _, l := range leases {
			results = append(results, w.visitAll(l)...)
		}
	}
	w.mustCommit(results...)
	if got, want := len(results), hosts*3; got != want {
		w.Errorf("%d pages claimed, want %d", got, want)
	}
	if d := w.dump(); len(d.Visits) != len(results) || len(d.Pages) != hosts*pages {
		w.Errorf("%d visits and %d pages, want %d and %d", len(d.Visits), len(d.Pages), len(results), hosts*pages)
	}
}

func pauseAndResume(w *world) {
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}, {Name: "b"}})
	w.must(err)
	for i, host := range []string{"a.example", "b.example"} {
		d := found(host, 0)
		d.Page.SiteID = sites[i].ID
		w.addPages(d, models.Discovery{Host: host, Page: models.Page{URL: pageURL(host, 1), SiteID: sites[i].ID,
			Rule: models.RulePolicy, DueAt: models.At(w.now.Add(time.Hour))}})
	}
	w.must(w.store.SetPaused(w.Context(), sites[0].ID, true, w.now))
	for _, l := range w.claim(2, 1) { // pausing itself moves nothing: the worker defers
		r := w.visited(l, 0)
		r.Page.Rule, r.Page.DueAt, r.Visit.Kind = models.RulePaused, models.At(w.now.Add(1000*time.Hour)), models.Deferred
		w.mustCommit(r)
	}
	w.now = w.now.Add(time.Minute)
	w.must(w.store.SetPaused(w.Context(), sites[0].ID, false, w.now))
	if got := w.ready("a.example"); !got.Equal(w.now) {
		w.Errorf("resumed site ready at %v, want %v", got, w.now)
	}
	if got := w.page("a.example", 0); got.DueAt != models.At(w.now) || got.Rule != models.RuleResumed {
		w.Errorf("deferred page of the resumed site due at %v by %v, want %v by %v", got.DueAt, got.Rule, w.now, models.RuleResumed)
	}
	if got, want := w.page("a.example", 1).DueAt, models.At(start.Add(time.Hour)); got != want {
		w.Errorf("other page of the resumed site due at %v, want %v as before", got, want)
	}
	if got := w.page("b.example", 0); got.Rule != models.RulePaused {
		w.Errorf("page of another site due by %v, want it still paused", got.Rule)
	}
}

func removeSite(w *world) {
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}, {Name: "b"}})
	w.must(err)
	for i := range 20 {
		d := found("a.example", i)
		d.Page.SiteID = sites[i%2].ID
		if i%2 == 1 {
			d.Page.DueAt = models.At(w.now.Add(time.Hour))
		}
		w.addPages(d)
	}
	l := w.claimOne(5)
	r := w.visited(l, 0)
	r.Page.Version, r.Version = 1, &models.Version{Number: 1}
	r.Links, r.LinksKnown = []models.Link{{ChildID: 1}}, true
	r.Host.Trials = models.Trials{SitemapAt: models.At(w.now), SitemapFound: true}
	w.mustCommit(r)
	w.must(w.store.RemoveSite(w.Context(), sites[0].ID, w.now))
	if got := w.host("a.example").Trials; got.SitemapFound || got.SitemapAt != models.At(w.now) {
		w.Errorf("a host has %+v, want no sitemap, whose page may have been removed", got)
	}
	late := w.visited(l, 4)
	if verdicts := w.commit(late); !errors.Is(verdicts[0], models.ErrLeaseLost) {
		w.Errorf("commit on a removed page: %v, want %v", verdicts[0], models.ErrLeaseLost)
	}
	d := w.dump()
	if len(d.Pages) != 10 || len(d.Visits)+len(d.Versions)+len(d.Links)+len(d.Daily) != 0 || len(d.Sites) != 1 {
		w.Errorf("left: %d pages, %d visits, %d versions, %d links, %d days, %d sites", len(d.Pages), len(d.Visits),
			len(d.Versions), len(d.Links), len(d.Daily), len(d.Sites))
	}
	if len(d.Events) != 1 || d.Events[0].Kind != models.EventRemoved || d.Events[0].PageID != r.Page.ID || d.Events[0].URL != r.Page.URL ||
		d.Events[0].Note != "a" || d.Events[0].Seq != 1 || d.Events[0].At != models.At(w.now) {
		w.Errorf("events %+v, want one of the page that there was a copy of", d.Events)
	}
	if news, err := w.store.News(w.Context(), "m"); err != nil || len(news) != 1 {
		w.Errorf("News = %v, %v, want the bucket of the page", news, err)
	}
	h := w.host("a.example")
	if h.Pages != 10 || h.LeaseUntil != 0 || h.ReadyAt != models.At(w.now.Add(time.Hour)) {
		w.Errorf("host = %d pages, lease until %v, ready at %v, want 10, none, %v", h.Pages, h.LeaseUntil, h.ReadyAt,
			w.now.Add(time.Hour))
	}
	if err := w.store.RemoveSite(w.Context(), sites[0].ID, w.now); !errors.Is(err, models.ErrNotFound) {
		w.Errorf("RemoveSite again: %v, want %v", err, models.ErrNotFound)
	}
}

// removedSiteKeepsItsName: pages that somebody adds to a removed site, since he did not know of that, are told of by its name as well,
// as long as that is kept.
func removedSiteKeepsItsName(w *world) {
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}})
	w.must(err)
	var got []string
	for i := range 3 {
		d := found("a.example", 0)
		d.Page.SiteID, d.Page.DueAt = sites[0].ID, models.At(w.now)
		w.addPages(d)
		r := w.visited(w.claimOne(1), 0)
		r.Page.Version, r.Version, r.Release = 1, &models.Version{Number: 1}, true
		w.mustCommit(r)
		if err := w.store.RemoveSite(w.Context(), sites[0].ID, w.now); (err == nil) != (i == 0) {
			w.Fatalf("RemoveSite = %v", err)
		}
		events := w.dump().Events
		got = append(got, events[len(events)-1].Note)
		if w.now = w.now.Add(time.Hour); i == 1 {
			_, err := w.store.PruneEvents(w.Context(), w.now, nil, 10)
			w.must(err)
		}
	}
	if want := []string{"a", "a", ""}; !slices.Equal(got, want) {
		w.Errorf("the removals bear the names %q, want %q", got, want)
	}
}

// politeAfterRemoval: the last request of a lease was for a page that was removed while it was under way.
func politeAfterRemoval(w *world) {
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}, {Name: "b"}})
	w.must(err)
	for i := range 3 {
		d := found("a.example", i)
		d.Page.SiteID = sites[i%2].ID
		w.addPages(d)
	}
	l := w.claimOne(3)
	last := slices.IndexFunc(l.Pages, func(p models.LeasedPage) bool { return p.SiteID == sites[1].ID })
	w.must(w.store.RemoveSite(w.Context(), sites[1].ID, w.now))
	r := w.visited(l, last)
	r.Release, r.Host.OpenAt = true, models.At(w.now.Add(30*time.Second))
	if verdicts := w.commit(r); !errors.Is(verdicts[0], models.ErrLeaseLost) {
		w.Errorf("commit on a removed page: %v, want %v", verdicts[0], models.ErrLeaseLost)
	}
	if got, want := w.ready("a.example"), w.now.Add(30*time.Second); !got.Equal(want) {
		w.Errorf("ready at %v after a request for a page that was removed meanwhile, want %v", got, want)
	}
}

// wishesOutliveWaiting: somebody asks for pages, or a list tells of them, while they are leased. A result that is no visit to the
// page leaves it as it is then, for whatever it would have waited; a visit was what was wished for.
func wishesOutliveWaiting(w *world) {
	kinds := []models.OutcomeKind{0, models.Deferred, models.RobotsFetched, models.Probed, models.Interrupted, models.NotModified}
	w.add("a.example", len(kinds))
	l := w.claimOne(len(kinds))
	w.now = w.now.Add(time.Second)
	var results []models.Result
	for i, kind := range kinds {
		r := w.visited(l, i)
		leased := l.Pages[i].Page
		r.Before, r.Visit.Kind, r.Page.DueAt = &leased, kind, models.At(w.now.Add(24*time.Hour))
		if kind == 0 {
			r.Visit, r.Page.Visits = models.Visit{}, leased.Visits
		}
		results = append(results, r)
		w.must(w.store.VisitNow(w.Context(), w.now, leased.Bucket, leased.ID))
	}
	w.mustCommit(results...)
	w.mustCommit(results...) // its answer was lost
	for i, kind := range kinds {
		got, want := w.page("a.example", pageNumber(l.Pages[i].URL)), models.RuleManual
		if kind == models.NotModified {
			want = models.RulePolicy
		}
		if got.Rule != want || (got.DueAt == models.At(w.now)) != (want == models.RuleManual) {
			w.Errorf("a page that somebody asked for is due at %v by %v after a result of kind %v, want by %v", got.DueAt, got.Rule, kind, want)
		}
	}
	w.now = w.now.Add(time.Second)
	l = w.claimOne(len(kinds))
	if len(l.Pages) != len(kinds)-1 {
		w.Fatalf("%d pages are due, want %d", len(l.Pages), len(kinds)-1)
	}
	r := w.visited(l, 0)
	leased := l.Pages[0].Page
	r.Before, r.Visit, r.Page.Visits, r.Page.Rule = &leased, models.Visit{}, leased.Visits, models.RulePaused
	w.mustCommit(r)
	if got := w.page("a.example", pageNumber(leased.URL)); got.Rule != models.RulePaused {
		w.Errorf("a wished page that cannot be visited now is due by %v, want by %v", got.Rule, models.RulePaused)
	}
}

// wishesAmongResults: of several results of a page that are committed together each has a wish served or leaves it, as if it came alone.
func wishesAmongResults(w *world) {
	for host, test := range map[string]struct {
		kinds []models.OutcomeKind
		want  models.Rule
	}{
		"served.example":  {[]models.OutcomeKind{models.RobotsFetched, models.NotModified, models.Interrupted}, models.RulePolicy},
		"waiting.example": {[]models.OutcomeKind{models.RobotsFetched, models.Interrupted}, models.RuleManual},
		"outrun.example":  {[]models.OutcomeKind{models.NotModified, models.Interrupted}, models.RuleManual},
	} {
		w.add(host, 1)
		l := w.claimOne(1)
		began, asked := w.now, w.now.Add(time.Second)
		w.must(w.store.VisitNow(w.Context(), asked, l.Host.Bucket, l.Pages[0].ID))
		if host == "served.example" {
			began = asked.Add(time.Second)
		}
		var results []models.Result
		for range test.kinds {
			r := w.visited(l, 0)
			r.Visit.At, r.Visit.Kind = models.At(began), test.kinds[len(results)]
			l.Pages[0].Page = r.Page
			results = append(results, r)
		}
		w.mustCommit(results...)
		if got := w.page(host, 0); got.Rule != test.want {
			w.Errorf("after results of kinds %v a page that somebody asked for is due by %v, want by %v", test.kinds, got.Rule, test.want)
		}
	}
}

func visitNow(w *world) {
	d := found("a.example", 0)
	d.Page.DueAt = models.At(w.now.Add(time.Hour))
	w.addPages(d)
	bucket, id := keysOf("a.example", 0)
	w.must(w.store.VisitNow(w.Context(), w.now, bucket, id))
	if l := w.claimOne(1); l.Pages[0].Rule != models.RuleManual {
		w.Errorf("page due by %v, want %v", l.Pages[0].Rule, models.RuleManual)
	}
	if err := w.store.VisitNow(w.Context(), w.now, bucket, id+1); !errors.Is(err, models.ErrNotFound) {
		w.Errorf("VisitNow of an unknown page: %v, want %v", err, models.ErrNotFound)
	}
}
