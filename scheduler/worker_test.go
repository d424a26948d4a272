package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// stage is a worker's surroundings: a store with pages, and a visitor that watches the manners of those who call it.
type stage struct {
	t      *testing.T
	store  *simulate.Memory
	config config.Config
	visit  func(context.Context, models.Turn) models.Outcome

	mu       sync.Mutex
	inFlight map[int64]int // guarded by mu; visits under way, by host
	ended    map[int64]time.Time
	visits   map[string]int // guarded by mu; by URL
	gap      time.Duration  // guarded by mu; the shortest from the end of a visit to the start of the next
	most     int            // guarded by mu; visits to one host at a time
}

func newStage(t *testing.T, hosts, pages int, start time.Time) *stage {
	t.Helper()
	s := &stage{t: t, store: simulate.NewMemory(simulate.MemoryOptions{}), config: config.Default(), gap: time.Hour,
		inFlight: make(map[int64]int), ended: make(map[int64]time.Time), visits: make(map[string]int)}
	s.config.Sites = []config.Site{{ID: 1, Name: "test", URL: "http://h0.test/", Settings: s.config.Defaults}}
	for h := range hosts {
		var found []models.Discovery
		host := fmt.Sprintf("h%d.test", h)
		for p := range pages {
			page := scheduler.NewPage(fmt.Sprintf("http://%s/%d", host, p), host, 1, 0, 4)
			page.DueAt = models.At(start)
			found = append(found, models.Discovery{Page: page, Host: host})
		}
		if added, err := s.store.AddPages(t.Context(), start, found, 1e6); err != nil || added.Added != pages {
			t.Fatalf("AddPages = %+v, %v, want %d added", added, err, pages)
		}
	}
	return s
}

// Visit implements scheduler.Visitor around s.visit.
func (s *stage) Visit(ctx context.Context, turn models.Turn) models.Outcome {
	s.mu.Lock()
	host := turn.Host.ID
	s.inFlight[host]++
	s.most = max(s.most, s.inFlight[host])
	if ended, ok := s.ended[host]; ok && s.inFlight[host] == 1 {
		s.gap = min(s.gap, turn.Now.Sub(ended))
	}
	s.visits[turn.Page.URL]++
	s.mu.Unlock()
	out := s.visit(ctx, turn)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight[host]--
	s.ended[host] = turn.Now.Add(out.Took)
	return out
}

