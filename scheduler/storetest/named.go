package storetest

import (
	"slices"
	"time"

	"recrawld/models"
)

// naming are the cases of pages that are gone and that something names which did not before.
func naming() map[string]func(*world) {
	return map[string]func(*world){
		"what is gone and a list names anew is looked at": listNamesGone,
		"what is gone and is linked anew is looked at":    linksNameGone,
		"what is gone and many name is looked at by turn": manyNameGone,
		"what is gone and was named in vain rests":        namedGoneRests,
		"a host whose gone pages are named in vain":       doubtedNames,
		"what is gone and redirected to is looked at":     redirectNamesGone,
	}
}

// gone is a page of a host that had a copy, has been gone for 20 days and was looked at five days ago.
func (w *world) gone(host string, n int) models.Discovery {
	d := found(host, n)
	p := &d.Page
	p.State, p.Rule, p.Version, p.MissingVisits = models.StateGone, models.RuleGone, 1, 4
	p.MissingSince, p.TriedAt = models.At(w.now.Add(-20*24*time.Hour)), models.At(w.now.Add(-5*24*time.Hour))
	p.Stats = models.ChangeStats{Records: 3, VisitedAt: p.MissingSince - 1000}
	p.DueAt = models.At(w.now.Add(5 * 24 * time.Hour))
	return d
}

// wantLook holds a page that was gone against when it is due because it was named at a moment; 0: as it was, and named: that it is remembered.
func (w *world) wantLook(host string, n int, due, named models.Instant) {
	w.Helper()
	p, rule := w.page(host, n), models.RuleNamed
	if due == 0 {
		due, rule = w.gone(host, n).Page.DueAt, models.RuleGone
	}
	if p.DueAt != due || p.Rule != rule || p.NamedAt != named {
		w.Errorf("page %d of %s is due at %v by %v, named at %v; want %v by %v, named at %v", n, host, p.DueAt, p.Rule, p.NamedAt, due, rule, named)
	}
}

// listNamesGone: a list has those of its host looked at that it did not name before, whatever their dates, and those with later dates than
// the last look.
func listNamesGone(w *world) {
	now, tried := models.At(w.now), w.gone("a.example", 0).Page.TriedAt
	cases := []struct {
		told   models.Told
		edit   func(*models.Page)
		looked bool
	}{
		{models.Told{At: now - 100, Since: now - 100}, nil, true},
		{models.Told{At: tried, Since: tried}, nil, false}, // the last look saw that
		{models.Told{At: tried - 1e9, Came: true}, nil, true},
		{models.Told{At: now, Came: true}, func(p *models.Page) { p.Version = 0 }, true}, // it may have been published since
		{models.Told{At: now, Came: true}, func(p *models.Page) { p.SiteID = 2 }, false},
		{models.Told{At: now, Came: true}, func(p *models.Page) { p.Failures = 1 }, false},
		{models.Told{At: now, Came: true}, func(p *models.Page) { p.State = models.StateExcluded }, false},
		{models.Told{At: now, Came: true}, func(p *models.Page) { p.State = models.StateMissing }, false},
	}
	var pages []models.Discovery
	var told []models.Told
	for i, c := range cases {
		d := w.gone("a.example", i+1)
		if c.edit != nil {
			c.edit(&d.Page)
		}
		c.told.PageID = models.PageID(d.Page.URL)
		pages, told = append(pages, d), append(told, c.told)
	}
	r := w.listed(pages...)
	r.Told, r.Telling = told, models.Telling{At: now}
	w.mustCommit(r)
	looked := 0
	for i, c := range cases {
		if !c.looked {
			w.wantLook("a.example", i+1, 0, 0)
			continue
		}
		w.wantLook("a.example", i+1, now, now)
		looked++
	}
	w.now = w.now.Add(time.Minute)
	if l := w.claimOne(9); len(l.Pages) != looked {
		w.Errorf("%d pages are leased, want the %d that were named", len(l.Pages), looked)
	}
}

