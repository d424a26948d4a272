package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
)

// TestFault_060_NoisyPagesAreVisitedAsStillOnes: a page that shows a clock is visited at the same intervals as one that never
// differs, and seldom beside one that changes; both of its rates are kept.
func TestFault_060_NoisyPagesAreVisitedAsStillOnes(t *testing.T) {
	t.Parallel()
	const clockPage, stillPage, newsPage = "http://h0.test/0", "http://h0.test/1", "http://h0.test/2"
	for _, policy := range []string{"classic", "adaptive"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			s, clk := newStage(t, 1, 3, start), clock.NewVirtual(start)
			s.config.Sites[0].Settings.Policy = policy
			s.visit = func(_ context.Context, turn models.Turn) models.Outcome {
				body := []byte(turn.Now.String())
				out := models.Outcome{Kind: models.Noise, Status: 200, Sent: 1, At: turn.Now, Body: body, Digest: models.DigestOf(body),
					Memory: []byte(fmt.Sprint(turn.Page.Visits))}
				switch {
				case turn.Page.Digest.IsZero():
					out.Kind, out.Memory = models.First, nil
				case turn.Page.URL == stillPage:
					return models.Outcome{Kind: models.NotModified, Status: 304, Sent: 1, At: turn.Now}
				case turn.Page.URL == newsPage:
					out.Kind = models.Changed
				}
				return out
			}
			s.simulate(clk, 360*24*time.Hour)
			noisy, still, news := s.page(clockPage), s.page(stillPage), s.page(newsPage)
			t.Logf("visits: %d with a clock, %d still, %d news; fr_max %d, %d, %d", noisy.Visits, still.Visits, news.Visits,
				noisy.FRMax, still.FRMax, news.FRMax)
			if noisy.Stats.Changes != 0 || noisy.ByteChanges != noisy.Stats.Records-1 || noisy.Version != noisy.Stats.Records {
				t.Errorf("%d changes, %d of bytes, version %d in %d records, want none, and bytes each time", noisy.Stats.Changes,
					noisy.ByteChanges, noisy.Version, noisy.Stats.Records)
			}
			if d := noisy.Visits - still.Visits; d < -2 || d > 2 || noisy.Wanted < still.Wanted*9/10 {
				t.Errorf("%d visits to the page with a clock, %d to the still one; intervals %v and %v", noisy.Visits, still.Visits,
					noisy.Wanted, still.Wanted)
			}
			if news.Visits < 4*noisy.Visits {
				t.Errorf("%d visits to the page with news, %d to the one with a clock, want four times as many", news.Visits, noisy.Visits)
			}
			if policy == "classic" && noisy.FRMax != still.FRMax {
				t.Errorf("fr_max %d of a page that only shows a clock, want the %d of the still one", noisy.FRMax, still.FRMax)
			}
			memory, err := s.store.Memory(t.Context(), noisy.Bucket, noisy.HostID, noisy.ID)
			if want := fmt.Sprint(noisy.Visits - 1); err != nil || string(memory) != want {
				t.Errorf("memory %q, %v, want that of the last visit: %q", memory, err, want)
			}
		})
	}
}

// simulate has one worker work by a virtual clock for d.
func (s *stage) simulate(clk *clock.Virtual, d time.Duration) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	end := clk.Now().Add(d)
	w := s.worker("one", clk, func(c *scheduler.Config) {
		c.Fetchers = 0
		c.Beat = func() {
			if clk.Now().After(end) {
				cancel()
			}
		}
	})
	if err := w.Run(ctx); err != nil {
		s.t.Fatal(err)
	}
}

// A probe takes the turn of one page and gives it back: the page is visited next, a delay later, and the host is probed once.
func TestProbeGivesTheTurnBack(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, 10 * time.Second} {
		t.Run(delay.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1, 3, time.Now())
				s.config.Sites[0].Settings.Delay = delay
				quick, probes, token := takes(time.Second), 0, int64(0)
				s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
					token = turn.Host.LeaseToken
					if turn.Host.Trials.ProbedAt == 0 {
						probes++
						return models.Outcome{Kind: models.Probed, Status: 404, Sent: 1, At: turn.Now, HostMemory: []byte("not found")}
					}
					return quick(ctx, turn)
				}
				s.run(50 * time.Second)
				if probes != 1 || s.total() != 4 || s.versions() != 3 || s.gap < delay || s.gap > delay+time.Second {
					t.Errorf("%d probes, %d turns, %d versions, gaps down to %v, want 1, 4, 3 and %v", probes, s.total(), s.versions(),
						s.gap, delay)
				}
				if delay == 0 && token != 1 {
					t.Errorf("%d leases, want one", token)
				}
				p := s.page("http://h0.test/0")
				if memory, err := s.store.Memory(t.Context(), p.Bucket, p.HostID, models.HostMemoryID); err != nil || string(memory) != "not found" {
					t.Errorf("memory of the host %q, %v", memory, err)
				}
			})
		})
	}
}