func (s *stage) worker(name string, clk clock.Clock, change func(*scheduler.Config)) *scheduler.Worker {
	s.t.Helper()
	planner, err := scheduler.NewPlanner(&s.config, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	c := scheduler.Config{
		Store: s.store, Visitor: s, Archive: simulate.Nowhere{}, Clock: clk, Log: slog.New(slog.DiscardHandler),
		Name: name, Fetchers: 8, Lease: 5 * time.Minute, Grace: 25 * time.Second, Memory: 1 << 20,
	}
	if change != nil {
		change(&c)
	}
	return scheduler.NewWorker(c, planner)
}

// takes is a visitor whose answers are a new version each, after d of the bubble's time.
func takes(d time.Duration) func(context.Context, models.Turn) models.Outcome {
	return func(ctx context.Context, turn models.Turn) models.Outcome {
		if clock.NewSystem(clock.Anchor{}).SleepUntil(ctx, turn.Now.Add(d)) != nil {
			return models.Outcome{Kind: models.Interrupted, At: turn.Now, Sent: 1}
		}
		body := []byte(turn.Page.URL + turn.Now.String())
		kind := models.Changed
		if turn.Page.Digest.IsZero() {
			kind = models.First
		}
		return models.Outcome{Kind: kind, Status: 200, Sent: 1, At: turn.Now, Took: d, Body: body, Digest: models.DigestOf(body)}
	}
}

// The unmodified loop under a virtual clock: a month of visits, in which quick and still pages move apart and the
// host's delay holds.
func TestWorkerLearnsUnderVirtualClock(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := newStage(t, 3, 20, start)
	world, clk := simulate.NewWorld(), clock.NewVirtual(start)
	for h := range 3 {
		for p := range 20 {
			var changes []time.Time
			for at := start; p < 5 && at.Before(start.AddDate(0, 0, 90)); at = at.Add(5 * time.Hour) {
				changes = append(changes, at)
			}
			world.Add(fmt.Sprintf("http://h%d.test/%d", h, p), changes)
		}
	}
	s.visit = world.Visit
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := s.worker("one", clk, func(c *scheduler.Config) {
		c.Fetchers = 0
		c.Beat = func() {
			if clk.Now().Sub(start) > 90*24*time.Hour {
				cancel()
			}
		}
	})
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	var quick, still int
	for url, n := range s.visits {
		if url[len("http://h0.test/"):] < "5" && len(url) == len("http://h0.test/0") {
			quick += n
		} else {
			still += n
		}
	}
	if quick/15 < 4*still/45 {
		t.Errorf("%d visits to 15 quick pages and %d to 45 still ones, want the quick ones four times as often", quick, still)
	}
	if len(s.visits) != 60 || s.gap < 10*time.Second {
		t.Errorf("%d pages visited with gaps down to %v, want 60 and 10s", len(s.visits), s.gap)
	}
}

// Three workers on one store: every page is visited, no host by two at once, none sooner than its delay.
func TestFault_096_ManyWorkersShareHostsPolitely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 12, 10, time.Now())
		s.visit = takes(3 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		names := []string{"a", "b", "c"}
		var group sync.WaitGroup
		for _, name := range names {
			w := s.worker(name, clock.System{}, func(c *scheduler.Config) { c.Live = func() []scheduler.Peer { return peersOf(names) } })
			group.Go(func() {
				if err := w.Run(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if len(s.visits) != 120 || s.most != 1 || s.gap < 10*time.Second {
			t.Errorf("%d pages visited, %d at a time on one host, gaps down to %v, want 120, 1, 10s", len(s.visits), s.most, s.gap)
		}
	})
}

// A site of one's own: no delay, four requests at a time, and no more.
func TestConcurrencyOfASite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 40, time.Now())
		s.config.Sites[0].Settings.Delay, s.config.Sites[0].Settings.Concurrency = 0, 4
		s.visit = takes(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := s.worker("one", clock.System{}, nil).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(s.visits) != 40 || s.most != 4 {
			t.Errorf("%d pages visited, %d at a time, want 40 and 4", len(s.visits), s.most)
		}
	})
}

// On stop, visits may finish for the grace period; the rest are given up, teach nothing, and release their hosts.
func TestFault_078_StopGivesUpAfterGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := newStage(t, 4, 1, start)
		s.visit = takes(90 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := s.worker("one", clock.System{}, nil).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 35*time.Second {
			t.Errorf("stopped after %v, want 10s and a grace of 25s", took)
		}
		leases, err := s.store.Claim(t.Context(), models.ClaimRequest{Buckets: allBuckets(), Now: time.Now().Add(time.Minute),
			Lease: time.Minute, Owner: "next", Hosts: 10, Pages: 10, Patient: time.Second})
		if err != nil || len(leases) != 4 {
			t.Errorf("after the stop %d of 4 hosts can be claimed, %v", len(leases), err)
		}
	})
}

func allBuckets() []int16 {
	all := make([]int16, models.Buckets)
	for i := range all {
		all[i] = int16(i)
	}
	return all
}

// A worker frozen past its lease loses it: another takes the host over, and what the first brings home late is discarded.
func TestFault_095_FrozenWorkerLosesItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 1, time.Now())
		frozen := takes(20 * time.Minute)
		quick := takes(time.Second)
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			if turn.Host.LeaseOwner == "frozen" {
				return frozen(ctx, turn)
			}
			return quick(ctx, turn)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		defer cancel()
		var group sync.WaitGroup
		run := func(name string, after time.Duration) {
			w := s.worker(name, clock.System{}, func(c *scheduler.Config) { c.Fetchers = 1 })
			group.Go(func() {
				if clock.NewSystem(clock.Anchor{}).SleepUntil(ctx, time.Now().Add(after)) == nil {
					if err := w.Run(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		run("frozen", 0)
		run("other", time.Second)
		group.Wait()
		page := s.page("http://h0.test/0")
		if page.Stats.Records != 1 || page.Version != 1 {
			t.Errorf("%d records, version %d, want the one that was not frozen", page.Stats.Records, page.Version)
		}
	})
}

func (s *stage) page(url string) models.Page {
	s.t.Helper()
	dump, err := s.store.Dump(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range dump.Pages {
		if p.URL == url {
			return p
		}
	}
	s.t.Fatalf("no page %s", url)
	return models.Page{}
}

// flaky is a store that is away for its first tries, and an archive whose sync fails.
type flaky struct {
	*simulate.Memory
	tries atomic.Int32
}

func (f *flaky) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	if f.tries.Add(-1) >= 0 {
		return nil, errors.New("connection refused")
	}
	return f.Memory.Commit(ctx, now, results)
}

func newFlaky(store *simulate.Memory, tries int32) *flaky {
	f := &flaky{Memory: store}
	f.tries.Store(tries)
	return f
}

type badDisk struct{ simulate.Nowhere }

func (badDisk) Sync() error { return errors.New("input/output error") }

func TestResultsWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, 1, time.Now())
		s.visit = takes(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) { c.Store = newFlaky(s.store, 5) })
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if page := s.page("http://h0.test/0"); page.Version != 1 || s.visits["http://h0.test/0"] != 1 {
			t.Errorf("version %d after %d visits, want 1 and 1", page.Version, s.visits["http://h0.test/0"])
		}
	})
}

