package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// trap is a page that names its style by another URL at each visit, beside an image which moves one day.
type trap struct {
	moves  int // after how many visits
	visits map[string]int
}

// Visit implements scheduler.Visitor.
func (s *trap) Visit(_ context.Context, turn models.Turn) models.Outcome {
	url := turn.Page.URL
	s.visits[url]++
	out := models.Outcome{Kind: models.SameBytes, Status: 200, Sent: 1, At: turn.Now}
	need := func(path string) []models.FoundLink {
		return []models.FoundLink{{URL: "http://trap.test" + path, Host: "trap.test"}}
	}
	switch {
	case strings.HasSuffix(url, "/"):
		out.Requisites = append(need("/image.png"), need(fmt.Sprintf("/style.css?cb=%d", s.visits[url]))...)
	case strings.HasSuffix(url, "/image.png") && s.visits[url] > s.moves:
		out.Kind, out.Status, out.RedirectTo, out.Links = models.Moved, 301, "http://trap.test/moved.png", need("/moved.png")
	}
	return out
}

// A site whose page is a trap stops gathering requisites at the bound, and only that: those that are known are visited as before, and
// one that moves is followed.
func TestTrapOfRequisites(t *testing.T) {
	t.Parallel()
	const most, days = 100, 130 // 100 is what one page is allowed
	store, clk := simulate.NewMemory(simulate.MemoryOptions{Requisites: most / 2}), clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	c := config.Default()
	c.Cycle = "24h"
	c.Defaults.FR, c.Defaults.FRMax, c.Defaults.Policy, c.Defaults.Requisites = 1, 1, "fixed", config.RequisitesAll
	c.Sites = []config.Site{{ID: 1, Name: "trap", URL: "http://trap.test/", Settings: c.Defaults}}
	planner, err := scheduler.NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	page := scheduler.NewPage("http://trap.test/", "trap.test", 1, 0, 1)
	page.DueAt = models.At(clk.Now())
	if _, err := store.AddPages(t.Context(), clk.Now(), []models.Discovery{{Page: page, Host: "trap.test"}}, 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	end, visits := clk.Now().AddDate(0, 0, days), &trap{days - 10, make(map[string]int)}
	w := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: visits, Archive: simulate.Nowhere{}, Clock: clk, Log: slog.New(slog.DiscardHandler),
		Name: "one", Lease: 5 * time.Minute, Memory: 1 << 20, Beat: func() {
			if clk.Now().After(end) {
				cancel()
			}
		}}, planner)
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	d, err := store.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	needed := 0
	for _, p := range d.Pages {
		if p.Requisite {
			needed++
		}
		if n := visits.visits[p.URL]; p.URL != "http://trap.test/moved.png" && n < days-most-2 || n == 0 {
			t.Errorf("%s was visited %d times in %d days, want once a day", p.URL, n, days)
		}
	}
	if visits.visits["http://trap.test/"] < days-1 || needed != most+1 {
		t.Errorf("after %d visits the site has %d requisites, want %d and the one to which another moved", visits.visits["http://trap.test/"], needed, most)
	}
}
