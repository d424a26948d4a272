package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/scheduler"
)

// wayward is a reader of hosts on which all goes on that puts a visit off or makes another one: lists that tell of pages, parents whose turns are
// skipped, probes, hosts that are too busy or do not answer, and pages that are missing for days, lead elsewhere or are found. It counts its answers by kind.
type wayward struct {
	reader
	kinds  map[models.OutcomeKind]int
	probed map[int64]time.Time
}

func (w *wayward) Visit(ctx context.Context, turn models.Turn) models.Outcome {
	out := w.answer(ctx, turn)
	w.kinds[out.Kind]++
	return out
}

func (w *wayward) answer(ctx context.Context, turn models.Turn) models.Outcome {
	p, now := &turn.Page.Page, w.clk.Now()
	today := int(now.Sub(w.start).Hours() / 24)
	lot := int(uint64(p.ID)%97) + today/3*31
	switch {
	case len(turn.Robots) == 0 || !turn.Robots[0].ExpiresAt.Time().After(now):
		return w.reader.Visit(ctx, turn)
	case p.Stats.Records == 0:
	case now.Sub(w.probed[p.HostID]) > 20*day:
		w.probed[p.HostID] = now
		return models.Outcome{Kind: models.Probed, Status: 404, At: now, Sent: 1}
	case lot%13 == 0:
		return models.Outcome{Kind: models.Failed, Class: models.TooManyRequests, Status: 429, At: now, Sent: 1, RetryAfter: now.Add(90 * time.Minute)}
	case lot%13 == 1:
		return models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, At: now, Sent: 1}
	case lot%13 == 2:
		return models.Outcome{Kind: models.Missing, Status: 404, At: now, Sent: 1}
	case lot%13 == 3 && p.Skips < 3:
		return models.Outcome{Kind: models.Skipped, At: now}
	case lot%13 == 4:
		return models.Outcome{Kind: models.Moved, Status: 302, At: now, Sent: 1, RedirectTo: "http://elsewhere.test/"}
	}
	out := w.reader.Visit(ctx, turn)
	if p.URL[len(p.URL)-1] == '0' && out.Kind != models.NotModified {
		out.Listing = &models.Listing{Entries: 3}
		for i := 1; i < 3; i++ {
			told := models.PageID(fmt.Sprintf("%s%d", p.URL[:len(p.URL)-1], i))
			out.Listing.Told = append(out.Listing.Told, models.Told{PageID: told, Since: models.At(now), At: models.At(now)})
		}
	}
	return out
}

// asked is how many requests there were: of what they find a day decides, so that some are answered well on one clock that are not on the other.
func (w *wayward) asked() (n float64) {
	for kind, times := range w.kinds {
		if kind != models.Skipped {
			n += float64(times)
		}
	}
	return n
}

// TestTheClockGoesOnWhateverIsAnswered: the turns that pages have, and what comes of them, do not hang on whether a clock goes on during a visit.
func TestTheClockGoesOnWhateverIsAnswered(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	monday, err := config.ParseWindow("Mon 00:00-23:59 UTC")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*config.Config, *config.Settings){
		"no budget":       func(*config.Config, *config.Settings) {},
		"requests":        func(c *config.Config, _ *config.Settings) { c.Budget.Requests = config.Rate{PerDay: 12} },
		"of the site":     func(_ *config.Config, s *config.Settings) { s.Budget.Requests = config.Rate{PerDay: 12} },
		"a day each week": func(_ *config.Config, s *config.Settings) { s.Windows = []config.Window{monday} },
		"without a delay": func(c *config.Config, s *config.Settings) { c.Budget.Requests, s.Delay = config.Rate{PerDay: 12}, 0 },
		"bytes with visits": func(c *config.Config, s *config.Settings) {
			c.Budget = config.Budget{Requests: config.Rate{PerDay: 20}, Bytes: 60_000}
		},
		"for each page of the site, on a day each week": func(_ *config.Config, s *config.Settings) {
			s.Budget.Requests, s.Windows = config.Rate{PerDay: 0.15, PerPage: true}, []config.Window{monday}
		},
		"by a schedule": func(c *config.Config, s *config.Settings) {
			c.Cycle, s.Budget.Requests = "0 3 * * *", config.Rate{PerDay: 12}
		},
	} {
		for _, policy := range config.Policies() {
			t.Run(name+", "+policy, func(t *testing.T) {
				t.Parallel()
				turns := func(step time.Duration) (*wayward, *ledger) {
					c := config.Default()
					c.Cycle = "24h"
					settings := c.Defaults
					settings.Policy = policy
					change(&c, &settings)
					c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h0.test/", Settings: settings}}
					w := &wayward{kinds: make(map[models.OutcomeKind]int), probed: make(map[int64]time.Time)}
					store := overWorld(t, &c, world{hosts: 24, pages: 3, days: 200, step: step}, func(r *reader) scheduler.Visitor { w.reader = *r; return w })
					return w, store
				}
				stands, few := turns(0)
				goes, many := turns(time.Microsecond)
				as := t.Logf
				if n, m := stands.asked(), goes.asked(); m < 0.93*n || m > 1.07*n || float64(many.commits) > 1.15*float64(few.commits) {
					as = t.Errorf
				}
				as("%d turns, %v; on a clock that goes on %d, %v", few.commits, stands.kinds, many.commits, goes.kinds)
			})
		}
	}
}
