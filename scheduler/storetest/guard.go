package storetest

import (
	"errors"
	"time"

	"recrawld/models"
)

// guarding are the cases of sites and hosts whose pages do not count as gone.
func guarding() map[string]func(*world) {
	return map[string]func(*world){
		"a guarded site is approved":                       guardAndApprove,
		"what a guarded host holds back is approved":       approveOfAHost,
		"a guarded host of which nothing is held back yet": approveBeforeAnythingIsHeld,
		"what is never visited again is not approved of":   approveOfWhatIsNeverVisited,
	}
}

// guardAndApprove: what is held back is due when somebody approves, and nothing else; the file and its next reading leave both as they are.
func guardAndApprove(w *world) {
	file := []models.Site{{Name: "a"}, {Name: "b"}}
	sites, err := w.store.SyncSites(w.Context(), w.now, file)
	w.must(err)
	for i, host := range []string{"a.example", "b.example"} {
		for n := range 3 {
			d := found(host, n)
			d.Page.SiteID = sites[i].ID
			w.addPages(d)
		}
	}
	since := models.At(w.now) + 7
	w.must(w.store.SetGuarded(w.Context(), sites[0].ID, since, 0.25))
	for _, l := range w.claim(2, 3) {
		for n := range l.Pages {
			r := w.visited(l, n)
			r.Page.DueAt, r.Visit.Kind = models.At(w.now.Add(1000*time.Hour)), models.Missing
			if n > 0 {
				r.Page.Rule = models.RuleGuarded
			}
			r.Release = n == len(l.Pages)-1
			w.mustCommit(r)
		}
	}
	w.now = w.now.Add(time.Minute)
	held, _, err := w.store.Approve(w.Context(), sites[0].ID, w.now)
	w.must(err)
	if held != 2 {
		w.Errorf("%d pages were held back, want 2", held)
	}
	if again, _, err := w.store.Approve(w.Context(), sites[0].ID, w.now); again != 0 || err != nil {
		w.Errorf("%d pages were held back after that, %v, want none", again, err)
	}
	if got := w.ready("a.example"); !got.Equal(w.now) {
		w.Errorf("the host is ready at %v, want %v", got, w.now)
	}
	due := 0
	for _, p := range w.dump().Pages {
		if p.DueAt == models.At(w.now) && p.Rule == models.RuleApproved && p.SiteID == sites[0].ID {
			due++
		} else if p.DueAt != models.At(start.Add(1000*time.Hour)) {
			w.Errorf("%s is due at %v by %v", p.URL, p.DueAt, p.Rule)
		}
	}
	if due != 2 {
		w.Errorf("%d pages of the site are due, want the 2 that were held back", due)
	}
	again, err := w.store.SyncSites(w.Context(), w.now, file)
	w.must(err)
	if again[0].GuardedAt != since || again[0].LossPerDay != 0.25 || again[0].ApprovedAt != models.At(w.now) || again[1].GuardedAt != 0 || again[1].ApprovedAt != 0 {
		w.Errorf("sites = %+v, want the first one guarded since %v and approved at %v", again, since, models.At(w.now))
	}
	w.must(w.store.SetGuarded(w.Context(), sites[0].ID, 0, 0))
	approved := models.At(w.now)
	w.now = w.now.Add(time.Minute)
	_, _, err = w.store.Approve(w.Context(), sites[0].ID, w.now)
	w.must(err)
	if all, err := w.store.Sites(w.Context()); err != nil || all[0].GuardedAt != 0 || all[0].ApprovedAt != approved {
		w.Errorf("sites = %+v, %v, want none guarded, and what was approved at %v alone", all, err, approved)
	}
	if err := w.store.SetGuarded(w.Context(), 99, since, 0); !errors.Is(err, models.ErrNotFound) {
		w.Errorf("SetGuarded of an unknown site: %v, want %v", err, models.ErrNotFound)
	}
	if _, _, err := w.store.Approve(w.Context(), 99, w.now); !errors.Is(err, models.ErrNotFound) {
		w.Errorf("Approve of an unknown site: %v, want %v", err, models.ErrNotFound)
	}
}

