package storetest

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

func knowledgeIsKept(w *world) {
	w.add("a.example", 2)
	know := func(want []byte, learned int32) {
		w.Helper()
		h := w.host("a.example")
		got, n, err := w.store.Knowledge(w.Context(), h.Bucket, h.ID)
		w.must(err)
		if !bytes.Equal(got, want) || n != learned || h.Learned != learned {
			w.Errorf("Knowledge = %q, written %d times, the host says %d, want %q, %d", got, n, h.Learned, want, learned)
		}
	}
	know(nil, 0)
	l := w.claimOne(2)
	results := w.visitAll(l)
	results[0].Knowledge = []byte("first\x00\xff")
	w.mustCommit(results[0])
	w.mustCommit(results[0]) // its answer did not arrive
	know([]byte("first\x00\xff"), 1)
	late := results[1]
	late.Lease.Token--
	late.Knowledge = []byte("late")
	w.commit(late)
	results[1].Knowledge = []byte{}
	w.mustCommit(results[1])
	know([]byte("first\x00\xff"), 1)

	w.now = w.now.Add(24 * time.Hour)
	l = w.claimOne(2)
	if l.Host.Learned != 1 {
		w.Errorf("leased host says its knowledge was written %d times, want 1", l.Host.Learned)
	}
	results = w.visitAll(l)
	results[0].Knowledge, results[1].Knowledge = []byte("second"), []byte("third")
	w.mustCommit(results...)
	know([]byte("third"), 3)
	if body, n, err := w.store.Knowledge(w.Context(), 0, 1); body != nil || n != 0 || err != nil {
		w.Errorf("Knowledge of an unknown host = %q, %d, %v, want none", body, n, err)
	}
}

// evidenceReadsBack: numbers with a fraction come back to the last bit, and what is none is kept as 0.
func evidenceReadsBack(w *world) {
	w.add("a.example", 1)
	inf := float32(math.Inf(1))
	for _, written := range []models.Evidence{
		{Changes: -0.1, Days: 12345.678}, {Changes: math.MaxFloat32, Days: math.SmallestNonzeroFloat32},
		{Changes: float32(math.NaN()), Days: inf}, {Changes: -inf, Days: 3},
	} {
		r := w.visited(w.claimOne(1), 0)
		r.Page.Evidence = written
		w.mustCommit(r)
		want := written
		if x := written.Changes; x != x || x < -math.MaxFloat32 {
			want.Changes = 0
		}
		if written.Days == inf {
			want.Days = 0
		}
		if got := w.page("a.example", 0).Evidence; got != want {
			w.Errorf("evidence written as %v, read as %v, want %v", written, got, want)
		}
		w.now = w.now.Add(24 * time.Hour)
	}
}

func hostPages(w *world) {
	const many = 2345
	w.add("a.example", many)
	w.add("b.example", 1)
	never := found("a.example", many)
	never.Page.Rule, never.Page.State = models.RuleExcluded, models.StateExcluded
	w.addPages(never)
	bucket, _ := keysOf("a.example", 0)
	host := models.HostID("a.example")
	seen := make(map[string]bool)
	w.must(w.store.HostPages(w.Context(), bucket, host, func(p *models.Page) bool {
		seen[p.URL] = true
		return p.HostID == host
	}))
	if len(seen) != many || seen[never.Page.URL] {
		w.Errorf("HostPages yielded %d pages, want the %d that are due at some time", len(seen), many)
	}
	n := 0
	w.must(w.store.HostPages(w.Context(), bucket, host, func(*models.Page) bool { n++; return n < 1500 }))
	w.must(w.store.HostPages(w.Context(), bucket, host+1, func(*models.Page) bool { n++; return true }))
	if n != 1500 {
		w.Errorf("%d pages, want 1500, then an end, and none of an unknown host", n)
	}
	gone := found("a.example", many+1)
	gone.Page.Rule, gone.Page.State = models.RuleGone, models.StateGone
	w.addPages(gone)
	if known, err := w.store.PagesKnown(w.Context()); known != many+3 || err != nil {
		w.Errorf("PagesKnown = %d, %v, want %d", known, err, many+3)
	}
	other := found("b.example", 1)
	other.Page.SiteID = 2
	w.addPages(other)
	counts, err := w.store.PagesBySite(w.Context())
	w.must(err)
	if diff := cmp.Diff(map[int32]int64{1: many + 1, 2: 1}, counts); diff != "" {
		w.Errorf("PagesBySite, without what is gone or excluded (-want +got):\n%s", diff)
	}
}

