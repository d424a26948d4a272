package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
)

// dies is a visitor whose host takes no connection, which shows after d.
func dies(d time.Duration) func(context.Context, models.Turn) models.Outcome {
	return func(ctx context.Context, turn models.Turn) models.Outcome {
		if clock.NewSystem(clock.Anchor{}).SleepUntil(ctx, turn.Now.Add(d)) != nil {
			return models.Outcome{Kind: models.Interrupted, At: turn.Now, Sent: 1}
		}
		return models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1, At: turn.Now, Took: d, Detail: "no answer"}
	}
}

// beside is a stage with one host that answers in 10 ms, whose pages are always due, among others of 20 pages each. They come
// two seconds after it: by then it is known to answer.
func beside(t *testing.T, others int, other func(context.Context, models.Turn) models.Outcome) (s *stage, fast func() int) {
	s = newStage(t, others+1, 20, time.Now().Add(2*time.Second))
	s.ownServer(1)
	var found []models.Discovery
	for p := range 10_000 {
		page := scheduler.NewPage(fmt.Sprintf("http://h0.test/more/%d", p), "h0.test", 1, 0, 4)
		page.DueAt = models.At(time.Now())
		found = append(found, models.Discovery{Page: page, Host: "h0.test"})
	}
	if _, err := s.store.AddPages(t.Context(), time.Now(), found, 1e6); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	visits := 0
	answers := takes(10 * time.Millisecond)
	s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
		if turn.Host.Name != "h0.test" {
			return other(ctx, turn)
		}
		mu.Lock()
		visits++
		mu.Unlock()
		return answers(ctx, turn)
	}
	return s, func() int { mu.Lock(); defer mu.Unlock(); return visits }
}

// join adds a host with one page, due at a time.
func (s *stage) join(host string, due time.Time) {
	s.t.Helper()
	page := scheduler.NewPage("http://"+host+"/", host, 1, 0, 4)
	page.DueAt = models.At(due)
	if _, err := s.store.AddPages(s.t.Context(), time.Now(), []models.Discovery{{Page: page, Host: host}}, 1e6); err != nil {
		s.t.Fatal(err)
	}
}

// work runs a worker with 16 fetchers for so long.
func (s *stage) work(d time.Duration, share float64) {
	ctx, cancel := context.WithTimeout(s.t.Context(), d)
	defer cancel()
	w := s.worker("w", clock.NewSystem(clock.Anchor{}), func(c *scheduler.Config) { c.Fetchers, c.SlowShare, c.Grace = 16, share, 0 })
	if err := w.Run(ctx); err != nil {
		s.t.Errorf("Run: %v", err)
	}
}

// One host that answers keeps its rate among 200 that are dead, each of which holds a fetcher for ten seconds.
func TestFastHostKeepsItsRateAmongDeadOnes(t *testing.T) {
	t.Parallel()
	rate := func(others int, share float64) (visits, dead int) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			kill := dies(10 * time.Second)
			s, fast := beside(t, others, func(ctx context.Context, turn models.Turn) models.Outcome {
				mu.Lock()
				dead++
				mu.Unlock()
				return kill(ctx, turn)
			})
			s.work(time.Minute, share)
			visits = fast()
		})
		return visits, dead
	}
	alone, _ := rate(0, 0.5)
	among, dead := rate(200, 0.5)
	unbound, _ := rate(200, 0)
	t.Logf("alone %d visits, among dead hosts %d, without a bound %d; %d visits to dead hosts", alone, among, unbound, dead)
	if among*10 < alone*9 {
		t.Errorf("%d visits in a minute among dead hosts, want 90 %% of %d", among, alone)
	}
	if dead < 40 { // 8 fetchers, 10 s each: 48 in a minute
		t.Errorf("%d visits to dead hosts in a minute: they have a share as well", dead)
	}
	if unbound*10 >= alone*9 {
		t.Errorf("without a bound %d of %d: this test shows nothing", unbound, alone)
	}
}

