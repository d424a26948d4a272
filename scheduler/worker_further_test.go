package scheduler_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// claims counts the leases that a store gave.
type claims struct {
	*simulate.Memory
	leases  atomic.Int64
	further atomic.Int64
}

func (c *claims) Claim(ctx context.Context, r models.ClaimRequest) ([]models.Lease, error) {
	leases, err := c.Memory.Claim(ctx, r)
	c.leases.Add(int64(len(leases)))
	return leases, err
}

func (c *claims) Further(ctx context.Context, now time.Time, limit int, hosts []models.Handed) ([][]models.LeasedPage, error) {
	c.further.Add(1)
	return c.Memory.Further(ctx, now, limit, hosts)
}

// runFor has a worker work for d of the bubble's time.
func (s *stage) runFor(d time.Duration, change func(*scheduler.Config)) *claims {
	s.t.Helper()
	store := &claims{Memory: s.store}
	ctx, cancel := context.WithTimeout(s.t.Context(), d)
	defer cancel()
	w := s.worker("one", clock.System{}, func(c *scheduler.Config) {
		c.Store = store
		if change != nil {
			change(c)
		}
	})
	if err := w.Run(ctx); err != nil {
		s.t.Fatal(err)
	}
	return store
}

// A host with many due pages keeps its lease while nobody else waits: its pages are visited once each, under one claim, as
// many at a time as before.
func TestALeaseGoesOnWithFurtherPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, 1000, time.Now())
		s.config.Sites[0].Settings.Delay, s.config.Sites[0].Settings.Concurrency = 0, 4
		s.visit = takes(10 * time.Millisecond)
		store := s.runFor(4*time.Second, nil)
		if len(s.visits) != 2000 || s.most != 4 {
			t.Errorf("%d pages visited, %d at a time, want 2000 and 4", len(s.visits), s.most)
		}
		for url, n := range s.visits {
			if n != 1 {
				t.Errorf("%s was visited %d times, want once", url, n)
			}
		}
		if leases, further := store.leases.Load(), store.further.Load(); leases != 2 || further < 7 || further > 40 {
			t.Errorf("%d leases and %d readings of further pages, want 2 and about 8 a host", leases, further)
		}
	})
}

// After some seconds a host is claimed anew: what became due before the pages at hand is not forgotten.
func TestALeaseDoesNotGoOnForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 3000, time.Now())
		s.config.Sites[0].Settings.Delay = 0
		s.visit = takes(10 * time.Millisecond)
		store := s.runFor(20*time.Second, nil)
		if n := store.leases.Load(); n < 2 || n > 5 {
			t.Errorf("%d leases in 20 s, want one each 5 s or a little later", n)
		}
		if len(s.visits) < 1900 {
			t.Errorf("%d pages visited, want some 2000", len(s.visits))
		}
	})
}

// A host does not go on while another one waits for the only fetcher.
func TestALeaseEndsWhereAnotherHostWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, 600, time.Now())
		s.config.Sites[0].Settings.Delay = 0
		var runs []int // visits to one host in a row
		last := ""
		inner := takes(time.Millisecond)
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			if turn.Host.Name != last {
				last, runs = turn.Host.Name, append(runs, 0)
			}
			runs[len(runs)-1]++
			return inner(ctx, turn)
		}
		s.runFor(10*time.Second, func(c *scheduler.Config) { c.Fetchers = 1 })
		if len(s.visits) != 1200 || len(runs) < 8 {
			t.Errorf("%d pages visited in runs of %v, want 1200 in runs of at most 128 while both hosts have some", len(s.visits), runs)
		}
		for _, n := range runs[:min(8, len(runs))] {
			if n > 128 {
				t.Errorf("%d visits to one host in a row while the other waits (%v), want at most 128", n, runs)
			}
		}
	})
}