// due is a new due time for a host's n-th page.
func (w *world) due(host string, n int, in time.Duration) models.Due {
	w.Helper()
	p := w.page(host, n)
	return models.Due{Bucket: p.Bucket, HostID: p.HostID, PageID: p.ID, Visits: p.Visits, WasDue: p.DueAt,
		DueAt: models.At(w.now.Add(in)), FRMax: 7, Wanted: 3 * time.Hour, Rule: models.RuleWindow}
}

func (w *world) reschedule(due ...models.Due) {
	w.Helper()
	w.must(w.store.Reschedule(w.Context(), due))
}

func pagesAreRescheduled(w *world) {
	var pages []models.Discovery
	for i, host := range []string{"a.example", "a.example", "b.example"} {
		d := found(host, i)
		d.Page.DueAt, d.Page.Rule = models.At(w.now.Add(time.Hour)), models.RulePolicy
		pages = append(pages, d)
	}
	w.addPages(pages...)
	ready := func(host string, in time.Duration) {
		w.Helper()
		if got, want := w.ready(host), w.now.Add(in); !got.Equal(want) {
			w.Errorf("%s is ready at %v, want %v", host, got, want)
		}
	}
	w.reschedule(w.due("a.example", 0, 30*time.Minute), w.due("b.example", 2, 40*time.Minute), w.due("a.example", 1, 50*time.Minute))
	ready("a.example", 30*time.Minute)
	ready("b.example", 40*time.Minute)
	p := w.page("a.example", 0)
	if p.DueAt != models.At(w.now.Add(30*time.Minute)) || p.FRMax != 7 || p.Wanted != 3*time.Hour || p.Rule != models.RuleWindow {
		w.Errorf("rescheduled page = due %v, fr_max %d, wanted %v, by %v", p.DueAt, p.FRMax, p.Wanted, p.Rule)
	}
	w.reschedule(w.due("a.example", 0, 2*time.Hour)) // later: the other page comes first
	ready("a.example", 50*time.Minute)
	w.reschedule(w.due("a.example", 1, 3*time.Hour), w.due("a.example", 1, 4*time.Hour)) // the later in the list counts
	ready("a.example", 2*time.Hour)
	if got, want := w.page("a.example", 1).DueAt, models.At(w.now.Add(4*time.Hour)); got != want {
		w.Errorf("page rescheduled twice is due at %v, want %v", got, want)
	}
	w.reschedule()
}

func onlyWaitingPagesAreRescheduled(w *world) {
	w.add("a.example", 2)
	never := found("a.example", 2)
	never.Page.Rule, never.Page.State = models.RuleExcluded, models.StateExcluded
	w.addPages(never)
	visited, gone, excluded := w.due("a.example", 0, time.Minute), w.due("a.example", 1, time.Minute), w.due("a.example", 2, time.Minute)
	elsewhere, end := gone, gone
	gone.PageID++
	elsewhere.HostID++
	end.DueAt = 0
	w.mustCommit(w.visitAll(w.claimOne(3))...)
	visited.Visits = 0
	before := w.dump()
	w.reschedule(visited, gone, excluded, elsewhere, end)
	if diff := cmp.Diff(before, w.dump()); diff != "" {
		w.Errorf("after new times for pages that were visited, do not exist or are never due (-before +after):\n%s", diff)
	}
}

// wishesAreNotRescheduled: what was moved without a visit since a new due time was decided on stays where it is.
func wishesAreNotRescheduled(w *world) {
	w.add("a.example", 2)
	wished, moved := w.due("a.example", 0, time.Hour), w.due("a.example", 1, time.Hour)
	w.must(w.store.VisitNow(w.Context(), w.now, wished.Bucket, wished.PageID))
	again := w.due("a.example", 0, 2*time.Hour) // decided after the wish, of which it must not know better
	sooner := w.due("a.example", 1, time.Minute)
	w.reschedule(sooner)
	before := w.dump()
	w.reschedule(wished, moved, again)
	if diff := cmp.Diff(before, w.dump()); diff != "" {
		w.Errorf("after new times for a page that somebody asked for and one that was moved (-before +after):\n%s", diff)
	}
	sooner.WasDue, sooner.DueAt = sooner.DueAt, models.At(w.now.Add(2*time.Minute))
	w.reschedule(sooner)
	if got := w.page("a.example", 1).DueAt; got != sooner.DueAt {
		w.Errorf("page is due at %v, want what was decided on it as it is: %v", got, sooner.DueAt)
	}
}

