package scheduler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// run has one worker work for d of the bubble's time.
func (s *stage) run(d time.Duration) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), d)
	defer cancel()
	if err := s.worker("one", clock.System{}, nil).Run(ctx); err != nil {
		s.t.Fatal(err)
	}
}

func robotsFor(turn models.Turn, origin string) *models.Robots {
	for i := range turn.Robots {
		if turn.Robots[i].Origin == origin {
			return &turn.Robots[i]
		}
	}
	return nil
}

// askedRobots is the outcome of a turn spent on robots.txt, whose rules hold for a time.
func askedRobots(turn models.Turn, origin string, hold time.Duration) models.Outcome {
	return models.Outcome{Kind: models.RobotsFetched, Status: 200, Sent: 1, At: turn.Now, Robots: &models.Robots{
		Bucket: turn.Host.Bucket, HostID: turn.Host.ID, Origin: origin, Status: 200,
		FetchedAt: models.At(turn.Now), ExpiresAt: models.At(turn.Now.Add(hold))}}
}

// The rules that one turn brought hold for the rest of the lease, those of other origins beside them.
func TestRobotsHoldWithinALease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 6, time.Now())
		s.ownServer(1)
		const one, two = "http://h0.test", "https://h0.test"
		asked, quick, token := map[string]int{}, takes(time.Second), int64(0)
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			token = turn.Host.LeaseToken
			for _, origin := range []string{one, two} {
				if robotsFor(turn, origin) == nil {
					asked[origin]++
					return askedRobots(turn, origin, time.Hour)
				}
			}
			if len(turn.Robots) != 2 {
				t.Errorf("%d rows of robots.txt, want one an origin", len(turn.Robots))
			}
			return quick(ctx, turn)
		}
		s.run(7 * time.Second)
		if asked[one] != 1 || asked[two] != 1 || s.total() != 8 || s.versions() != 6 || token != 1 {
			t.Errorf("robots.txt asked for %v, %d turns, %d versions, %d leases, want once an origin, 8, 6 and 1", asked, s.total(),
				s.versions(), token)
		}
	})
}

// Newer rules take the place of older ones.
func TestRobotsAreReplacedWithinALease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 3, time.Now())
		s.ownServer(1)
		const origin = "http://h0.test"
		quick := takes(time.Second)
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			row := robotsFor(turn, origin)
			if row == nil || !row.ExpiresAt.Time().After(turn.Now) {
				return askedRobots(turn, origin, time.Second)
			}
			if len(turn.Robots) != 1 {
				t.Errorf("%d rows of robots.txt of one origin, want 1", len(turn.Robots))
			}
			return quick(ctx, turn)
		}
		s.run(10 * time.Second)
		if s.total() != 6 || s.versions() != 3 {
			t.Errorf("%d turns, %d versions, want 6 and 3", s.total(), s.versions())
		}
	})
}

// A robots.txt that is never new enough is asked for at the host's pace, and other hosts go on.
func TestRobotsThatNeverHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, 1, time.Now())
		quick := takes(time.Second)
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			if turn.Host.Name == "h1.test" {
				return quick(ctx, turn)
			}
			return askedRobots(turn, "http://h0.test", 0)
		}
		s.run(time.Minute)
		if n := s.visits["http://h0.test/0"]; n < 5 || n > 7 || s.visits["http://h1.test/0"] != 1 {
			t.Errorf("%d turns in a minute with a delay of 10s, and %d of the other host, want 6 and 1", n, s.visits["http://h1.test/0"])
		}
	})
}

// A host with a delay worth a claim is let go of between two visits.
func TestNobodyHoldsAHostToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 5, time.Now())
		quick, tokens := takes(time.Second), map[int64]int{}
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			tokens[turn.Host.LeaseToken]++
			return quick(ctx, turn)
		}
		s.run(time.Minute)
		if len(s.visits) != 5 || len(tokens) != 5 {
			t.Errorf("%d pages visited under %d leases, want 5 and 5", len(s.visits), len(tokens))
		}
	})
}

// A turn that asked nothing takes no slot of the host.
func TestWhatIsNotAskedDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 200, time.Now())
		s.visit = func(_ context.Context, turn models.Turn) models.Outcome {
			return models.Outcome{Kind: models.Excluded, Detail: "robots.txt line 2", At: turn.Now, Delay: time.Minute}
		}
		s.run(time.Second)
		if len(s.visits) != 200 {
			t.Errorf("%d pages had their turn in a second, want all 200", len(s.visits))
		}
	})
}

// A rest that the host asks for holds, though answers to requests that were under way come after it.
func TestRetryAfterHoldsAmongConcurrentVisits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 30, time.Now())
		s.ownServer(4)
		second, rested := time.Now().Add(time.Second), time.Now().Add(10*time.Minute)
		quick, slow := takes(time.Second), takes(5*time.Second)
		early, refused := 0, false
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			s.mu.Lock()
			refuse := turn.Now.Equal(second) && !refused
			refused = refused || refuse
			if turn.Now.After(second) && turn.Now.Before(rested) {
				early++
			}
			s.mu.Unlock()
			switch {
			case turn.Now.Before(second):
				return quick(ctx, turn)
			case refuse:
				quick(ctx, turn)
				return models.Outcome{Kind: models.Failed, Class: models.TooManyRequests, Status: 429, Sent: 1, At: turn.Now,
					RetryAfter: rested}
			}
			return slow(ctx, turn)
		}
		s.run(20 * time.Minute)
		if early > 0 || !refused || len(s.visits) != 30 {
			t.Errorf("%d visits began while the host rested, %d pages visited, want none and 30", early, len(s.visits))
		}
	})
}

// Several requests to a host at a time begin a delay apart.
func TestConcurrentVisitsBeginADelayApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 20, time.Now())
		s.ownServer(4)
		s.config.Sites[0].Settings.Delay = 500 * time.Millisecond
		s.config.Sites[0].Settings.DelayFactor = 0
		slow := takes(2 * time.Second)
		var last time.Time
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			s.mu.Lock()
			if apart := turn.Now.Sub(last); !last.IsZero() && apart < 500*time.Millisecond {
				t.Errorf("visits began %v apart, want half a second", apart)
			}
			last = turn.Now
			s.mu.Unlock()
			return slow(ctx, turn)
		}
		s.run(time.Minute)
		if len(s.visits) != 20 || s.most < 2 {
			t.Errorf("%d pages visited, %d at a time, want 20 and several", len(s.visits), s.most)
		}
	})
}