// linked commits visits to the first page of a host, each a day after the other and with its links. Of what the last one links to some is
// discovered, as it would be.
func (w *world) linked(host string, visits ...[]models.Discovery) {
	w.Helper()
	for i, children := range visits {
		if i > 0 {
			w.now = w.now.Add(24 * time.Hour)
		}
		parent := w.page(host, 0)
		w.must(w.store.VisitNow(w.Context(), w.now, parent.Bucket, parent.ID))
		leases := w.claim(9, 1)
		l := leases[slices.IndexFunc(leases, func(l models.Lease) bool { return l.Host.Name == host })]
		r := w.visited(l, 0)
		r.LinksKnown, r.Release = true, true
		r.Page.FullAt, r.Before = models.At(w.now), &l.Pages[0].Page
		for _, d := range children {
			row := d.Row(w.now)
			r.Links = append(r.Links, models.Link{ChildBucket: row.Bucket, ChildID: row.ID})
			r.Discovered = append(r.Discovered, found(d.Host, pageNumber(d.Page.URL)))
		}
		w.mustCommit(r)
	}
}

// linksNameGone: what a page links to that it did not link to before is looked at, on whatever host, if it was there once. A page whose links
// were not read before names nothing anew, and what it links to as before is not named again.
func linksNameGone(w *world) {
	w.add("a.example", 1)
	old, far, never, fresh := w.gone("a.example", 1), w.gone("far.example", 1), w.gone("a.example", 2), w.gone("a.example", 3)
	never.Page.Version = 0
	for _, d := range []*models.Discovery{&old, &far, &never, &fresh} {
		d.Page.DueAt += 48 * 3600_000
	}
	w.addPages(old, far, never, fresh)
	at := func(d models.Discovery) models.Instant { return d.Page.DueAt }
	w.linked("a.example", []models.Discovery{old}, []models.Discovery{old, far, never, fresh, found("new.example", 1)})
	now := models.At(w.now)
	for _, test := range []struct {
		d      models.Discovery
		looked bool
	}{{old, false}, {far, true}, {never, false}, {fresh, true}} {
		p := w.page(test.d.Host, pageNumber(test.d.Page.URL))
		if looked := p.DueAt == now && p.Rule == models.RuleNamed && p.NamedAt == now; looked != test.looked || !looked && (p.DueAt != at(test.d) || p.NamedAt != 0) {
			w.Errorf("%s is due at %v by %v, named at %v: looked at %v, want %v", p.URL, p.DueAt, p.Rule, p.NamedAt, looked, test.looked)
		}
	}
	if got := w.host("far.example").ReadyAt; got != now {
		w.Errorf("the host of one is ready at %v, want %v", got, now)
	}
	if p := w.page("new.example", 1); p.Rule != models.RuleStart || p.NamedAt != 0 {
		w.Errorf("a new page is due by %v, named at %v", p.Rule, p.NamedAt)
	}
	bare := w.gone("b.example", 1)
	bare.Page.DueAt = at(old)
	w.addPages(found("b.example", 0), bare)
	w.linked("b.example", nil, []models.Discovery{bare})
	if p := w.page("b.example", 1); p.Rule != models.RuleNamed || p.NamedAt != models.At(w.now) {
		w.Errorf("what a page links to that had no links is due by %v, named at %v", p.Rule, p.NamedAt)
	}
}

// manyNameGone: of many that are named at once five are looked at, twice as many a day later, and so on, unless their time comes sooner.
func manyNameGone(w *world) {
	now := models.At(w.now)
	var pages []models.Discovery
	var told []models.Told
	for i := range 200 {
		d := w.gone("a.example", i+1)
		pages = append(pages, d)
		told = append(told, models.Told{PageID: models.PageID(d.Page.URL), At: now, Came: true}, models.Told{PageID: models.PageID(d.Page.URL), At: now})
	}
	r := w.listed(pages...)
	r.Told, r.Telling = told, models.Telling{At: now}
	w.mustCommit(r)
	days := make(map[int]int)
	for _, p := range w.dump().Pages {
		if p.NamedAt == now {
			days[int((p.DueAt-now)/(24*3600_000))]++
		}
	}
	for day, want := range []int{5, 10, 20, 40, 80, 45} {
		if days[day] != want {
			w.Errorf("after days %v of them are looked at, want %d after %d", days, want, day)
		}
	}
}