// approveOfAHost: what is held back on a host that is guarded, of a site that is not, is approved of with what is missing of the site.
func approveOfAHost(w *world) {
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}})
	w.must(err)
	for n := range 3 {
		d := found("a.example", n)
		d.Page.SiteID = sites[0].ID
		w.addPages(d)
	}
	for _, l := range w.claim(1, 3) {
		for n := range l.Pages {
			r := w.visited(l, n)
			if r.Page.DueAt, r.Visit.Kind = models.At(w.now.Add(1000*time.Hour)), models.Missing; n == 0 {
				r.Page.Rule = models.RuleGuarded
			}
			r.Release = n == len(l.Pages)-1
			w.mustCommit(r)
		}
	}
	w.now = w.now.Add(time.Minute)
	if held, _, err := w.store.Approve(w.Context(), sites[0].ID, w.now); held != 1 || err != nil {
		w.Errorf("%d pages were held back, %v, want 1", held, err)
	}
	if all, err := w.store.Sites(w.Context()); err != nil || all[0].ApprovedAt != models.At(w.now) {
		w.Errorf("sites = %+v, %v, want that what is missing by %v was approved of", all, err, models.At(w.now))
	}
}

// approveOfWhatIsNeverVisited: a page that is missing and never due again on a guarded host is nothing to approve of.
func approveOfWhatIsNeverVisited(w *world) {
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}})
	w.must(err)
	w.add("a.example", 1)
	r := w.visited(w.claimOne(1), 0)
	r.Page.State, r.Page.DueAt, r.Host.GuardedAt = models.StateMissing, 0, models.At(w.now)
	w.mustCommit(r)
	if held, guarded, err := w.store.Approve(w.Context(), sites[0].ID, w.now); held != 0 || guarded || err != nil {
		w.Errorf("%d pages were held back, guarded: %t, %v; want none", held, guarded, err)
	}
	if all, err := w.store.Sites(w.Context()); err != nil || all[0].ApprovedAt != 0 {
		w.Errorf("sites = %+v, %v, want that nothing was approved of", all, err)
	}
}

// approveBeforeAnythingIsHeld: on a host that is guarded as of a moment ago pages are missing that do not yet come to being held back; whoever
// approves of that site means these, and of another site nothing.
func approveBeforeAnythingIsHeld(w *world) {
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}, {Name: "b"}})
	w.must(err)
	for n := range 3 {
		d := found("a.example", n)
		d.Page.SiteID = sites[min(n, 1)].ID
		w.addPages(d)
	}
	l := w.claimOne(3)
	for n := range l.Pages {
		r := w.visited(l, n)
		r.Page.DueAt, r.Host.GuardedAt = models.At(w.now.Add(48*time.Hour)), models.At(w.now)
		if r.Page.SiteID == sites[0].ID {
			r.Page.State, r.Page.Rule, r.Visit.Kind = models.StateMissing, models.RuleMissing, models.Missing
		}
		r.Release = n == len(l.Pages)-1
		w.mustCommit(r)
	}
	w.now = w.now.Add(time.Minute)
	for _, site := range sites {
		if held, guarded, err := w.store.Approve(w.Context(), site.ID, w.now); held != 0 || guarded != (site.ID == sites[0].ID) || err != nil {
			w.Errorf("of %s %d pages were held back, guarded: %t, %v; want none, and the first one guarded", site.Name, held, guarded, err)
		}
	}
	if all, err := w.store.Sites(w.Context()); err != nil || all[0].ApprovedAt != models.At(w.now) || all[1].ApprovedAt != 0 {
		w.Errorf("sites = %+v, %v, want that what is missing of the first by %v was approved of, and of the other nothing", all, err, models.At(w.now))
	}
}
