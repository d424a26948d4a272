package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/solo"
)

// TestNoPageWaitsForEverInWindows: where windows put pages off and a budget pays for fewer visits than the policy asks for, each page has its turn, under the
// budget of all and under the site's own. Under the budget of all up to 55 of 60 pages were never visited, always the same ones.
func TestNoPageWaitsForEverInWindows(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	const pages, days, day = 60, 120, 24 * time.Hour
	for _, policy := range []string{"fixed", "classic", "adaptive"} {
		for _, windows := range [][]string{
			{"01:00-23:00 UTC"}, {"06:00-08:00 UTC", "12:00-18:00 UTC"}, {"Mon,Thu 08:00-18:00 UTC"}, {"22:00-04:00 UTC"}, {"02:00-02:30 UTC"},
		} {
			for _, own := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %v, own budget %v", policy, windows, own), func(t *testing.T) {
					t.Parallel()
					w, _ := simulated(t, pages, days, func(c *config.Config) {
						s := &c.Sites[0].Settings
						s.Policy = policy
						for _, text := range windows {
							window, err := config.ParseWindow(text)
							if err != nil {
								t.Fatal(err)
							}
							s.Windows = append(s.Windows, window)
						}
						budget := &c.Budget
						if own {
							budget = &s.Budget
						}
						budget.Requests = config.Rate{PerDay: 6}
					})
					longest := w.most
					for _, last := range w.last {
						longest = max(longest, w.start.Add(days*day).Sub(last))
					}
					even := days * day * pages / time.Duration(max(w.visits, 1))
					t.Logf("%d visits, longest %.1f even %.1f", w.visits, longest.Hours()/24, even.Hours()/24)
					if len(w.last) < pages || longest > 2*even {
						t.Errorf("%d of %d pages were visited, the longest wait was %v where all in turn have a visit in %v", len(w.last), pages, longest, even)
					}
				})
			}
		}
	}
}

// TestWindowsKeepTheOrderOfAWait: pages of a host that one window after the other puts off stay in the order in which they began to wait, also where
// a schedule makes others due as each window opens.
func TestWindowsKeepTheOrderOfAWait(t *testing.T) {
	t.Parallel()
	w, _ := simulated(t, 60, 120, func(c *config.Config) {
		c.Cycle = "0 2 * * *"
		s := &c.Sites[0].Settings
		s.Policy, s.FR, c.Budget.Requests = "fixed", 1, config.Rate{PerDay: 6}
		window, err := config.ParseWindow("02:00-05:00 UTC")
		if err != nil {
			t.Fatal(err)
		}
		s.Windows = []config.Window{window}
	})
	if turn := 120 * 24 * time.Hour * 60 / time.Duration(w.visits); len(w.last) < 60 || w.most > turn+48*time.Hour {
		t.Errorf("%d of 60 pages were visited, the longest wait was %v, want %v and two days at most", len(w.last), w.most, turn)
	}
}
