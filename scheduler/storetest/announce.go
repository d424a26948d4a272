package storetest

import (
	"strings"
	"time"

	"recrawld/models"
)

// announcedPagesAreForwarded: of the pages that a publisher announces, those that wait for a time to come are due, and come back
// in a claim; what waits for something else keeps its time, and is remembered; other hosts and sites are not spoken for.
func announcedPagesAreForwarded(w *world) {
	now, tomorrow := models.At(w.now), models.At(w.now.Add(24*time.Hour))
	cases := []struct {
		host         string
		visitedAt    models.Instant
		edit         func(*models.Page)
		heard, moved bool
	}{
		{"a.example", now - 100, nil, true, true},
		{"a.example", 0, func(p *models.Page) { p.State = models.StateNew }, false, false},                               // it has its turn as a new page
		{"a.example", 0, func(p *models.Page) { p.State, p.Rule = models.StateMissing, models.RuleMissing }, true, true}, // announced before it was there
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RuleHint }, true, true},
		{"a.example", now - 100, func(p *models.Page) { p.State, p.Rule = models.StateGone, models.RuleGone }, true, true},
		{"a.example", now - 100, func(p *models.Page) { p.State, p.Rule = models.StateMissing, models.RuleMissing }, true, true},
		{"a.example", now - 100, func(p *models.Page) { p.State, p.Rule = models.StateMissing, models.RuleGuarded }, true, true},
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RuleBudget }, true, false},
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RulePaused }, true, false},
		{"a.example", now - 100, func(p *models.Page) { p.Failures, p.Rule = 1, models.RuleBackoff }, true, false},
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RuleDuplicate }, false, false},
		{"a.example", now - 100, func(p *models.Page) { p.Rule = models.RuleOriginal }, false, false},
		{"a.example", now - 100, func(p *models.Page) { p.DueAt, p.Rule = 0, models.RuleExcluded }, false, false},
		{"a.example", now - 100, func(p *models.Page) { p.SiteID = 2 }, false, false},
		{"far.example", now - 100, nil, false, false},
	}
	var pages []models.Discovery
	about := models.Announcement{SiteID: 1, Pages: []int64{12345}}
	for i, c := range cases {
		d := w.settled(c.host, i+1, c.visitedAt)
		if c.edit != nil {
			c.edit(&d.Page)
		}
		pages = append(pages, d)
		_, id := keysOf(c.host, i+1)
		about.Pages = append(about.Pages, id, id)
	}
	w.addPages(pages...)
	host := w.host("a.example")
	about.Bucket, about.HostID = host.Bucket, host.ID
	got, err := w.store.Announce(w.Context(), w.now, about, func(h *models.Host) int {
		if h.Name != "a.example" || h.Pages == 0 {
			w.Errorf("what is believed is asked for host %q with %d pages", h.Name, h.Pages)
		}
		return 100
	})
	w.must(err)
	if want := (models.Heard{Forward: 6, Noted: 3}); got != want {
		w.Errorf("%+v, want %+v", got, want)
	}
	for i, c := range cases {
		p := w.page(c.host, i+1)
		want := map[bool]models.Instant{true: now}
		if (p.Rule == models.RuleAnnounced) != c.moved || c.moved && p.DueAt != now || p.AnnouncedAt != want[c.heard] {
			w.Errorf("page %d is due at %v by %v, announced at %v: want moved %v, announced %v", i+1, p.DueAt, p.Rule, p.AnnouncedAt, c.moved, c.heard)
		}
		if !c.moved && p.DueAt != 0 && p.DueAt != tomorrow {
			w.Errorf("page %d is due at %v, want %v", i+1, p.DueAt, tomorrow)
		}
	}
	w.announcedStays(now)
	about.HostID++
	if got, err := w.store.Announce(w.Context(), w.now, about, func(*models.Host) int { return 100 }); err != nil || got != (models.Heard{}) {
		w.Errorf("of a host that is not known: %+v, %v", got, err)
	}
}

// announcedStays: those that were brought forward are leased, and a visit leaves what was announced as it is.
func (w *world) announcedStays(at models.Instant) {
	w.Helper()
	l := w.claimOne(9)
	results := w.visitAll(l)
	for i := range results {
		results[i].Page.AnnouncedAt = 0
	}
	w.mustCommit(results...)
	if len(results) != 6 {
		w.Fatalf("%d pages were leased, want the six that are due", len(results))
	}
	for _, r := range results {
		if p := w.pageByID(r.Page.ID); p.AnnouncedAt != at || p.Rule == models.RuleAnnounced {
			w.Errorf("%s: announced at %v by %v after its visit, want %v and no more", p.URL, p.AnnouncedAt, p.Rule, at)
		}
	}
}

func (w *world) pageByID(id int64) models.Page {
	w.Helper()
	for _, p := range w.dump().Pages {
		if p.ID == id {
			return p
		}
	}
	w.Fatalf("there is no page %d", id)
	return models.Page{}
}

