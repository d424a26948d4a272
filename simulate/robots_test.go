package simulate

import (
	"testing"
	"time"

	"recrawld/config"
)

// A budget of less than a request a day is saved up until it pays for several visits with one robots.txt, whether visits are allowed at any time or at
// night alone. None of the hosts waits in vain for the others.
func TestASmallBudgetIsSavedUpForRobots(t *testing.T) {
	t.Parallel()
	night, err := config.ParseWindow("22:00-04:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		hosts   int
		windows []config.Window
	}{
		"few hosts": {3, nil}, "few hosts at night": {3, []config.Window{night}}, "three pages a host": {20, nil}, "three pages a host at night": {20, []config.Window{night}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := made(t, Plan{Pages: 60, Hosts: test.hosts, Days: 400, Seed: 1})
			y, err := Measure(Subject{Trace: m.Trace, Made: &m}, Spending{Rate: config.Rate{PerDay: 0.6}})
			if err != nil {
				t.Fatal(err)
			}
			scores := make(map[string]Score)
			for _, policy := range []string{"adaptive", "uniform"} {
				trial := Trial{Yardstick: y, Policy: policy, Cycle: time.Hour, Windows: test.windows, Sight: Sight{Robots: true}}
				r, err := trial.Do(t.Context(), func() time.Time { return worldStart })
				if err != nil {
					t.Fatal(err)
				}
				if r.Score.OverBudget(0.6, r.Window) {
					t.Errorf("%s: more than the budget was spent", policy)
				}
				scores[policy] = r.Score
			}
			saved, alone := scores["adaptive"], scores["uniform"]
			t.Logf("adaptive: %.2f visits, %.2f robots.txt a day, %.4f fresh, %.2f never visited; uniform: %.2f, %.2f, %.4f", saved.PerDay, saved.RobotsPerDay,
				saved.Freshness, saved.Unvisited, alone.PerDay, alone.RobotsPerDay, alone.Freshness)
			if saved.PerDay < 1.3*alone.PerDay || saved.Freshness < alone.Freshness+0.005 || saved.Unvisited > 0 {
				t.Error("want three tenths more visits and fresher pages, each of them visited")
			}
		})
	}
}
