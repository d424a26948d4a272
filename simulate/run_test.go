package simulate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
)

// made is a small world, the same every time.
func made(t testing.TB, p Plan) Made {
	t.Helper()
	if p.World == "" {
		p.World = "poisson"
	}
	m, err := Make(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Greedy visits at known rates reach the known-rate optimum: the worker spends the budget as the theory does, and the
// judge measures what the theory predicts.
func TestOracleReachesTheKnownRateOptimum(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	m := made(t, Plan{Pages: 1000, Hosts: 20, Days: 100, Seed: 3, Weights: true})
	y, err := Measure(Subject{Trace: m.Trace, Made: &m}, Spending{PerChange: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Trial{Yardstick: y, Policy: Oracle, Cycle: 15 * time.Minute}.Do(t.Context(), func() time.Time { return worldStart })
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Excess(); e < 0.9 || e > 1.1 {
		t.Errorf("E = %.3f (freshness %.4f, optimum %.4f), want about 1", e, r.Score.Freshness, r.Best)
	}
}

// The first days, in which nothing is known yet, cost the policy adaptive little more than an exact learner that knows the
// distribution of the rates: E 0.94 at 0.05 visits a page and day and 1.15 at 0.2, means of six worlds.
func TestAdaptiveBeginsWell(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	for budget, most := range map[float64]float64{0.05: 1.00, 0.2: 1.25} {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			t.Parallel()
			sum := 0.0
			for _, seed := range []uint64{1, 2, 3} {
				m := made(t, Plan{Pages: 600, Hosts: 12, Days: 25, Seed: seed})
				c, err := Run(t.Context(), Setup{Trace: m.Trace, Policy: "adaptive", PerDay: 600 * budget, Cycle: 15 * time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				fresh := Judge(m.Trace, Window{m.Trace.From, m.Trace.To}, c.Log).Freshness
				sum += (1 - fresh) / (1 - KnownRates(m.Sources, 600*budget, nil).Freshness)
			}
			if e := sum / 3; e > most {
				t.Errorf("E of the first 25 days, mean of three worlds = %.3f, want at most %.2f", e, most)
			}
		})
	}
}

// Where a few large hosts are swept over again and again, none of them takes the budget of the others: with a price that follows
// what one host brings, E was 1.43 on the mean of these worlds.
func TestAdaptiveServesAllHosts(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	sum := 0.0
	for _, seed := range []uint64{1, 2, 3} {
		m := made(t, Plan{World: "sweep", Pages: 1000, Hosts: 5, Days: 25, Seed: seed})
		c, err := Run(t.Context(), Setup{Trace: m.Trace, Policy: "adaptive", PerDay: 200, Cycle: 15 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		fresh := Judge(m.Trace, Window{m.Trace.From, m.Trace.To}, c.Log).Freshness
		sum += (1 - fresh) / (1 - KnownRates(m.Sources, 200, nil).Freshness)
	}
	if e := sum / 3; e > 1.1 {
		t.Errorf("E of the first 25 days, mean of three worlds = %.3f, want at most 1.1", e)
	}
}

// A ceiling that the budget does not pay for leaves the policy what it is worth: with one of 12 days for pages that the budget visits every 20, it
// visited them in turn.
func TestCeilingLeavesTheBudgetRoom(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	m := made(t, Plan{Pages: 400, Hosts: 10, Days: 300, Seed: 1})
	fresh := func(policy string, longest time.Duration) float64 {
		c, err := Run(t.Context(), Setup{Trace: m.Trace, Policy: policy, PerDay: 400.0 / 20, Cycle: 6 * time.Hour, Longest: longest})
		if err != nil {
			t.Fatal(err)
		}
		return Judge(m.Trace, Window{m.Trace.From, m.Trace.To}, c.Log).Freshness
	}
	turn, free, held := fresh("uniform", 0), fresh("adaptive", 0), fresh("adaptive", 12*24*time.Hour)
	if won := (held - turn) / (free - turn); free < turn+0.01 || won < 0.8 {
		t.Errorf("fresh: in turn %.4f, adaptive %.4f, and with a ceiling of 12 days %.4f, which is %.2f of what it wins, want 0.8", turn, free, held, won)
	}
}

// Where all hosts change at an hour of their own, that is learned over all of them, and visits come after it: they leave less out of
// date than the best that knows the rates and no hours.
func TestAdaptiveLearnsTheHoursOfHosts(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	sum := 0.0
	for _, seed := range []uint64{1, 2} {
		m := made(t, Plan{World: "fixed-hour", Pages: 750, Hosts: 15, Days: 60, Seed: seed})
		y, err := Measure(Subject{Trace: m.Trace, Made: &m}, Spending{Rate: config.Rate{PerPage: true, PerDay: 1}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Trial{Yardstick: y, Policy: "adaptive", Cycle: 15 * time.Minute}.Do(t.Context(), func() time.Time { return worldStart })
		if err != nil {
			t.Fatal(err)
		}
		sum += r.Excess()
	}
	if e := sum / 2; e > 0.9 {
		t.Errorf("E, mean of two worlds = %.3f, want at most 0.9", e)
	}
}

// Uniform is round robin: its score is 0, and like every policy it spends the whole budget and no more.
func TestRunsSpendTheirBudget(t *testing.T) {
	t.Parallel()
	m := made(t, Plan{Pages: 300, Hosts: 7, Days: 60, Seed: 1})
	y, err := Measure(Subject{Trace: m.Trace, Made: &m}, Spending{PerChange: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"adaptive", "classic", "fixed", "uniform", "nutch", "storm", Oracle} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			r, err := Trial{Yardstick: y, Policy: policy, Cycle: 15 * time.Minute}.Do(t.Context(), func() time.Time { return worldStart })
			if err != nil {
				t.Fatal(err)
			}
			if r.Score.PerDay < 0.98*r.PerDay || r.Score.OverBudget(r.PerDay, r.Window) {
				t.Errorf("%.2f visits a day, busiest week %.2f, of a budget of %.2f", r.Score.PerDay, r.Score.Busiest, r.PerDay)
			}
			if !slices.IsSortedFunc(r.Log, func(a, b Seen) int { return cmp.Compare(a.At, b.At) }) {
				t.Error("the log is not in the order of time")
			}
			if far := math.Abs(r.Score.Freshness - r.Bounds.RoundRobin); policy == "uniform" && far > 0.015 {
				t.Errorf("freshness %.4f, that of round robin is %.4f", r.Score.Freshness, r.Bounds.RoundRobin)
			}
		})
	}
}

// Where a budget visits pages every few minutes the cycle holds no policy up, though most pages come at the end.
func TestFastPagesAreNotHeldUp(t *testing.T) {
	t.Parallel()
	start := models.At(worldStart)
	trace := &Trace{Name: "fast", From: start, To: start + fromDays(4)}
	for i := range 8 {
		name := fmt.Sprintf("p%d", i)
		l := Life{Name: name, Host: "a.trace", URL: "https://a.trace/" + name, Born: start}
		if i > 1 {
			l.Born = start + fromDays(3.8)
		}
		for n := range 400 {
			if at := start + fromDays(0.01*(float64(n)+0.3*math.Sin(float64(n*n+i)))); at > l.Born {
				l.Changes = append(l.Changes, at)
			}
		}
		trace.Pages = append(trace.Pages, l)
	}
	for _, budget := range []float64{0.3, 1} {
		y, err := Measure(Subject{Trace: trace}, Spending{PerChange: budget})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Trial{Yardstick: y, Policy: "uniform"}.Do(t.Context(), func() time.Time { return worldStart })
		if err != nil {
			t.Fatal(err)
		}
		if r.Worth() < -0.05 {
			t.Errorf("%gx: score %.3f (%.4f, %.4f in turn), want about 0", budget, r.Worth(), r.Score.Freshness, r.Bounds.RoundRobin)
		}
	}
}

// As long as all pages are gone nothing is looked for: a step each half second of years would take hours.
func TestRunPassesOverYearsWithoutPages(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	start := models.At(worldStart)
	first := Life{Name: "first", Host: "a.trace", URL: "https://a.trace/first", Born: start, Died: start + fromDays(1)}
	second := Life{Name: "second", Host: "a.trace", URL: "https://a.trace/second", Born: start + fromDays(20_000), Changes: []models.Instant{start + fromDays(20_005)}}
	trace := &Trace{Name: "gap", From: start, To: start + fromDays(20_010), Pages: []Life{first, second}}
	c, err := Run(ctx, Setup{Trace: trace, Policy: "uniform", PerDay: 2, Cycle: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if last := c.Log[len(c.Log)-1]; last.Page != 1 || last.At < trace.To-fromDays(1) {
		t.Errorf("the last of %d visits is to page %d at %v", len(c.Log), last.Page, last.At.Time())
	}
}

// Pages are not visited before their birth, and once after their death.
func TestRunFollowsBirthsAndDeaths(t *testing.T) {
	t.Parallel()
	start := models.At(worldStart)
	at := func(day float64) models.Instant { return start + fromDays(day) }
	life := func(name string, born, died float64) Life {
		l := Life{Name: name, Host: "a.trace", URL: "https://a.trace/" + name, Born: at(born)}
		if died > 0 {
			l.Died = at(died)
		}
		return l
	}
	trace := &Trace{Name: "a", From: start, To: at(40), Pages: []Life{life("old", 0, 0), life("young", 20, 0), life("dead", 0, 10)}}
	course, err := Run(t.Context(), Setup{Trace: trace, Policy: "fixed", Cycle: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	visits := make([]int, 3)
	afterDeath := 0
	for _, v := range course.Log {
		visits[v.Page]++
		if v.At <= trace.Pages[v.Page].Born {
			t.Errorf("%s is visited at %s, born at %s", trace.Pages[v.Page].Name, v.At, trace.Pages[v.Page].Born)
		}
		if died := trace.Pages[v.Page].Died; died != 0 && v.At >= died {
			afterDeath++
		}
	}
	if visits[0] != 39 || visits[1] != 19 || afterDeath != 1 {
		t.Errorf("visits %v, after the death %d, want 39, 19 and one after the death", visits, afterDeath)
	}
}

// The same setup gives the same visits.
func TestRunIsReproducible(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	for _, policy := range []string{"adaptive", "nutch"} {
		var logs [2][]Seen
		for i := range logs {
			m := made(t, Plan{World: "sweep", Pages: 100, Hosts: 5, Days: 30, Seed: 5})
			course, err := Run(t.Context(), Setup{Trace: m.Trace, Policy: policy, PerDay: 50, Cycle: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			logs[i] = course.Log
		}
		if !slices.Equal(logs[0], logs[1]) {
			t.Errorf("%s: two runs differ: %d and %d visits", policy, len(logs[0]), len(logs[1]))
		}
	}
}

// No policy breaks a host's politeness, whatever its budget asks for.
func TestRunKeepsPoliteness(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	m := made(t, Plan{Pages: 200, Hosts: 4, Days: 20, Seed: 2, Saturated: 0.3})
	for _, policy := range []string{"adaptive", "uniform", Oracle} {
		course, err := Run(t.Context(), Setup{Trace: m.Trace, Policy: policy, PerDay: 400, Cycle: time.Hour, Sources: m.Sources})
		if err != nil {
			t.Fatal(err)
		}
		if broken := Impolite(m.Trace, course.Log); broken != 0 {
			t.Errorf("%s: %d of %d visits come too soon", policy, broken, len(course.Log))
		}
	}
}

// Where a host alone holds back what the budget could pay for, the budget is spent as soon as the host may be asked.
func TestRunSpendsWhatPolitenessAllows(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	m := made(t, Plan{Pages: 200, Hosts: 1, Days: 40, Seed: 1, Saturated: 0.19})
	most := 40 * m.Most[0]
	for _, policy := range []string{"adaptive", "nutch", "storm", "uniform", Oracle} {
		course, err := Run(t.Context(), Setup{Trace: m.Trace, Policy: policy, PerDay: 40, Cycle: time.Hour, Sources: m.Sources})
		if err != nil {
			t.Fatal(err)
		}
		if broken := Impolite(m.Trace, course.Log); broken != 0 {
			t.Errorf("%s: %d of %d visits come too soon", policy, broken, len(course.Log))
		}
		if got := float64(len(course.Log)); got < 0.97*most {
			t.Errorf("%s: %.0f visits, want nearly the %.0f that the host allows", policy, got, most)
		}
	}
}

func TestRunRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	m := made(t, Plan{Pages: 2, Hosts: 1, Days: 2})
	twice := &Trace{Name: "twice", From: m.Trace.From, To: m.Trace.To, Pages: []Life{m.Trace.Pages[0], m.Trace.Pages[0]}}
	for name, s := range map[string]Setup{
		"no such policy":  {Trace: m.Trace, Policy: "best", Cycle: time.Hour},
		"no cycle":        {Trace: m.Trace, Policy: "fixed"},
		"longest below 0": {Trace: m.Trace, Policy: "fixed", Cycle: time.Hour, Longest: -time.Hour},
		"budget of NaN":   {Trace: m.Trace, Policy: "fixed", Cycle: time.Hour, PerDay: math.NaN()},
		"one URL, twice":  {Trace: twice, Policy: "fixed", Cycle: time.Hour},
		"negative budget": {Trace: m.Trace, Policy: "fixed", Cycle: time.Hour, PerDay: -1},
	} {
		if _, err := Run(t.Context(), s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// BenchmarkRun is how many visits a second the worker simulates: a world of ten thousand pages, each visited every day.
func BenchmarkRun(b *testing.B) {
	for _, policy := range []string{"uniform", "classic", "nutch", Oracle, "adaptive"} {
		b.Run(policy, func(b *testing.B) {
			m := made(b, Plan{Pages: 10_000, Hosts: 100, Days: 20, Seed: 1})
			visits := 0
			for b.Loop() {
				course, err := Run(b.Context(), Setup{Trace: m.Trace, Policy: policy, PerDay: 10_000, Cycle: 15 * time.Minute})
				if err != nil {
					b.Fatal(err)
				}
				visits += len(course.Log)
			}
			b.ReportMetric(float64(visits)/b.Elapsed().Seconds(), "visits/s")
		})
	}
}

// With robots.txt each host asks for a second request on a day with a visit, out of the same budget, under every policy.
func TestRunPaysForRobots(t *testing.T) {
	t.Parallel()
	m := made(t, Plan{Pages: 60, Hosts: 1, Days: 60, Seed: 1})
	for i := range m.Trace.Pages {
		m.Trace.Pages[i].Name = fmt.Sprintf("host-%d/page-%d", i%20, i)
	}
	m.Trace.HostPerFolder()
	y, err := Measure(Subject{Trace: m.Trace}, Spending{Rate: config.Rate{PerDay: 12}})
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"adaptive", "classic", "uniform"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			trial := Trial{Yardstick: y, Policy: policy, Cycle: 15 * time.Minute, Sight: Sight{Robots: true}}
			r, err := trial.Do(t.Context(), func() time.Time { return worldStart })
			if err != nil {
				t.Fatal(err)
			}
			s := r.Score
			if spent := s.PerDay + s.RobotsPerDay; spent < 11.7 || s.OverBudget(12, r.Window) {
				t.Errorf("%.2f visits and %.2f requests for robots.txt a day, of a budget of 12", s.PerDay, s.RobotsPerDay)
			}
			if want := robotsNeeded(m.Trace, r.Log); len(r.Robots) != want {
				t.Errorf("robots.txt was asked for %d times, the visits need it %d times", len(r.Robots), want)
			}
		})
	}
}

// robotsNeeded is how often visits need a robots.txt that is not a day old.
func robotsNeeded(t *Trace, log []Seen) (times int) {
	fetched := make(map[string]models.Instant)
	for _, v := range log {
		host := t.Pages[v.Page].Host
		if at, known := fetched[host]; !known || v.At >= at+models.Instant(24*time.Hour/time.Millisecond) {
			fetched[host] = v.At
			times++
		}
	}
	return times
}

// Under the policy adaptive the pages of a host are visited together, so that more of the budget is left for pages.
func TestAdaptiveSharesRobots(t *testing.T) {
	t.Parallel()
	m := made(t, Plan{Pages: 60, Hosts: 1, Days: 120, Seed: 1})
	for i := range m.Trace.Pages {
		m.Trace.Pages[i].Name = fmt.Sprintf("host-%d/page-%d", i%15, i)
	}
	m.Trace.HostPerFolder()
	y, err := Measure(Subject{Trace: m.Trace}, Spending{Rate: config.Rate{PerDay: 8}})
	if err != nil {
		t.Fatal(err)
	}
	scores := make(map[string]Score)
	for _, policy := range []string{"adaptive", "uniform"} {
		trial := Trial{Yardstick: y, Policy: policy, Cycle: 15 * time.Minute, Sight: Sight{Robots: true}}
		r, err := trial.Do(t.Context(), func() time.Time { return worldStart })
		if err != nil {
			t.Fatal(err)
		}
		scores[policy] = r.Score
	}
	shared, alone := scores["adaptive"], scores["uniform"]
	t.Logf("adaptive: %.2f visits, %.2f robots.txt a day, %.4f fresh; uniform: %.2f, %.2f, %.4f", shared.PerDay, shared.RobotsPerDay,
		shared.Freshness, alone.PerDay, alone.RobotsPerDay, alone.Freshness)
	if shared.PerDay < 1.2*alone.PerDay || shared.RobotsPerDay > 0.7*alone.RobotsPerDay || shared.Freshness < alone.Freshness+0.005 {
		t.Error("want a fifth more visits, a third less robots.txt, and fresher pages")
	}
}

// A budget of bytes is spent in bytes: where each page is sent whole in so many visits, where unchanged ones are not in more of them.
func TestBudgetOfBytes(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	m := made(t, Plan{Pages: 200, Hosts: 4, Days: 60, Seed: 5})
	for i := range m.Trace.Pages {
		l := &m.Trace.Pages[i]
		l.Sizes = slices.Repeat([]int32{10_000}, len(l.Changes)+1)
	}
	y, err := Measure(Subject{Trace: m.Trace}, Spending{Bytes: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	perDay := make(map[bool]float64)
	for _, whole := range []bool{true, false} {
		r, err := Trial{Yardstick: y, Policy: "adaptive", Cycle: time.Hour, Sight: Sight{Whole: whole}}.Do(t.Context(), func() time.Time { return worldStart })
		if err != nil {
			t.Fatal(err)
		}
		if s := r.Score.Received; s < 0.8*200_000 || s > 1.05*200_000 {
			t.Errorf("whole %v: %.0f bytes a day of 200,000", whole, s)
		}
		perDay[whole] = r.Score.PerDay
	}
	if perDay[true] < 19 || perDay[true] > 21 || perDay[false] < 1.5*perDay[true] {
		t.Errorf("%.1f visits a day of 10,000 bytes for 200,000, and %.1f where unchanged pages are not sent", perDay[true], perDay[false])
	}
	if _, err := Measure(Subject{Trace: made(t, Plan{Pages: 10, Hosts: 1, Days: 3, Seed: 5}).Trace}, Spending{Bytes: 200_000}); err == nil {
		t.Error("bytes of pages whose sizes are not known: no error")
	}
}