// rulesThatAreRescheduled: of pages that wait, those are moved whose rule lets them.
func rulesThatAreRescheduled(w *world) {
	var pages []models.Discovery
	for n := range int(models.Rules()) {
		d := w.settled("a.example", n, 0)
		d.Page.Rule = models.Rule(n + 1)
		pages = append(pages, d)
	}
	w.addPages(pages...)
	var due []models.Due
	for n := range pages {
		due = append(due, w.due("a.example", n, -time.Hour))
	}
	w.reschedule(due...)
	for n := range pages {
		rule, got := pages[n].Page.Rule, w.page("a.example", n)
		want := map[bool]models.Instant{true: due[n].DueAt, false: due[n].WasDue}[rule.Movable()]
		if got.DueAt != want {
			w.Errorf("page due by %v is due at %v after it was rescheduled, want %v", rule, got.DueAt, want)
		}
	}
}

// leasedHostIsRescheduled: new times for the pages of a leased host count from its release on, but for the page that
// its worker visits.
func leasedHostIsRescheduled(w *world) {
	w.add("a.example", 2)
	l := w.claimOne(1)
	leased := pageNumber(l.Pages[0].URL)
	w.reschedule(w.due("a.example", leased, 2*time.Minute), w.due("a.example", 1-leased, 5*time.Minute))
	if got := w.ready("a.example"); !got.Equal(l.Until) {
		w.Errorf("leased host ready at %v, want the lease's end %v", got, l.Until)
	}
	w.mustCommit(w.visitAll(l)...)
	if got, want := w.ready("a.example"), w.now.Add(5*time.Minute); !got.Equal(want) {
		w.Errorf("released host ready at %v, want %v", got, want)
	}
	r := w.due("a.example", 1-leased, time.Minute)
	w.reschedule(r)
	w.now = w.now.Add(time.Minute)
	w.mustCommit(w.visitAll(w.claimOne(1))...)
	r.DueAt++
	w.reschedule(r)
	if got := w.page("a.example", 1-leased); got.DueAt != models.At(w.now.Add(24*time.Hour)) {
		w.Errorf("page visited since is due at %v, want what its visit said", got.DueAt)
	}
}