// A database that cannot read further pages ends the lease with those at hand; they come with the next claim.
func TestFurtherPagesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 500, time.Now())
		s.config.Sites[0].Settings.Delay = 0
		s.visit = takes(10 * time.Millisecond)
		store := &brokenFurther{Memory: s.store}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) { c.Store = store })
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(s.visits) != 500 || store.asked.Load() == 0 {
			t.Errorf("%d pages visited, %d readings refused, want 500 and some", len(s.visits), store.asked.Load())
		}
	})
}

// A page that somebody asks for while it waits in a lease is read as a further page too, and visited once all the same.
func TestAPageAskedForWhileItWaitsIsVisitedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 200, time.Now())
		s.config.Sites[0].Settings.Delay = 0
		s.visit = takes(time.Millisecond)
		store := &impatientUser{Memory: s.store}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) { c.Store = store })
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if store.page == nil || len(s.visits) != 200 {
			t.Fatalf("%d pages visited, %+v asked for, want 200 and one of them", len(s.visits), store.page)
		}
		if n := s.visits[store.page.URL]; n != 1 {
			t.Errorf("%s was visited %d times, want once", store.page.URL, n)
		}
	})
}

// impatientUser asks for the last page of the first lease as soon as that goes on.
type impatientUser struct {
	*simulate.Memory
	page  *models.Page
	asked bool
}

func (u *impatientUser) Claim(ctx context.Context, r models.ClaimRequest) ([]models.Lease, error) {
	leases, err := u.Memory.Claim(ctx, r)
	if len(leases) > 0 && u.page == nil {
		page := leases[0].Pages[len(leases[0].Pages)-1].Page
		u.page = &page
	}
	return leases, err
}

func (u *impatientUser) Further(ctx context.Context, now time.Time, limit int, hosts []models.Handed) ([][]models.LeasedPage, error) {
	if !u.asked {
		u.asked = true
		if err := u.VisitNow(ctx, now, u.page.Bucket, u.page.ID); err != nil {
			return nil, err
		}
	}
	return u.Memory.Further(ctx, now, limit, hosts)
}

type brokenFurther struct {
	*simulate.Memory
	asked atomic.Int64
}

func (b *brokenFurther) Further(context.Context, time.Time, int, []models.Handed) ([][]models.LeasedPage, error) {
	b.asked.Add(1)
	return nil, context.DeadlineExceeded
}

// Hosts that wait for a fetcher when the worker stops are given back unvisited.
func TestWaitingLeasesAreGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 12, 1, time.Now())
		s.visit = takes(time.Minute)
		store := s.runFor(time.Second, func(c *scheduler.Config) { c.Grace = 2 * time.Minute })
		if n := store.leases.Load(); n != 10 {
			t.Errorf("%d hosts leased by 8 fetchers, want 10", n)
		}
		if len(s.visits) != 8 {
			t.Errorf("%d pages visited, want one for each of 8 fetchers", len(s.visits))
		}
		dump, err := s.store.Dump(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range dump.Hosts {
			if h.LeaseUntil != 0 {
				t.Errorf("%s is still leased until %v", h.Name, h.LeaseUntil)
			}
		}
		for _, p := range dump.Pages {
			visited := s.visits[p.URL] > 0
			if due := p.DueAt.Time().Before(time.Now()); due == visited || !visited && p.Stats.Records != 0 {
				t.Errorf("%s: visited %v, due %v (%v)", p.URL, visited, p.DueAt, p.Rule)
			}
		}
	})
}

// Two committers at a time: nothing is lost, and each page's results come in their order.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 40, 50, time.Now())
		s.config.Sites[0].Settings.Delay = 0
		s.visit = takes(5 * time.Millisecond)
		s.runFor(10*time.Second, func(c *scheduler.Config) { c.Writers = 2 })
		dump, err := s.store.Dump(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.visits) != 2000 {
			t.Errorf("%d pages visited, want 2000", len(s.visits))
		}
		for _, p := range dump.Pages {
			if int(p.Visits) != s.visits[p.URL] || p.Version == 0 {
				t.Errorf("%s: %d visits written of %d, version %d", p.URL, p.Visits, s.visits[p.URL], p.Version)
			}
		}
	})
}