// namedGoneRests: what was named and not there is looked at for it once more after half of the time for which it had been gone, a day at least.
func namedGoneRests(w *world) {
	const day = 24 * 3600_000
	now := models.At(w.now)
	cases := []struct {
		gone, named models.Instant // so long ago
		looked      bool
	}{
		{20 * day, 21 * day, true}, // before it went
		{20 * day, 8 * day, true},
		{20 * day, 6 * day, false},
		{2 * day, day, true},
		{2 * day, day - 1, false},
	}
	var pages []models.Discovery
	var told []models.Told
	for i, c := range cases {
		d := w.gone("a.example", i+1)
		d.Page.MissingSince, d.Page.NamedAt, d.Page.TriedAt = now-c.gone, now-c.named, now-day/2
		pages, told = append(pages, d), append(told, models.Told{PageID: models.PageID(d.Page.URL), At: now, Came: true})
	}
	r := w.listed(pages...)
	r.Told, r.Telling = told, models.Telling{At: now}
	w.mustCommit(r)
	for i, c := range cases {
		if c.looked {
			w.wantLook("a.example", i+1, now, now)
		} else {
			w.wantLook("a.example", i+1, 0, now-c.named)
		}
	}
}

// doubtedNames: where pages of a host that are gone are named and are not there, it is remembered that they were, and they wait for their time:
// until one was there, or for 30 days. Where the dates of its lists are wrong, they say nothing of it either.
func doubtedNames(w *world) {
	for host, test := range map[string]struct {
		hint  models.Hint
		since time.Duration
		named bool
		due   bool
	}{
		"doubted.example":   {models.HintNamed, 29 * 24 * time.Hour, true, false},
		"long-ago.example":  {models.HintNamed, 31 * 24 * time.Hour, true, true},
		"lists-lie.example": {models.HintSitemap, time.Hour, false, false},
	} {
		list := found(host, 0)
		list.Page.DueAt, list.Page.Rule = models.At(w.now), models.RulePolicy
		w.addPages(list, w.gone(host, 1))
		r := w.visited(w.claimOne(1), 0)
		r.Release = true
		r.Host.Trials.By[test.hint] = models.Trial{FalseAlarms: 3, DistrustedAt: models.At(w.now.Add(-test.since))}
		now := models.At(w.now)
		_, id := keysOf(host, 1)
		r.Told, r.Telling = []models.Told{{PageID: id, At: now}}, models.Telling{At: now}
		w.mustCommit(r)
		w.wantLook(host, 1, map[bool]models.Instant{true: now}[test.due], map[bool]models.Instant{true: now}[test.named])
		if test.due {
			w.mustCommit(w.visitAll(w.claimOne(1))...)
		}
	}
}

// redirectNamesGone: what a redirect leads to that did not before is looked at, also where it was familiar.
func redirectNamesGone(w *world) {
	w.add("a.example", 1)
	target := w.gone("b.example", 1)
	w.addPages(target)
	for i, anew := range []bool{false, true} {
		r := w.visited(w.claimOne(1), 0)
		r.Page.DueAt, r.Release = models.At(w.now.Add(time.Hour)), true
		d := found("b.example", 1)
		d.Anew = anew
		r.Discovered = []models.Discovery{d}
		w.mustCommit(r)
		if got := w.page("b.example", 1); (got.Rule == models.RuleNamed) != anew || anew && got.DueAt != models.At(w.now) {
			w.Errorf("after visit %d it is due at %v by %v", i, got.DueAt, got.Rule)
		}
		w.now = w.now.Add(time.Hour)
	}
}