// rescheduledSideBySide: hosts are swept while others visit them. In the end each host is ready when its first page is
// due.
func rescheduledSideBySide(w *world) {
	const pages = 30
	hosts := append(sameBucket(4), "x.example")
	for _, host := range hosts {
		w.add(host, pages)
	}
	w.together(6, func(i int) error {
		mine := *w
		for round := range 12 {
			if i%2 == 0 {
				host := hosts[(i+round)%len(hosts)]
				var due []models.Due
				err := w.store.HostPages(w.Context(), models.BucketOf(host), models.HostID(host), func(p *models.Page) bool {
					due = append(due, models.Due{Bucket: p.Bucket, HostID: p.HostID, PageID: p.ID, Visits: p.Visits,
						WasDue: p.DueAt, DueAt: p.DueAt - models.Instant(round), FRMax: 1, Rule: models.RulePolicy})
					return true
				})
				if err != nil {
					return err
				}
				slices.Reverse(due)
				if err := w.store.Reschedule(w.Context(), due); err != nil {
					return err
				}
				continue
			}
			leases, err := w.store.Claim(w.Context(), mine.request(2, 3))
			if err != nil {
				return err
			}
			for _, l := range leases {
				if _, err := w.store.Commit(w.Context(), mine.now, mine.visitAll(l)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	w.mustBeReadyByPages()
}

// mustBeReadyByPages compares when idle hosts are ready with when their pages are due.
func (w *world) mustBeReadyByPages() {
	w.Helper()
	d := w.dump()
	first := make(map[int64]models.Instant)
	for _, p := range d.Pages {
		if at := first[p.HostID]; at == 0 || p.DueAt < at {
			first[p.HostID] = p.DueAt
		}
	}
	for _, h := range d.Hosts {
		if want := h.ReadyFrom(first[h.ID]); h.LeaseUntil == 0 && h.ReadyAt != want {
			w.Errorf("%s is ready at %v, want when its first page is due and it is open: %v", h.Name, h.ReadyAt, want)
		}
	}
}

func notesAreMerged(w *world) {
	merge := func(name, want string, f func([]byte) []byte) {
		w.Helper()
		var got []byte
		w.must(w.store.Merge(w.Context(), name, func(old []byte) []byte { got = slices.Clone(old); return f(old) }))
		if string(got) != want {
			w.Errorf("note %s = %q, want %q", name, got, want)
		}
	}
	leave := func([]byte) []byte { return nil }
	add := func(text string) func([]byte) []byte {
		return func(old []byte) []byte { return append(old, text...) }
	}
	merge("price", "", leave)
	if notes := w.dump().Notes; len(notes) != 0 {
		w.Errorf("notes = %v, want none", notes)
	}
	merge("price", "", add("a\x00"))
	merge("price", "a\x00", add("\xff"))
	merge("price", "a\x00\xff", leave)
	merge("weights", "", add("w"))
	want := []models.Note{{Name: "price", Body: []byte("a\x00\xff")}, {Name: "weights", Body: []byte("w")}}
	if diff := cmp.Diff(want, w.dump().Notes); diff != "" {
		w.Errorf("notes (-want +got):\n%s", diff)
	}
	w.must(w.store.ForgetNote(w.Context(), "price"))
	w.must(w.store.ForgetNote(w.Context(), "price"))
	if diff := cmp.Diff(want[1:], w.dump().Notes); diff != "" {
		w.Errorf("notes without one (-want +got):\n%s", diff)
	}
	merge("price", "", leave)
}

// mergedSideBySide: many workers add to one note, from before it exists on. Nothing is lost.
func mergedSideBySide(w *world) {
	const workers, each = 8, 10
	w.together(workers, func(int) error {
		for range each {
			err := w.store.Merge(w.Context(), "sum", func(old []byte) []byte {
				n, _ := strconv.Atoi(string(old))
				return strconv.AppendInt(nil, int64(n+1), 10)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	want := []models.Note{{Name: "sum", Body: []byte(strconv.Itoa(workers * each))}}
	if diff := cmp.Diff(want, w.dump().Notes); diff != "" {
		w.Errorf("sum of all workers (-want +got):\n%s", diff)
	}
}

func linksAreListed(w *world) {
	w.add("a.example", 3)
	var want []models.Link
	for i, r := range w.visitAll(w.claimOne(3)) {
		r.LinksKnown = true
		for n := range 4 {
			l := models.Link{ChildBucket: int16(9 - n%2), ChildID: int64(5 + n)}
			r.Links = append(r.Links, l)
			l.Bucket, l.ParentID = r.Page.Bucket, r.Page.ID
			if i < 2 {
				want = append(want, l)
			}
		}
		if i < 2 {
			w.mustCommit(r)
		}
	}
	slices.SortFunc(want, func(a, b models.Link) int {
		return slices.Compare([]int64{a.ParentID, int64(a.ChildBucket), a.ChildID}, []int64{b.ParentID, int64(b.ChildBucket), b.ChildID})
	})
	var got []models.Link
	var after models.Link
	for {
		links, err := w.store.LinksFrom(w.Context(), models.BucketOf("a.example"), after, 3)
		w.must(err)
		if len(links) == 0 {
			break
		}
		got = append(got, links...)
		after = links[len(links)-1]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("links of the bucket (-want +got):\n%s", diff)
	}
	if links, err := w.store.LinksFrom(w.Context(), models.BucketOf("a.example")+1, models.Link{}, 3); len(links) > 0 || err != nil {
		w.Errorf("links of another bucket = %v, %v, want none", links, err)
	}
}

// importanceIsSet: also while the page is leased, whose visit does not bring the old one back.
func importanceIsSet(w *world) {
	d := found("a.example", 0)
	d.Page.Importance = 0.5
	w.addPages(d, found("b.example", 0))
	importance := func(host string, want float32) {
		w.Helper()
		if got := w.page(host, 0).Importance; got != want {
			w.Errorf("importance of the page of %s = %v, want %v", host, got, want)
		}
	}
	importance("a.example", 0.5)
	c := w.request(1, 1)
	c.Buckets = []int16{models.BucketOf("a.example")}
	leases, err := w.store.Claim(w.Context(), c)
	w.must(err)
	if got := leases[0].Pages[0].Importance; got != 0.5 {
		w.Errorf("importance of the leased page = %v, want 0.5", got)
	}
	worth := func(host string, importance float32) models.Worth {
		bucket, id := keysOf(host, 0)
		return models.Worth{Bucket: bucket, PageID: id, Importance: importance}
	}
	none := worth("a.example", 9)
	none.PageID++
	w.must(w.store.SetImportance(w.Context(), []models.Worth{worth("a.example", 1), none, worth("b.example", 0.1), worth("a.example", 2.75)}))
	w.mustCommit(w.visitAll(leases[0])...)
	importance("a.example", 2.75)
	importance("b.example", 0.1)
	w.must(w.store.SetImportance(w.Context(), []models.Worth{worth("b.example", float32(math.NaN()))}))
	importance("b.example", 0)
	if n := len(w.dump().Pages); n != 2 {
		w.Errorf("%d pages, want 2", n)
	}
}