// An archive that cannot be synced is not trusted again: the worker ends, and nothing was acknowledged.
func TestFault_082_FailedSyncEndsTheWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 1, time.Now())
		s.visit = takes(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) { c.Archive = badDisk{} })
		if err := w.Run(ctx); err == nil || ctx.Err() != nil {
			t.Errorf("Run = %v, want the sync's error at once", err)
		}
		if page := s.page("http://h0.test/0"); page.Version != 0 {
			t.Errorf("version %d was acknowledged, want none", page.Version)
		}
	})
}

func TestPanicIsContained(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, 1, time.Now())
		quick := takes(time.Second)
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			if turn.Host.Name == "h0.test" {
				panic("a bug")
			}
			return quick(ctx, turn)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := s.worker("one", clock.System{}, nil).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if page := s.page("http://h0.test/0"); page.Rule != models.RuleBackoff || page.Failures != 0 {
			t.Errorf("rule %v, %d failures, want back-off without blame", page.Rule, page.Failures)
		}
		if s.visits["http://h1.test/0"] != 1 {
			t.Errorf("the other host had %d visits, want 1", s.visits["http://h1.test/0"])
		}
	})
}

// When host after host falls silent it is our own network: claiming rests and no site is blamed.
func TestOwnOutageBlamesNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 30, 1, time.Now())
		s.visit = func(_ context.Context, turn models.Turn) models.Outcome {
			return models.Outcome{Kind: models.Failed, Class: models.DNSTemporary, At: turn.Now, Sent: 1}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) { c.Fetchers = 1 })
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		blamed, visits := 0, 0
		for h := range 30 {
			url := fmt.Sprintf("http://h%d.test/0", h)
			if s.page(url).Failures > 0 {
				blamed++
			}
			visits += s.visits[url]
		}
		if blamed > 4 || visits > 30 {
			t.Errorf("%d hosts blamed in %d visits, want the first four and a rest", blamed, visits)
		}
	})
}

func TestHoldPausesClaiming(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := newStage(t, 1, 1, start)
		s.visit = takes(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) {
			c.Hold = func() string {
				if time.Since(start) < time.Minute {
					return "the disk is full"
				}
				return ""
			}
		})
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if at := s.page("http://h0.test/0").Stats.FirstAt.Time(); at.Sub(start) < time.Minute {
			t.Errorf("first record %v after the start, want after the hold of a minute", at.Sub(start))
		}
	})
}

// A worker that may claim nothing, and has not claimed anything since it began either, leaves its buckets to the others at once, and
// takes them back when it may.
func TestHoldLeavesTheBucketsToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := newStage(t, 1, 1, start)
		s.visit = takes(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		held := func() bool { return time.Since(start)/time.Minute == 0 || time.Since(start)/time.Minute == 2 }
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) {
			c.Live = func() []scheduler.Peer { return []scheduler.Peer{{Name: "one", Share: 1}, {Name: "two", Share: 1}} }
			c.Hold = func() string {
				if held() {
					return "the disk is full"
				}
				return ""
			}
		})
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		for range 6 {
			time.Sleep(15 * time.Second)
			share, _ := w.Balance()
			if free := !held(); free && share < 0.5 || !free && share != 0 {
				t.Errorf("share %v %v after the start, may it claim: %v", share, time.Since(start), free)
			}
			time.Sleep(15 * time.Second)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}
