package simulate

import (
	"fmt"
	"testing"
	"time"

	"recrawld/internal/solo"
	"recrawld/models"
)

// What publishers announce makes pages fresher, the more of it the fresher, also with a budget that could not follow all of it; and
// where they fall silent nothing is lost for long.
func TestAnnouncementsMakePagesFresher(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	w := listen(t)
	for name, c := range map[string]struct {
		said  Publishers
		gains map[float64]float64 // least difference of the score, by visits a page and day
	}{
		"a third":          {Publishers{Share: 0.3}, map[float64]float64{0.05: -0.02, 0.2: 0.05}},
		"most":             {Publishers{Share: 0.8}, map[float64]float64{0.05: 0.15, 0.2: 0.3}},
		"all":              {Publishers{Share: 1}, map[float64]float64{0.05: 0.2, 0.2: 0.5}},
		"all, then silent": {Publishers{Share: 1, Until: w.Trace.From + (w.Trace.To-w.Trace.From)/4}, map[float64]float64{0.05: -0.05, 0.2: -0.15}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for budget, least := range c.gains {
				w.fresher(t, budget, Sight{}, c.said, least)
			}
		})
	}
}

// A budget that pays for few visits beside their robots.txt learns what one is worth all the same: a page waits for the delay after the robots.txt that it
// asked for, and not for its host. Otherwise what is announced for nothing waits in one line with all else, for months.
func TestVisitsBehindTheirRobotsTeachThePrice(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	w := &listened{Made: made(t, Plan{Pages: 300, Hosts: 60, Days: 90, Seed: 7})}
	for _, delay := range []time.Duration{0, 10 * time.Second} {
		w.Trace.Delay = make(map[string]time.Duration)
		for i := range w.Trace.Pages {
			w.Trace.Delay[w.Trace.Pages[i].Host] = delay
		}
		r := w.trial(t, 0.02, Sight{Robots: true}, Publishers{Share: 0.5})
		if r.Score.Freshness < 0.53 {
			t.Errorf("with a delay of %v pages are fresh %.3f of the time, want 0.53 or more: it is 0.51 where they teach nothing", delay, r.Score.Freshness)
		}
	}
}

// listened is a world in which something may be said of pages, and how good the score is in it where nothing is, by the visits a page
// and day.
type listened struct {
	Made
	silent map[float64]float64
}

func listen(t *testing.T) *listened {
	t.Helper()
	w := &listened{made(t, Plan{Pages: 600, Hosts: 12, Days: 100, Seed: 1}), make(map[float64]float64)}
	for _, budget := range []float64{0.05, 0.2} {
		w.silent[budget] = w.trial(t, budget, Sight{}, Publishers{}).Worth()
	}
	return w
}

// fresher holds that a score is better, by so much at least, than where nobody says anything.
func (w *listened) fresher(t *testing.T, budget float64, sight Sight, said Publishers, least float64) Result {
	t.Helper()
	r := w.trial(t, budget, sight, said)
	silent, known := w.silent[budget]
	if gain := r.Worth() - silent; !known || gain < least {
		t.Errorf("with %v visits a page and day the score differs by %.3f, want %.2f or more", budget, gain, least)
	}
	return r
}

func (w *listened) trial(t *testing.T, budget float64, sight Sight, said Publishers) Result {
	t.Helper()
	b, err := ParseSpending(fmt.Sprintf("%g/page/day", budget))
	if err != nil {
		t.Fatal(err)
	}
	y := Yardstick{Subject: Subject{Trace: w.Trace}, Spending: b, PerDay: b.Of(w.Trace), Window: w.Trace.Scored(Learn)}
	y.Bounds = BoundsOf(w.Trace, y.Window, y.PerDay)
	r, err := Trial{Yardstick: y, Policy: "adaptive", Cycle: 15 * time.Minute, Sight: sight, Said: said}.Do(t.Context(), func() time.Time { return worldStart })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each change is announced when it happens, and deaths are; a share of them is drawn by lot.
func TestWhatIsAnnounced(t *testing.T) {
	t.Parallel()
	trace := &Trace{From: 1000, To: 9000, Pages: []Life{
		{Born: 1000, Changes: []models.Instant{3000, 5000}, Died: 7000}, {Born: 2000, Changes: []models.Instant{4000, 9500}}}}
	if got := fmt.Sprint((Publishers{Share: 1}).news(trace)); got != "[{3000 0} {4000 1} {5000 0} {7000 0}]" {
		t.Errorf("all: %s", got)
	}
	if got := fmt.Sprint((Publishers{Share: 1, Until: 5000}).news(trace)); got != "[{3000 0} {4000 1}]" {
		t.Errorf("until 5000: %s", got)
	}
	if got := (Publishers{}).news(trace); len(got) > 0 {
		t.Errorf("none: %v", got)
	}
	long := &Trace{To: 1 << 40, Pages: make([]Life, 1)}
	for i := range 10_000 {
		long.Pages[0].Changes = append(long.Pages[0].Changes, models.Instant(i+1))
	}
	if got := len(Publishers{Share: 0.3}.news(long)); got < 2800 || got > 3200 {
		t.Errorf("%d of 10,000 are announced, want about 3,000", got)
	}
}
