package storetest

import (
	"time"

	"recrawld/models"
)

// requiring are the cases of pages that others need to be shown.
func requiring() map[string]func(*world) {
	return map[string]func(*world){
		"a requisite stays one":         requisiteStays,
		"requisites are counted apart":  requisitesAreCounted,
		"requisites are not looked for": requisitesAreNotLookedFor,
		"unnamed until found":           unnamedUntilFound,
		"given up until named":          givenUpUntilNamed,
		"named meanwhile":               namedMeanwhile,
	}
}

// requisite is a host's n-th page, which others need to be shown.
func requisite(host string, n int) models.Discovery {
	d := found(host, n)
	d.Page.Requisite = true
	return d
}

// requisiteStays: a page is found as a requisite or not, by a visit to a page of any host or otherwise, and stays what it is: whatever else
// finds it, and whatever is written of its visits. Its events say so, that of its removal too.
func requisiteStays(w *world) {
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}})
	w.must(err)
	all := []models.Discovery{found("a.example", 0), requisite("a.example", 1), requisite("a.example", 2), requisite("far.example", 3)}
	for i := range all {
		all[i].Page.SiteID = sites[0].ID
	}
	w.addPages(all[:2]...)
	first := w.visitAll(w.claimOne(2))
	first[0].Discovered = all[2:]
	w.mustCommit(first...)
	for i := range all {
		all[i].Page.Requisite = !all[i].Page.Requisite
	}
	w.addPages(all...)
	w.now = w.now.Add(48 * time.Hour)
	for _, l := range w.claim(2, 3) {
		results := w.visitAll(l)
		for i := range results {
			r := &results[i]
			r.Page.Version, r.Version = 1, &models.Version{Number: 1}
			r.Events = []models.Event{event(*r, models.EventNew)}
			r.Page.Requisite = !r.Page.Requisite
		}
		w.mustCommit(results...)
	}
	dump := w.dump()
	pages := make(map[int64]bool)
	for _, p := range dump.Pages {
		if pages[p.ID] = p.Requisite; p.Requisite != (p.URL != pageURL("a.example", 0)) || p.Version != 1 {
			w.Errorf("%s is a requisite: %v, with version %d, want what it was found as, visited", p.URL, p.Requisite, p.Version)
		}
	}
	w.must(w.store.RemoveSite(w.Context(), sites[0].ID, w.now))
	events := w.dump().Events
	if len(pages) != 4 || len(events) != 8 {
		w.Fatalf("%d pages and %d events, want 4 and two of each", len(pages), len(events))
	}
	for _, e := range events {
		if e.Requisite != pages[e.PageID] {
			w.Errorf("event %s of %s is of a requisite: %v, want %v", e.Kind, e.URL, e.Requisite, !e.Requisite)
		}
	}
	for _, h := range w.dump().Hosts {
		if h.Pages != 0 || h.Requisites != 0 {
			w.Errorf("%s has %d pages and %d requisites left, want none", h.Name, h.Pages, h.Requisites)
		}
	}
}

// requisitesAreCounted: a host knows how many of its pages are requisites, in its lease too.
func requisitesAreCounted(w *world) {
	w.addPages(found("a.example", 0), requisite("a.example", 1))
	l := w.claimOne(1)
	if l.Host.Pages != 2 || l.Host.Requisites != 1 {
		w.Errorf("the leased host has %d pages and %d requisites, want 2 and 1", l.Host.Pages, l.Host.Requisites)
	}
	r := w.visited(l, 0)
	r.Discovered = []models.Discovery{found("a.example", 2), requisite("a.example", 3), requisite("a.example", 1), requisite("b.example", 0)}
	w.mustCommit(r)
	for name, want := range map[string][2]int32{"a.example": {4, 2}, "b.example": {1, 1}} {
		if h := w.host(name); h.Pages != want[0] || h.Requisites != want[1] {
			w.Errorf("%s has %d pages and %d requisites, want %v", name, h.Pages, h.Requisites, want)
		}
	}
}

// requisitesAreNotLookedFor: what is found and lost of requisites is not among the sums by which pages vanish, and one that is missing on a
// guarded host gives nobody anything to approve of.
func requisitesAreNotLookedFor(w *world) {
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}})
	w.must(err)
	for n := range 2 {
		d := requisite("a.example", n)
		d.Page.SiteID = sites[0].ID
		w.addPages(d)
	}
	look := func(kind models.OutcomeKind, state models.PageState) {
		l := w.claimOne(2)
		results := w.visitAll(l)
		for i := range results {
			r := &results[i]
			r.Before, r.Visit.Kind, r.Page.State, r.Page.Version = &l.Pages[i].Page, kind, state, 1
			r.Host.GuardedAt = models.At(w.now)
		}
		w.mustCommit(results...)
		w.now = w.now.Add(48 * time.Hour)
	}
	look(models.First, models.StateLive)
	look(models.NotModified, models.StateLive)
	look(models.Missing, models.StateMissing)
	days := w.dump().Daily
	for _, d := range days {
		if d.Found+d.Lost+d.FoundDays+d.LostDays != 0 || d.Asked != 2 {
			w.Errorf("daily sums %+v, want two requests and nothing that was looked for", d)
		}
	}
	if len(days) != 3 {
		w.Errorf("%d days, want 3", len(days))
	}
	if held, guarded, err := w.store.Approve(w.Context(), sites[0].ID, w.now); held != 0 || guarded || err != nil {
		w.Errorf("%d pages are held back, guarded %v, %v, want none: only requisites are missing", held, guarded, err)
	}
}
