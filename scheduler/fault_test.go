package scheduler_test

import (
	"context"
	"fmt"
	"strings"
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

// TestFault_017_AnHourWithoutNetwork: for an hour no host can be reached. Hardly one is asked meanwhile, no page has a longer
// interval for it, and afterwards all are visited soon, as politely as ever.
func TestFault_017_AnHourWithoutNetwork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hosts, pages, fetchers = 30, 10, 8
		start := time.Now()
		l := &load{stage: newStage(t, hosts, pages, start), began: start, first: make(map[string]time.Duration)}
		quick, down := takes(time.Second), 0
		l.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			if turn.Now.Sub(start) < time.Hour {
				l.mu.Lock()
				defer l.mu.Unlock()
				down++
				return models.Outcome{Kind: models.Failed, Class: models.DNSTemporary, At: turn.Now, Sent: 1}
			}
			return quick(ctx, turn)
		}
		pass := func(d time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			if err := l.worker("one", clock.System{}, func(c *scheduler.Config) { c.Fetchers = fetchers }).Run(ctx); err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string, version int32) (blamed int) {
			t.Helper()
			for _, p := range l.dump().Pages {
				if p.Failures > 0 {
					blamed++
				}
				if p.FRMax != 4 && version == 0 || p.Version != version || p.DueAt == 0 {
					t.Errorf("%s: %s has fr_max %d, version %d, is due %v", when, p.URL, p.FRMax, p.Version, p.DueAt)
				}
			}
			return blamed
		}
		pass(time.Hour)
		// Rests of 15 s, 30 s and so on to 10 min, and after each of them as many visits as begin before five have failed.
		if blamed := check("after the hour", 0); down > 11*(5+fetchers) || blamed > 4 {
			t.Errorf("%d visits while no host could be reached, %d pages blamed, want at most %d, and four before it was known", down,
				blamed, 11*(5+fetchers))
		}
		pass(20 * time.Minute)
		check("20 minutes later", 1)
		if l.stage.most != 1 || l.gap < 10*time.Second {
			t.Errorf("%d visits to one host at a time, gaps down to %v, want 1 and 10s", l.stage.most, l.gap)
		}
	})
}

// dump is what the store holds.
func (s *stage) dump() models.Dump {
	s.t.Helper()
	d, err := s.store.Dump(context.WithoutCancel(s.t.Context()))
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// TestFault_043_EndlessCalendar: each month links to the next, and each day to many others. It ends at the deepest level, and
// before at so many pages a host; the pages of another host have their turn.
func TestFault_043_EndlessCalendar(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ links, most, want int }{
		"a chain": {links: 1, most: 1000, want: 11}, // the page itself and ten levels
		"a tree":  {links: 20, most: 300, want: 300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			clk := clock.NewVirtual(start)
			s := newStage(t, 0, 0, start)
			s.store = simulate.NewMemory(simulate.MemoryOptions{PagesPerHost: test.most})
			s.config.Sites[0].Settings.Delay = time.Second
			var found []models.Discovery
			for _, host := range []string{"calendar.test", "other.test"} {
				page := scheduler.NewPage("http://"+host+"/", host, 1, 0, 4)
				page.DueAt = models.At(start)
				found = append(found, models.Discovery{Page: page, Host: host})
			}
			if _, err := s.store.AddPages(t.Context(), start, found, 0); err != nil {
				t.Fatal(err)
			}
			s.visit = func(_ context.Context, turn models.Turn) models.Outcome {
				body := []byte(turn.Page.URL)
				out := models.Outcome{Kind: models.First, Status: 200, Sent: 1, At: turn.Now, Body: body, Digest: models.DigestOf(body),
					LinksKnown: true}
				if !turn.Page.Digest.IsZero() {
					out.Kind, out.Body = models.SameBytes, nil
				}
				for i := range test.links {
					if turn.Host.Name == "calendar.test" {
						out.Links = append(out.Links, models.FoundLink{URL: fmt.Sprintf("%snext-%d/", turn.Page.URL, i), Host: turn.Host.Name})
					}
				}
				return out
			}
			s.simulate(clk, 40*24*time.Hour)
			pages := 0
			for _, p := range s.dump().Pages {
				if strings.HasPrefix(p.URL, "http://calendar.test/") {
					pages++
				}
				if p.Visits == 0 {
					t.Errorf("%s was never visited", p.URL)
				}
			}
			if pages != test.want || s.page("http://other.test/").Visits < 2 {
				t.Errorf("%d pages of the calendar, want %d; %d visits to the other host, want 2 or more", pages, test.want,
					s.page("http://other.test/").Visits)
			}
		})
	}
}

// suspended is a clock whose machine slept for a while: it shows a later time, and nothing that sleeps noticed.
type suspended struct {
	clock.System
	slept atomic.Int64
}

// Now implements clock.Clock.
func (s *suspended) Now() time.Time { return s.System.Now().Add(time.Duration(s.slept.Load())) }

// SleepUntil implements clock.Clock.
func (s *suspended) SleepUntil(ctx context.Context, at time.Time) error {
	return s.System.SleepUntil(ctx, at.Add(-time.Duration(s.slept.Load())))
}

// TestFault_064_EightHoursAsleep: the machine is suspended in the midst of visits, as one that is restored from a snapshot has
// been. Their leases are long over; what they bring home is written once or discarded, and what is overdue is caught up
// with in turn, each host at its pace.
func TestFault_064_EightHoursAsleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hosts, pages = 20, 6
		s := newStage(t, hosts, pages, time.Now())
		s.config.Cycle, s.config.Sites[0].Settings.FRMax = "1h", 4
		began, clk, once := time.Now(), new(suspended), sync.Once{}
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			body := []byte(turn.Page.URL + turn.Now.String())
			kind := models.Changed
			if turn.Page.Digest.IsZero() {
				kind = models.First
			}
			if turn.Now.Sub(began) > 2*time.Hour {
				once.Do(func() { clk.slept.Store(int64(8 * time.Hour)) })
			}
			if clk.SleepUntil(ctx, clk.Now().Add(2*time.Second)) != nil {
				return models.Outcome{Kind: models.Interrupted, At: turn.Now, Sent: 1}
			}
			return models.Outcome{Kind: kind, Status: 200, Sent: 1, At: turn.Now, Took: clk.Now().Sub(turn.Now), Body: body,
				Digest: models.DigestOf(body)}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		if err := s.worker("one", clk, nil).Run(ctx); err != nil {
			t.Fatal(err)
		}
		d := s.dump()
		for _, p := range d.Pages {
			if p.Visits < 2 || p.Version != p.Stats.Records || p.DueAt == 0 || models.At(clk.Now()).Time().Sub(p.DueAt.Time()) > time.Minute {
				t.Errorf("%s: %d visits, version %d of %d records, due %v, now %v", p.URL, p.Visits, p.Version, p.Stats.Records,
					p.DueAt.Time(), clk.Now())
			}
		}
		if clk.slept.Load() == 0 || s.most != 1 || s.gap < 10*time.Second {
			t.Errorf("asleep for %v, %d visits to one host at a time, gaps down to %v, want 8h, 1 and 10s",
				time.Duration(clk.slept.Load()), s.most, s.gap)
		}
	})
}
