package storetest

import (
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

func discoveredPageIsDue(w *world) {
	w.add("a.example", 1)
	l := w.claimOne(1)
	r := w.visited(l, 0)
	own, far := found("a.example", 1), found("far.example", 0)
	own.Page.DueAt, own.Page.Rule = models.At(w.now.Add(time.Hour)), models.RuleStart
	own.Page.Level, own.Page.Chain = 4, []int64{5, 6}
	r.Discovered = []models.Discovery{own, far, far}
	w.mustCommit(r)
	if !r.Discovered[0].New || r.Discovered[2].New {
		w.Errorf("new are %v of the pages that were discovered, want the first and not the repetition", []bool{r.Discovered[0].New, r.Discovered[1].New, r.Discovered[2].New})
	}
	if got, want := w.ready("a.example"), w.now.Add(time.Hour); !got.Equal(want) {
		w.Errorf("host of the parent ready at %v, want %v", got, want)
	}
	if got := w.ready("far.example"); !got.Equal(w.now) {
		w.Errorf("new host ready at %v, want %v", got, w.now)
	}
	p := w.page("a.example", 1)
	if p.Level != 4 || !slices.Equal(p.Chain, []int64{5, 6}) || p.State != models.StateNew || p.FRMax != 1 {
		w.Errorf("discovered page = %+v", p)
	}
	if h := w.host("far.example"); h.Pages != 1 {
		w.Errorf("new host has %d pages, want 1", h.Pages)
	}
}

func discoveryKeepsKnown(w *world) {
	w.add("a.example", 2)
	l := w.claimOne(2)
	r := w.visited(l, 0)
	known := pageNumber(l.Pages[1].URL)
	again := found("a.example", known)
	again.Page.DueAt, again.Page.Level = 1, 9
	again.Page.Rule = models.RuleManual
	r.Discovered = []models.Discovery{again}
	before := w.page("a.example", known)
	w.mustCommit(r)
	if r.Discovered[0].New {
		w.Errorf("a page that was known is new")
	}
	if diff := cmp.Diff(before, w.page("a.example", known)); diff != "" {
		w.Errorf("known page after its discovery (-before +after):\n%s", diff)
	}
	if h := w.host("a.example"); h.Pages != 2 {
		w.Errorf("host has %d pages, want 2", h.Pages)
	}
}

// discoveryDuringLease: a page is found on a host while another worker has it, before and after the release.
func discoveryDuringLease(w *world) {
	w.add("a.example", 1)
	w.add("b.example", 1)
	leases := w.claim(2, 1)
	if leases[0].Host.Name != "a.example" {
		slices.Reverse(leases)
	}
	fromB := w.visited(leases[1], 0)
	fromB.Release = false
	fromB.Discovered = []models.Discovery{found("a.example", 1)}
	w.mustCommit(fromB)
	if got, want := w.ready("a.example"), leases[0].Until; !got.Equal(want) {
		w.Errorf("leased host ready at %v, want the lease's end %v", got, want)
	}
	w.mustCommit(w.visited(leases[0], 0))
	if got := w.ready("a.example"); !got.Equal(w.now) {
		w.Errorf("host released after a discovery is ready at %v, want %v", got, w.now)
	}
	a := w.claimOne(5)
	w.mustCommit(w.visitAll(a)...)
	again := fromB
	again.Page.Visits++
	again.Visit.Number++
	again.Discovered = []models.Discovery{found("a.example", 2)}
	w.mustCommit(again)
	if got := w.ready("a.example"); !got.Equal(w.now) {
		w.Errorf("idle host with a new page is ready at %v, want %v", got, w.now)
	}
}

func linksAreReplaced(w *world) {
	w.add("a.example", 1)
	for _, children := range [][]int64{{1, 2, 3, 3}, {2, 4}, {}} {
		l := w.claimOne(1)
		r := w.visited(l, 0)
		r.LinksKnown = true
		var want []models.Link
		for _, id := range children {
			link := models.Link{ChildBucket: 9, ChildID: id}
			r.Links = append(r.Links, link)
			link.Bucket, link.ParentID = r.Page.Bucket, r.Page.ID
			want = append(want, link)
		}
		want = slices.Compact(want)
		w.mustCommit(r)
		if diff := cmp.Diff(want, w.dump().Links); diff != "" {
			w.Errorf("links after %v (-want +got):\n%s", children, diff)
		}
		w.now = w.now.Add(24 * time.Hour)

		// A visit that did not parse the page says nothing of its links.
		r = w.visited(w.claimOne(1), 0)
		w.mustCommit(r)
		if got := len(w.dump().Links); got != len(want) {
			w.Errorf("%d links after a visit without links, want %d", got, len(want))
		}
		w.now = w.now.Add(24 * time.Hour)
	}
}

// family is a parent and four children, two of them on another host; links to a page that is not known do not count.
func (w *world) family(children ...models.Discovery) models.Result {
	w.add("a.example", 1)
	l := w.claimOne(1)
	w.addPages(children...)
	r := w.visited(l, 0)
	r.LinksKnown, r.Release = true, true
	for _, d := range append(children, found("unknown.example", 1)) {
		row := d.Row(w.now)
		r.Links = append(r.Links, models.Link{ChildBucket: row.Bucket, ChildID: row.ID})
	}
	r.Page.Children = int32(len(r.Links))
	r.Page.DueAt = models.At(w.now.Add(time.Minute))
	return r
}

func childShare(w *world) {
	now := models.At(w.now)
	var children []models.Discovery
	for i, stats := range []models.ChangeStats{{ChangedAt: now + 1, FirstAt: 1}, {ChangedAt: now}, {FirstAt: now + 5}, {}} {
		d := found([]string{"a.example", "far.example"}[i%2], i+1)
		d.Page.Stats, d.Page.DueAt, d.Page.Level = stats, now+3600_000, 1
		children = append(children, d)
	}
	navigation := found("a.example", 9) // on the parent's own level: no child
	navigation.Page.Stats, navigation.Page.DueAt = models.ChangeStats{ChangedAt: now + 1}, now+3600_000
	children = append(children, navigation)
	w.wantShare(models.ChildShare{Known: 4, Changed: 2}, now, children)
}

// wantShare holds the share of a parent, whose links were read at a time, against the one that it has when its turn has come.
func (w *world) wantShare(want models.ChildShare, fullAt models.Instant, children []models.Discovery) {
	r := w.family(children...)
	r.Page.FullAt = fullAt
	w.mustCommit(r)
	w.now = w.now.Add(time.Minute)
	if got := w.claimOne(1).Pages[0].Share; got != want {
		w.Errorf("child share = %+v, want %+v", got, want)
	}
}

// childrenThatTell: a child that is looked at rarely, whatever it does, says nothing of its parent's others, but that it changed where that was seen.
func childrenThatTell(w *world) {
	now := models.At(w.now)
	var children []models.Discovery
	for i, tells := range []func(*models.Page){
		func(*models.Page) {},
		func(p *models.Page) { p.State = models.StateMissing },
		func(p *models.Page) { p.State = models.StateMoved },
		func(p *models.Page) { p.State = models.StateGone },
		func(p *models.Page) { p.State, p.Stats.ChangedAt = models.StateGone, now+1 },
		func(p *models.Page) { p.State = models.StateExcluded },
		func(p *models.Page) { p.Rule = models.RuleDuplicate },
		func(p *models.Page) { p.Rule = models.RuleOriginal },
		func(p *models.Page) { p.Rule = models.RuleAside },
		func(p *models.Page) { p.Rule, p.Stats.ChangedAt = models.RuleAside, now+1 },
	} {
		d := found([]string{"a.example", "far.example"}[i%2], i+1)
		d.Page.State, d.Page.Rule, d.Page.Stats = models.StateLive, models.RulePolicy, models.ChangeStats{FirstAt: now}
		d.Page.DueAt, d.Page.Level = now+3600_000, 1
		tells(&d.Page)
		children = append(children, d)
	}
	w.wantShare(models.ChildShare{Known: 4, Changed: 2}, now, children) // those live, missing, and the two that changed
}

func childrenAreForwarded(w *world) {
	now := models.At(w.now)
	later := models.At(w.now.Add(24 * time.Hour))
	var children []models.Discovery
	hosts := []string{"a.example", "far.example", "far.example", "near.example", "a.example", "far.example", "none.example", "lost.example", "a.example"}
	for i, visitedAt := range []models.Instant{now - 100, now - 50, now - 100, now - 100, now - 100, now - 100, 0, 0, now - 100} {
		d := found(hosts[i], i+1)
		d.Page.Stats.VisitedAt, d.Page.DueAt, d.Page.Rule = visitedAt, later, models.RulePolicy
		if i == 3 { // never due
			d.Page.DueAt, d.Page.Rule = 0, models.RuleExcluded
		}
		if i == 4 { // visited under another URL
			d.Page.Rule = models.RuleDuplicate
		}
		if i == 5 { // paid for in advance
			d.Page.Rule = models.RuleBudget
		}
		if i == 6 || i == 7 { // never found there: asked for in vain since, and before
			d.Page.State, d.Page.TriedAt, d.Page.Rule = models.StateGone, now-50-models.Instant(i-6), models.RuleGone
		}
		if i == 8 { // waits until it is a day since it was visited under its own URL
			d.Page.Rule = models.RuleOriginal
		}
		children = append(children, d)
	}
	r := w.family(children...)
	r.Forward, r.ForwardOf = now+7, now-50
	w.mustCommit(r)
	for i, want := range []models.Instant{now + 7, later, now + 7, 0, later, later, later, now + 7, later} {
		if got := w.page(hosts[i], i+1); got.DueAt != want || (want == now+7) != (got.Rule == models.RuleParent) {
			w.Errorf("child %d due at %v by %v, want %v", i+1, got.DueAt, got.Rule, want)
		}
	}
	for host, want := range map[string]models.Instant{"a.example": now + 7, "far.example": now + 7, "near.example": 0} {
		if got := w.host(host).ReadyAt; got != want {
			w.Errorf("%s ready at %v, want %v", host, got, want)
		}
	}

	// From the links that are kept: a later full crawl need not name them again.
	w.now = w.now.Add(2 * time.Minute)
	for _, l := range w.claim(9, 1) {
		r := w.visited(l, 0)
		r.Release = true
		w.mustCommit(r)
	}
	parent := w.page("a.example", 0)
	w.must(w.store.VisitNow(w.Context(), w.now, parent.Bucket, parent.ID))
	l := w.claimOne(1)
	r = w.visited(l, 0)
	r.Forward, r.ForwardOf = models.At(w.now)+9, now
	w.mustCommit(r)
	if got, want := w.page("far.example", 2).DueAt, models.At(w.now)+9; got != want {
		w.Errorf("child visited before the full crawl is due at %v, want %v", got, want)
	}
}

// childrenJustLearnedAreForwarded: of two visits to one page that are committed together the first one learns of its children and
// the second one, which does not read the page, brings them forward. Their hosts are woken as well.
func childrenJustLearnedAreForwarded(w *world) {
	now := models.At(w.now)
	child := found("far.example", 1)
	child.Page.DueAt, child.Page.Rule = models.At(w.now.Add(24*time.Hour)), models.RulePolicy
	learns := w.family(child)
	learns.Release = false
	forwards := learns
	forwards.LinksKnown, forwards.Links, forwards.Release = false, nil, true
	forwards.Page.Visits++
	forwards.Visit.Number++
	forwards.Forward, forwards.ForwardOf = now+7, now
	w.mustCommit(learns, forwards)
	if got := w.page("far.example", 1); got.DueAt != now+7 || got.Rule != models.RuleParent {
		w.Errorf("child due at %v by %v, want %v", got.DueAt, got.Rule, now+7)
	}
	if got := w.host("far.example").ReadyAt; got != now+7 {
		w.Errorf("host of the child ready at %v, want %v", got, now+7)
	}
}

// duplicatesAreForwarded: of the pages that a result names as duplicates of its page, those come sooner that wait as such and were not
// visited since.
func duplicatesAreForwarded(w *world) {
	now := models.At(w.now)
	later := models.At(w.now.Add(24 * time.Hour))
	hosts := []string{"a.example", "far.example", "far.example", "near.example", "near.example"}
	var pages []models.Discovery
	var duplicates []models.Duplicate
	for i, rule := range []models.Rule{models.RuleDuplicate, models.RuleDuplicate, models.RuleDuplicate, models.RulePolicy, models.RuleDuplicate} {
		d := found(hosts[i], i+1)
		d.Page.Stats.VisitedAt, d.Page.DueAt, d.Page.Rule = now-100, later, rule
		if i == 2 {
			d.Page.Stats.VisitedAt = now
		}
		pages = append(pages, d)
		row := d.Row(w.now)
		duplicates = append(duplicates, models.Duplicate{Bucket: row.Bucket, PageID: row.ID, DueAt: now + models.Instant(i)})
	}
	duplicates[4].DueAt = later + 1
	r := w.family(pages...)
	r.Duplicates = duplicates
	w.mustCommit(r)
	for i, want := range []models.Instant{now, now + 1, later, later, later} {
		if got := w.page(hosts[i], i+1); got.DueAt != want || (want != later) != (got.Rule == models.RuleOriginal) {
			w.Errorf("page %d is due at %v by %v, want %v", i+1, got.DueAt, got.Rule, want)
		}
	}
	if got := w.host("far.example").ReadyAt; got != now+1 {
		w.Errorf("the host of one is ready at %v, want %v", got, now+1)
	}
}