// announcementsAreBounded: no more pages are brought forward than is believed, at one time or one by one, all are remembered, and those
// that are due already keep their time.
func announcementsAreBounded(w *world) {
	now := models.At(w.now)
	var pages []models.Discovery
	about := models.Announcement{SiteID: 1}
	for i := range 10 {
		d := w.settled("a.example", i+1, now-100)
		if i < 3 {
			d.Page.DueAt = now - 5
		}
		pages = append(pages, d)
		_, id := keysOf("a.example", i+1)
		about.Pages = append(about.Pages, id)
	}
	w.addPages(pages...)
	host := w.host("a.example")
	about.Bucket, about.HostID = host.Bucket, host.ID
	got, err := w.store.Announce(w.Context(), w.now, about, func(*models.Host) int { return 2 })
	w.must(err)
	if want := (models.Heard{Forward: 2, Waiting: 3, Noted: 5}); got != want {
		w.Errorf("%+v, want %+v", got, want)
	}
	for _, id := range about.Pages {
		one := about
		one.Pages = []int64{id}
		heard, err := w.store.Announce(w.Context(), w.now, one, func(*models.Host) int { return 2 })
		w.must(err)
		if heard.Forward > 0 {
			w.Errorf("one by one page %d is brought forward, though as many as are believed wait for their visits", id)
		}
	}
	forward, due := 0, 0
	for _, p := range w.dump().Pages {
		if p.AnnouncedAt != now {
			w.Errorf("%s was announced at %v", p.URL, p.AnnouncedAt)
		}
		if p.DueAt == now {
			forward++
		}
		if p.DueAt == now-5 {
			due++
		}
	}
	if forward != 2 || due != 3 {
		w.Errorf("%d brought forward and %d as they were, want 2 and 3", forward, due)
	}
	if ready := w.host("a.example").ReadyAt; ready != now-5 {
		w.Errorf("the host is ready at %v, want %v: as before", ready, now-5)
	}
}

// announcedWhileVisited: whoever asks for a page while it is visited is served by the next visit, which follows at once; whoever did before
// the visit began, or is not believed, is served by this one.
func announcedWhileVisited(w *world) {
	begin := models.At(w.now.Add(time.Minute))
	believed := func(n int) func(*models.Host) int { return func(*models.Host) int { return n } }
	for name, test := range map[string]struct {
		after time.Duration // the begin of the visit
		ask   func(at time.Time, about models.Announcement) error
		edit  func(*models.Result)
		again models.Rule // 0: it is as the visit says
	}{
		"announced": {time.Second, func(at time.Time, about models.Announcement) error {
			_, err := w.store.Announce(w.Context(), at, about, believed(1))
			return err
		}, nil, models.RuleAnnounced},
		"announced twice": {time.Second, func(at time.Time, about models.Announcement) error {
			_, err := w.store.Announce(w.Context(), at.Add(-2*time.Second), about, believed(1))
			w.must(err)
			_, err = w.store.Announce(w.Context(), at, about, believed(1))
			return err
		}, nil, models.RuleAnnounced},
		"announced before": {-time.Second, func(at time.Time, about models.Announcement) error {
			_, err := w.store.Announce(w.Context(), at, about, believed(1))
			return err
		}, nil, 0},
		"not believed": {time.Second, func(at time.Time, about models.Announcement) error {
			_, err := w.store.Announce(w.Context(), at, about, believed(0))
			return err
		}, nil, 0},
		"fails": {time.Second, func(at time.Time, about models.Announcement) error {
			_, err := w.store.Announce(w.Context(), at, about, believed(1))
			return err
		}, func(r *models.Result) {
			r.Page.Failures, r.Page.Rule, r.Visit.Kind = 1, models.RuleBackoff, models.Failed
		}, 0},
		"asked for": {time.Second, func(at time.Time, about models.Announcement) error {
			return w.store.VisitNow(w.Context(), at, about.Bucket, about.Pages[0])
		}, nil, models.RuleManual},
		"asked for before": {-time.Second, func(at time.Time, about models.Announcement) error {
			return w.store.VisitNow(w.Context(), at, about.Bucket, about.Pages[0])
		}, nil, 0},
	} {
		host := strings.ReplaceAll(name, " ", "-") + ".example"
		d := w.settled(host, 1, models.At(w.now)-100)
		d.Page.DueAt = models.At(w.now)
		w.addPages(d)
		l := w.claimOne(1)
		at := begin.Time().Add(test.after)
		w.must(test.ask(at, models.Announcement{Bucket: l.Host.Bucket, HostID: l.Host.ID, SiteID: 1, Pages: []int64{l.Pages[0].ID}}))
		results := w.visitAll(l)
		results[0].Visit.At = begin
		if test.edit != nil {
			test.edit(&results[0])
		}
		w.mustCommit(results...)
		p, ready := w.page(host, 1), w.host(host).ReadyAt
		want, due := results[0].Page.Rule, results[0].Page.DueAt
		if test.again != 0 {
			want, due = test.again, models.At(at)
		}
		if p.Rule != want || p.DueAt != due || ready > max(due, results[0].Host.OpenAt) {
			w.Errorf("%s: due at %v by %v, its host is ready at %v; want %v by %v", name, p.DueAt, p.Rule, ready, due, want)
		}
	}
}
