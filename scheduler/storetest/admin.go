package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

func eventsHaveNoGaps(w *world) {
	w.add("a.example", 3)
	for i, r := range w.visitAll(w.claimOne(3)) {
		for range i + 1 {
			r.Events = append(r.Events, event(r, models.EventChanged))
		}
		w.mustCommit(r)
	}
	bucket, _ := keysOf("a.example", 0)
	all, err := w.store.Events(w.Context(), bucket, 0, 100)
	w.must(err)
	for i, e := range all {
		if e.Seq != int64(i+1) {
			w.Errorf("event %d has number %d", i+1, e.Seq)
		}
	}
	if len(all) != 6 {
		w.Fatalf("%d events, want 6", len(all))
	}
	some, err := w.store.Events(w.Context(), bucket, 2, 3)
	w.must(err)
	if diff := cmp.Diff(all[2:5], some); diff != "" {
		w.Errorf("three events after 2 (-want +got):\n%s", diff)
	}
}

// publish commits n events on a host and returns its bucket.
func (w *world) publish(host string, n int) int16 {
	w.Helper()
	w.add(host, 1)
	bucket, id := keysOf(host, 0)
	w.must(w.store.VisitNow(w.Context(), w.now, bucket, id))
	r := w.visited(w.claimOne(1), 0)
	for range n {
		r.Events = append(r.Events, event(r, models.EventChanged))
	}
	w.mustCommit(r)
	return bucket
}

func sinkFindsNews(w *world) {
	a, b := w.publish("a.example", 2), w.publish("b.example", 1)
	news := func(sink string, want ...int16) {
		w.Helper()
		slices.Sort(want)
		got, err := w.store.News(w.Context(), sink)
		w.must(err)
		if !slices.Equal(got, want) {
			w.Errorf("news for %s in buckets %v, want %v", sink, got, want)
		}
	}
	news("mirror", a, b)
	w.must(w.store.SetCursor(w.Context(), "mirror", a, 1))
	news("mirror", a, b)
	w.must(w.store.SetCursor(w.Context(), "mirror", a, 2))
	news("mirror", b)
	news("webhook", a, b)
	if seq, err := w.store.Cursor(w.Context(), "mirror", a); seq != 2 || err != nil {
		w.Errorf("Cursor = %d, %v, want 2", seq, err)
	}
	if seq, err := w.store.Cursor(w.Context(), "mirror", b); seq != 0 || err != nil {
		w.Errorf("Cursor of a sink that delivered nothing = %d, %v, want 0", seq, err)
	}
	w.must(w.store.SetCursor(w.Context(), "mirror", a, 0)) // a replay
	news("mirror", a, b)
}

func eventsArePruned(w *world) {
	a := w.publish("a.example", 4)
	w.now = w.now.Add(time.Hour)
	w.publish("a.example", 1)
	w.must(w.store.SetCursor(w.Context(), "mirror", a, 5))
	prune := func(want int64, sinks ...string) {
		w.Helper()
		if n, err := w.store.PruneEvents(w.Context(), w.now, sinks, 2); n != want || err != nil {
			w.Errorf("PruneEvents for %v = %d, %v, want %d", sinks, n, err, want)
		}
	}
	prune(0, "mirror", "webhook")
	w.must(w.store.SetCursor(w.Context(), "webhook", a, 3))
	prune(3, "mirror", "webhook")
	prune(1)
	left, err := w.store.Events(w.Context(), a, 0, 10)
	w.must(err)
	if len(left) != 1 || left[0].Seq != 5 {
		w.Errorf("events left = %v, want number 5", left)
	}
	w.publish("a.example", 1)
	if left, err := w.store.Events(w.Context(), a, 5, 10); err != nil || len(left) != 1 || left[0].Seq != 6 {
		w.Errorf("the next event = %v, %v, want number 6", left, err)
	}
}

func visitsArePruned(w *world) {
	w.add("a.example", 2)
	for range 5 {
		for len(w.claimAndCommit(1, 2)) > 0 {
		}
		w.now = w.now.Add(24 * time.Hour)
	}
	n, err := w.store.PruneVisits(w.Context(), start.Add(60*time.Hour), 2)
	w.must(err)
	var numbers []int32
	for _, v := range w.dump().Visits {
		numbers = append(numbers, v.Number)
	}
	if want := []int32{4, 5, 4, 5}; n != 6 || !slices.Equal(numbers, want) {
		w.Errorf("PruneVisits removed %d and left %v, want 6 and %v", n, numbers, want)
	}
	n, err = w.store.PruneVisits(w.Context(), w.now, 100)
	if left := len(w.dump().Visits); n != 2 || left != 2 || err != nil {
		w.Errorf("PruneVisits of all = %d, %v and left %d, want the last row of each page left", n, err, left)
	}
}

