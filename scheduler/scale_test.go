package scheduler_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// load is a worker with very much to do: it tells when each host was visited first and how much was under way at a time.
type load struct {
	*stage
	began time.Time

	mu    sync.Mutex
	first map[string]time.Duration // guarded by mu; by host's name, since the beginning
	now   int                      // guarded by mu
	most  int                      // guarded by mu
	last  time.Duration            // guarded by mu; when the last visit ended
}

// newLoad is one without politeness, whose visits take so long.
func newLoad(t *testing.T, took time.Duration) *load {
	l := &load{stage: newStage(t, 0, 0, time.Now()), began: time.Now(), first: make(map[string]time.Duration)}
	l.config.Sites[0].Settings.Delay = 0
	visit := takes(took)
	l.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
		l.mu.Lock()
		if _, had := l.first[turn.Host.Name]; !had {
			l.first[turn.Host.Name] = turn.Now.Sub(l.began)
		}
		l.now++
		l.most = max(l.most, l.now)
		l.mu.Unlock()
		out := visit(ctx, turn)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.now--
		l.last = max(l.last, turn.Now.Sub(l.began)+took)
		return out
	}
	return l
}

// add adds pages that are due now to a host.
func (l *load) add(host string, pages int) {
	l.t.Helper()
	found := make([]models.Discovery, pages)
	for p := range found {
		page := scheduler.NewPage(fmt.Sprintf("http://%s/%d", host, p), host, 1, 0, 4)
		page.DueAt = models.At(l.began)
		found[p] = models.Discovery{Page: page, Host: host}
	}
	if added, err := l.store.AddPages(l.t.Context(), l.began, found, 1e7); err != nil || added.Added != pages {
		l.t.Fatalf("AddPages = %+v, %v, want %d added", added, err, pages)
	}
}

// work lets a worker work for so long.
func (l *load) work(d time.Duration, change func(*scheduler.Config)) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), d)
	defer cancel()
	w := l.worker("one", clock.System{}, func(c *scheduler.Config) {
		c.Fetchers, c.Memory = 64, 64<<20
		if change != nil {
			change(c)
		}
	})
	if err := w.Run(ctx); err != nil {
		l.t.Fatal(err)
	}
}

// latest is when the last of the hosts was visited first.
func (l *load) latest(hosts ...string) time.Duration {
	l.t.Helper()
	late := time.Duration(0)
	for _, h := range hosts {
		at, visited := l.first[h]
		if !visited {
			l.t.Fatalf("%s was not visited", h)
		}
		late = max(late, at)
	}
	return late
}

// Ten thousand hosts of one page that are due in the same second: all are visited as fast as 64 fetchers can, and no more
// of them are in memory than that.
func TestFault_015_TenThousandHostsDueAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hosts = 10000
		l := newLoad(t, time.Second)
		for h := range hosts {
			l.add(fmt.Sprintf("h%d.test", h), 1)
		}
		const least = hosts / 64 * time.Second
		l.work(2*least, nil)
		if len(l.first) != hosts || l.most > 64 || l.last > least*5/4 {
			t.Errorf("%d hosts visited until %v, %d at a time, want %d until %v, 64", len(l.first), l.last, l.most, hosts, least*5/4)
		}
	})
}

// small adds hosts of one page, and returns their names.
func (l *load) small(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("small%d.test", i)
		l.add(names[i], 1)
	}
	return names
}

// Hosts with very many pages, as many as there are fetchers, and small ones: no small host waits longer than for one lease.
func TestLargeHostsLeaveSmallOnesAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLoad(t, 100*time.Millisecond)
		for h := range 64 {
			l.add(fmt.Sprintf("large%d.test", h), 500)
		}
		names := l.small(100)
		l.work(40*time.Second, nil)
		// A lease of 128 pages of a tenth of a second, and the small ones' turns.
		if late := l.latest(names...); late > 15*time.Second {
			t.Errorf("a small host was visited after %v beside large ones, want at most 15s", late)
		}
		if visits := len(l.visits); visits < 64*9*35 {
			t.Errorf("%d visits in 40s, want %d", visits, 64*9*35)
		}
	})
}

// More hosts with very many pages than there are fetchers, and small ones that are due after them: these wait for as long as
// each large one may hold a fetcher while others wait, and not until it has had all the pages of its lease.
func TestSmallHostsWaitForNoWholeLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLoad(t, 100*time.Millisecond)
		const crowd = 200
		for h := range crowd {
			l.add(fmt.Sprintf("large%d.test", h), 300)
		}
		l.began = l.began.Add(time.Second)
		names := l.small(100)
		l.work(45*time.Second, nil)
		// Four rounds of 64 hosts and 5 s, and the small ones' turns; with whole leases of 128 pages it were 50 s.
		if late := l.latest(names...); late > 21*time.Second {
			t.Errorf("a small host was visited after %v behind large ones, want at most 21s", late)
		}
		if visits := len(l.visits); visits < 64*9*40 {
			t.Errorf("%d visits in 45s, want %d", visits, 64*9*40)
		}
	})
}

