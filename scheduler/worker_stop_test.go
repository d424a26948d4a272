package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// away is a store that takes no results.
type away struct{ *simulate.Memory }

var errAway = errors.New("connection refused")

func (away) Commit(context.Context, time.Time, []models.Result) ([]error, error) { return nil, errAway }

// ownServer makes the stage's site one that may be asked without delay.
func (s *stage) ownServer(concurrency int) {
	s.config.Sites[0].Settings.Delay, s.config.Sites[0].Settings.Concurrency = 0, concurrency
}

func (s *stage) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for _, n := range s.visits {
		sum += n
	}
	return sum
}

// Whatever is under way when the archive fails, nobody waits for a committer that is gone.
func TestFailedSyncEndsABusyWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 16, 100, time.Now())
		s.ownServer(4)
		s.visit = takes(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) { c.Archive = badDisk{} })
		if err := w.Run(ctx); err == nil || ctx.Err() != nil {
			t.Errorf("Run = %v, want the sync's error at once", err)
		}
	})
}

// A stop does not wait for ever for a database that is away.
func TestStopGivesUpADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := newStage(t, 16, 100, start)
		s.ownServer(1)
		s.visit = takes(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) { c.Store = away{s.store} })
		if err := w.Run(ctx); !errors.Is(err, errAway) {
			t.Errorf("Run = %v, want why the results were not taken", err)
		}
		if took := time.Since(start); took > 40*time.Second {
			t.Errorf("stopped after %v, want 10s, a grace of 25s and a last try of 5s", took)
		}
	})
}

// After the stop a visit under way goes on, and no other begins.
func TestStopBeginsNoVisit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := newStage(t, 1, 60, start)
		s.ownServer(1)
		s.visit = takes(3 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := s.worker("one", clock.System{}, nil).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 12*time.Second || len(s.visits) != 4 {
			t.Errorf("%d visits and stopped after %v, want 4 and 12s", len(s.visits), took)
		}
		if s.versions() != 4 {
			t.Errorf("%d versions written, want one for each of 4 visits", s.versions())
		}
	})
}

// versions counts what was written.
func (s *stage) versions() int {
	dump, err := s.store.Dump(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for _, p := range dump.Pages {
		n += int(p.Version)
	}
	return n
}

// Bodies that cannot be written yet are held up to the limit; then visits end, in the middle of a lease too.
func TestFault_097_MemoryHoldsBackVisits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const body, fetchers = 1 << 12, 8
		s := newStage(t, 16, 100, time.Now())
		s.ownServer(1)
		s.visit = func(_ context.Context, turn models.Turn) models.Outcome {
			b := make([]byte, body)
			copy(b, turn.Page.URL)
			return models.Outcome{Kind: models.First, Status: 200, Sent: 1, At: turn.Now, Body: b, Digest: models.DigestOf(b)}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		store := newFlaky(s.store, 10)
		first := 0
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) {
			c.Store, c.Fetchers, c.Memory = store, fetchers, 4*body
			c.Beat = func() {
				if store.tries.Load() > 0 {
					first = s.total()
				}
			}
		})
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if first > 4+fetchers {
			t.Errorf("%d bodies were held while none was written, want no more than 4 and one for each of %d fetchers", first, fetchers)
		}
		if len(s.visits) != 1600 {
			t.Errorf("%d pages visited in the end, want all 1600", len(s.visits))
		}
	})
}

// What is set while a lease is held counts from the next visit on.
func TestNewPlannerCountsWithinALease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 40, time.Now())
		s.ownServer(1)
		s.visit = takes(time.Second)
		paused, err := scheduler.NewPlanner(&s.config, map[int32]bool{1: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w := s.worker("one", clock.System{}, nil)
		go func() {
			if (clock.System{}).SleepUntil(ctx, time.Now().Add(9500*time.Millisecond)) == nil {
				w.SetPlanner(paused)
			}
		}()
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if s.total() != 10 {
			t.Errorf("%d visits of a second each, want the 10 begun before the pause", s.total())
		}
	})
}

// A page time that was raised after the start shortens what a lease is good for.
func TestLeaseOutlastsTheLongestVisit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 60, time.Now())
		s.ownServer(1)
		s.config.Sites[0].Settings.PageTime = 4 * time.Minute
		quick, late := takes(10*time.Second), 0
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			if turn.Now.Add(4 * time.Minute).After(turn.Host.LeaseUntil.Time()) {
				late++
			}
			return quick(ctx, turn)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Minute)
		defer cancel()
		if err := s.worker("one", clock.System{}, nil).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if late > 0 || len(s.visits) != 60 {
			t.Errorf("%d of %d visits could have outlasted their lease, want 0 of 60", late, len(s.visits))
		}
	})
}

// A visit that panicked still counts for the delay that robots.txt asked for.
func TestPanicKeepsTheHostsDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 3, time.Now())
		var at []time.Time
		s.visit = func(_ context.Context, turn models.Turn) models.Outcome {
			if at = append(at, turn.Now); len(at) == 2 {
				takes(30*time.Second)(t.Context(), turn)
				panic("a bug")
			}
			b := []byte(turn.Page.URL)
			return models.Outcome{Kind: models.First, Status: 200, Sent: 1, At: turn.Now, Body: b, Digest: models.DigestOf(b),
				Delay: time.Minute}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := s.worker("one", clock.System{}, nil).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(at) < 3 || at[2].Sub(at[1]) < 90*time.Second {
			t.Errorf("visits at %v, want a minute between the end of the second and the third", at)
		}
	})
}