// claimAndCommit visits what is due.
func (w *world) claimAndCommit(hosts, pages int) []models.Lease {
	w.Helper()
	leases := w.claim(hosts, pages)
	for _, l := range leases {
		w.mustCommit(w.visitAll(l)...)
	}
	return leases
}

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
	for _, l := range w.claim(hosts, 3) {
		results = append(results, w.visitAll(l)...)
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
	if got := w.page("a.example", 0); got.DueAt != models.At(w.now) || got.Rule == models.RulePaused {
		w.Errorf("deferred page of the resumed site due at %v by %v, want %v", got.DueAt, got.Rule, w.now)
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
	r.Version = &models.Version{Number: 1}
	r.Links, r.LinksKnown = []models.Link{{ChildID: 1}}, true
	w.mustCommit(r)
	w.must(w.store.RemoveSite(w.Context(), sites[0].ID))
	late := w.visited(l, 4)
	if verdicts := w.commit(late); !errors.Is(verdicts[0], models.ErrLeaseLost) {
		w.Errorf("commit on a removed page: %v, want %v", verdicts[0], models.ErrLeaseLost)
	}
	d := w.dump()
	if len(d.Pages) != 10 || len(d.Visits)+len(d.Versions)+len(d.Links)+len(d.Daily) != 0 || len(d.Sites) != 1 {
		w.Errorf("left: %d pages, %d visits, %d versions, %d links, %d days, %d sites", len(d.Pages), len(d.Visits),
			len(d.Versions), len(d.Links), len(d.Daily), len(d.Sites))
	}
	h := w.host("a.example")
	if h.Pages != 10 || h.LeaseUntil != 0 || h.ReadyAt != models.At(w.now.Add(time.Hour)) {
		w.Errorf("host = %d pages, lease until %v, ready at %v, want 10, none, %v", h.Pages, h.LeaseUntil, h.ReadyAt,
			w.now.Add(time.Hour))
	}
	if err := w.store.RemoveSite(w.Context(), sites[0].ID); !errors.Is(err, models.ErrNotFound) {
		w.Errorf("RemoveSite again: %v, want %v", err, models.ErrNotFound)
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

func recovers(w *world) {
	w.add("a.example", 3)
	w.setDelay(10 * time.Second)
	w.now = w.now.Add(10 * time.Second)
	l := w.claimOne(1)
	w.add("idle.example", 1)
	w.now = w.now.Add(5 * time.Second)
	n, err := w.store.Recover(w.Context(), w.now)
	if n != 1 || err != nil {
		w.Errorf("Recover = %d, %v, want 1", n, err)
	}
	if got, want := w.ready("a.example"), w.now.Add(10*time.Second); !got.Equal(want) {
		w.Errorf("recovered host ready at %v, want a politeness delay from now: %v", got, want)
	}
	if got, want := w.ready("idle.example"), w.now.Add(-5*time.Second); !got.Equal(want) {
		w.Errorf("idle host ready at %v, want %v as before", got, want)
	}
	if verdicts := w.commit(w.visited(l, 0)); !errors.Is(verdicts[0], models.ErrLeaseLost) {
		w.Errorf("commit by the dead daemon: %v, want %v", verdicts[0], models.ErrLeaseLost)
	}
}

func workersBeat(w *world) {
	b := models.Worker{Name: "b", Machine: "m", PID: 1 << 22, Release: "v1", StartedAt: 1, BeatAt: 2, RealBeatAt: 3, Visits: 4,
		Lost: 5, InFlight: 6}
	w.must(w.store.Beat(w.Context(), b))
	w.must(w.store.Beat(w.Context(), models.Worker{Name: "a"}))
	b.BeatAt = 9
	w.must(w.store.Beat(w.Context(), b))
	got, err := w.store.Workers(w.Context())
	w.must(err)
	if diff := cmp.Diff([]models.Worker{{Name: "a"}, b}, got); diff != "" {
		w.Errorf("workers (-want +got):\n%s", diff)
	}
	w.must(w.store.Leave(w.Context(), "a"))
	w.must(w.store.Leave(w.Context(), "a"))
	if got, err := w.store.Workers(w.Context()); len(got) != 1 || err != nil {
		w.Errorf("workers after one left = %v, %v, want b", got, err)
	}
}

func metaIsSetOnce(w *world) {
	for _, step := range []struct{ old, value, want string }{
		{"", "first", "first"}, {"", "second", "first"}, {"other", "third", "first"}, {"first", "fourth", "fourth"},
	} {
		got, err := w.store.SetMeta(w.Context(), "clock", step.old, step.value)
		if got != step.want || err != nil {
			w.Errorf("SetMeta from %q to %q = %q, %v, want %q", step.old, step.value, got, err, step.want)
		}
	}
	if got, err := w.store.Meta(w.Context(), "clock"); got != "fourth" || err != nil {
		w.Errorf("Meta = %q, %v, want fourth", got, err)
	}
	if got, err := w.store.Meta(w.Context(), "never"); got != "" || err != nil {
		w.Errorf("Meta that was never set = %q, %v, want none", got, err)
	}
}

func newestInstant(w *world) {
	newest := func(want models.Instant) {
		w.Helper()
		if got, err := w.store.NewestInstant(w.Context()); got != want || err != nil {
			w.Errorf("NewestInstant = %v, %v, want %v", got, err, want)
		}
	}
	newest(0)
	w.add("a.example", 1)
	w.mustCommit(w.visitAll(w.claimOne(1))...)
	newest(models.At(start.Truncate(24 * time.Hour))) // the day of the visit
	w.publish("b.example", 1)
	newest(models.At(start))
	w.must(w.store.Beat(w.Context(), models.Worker{Name: "w", BeatAt: models.At(start) + 1}))
	newest(models.At(start) + 1)
	_, err := w.store.AddSite(w.Context(), start.Add(time.Hour), models.Site{Name: "s"})
	w.must(err)
	newest(models.At(start.Add(time.Hour)))
}
