package storetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"recrawld/models"
)

func claimsInOrder(w *world) {
	names := sameBucket(3)
	for i, age := range []int{1, 3, 2} {
		d := found(names[i], 0)
		d.Page.DueAt = models.At(w.now.Add(-time.Duration(age) * time.Hour))
		w.addPages(d)
	}
	var got []string
	for _, l := range append(w.claim(2, 10), w.claim(2, 10)...) {
		got = append(got, l.Host.Name)
	}
	if want := []string{names[1], names[2], names[0]}; !slices.Equal(got, want) {
		w.Errorf("hosts claimed = %v, want %v", got, want)
	}
}

func nothingReady(w *world) {
	d := found("a.example", 0)
	d.Page.DueAt = models.At(w.now.Add(time.Hour))
	w.addPages(d)
	if got := w.claim(10, 10); len(got) != 0 {
		w.Errorf("Claim before anything is due = %v, want none", got)
	}
	if got, want := w.ready("a.example"), w.now.Add(time.Hour); !got.Equal(want) {
		w.Errorf("ready at %v, want %v", got, want)
	}
	none, err := w.store.Claim(w.Context(), models.ClaimRequest{Now: w.now, Lease: lease, Hosts: 10, Pages: 10})
	if len(none) != 0 || err != nil {
		w.Errorf("Claim of no bucket = %v, %v, want none", none, err)
	}
}

func bucketsAreKept(w *world) {
	w.add("a.example", 1)
	w.add("b.example", 1)
	c := w.request(10, 10)
	c.Buckets = []int16{models.BucketOf("b.example")}
	leases, err := w.store.Claim(w.Context(), c)
	w.must(err)
	if len(leases) != 1 || leases[0].Host.Name != "b.example" {
		w.Errorf("Claim of the bucket of b.example = %v, want that host alone", leases)
	}
}

func claimersShareNothing(w *world) {
	for _, name := range sameBucket(5) {
		w.add(name, 2)
	}
	seen := make(map[string]bool)
	for range 3 {
		for _, l := range w.claim(2, 10) {
			if seen[l.Host.Name] {
				w.Errorf("host %s was leased twice", l.Host.Name)
			}
			seen[l.Host.Name] = true
		}
	}
	if len(seen) != 5 {
		w.Errorf("%d hosts leased, want 5", len(seen))
	}
}

func leaseHasDuePages(w *world) {
	var pages []models.Discovery
	for i, hours := range []int{-1, 1, -3, -2, -4} {
		d := found("a.example", i)
		d.Page.DueAt = models.At(w.now.Add(time.Duration(hours) * time.Hour))
		pages = append(pages, d)
	}
	never := found("a.example", 9)
	never.Page.Rule, never.Page.State = models.RuleExcluded, models.StateExcluded
	w.addPages(append(pages, never)...)

	l := w.claimOne(3)
	var got []string
	for _, p := range l.Pages {
		got = append(got, p.URL)
	}
	want := []string{pageURL("a.example", 4), pageURL("a.example", 2), pageURL("a.example", 3)}
	if !slices.Equal(got, want) {
		w.Errorf("pages leased = %v, want %v", got, want)
	}
	if l.Host.LeaseOwner != "w1" || !l.Until.Equal(w.now.Add(lease)) || l.Host.LeaseToken != 1 {
		w.Errorf("lease = owner %q until %v token %d, want w1, %v, 1", l.Host.LeaseOwner, l.Until, l.Host.LeaseToken,
			w.now.Add(lease))
	}
	if l.Host.Pages != 6 {
		w.Errorf("pages of the host = %d, want 6", l.Host.Pages)
	}
}

func patientHostGetsOnePage(w *world) {
	w.add("a.example", 3)
	w.setDelay(10 * time.Second)
	w.now = w.now.Add(10 * time.Second)
	c := w.request(1, 10)
	c.Patient = 10 * time.Second
	leases, err := w.store.Claim(w.Context(), c)
	w.must(err)
	if len(leases) != 1 || len(leases[0].Pages) != 1 {
		w.Errorf("Claim of a patient host = %v, want one page", leases)
	}
	w.now = w.now.Add(lease + 10*time.Second)
	c = w.request(1, 10)
	c.Patient = 11 * time.Second
	leases, err = w.store.Claim(w.Context(), c)
	w.must(err)
	if len(leases) != 1 || len(leases[0].Pages) != 2 {
		w.Errorf("Claim of a host below the limit = %v, want the two due pages", leases)
	}
}