// A host that was never tried does not wait for those that failed: among 80 of them, each of which holds a fetcher for ten
// seconds from its second visit on, it waits for a place and not for them.
func TestNewHostGoesBeforeThoseThatFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const comes = time.Minute
		var mu sync.Mutex
		var waited time.Duration
		seen := make(map[string]bool)
		began, answers, fails, dead := time.Now(), takes(10*time.Millisecond), dies(10*time.Millisecond), dies(10*time.Second)
		s, _ := beside(t, 80, func(ctx context.Context, turn models.Turn) models.Outcome {
			mu.Lock()
			again := seen[turn.Host.Name]
			seen[turn.Host.Name] = true
			if turn.Host.Name == "new.test" {
				waited = turn.Now.Sub(began) - comes
			}
			mu.Unlock()
			switch {
			case turn.Host.Name == "new.test":
				return answers(ctx, turn)
			case again:
				return dead(ctx, turn)
			}
			return fails(ctx, turn)
		})
		s.join("new.test", began.Add(comes))
		s.work(95*time.Second, 0.5) // as long as one host answers: without it all would rest
		if !seen["new.test"] {
			t.Fatalf("of %d hosts that were visited none is the new one", len(seen))
		}
		if waited > 10*time.Second {
			t.Errorf("a new host waited %v for its visit; 8 places of 10 s each come free in that time", waited)
		}
	})
}

// Who came first goes first, however often it is put off until there is a place.
func TestPutOffHostsKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		dead := dies(10 * time.Second)
		s, _ := beside(t, 40, func(ctx context.Context, turn models.Turn) models.Outcome {
			mu.Lock()
			if turn.Host.Failures == 0 {
				order = append(order, turn.Host.Name)
			}
			mu.Unlock()
			return dead(ctx, turn)
		})
		for i := range 40 {
			s.join(fmt.Sprintf("late%d.test", i), time.Now().Add(7*time.Second))
		}
		s.work(95*time.Second, 0.5) // as long as one host answers: without it all would rest
		if len(order) < 50 {
			t.Fatalf("%d of 80 hosts were visited: 8 places of 10 s each are 72", len(order))
		}
		for i, name := range order[:36] { // the last of the first may lie beside the first of the others
			if strings.HasPrefix(name, "late") {
				t.Errorf("visit %d is one to %s, which came after 40 others", i, name)
			}
		}
	})
}

// Slow hosts get their pages visited, each as if there were half of the fetchers.
func TestSlowHostsAreVisitedAllTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, fast := beside(t, 30, takes(5*time.Second))
		s.config.Sites[0].Settings.DelayFactor = 0
		s.work(20*time.Minute, 0.5)
		for url, n := range s.visits {
			if !strings.Contains(url, "/more/") && n < 1 {
				t.Errorf("%s was not visited", url)
			}
		}
		if n := len(s.visits); n != 31*20+10_000 {
			t.Errorf("%d pages visited, want all %d", n, 31*20+10_000)
		}
		if n := fast(); n < 10_020 {
			t.Errorf("the fast host was visited %d times", n)
		}
	})
}

// New hosts that answer do not wait for each other: the first answer gives the place back.
func TestNewHostsThatAnswerPassQuickly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 100, 5, time.Now())
		s.ownServer(1)
		s.visit = takes(100 * time.Millisecond)
		s.work(15*time.Second, 0.5)
		if n := len(s.visits); n != 500 {
			t.Errorf("%d of 500 pages visited in 15 s, which 16 fetchers visit in 4", n)
		}
	})
}

// What a host waits for is looked up meanwhile, and a page that somebody asks for by hand does not wait.
func TestPutOffHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 40, 1, time.Now())
		s.ownServer(1)
		var mu sync.Mutex
		prepared := make(map[string]bool)
		s.visit = dies(10 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		w := s.worker("w", clock.NewSystem(clock.Anchor{}), func(c *scheduler.Config) {
			c.Fetchers, c.SlowShare, c.Grace = 16, 0.25, 0
			c.Prepare = func(_ context.Context, host string) {
				mu.Lock()
				defer mu.Unlock()
				prepared[host] = true
			}
		})
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(s.visits) != 4 || len(prepared) != 36 {
			t.Errorf("%d hosts visited at once and %d looked up, want 4 and 36", len(s.visits), len(prepared))
		}
		for url := range s.visits {
			if prepared[strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/0")] {
				t.Errorf("%s was visited and put off", url)
			}
		}
	})
}