// A bucket with far more hosts than all others: whoever is due as early as they waits no longer than they do, and whoever
// has been due longer comes first.
func TestLargeBucketLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLoad(t, time.Second)
		const crowd = 2000
		for n, added := 0, 0; added < crowd; n++ {
			if name := fmt.Sprintf("crowd%d.test", n); models.BucketOf(name) == 77 {
				l.add(name, 1)
				added++
			}
		}
		l.began = l.began.Add(-time.Minute) // those below have been due for a minute
		names := l.small(200)
		l.work(time.Minute, nil)
		if late := l.latest(names...) - time.Minute; late > 10*time.Second {
			t.Errorf("a host that had been due longest was visited after %v, want at most 10s", late)
		}
		if len(l.first) != crowd+200 {
			t.Errorf("%d hosts visited, want %d", len(l.first), crowd+200)
		}
	})
}

// slowStore takes long for each commit.
type slowStore struct {
	*simulate.Memory
	takes   time.Duration
	commits atomic.Int64
	lost    atomic.Int64
	largest atomic.Int64
}

// Commit implements scheduler.Store.
func (s *slowStore) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	s.commits.Add(1)
	s.largest.Store(max(s.largest.Load(), int64(len(results))))
	_ = clock.System{}.SleepUntil(ctx, now.Add(s.takes))
	lost, err := s.Memory.Commit(ctx, now, results)
	for _, e := range lost {
		if e != nil {
			s.lost.Add(1)
		}
	}
	return lost, err
}

// A database that takes two seconds for a commit: batches grow, nothing is lost, and what waits is bounded.
func TestDatabaseOfTwoSecondsACommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLoad(t, 50*time.Millisecond)
		for h := range 64 {
			l.add(fmt.Sprintf("h%d.test", h), 200)
		}
		s := &slowStore{Memory: l.store, takes: 2 * time.Second}
		l.work(time.Minute, func(c *scheduler.Config) { c.Store = s })
		t.Logf("%d visits in %d commits of at most %d", len(l.visits), s.commits.Load(), s.largest.Load())
		if s.lost.Load() > 0 || len(l.visits) < 3000 || s.largest.Load() > 1000 {
			t.Errorf("%d visits in a minute, %d of them lost, at most %d a commit, want 3000, 0, 1000", len(l.visits), s.lost.Load(),
				s.largest.Load())
		}
	})
}

// slowDisk writes 20 MB a second.
type slowDisk struct {
	simulate.Nowhere
	wait    atomic.Int64 // nanoseconds that the next sync takes
	written atomic.Int64
}

// Append implements scheduler.Archive.
func (d *slowDisk) Append(c models.Capture) (models.Record, error) {
	d.wait.Add(int64(len(c.Outcome.Body)) * int64(time.Second) / 20e6)
	d.written.Add(int64(len(c.Outcome.Body)))
	return d.Nowhere.Append(c)
}

// Sync implements scheduler.Archive.
func (d *slowDisk) Sync() error {
	_ = clock.System{}.SleepUntil(context.Background(), time.Now().Add(time.Duration(d.wait.Swap(0))))
	return nil
}

// A disk that writes 20 MB a second, and bodies of a megabyte: what is held stays near the bound, and the disk is kept busy.
func TestDiskOfTwentyMegabytesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const size, memory = 1 << 20, 32 << 20
		l := newLoad(t, 100*time.Millisecond)
		for h := range 64 {
			l.add(fmt.Sprintf("h%d.test", h), 50)
		}
		disk := new(slowDisk)
		body := make([]byte, size)
		visit := l.visit
		var fetched, most atomic.Int64
		l.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			out := visit(ctx, turn)
			if out.Kind != models.Interrupted {
				out.Body = body // the digest stays that of the page: each is another body
				held := fetched.Add(size) - disk.written.Load()
				most.Store(max(most.Load(), held))
			}
			return out
		}
		l.work(30*time.Second, func(c *scheduler.Config) { c.Archive, c.Memory = disk, memory })
		t.Logf("%d MB written in 30 s, at most %d MB held", disk.written.Load()/1e6, most.Load()/1e6)
		if most.Load() > memory+64*size || disk.written.Load() < 25*20e6*8/10 {
			t.Errorf("%d MB held, %d MB written, want at most %d held and %d written", most.Load()/1e6, disk.written.Load()/1e6,
				(memory+64*size)/1_000_000, 25*20*8/10)
		}
	})
}