// corrects: a host is ready, but its pages are no longer due.
func corrects(w *world) {
	w.add("a.example", 1)
	w.claimOne(1)
	w.now = w.now.Add(lease)
	l := w.claimOne(1)
	r := w.visited(l, 0)
	r.Release = false
	w.mustCommit(r)
	w.now = w.now.Add(lease) // the worker died before it released the host
	if got := w.claim(1, 1); len(got) != 0 {
		w.Errorf("Claim of a host with no due page = %v, want none", got)
	}
	h := w.host("a.example")
	if h.LeaseUntil != 0 || h.ReadyAt != r.Page.DueAt || h.LeaseToken != l.Host.LeaseToken {
		w.Errorf("host = ready %v, lease until %v, token %d, want %v, never, %d", h.ReadyAt, h.LeaseUntil, h.LeaseToken,
			r.Page.DueAt, l.Host.LeaseToken)
	}
}

func expiredLeaseIsTakenOver(w *world) {
	w.add("a.example", 1)
	first := w.claimOne(1)
	w.now = w.now.Add(lease - time.Millisecond)
	if got := w.claim(1, 1); len(got) != 0 {
		w.Errorf("Claim during a lease = %v, want none", got)
	}
	w.now = w.now.Add(time.Millisecond)
	second := w.claimOne(1)
	if second.Host.LeaseToken <= first.Host.LeaseToken {
		w.Errorf("token of the second lease = %d, want more than %d", second.Host.LeaseToken, first.Host.LeaseToken)
	}
}

func lateCommitIsRefused(w *world) {
	w.add("a.example", 2)
	first := w.claimOne(1)
	w.now = w.now.Add(lease)
	second := w.claimOne(2)
	w.add("b.example", 1)
	third := w.claimOne(1)

	late := w.visited(first, 0)
	late.Events = []models.Event{event(late, models.EventNew)}
	late.Discovered = []models.Discovery{found("a.example", 77)}
	late.Release = true
	verdicts := w.commit(late, w.visited(second, 0), w.visited(third, 0))
	if !errors.Is(verdicts[0], models.ErrLeaseLost) || verdicts[1] != nil || verdicts[2] != nil {
		w.Fatalf("Commit = %v, want the first lease lost and the others written", verdicts)
	}
	d := w.dump()
	if len(d.Visits) != 2 || len(d.Events) != 0 || len(d.Pages) != 3 {
		w.Errorf("%d visits, %d events, %d pages, want 2, 0, 3", len(d.Visits), len(d.Events), len(d.Pages))
	}
	if h := w.host("a.example"); h.LeaseUntil == 0 {
		w.Error("the late result released the lease of another worker")
	}
}

// lostHidesNothing commits a visit together with one of the same page whose lease was lost, and that came after another one of
// that lease: it takes the page for visited more often than it is.
func lostHidesNothing(w *world) {
	w.add("a.example", 1)
	w.commit(w.visited(w.claimOne(1), 0))
	w.now = w.now.Add(24 * time.Hour)
	lost := w.claimOne(1)
	w.now = w.now.Add(lease)
	held := w.claimOne(1)

	lost.Pages[0].Page = w.visited(lost, 0).Page // refused in an earlier batch, say
	verdicts := w.commit(w.visited(lost, 0), w.visited(held, 0))
	if !errors.Is(verdicts[0], models.ErrLeaseLost) || verdicts[1] != nil {
		w.Fatalf("Commit = %v, want the first lease lost and the second one's result written", verdicts)
	}
	if d := w.dump(); len(d.Visits) != 2 || d.Pages[0].Visits != 2 {
		w.Errorf("%d visits, %d by the page, want 2", len(d.Visits), d.Pages[0].Visits)
	}
}

func politeAfterLostLease(w *world) {
	w.add("a.example", 3)
	w.setDelay(10 * time.Second)
	if got, want := w.ready("a.example"), w.now.Add(10*time.Second); !got.Equal(want) {
		w.Errorf("ready after a visit at %v, want %v", got, want)
	}
	w.now = w.now.Add(10 * time.Second)
	l := w.claimOne(1)
	if got, want := w.ready("a.example"), l.Until.Add(10*time.Second); !got.Equal(want) {
		w.Errorf("ready after the lease at %v, want its end and the delay: %v", got, want)
	}
}

func endedContext(w *world) {
	w.add("a.example", 1)
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	if _, err := w.store.Claim(ctx, w.request(1, 1)); !errors.Is(err, context.Canceled) {
		w.Errorf("Claim with an ended context: %v, want %v", err, context.Canceled)
	}
	l := w.claimOne(1)
	if _, err := w.store.Commit(ctx, w.now, w.visitAll(l)); !errors.Is(err, context.Canceled) {
		w.Errorf("Commit with an ended context: %v, want %v", err, context.Canceled)
	}
	w.mustCommit(w.visitAll(l)...)
}
