package storetest

import (
	"slices"
	"sync"
	"time"

	"recrawld/models"
)

// waiting adds a host whose pages are due after so many minutes, and which may be visited early.
func (w *world) waiting(host string, minutes ...int) {
	w.Helper()
	w.ahead(host, true)
	var pages []models.Discovery
	for i, m := range minutes {
		d := found(host, i+1)
		d.Page.DueAt = models.At(w.now.Add(time.Duration(m) * time.Minute))
		pages = append(pages, d)
	}
	w.addPages(pages...)
}

// ahead visits a host's first page, which it adds, says whether the host may be visited early, and makes the page due in
// a day.
func (w *world) ahead(host string, early bool) {
	w.Helper()
	w.add(host, 1)
	c := w.request(1, 1)
	c.Buckets = []int16{models.BucketOf(host)}
	leases, err := w.store.Claim(w.Context(), c)
	w.must(err)
	r := w.visited(leases[0], 0)
	r.Host.Ahead = early
	w.mustCommit(r)
}

// claimAhead leases hosts with pages due in so many minutes.
func (w *world) claimAhead(hosts, pages, minutes int) []models.Lease {
	w.Helper()
	c := w.request(hosts, pages)
	c.Ahead = w.now.Add(time.Duration(minutes) * time.Minute)
	leases, err := w.store.Claim(w.Context(), c)
	w.must(err)
	return leases
}

func urlsOf(leases []models.Lease) []string {
	var urls []string
	for _, l := range leases {
		for _, p := range l.Pages {
			urls = append(urls, p.URL)
		}
	}
	return urls
}

func earlyPages(w *world) {
	names := sameBucket(3)
	w.waiting(names[0], 20, 5, 40)
	w.waiting(names[1], 10)
	w.ahead(names[2], false)
	d := found(names[2], 1)
	d.Page.DueAt = models.At(w.now.Add(time.Minute))
	w.addPages(d)
	if got := urlsOf(w.claimAhead(5, 5, 0)); len(got) > 0 {
		w.Errorf("pages due now = %v, want none", got)
	}
	if got, want := urlsOf(w.claimAhead(1, 1, 30)), []string{pageURL(names[0], 2)}; !slices.Equal(got, want) {
		w.Errorf("the page that is due first = %v, want %v", got, want)
	}
	if got, want := urlsOf(w.claimAhead(5, 5, 30)), []string{pageURL(names[1], 1)}; !slices.Equal(got, want) {
		w.Errorf("pages of the hosts left = %v, want %v: the first host is leased, the third is never early", got, want)
	}
}

func readyComesBeforeEarly(w *world) {
	names := sameBucket(3)
	w.waiting(names[0], 5)
	w.waiting(names[1], 10, 90, 0)
	w.ahead(names[2], false)
	late, soon := found(names[2], 1), found(names[2], 2)
	late.Page.DueAt, soon.Page.DueAt = models.At(w.now), models.At(w.now.Add(time.Minute))
	w.addPages(late, soon)
	w.now = w.now.Add(time.Second)
	got := urlsOf(w.claimAhead(5, 5, 30))
	want := []string{pageURL(names[1], 3), pageURL(names[1], 1), pageURL(names[2], 1), pageURL(names[0], 1)}
	if ready := slices.Clone(want); models.HostID(names[2]) < models.HostID(names[1]) {
		want = append(append(ready[2:3:3], ready[:2]...), ready[3]) // ready at the same time
	}
	if !slices.Equal(got, want) {
		w.Errorf("pages = %v, want what is ready first, and of hosts that may be early what is due soon: %v", got, want)
	}
}

func earlyIsPolite(w *world) {
	names := sameBucket(4)
	for _, host := range names {
		w.waiting(host, 30)
	}
	hold := func(host string, change func(*models.Host)) {
		w.Helper()
		l := w.claimAhead(1, 1, 31)[0]
		r := w.visited(l, 0)
		change(&r.Host)
		r.Page.DueAt = models.At(w.now.Add(20 * time.Minute))
		w.mustCommit(r)
	}
	hold(names[0], func(h *models.Host) { h.OpenAt = models.At(w.now.Add(time.Minute)) })
	hold(names[1], func(h *models.Host) { h.BackoffUntil = models.At(w.now.Add(2 * time.Minute)) })
	hold(names[2], func(h *models.Host) { h.BackoffUntil = models.At(w.now.Add(25 * time.Minute)) })
	hold(names[3], func(h *models.Host) {})
	for _, step := range []struct{ minutes, hosts int }{{0, 1}, {1, 2}, {2, 3}, {25, 4}} {
		now := w.now
		w.now = now.Add(time.Duration(step.minutes) * time.Minute)
		buckets, err := w.store.Ahead(w.Context(), w.now, 3)
		w.must(err)
		if got := w.claimAhead(9, 1, 60); len(got) != step.hosts || (len(buckets) == 1) != (step.minutes < 20) {
			w.Errorf("after %d minutes %d hosts may be visited and %v early, want %d", step.minutes, len(got), buckets, step.hosts)
		}
		_, err = w.store.Recover(w.Context(), now, "") // as if nothing had been claimed
		w.must(err)
		w.now = now
	}
}

func aheadNamesTheNext(w *world) {
	ahead := func(limit int, want ...models.BucketReady) {
		w.Helper()
		got, err := w.store.Ahead(w.Context(), w.now, limit)
		w.must(err)
		if !slices.Equal(got, want) {
			w.Errorf("Ahead of %d buckets = %v, want %v", limit, got, want)
		}
	}
	ahead(5)
	w.ahead("never.example", false)
	w.waiting("a.example", 30)
	w.waiting("b.example", 20, 0)
	w.waiting("c.example", 10)
	a := models.BucketReady{Bucket: models.BucketOf("a.example"), At: w.now.Add(30 * time.Minute)}
	c := models.BucketReady{Bucket: models.BucketOf("c.example"), At: w.now.Add(10 * time.Minute)}
	ahead(5, c, a) // b.example is ready
	ahead(1, c)
	ahead(0)
	b := w.claimOne(1)
	ahead(5, c, a) // b.example is leased
	w.mustCommit(w.visited(b, 0))
	ahead(5, c, models.BucketReady{Bucket: models.BucketOf("b.example"), At: w.now.Add(20 * time.Minute)}, a)
}

// earlySideBySide: several workers with visits to spare visit early what is due next. Each gets another page, and
// together they get those that are due first.
func earlySideBySide(w *world) {
	const hosts, workers, each = 12, 4, 5
	for h := range hosts {
		w.waiting([]string{"a", "b", "c", "d"}[h%4]+string(rune('0'+h/4))+".example", h+1, h+1+hosts)
	}
	var mu sync.Mutex
	visited := make(map[string]int)
	w.together(workers, func(i int) error {
		mine := *w
		for n := 0; n < each; {
			buckets, err := w.store.Ahead(w.Context(), mine.now, workers)
			if err != nil {
				return err
			}
			c := mine.request(1, 1)
			c.Buckets = nil
			for _, b := range buckets {
				c.Buckets, c.Ahead = append(c.Buckets, b.Bucket), b.At
			}
			leases, err := w.store.Claim(w.Context(), c)
			if err != nil {
				return err
			}
			for _, l := range leases {
				n++
				mu.Lock()
				visited[l.Pages[0].URL]++
				mu.Unlock()
				if _, err := w.store.Commit(w.Context(), mine.now, mine.visitAll(l)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if len(visited) != workers*each {
		w.Errorf("%d pages visited %v, want %d, each once", len(visited), visited, workers*each)
	}
}
