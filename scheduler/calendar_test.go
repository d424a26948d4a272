package scheduler

import (
	"math"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestParseCycle(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "6", "30s", "400d", "0 0 30 2", "every day", "* * * * * *"} {
		if _, err := ParseCycle(bad); err == nil {
			t.Errorf("ParseCycle(%q) = nil error, want one", bad)
		}
	}
	for _, good := range []string{"6h", "1d", "90m", "0 */6 * * *", "@daily", "CRON_TZ=Europe/Berlin 30 3 * * *"} {
		if _, err := ParseCycle(good); err != nil {
			t.Errorf("ParseCycle(%q) = %v, want nil", good, err)
		}
	}
}

func TestCronCycleBeginsAtItsTimes(t *testing.T) {
	t.Parallel()
	c := mustParse(t, "0 */6 * * *")
	for _, test := range []struct {
		n    int
		want time.Time
	}{
		{1, noon.Add(6 * time.Hour)}, {2, noon.Add(12 * time.Hour)}, {4, noon.Add(24 * time.Hour)},
	} {
		if got := c.Due(noon, test.n, 0, 0.9); !got.Equal(test.want) {
			t.Errorf("Due(noon, %d) = %v, want %v", test.n, got, test.want)
		}
	}
	if got := c.CyclesUntil(noon, noon.Add(6*time.Hour)); got != 1 {
		t.Errorf("CyclesUntil(noon, 18:00) = %d, want 1", got)
	}
	if got := c.CyclesUntil(noon, noon.Add(7*time.Hour)); got != 1 {
		t.Errorf("CyclesUntil(noon, 19:00) = %d, want 1", got)
	}
}

// On the long run a cycle takes as long whatever the moment, and varied visits come earlier.
func TestMeanOfCycles(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	soon := time.Date(2026, 11, 20, 7, 59, 0, 0, time.UTC)
	for _, test := range []struct {
		cycle string
		n     int
		vary  float64
		want  time.Duration
	}{
		{"6h", 0, 0, 6 * time.Hour}, {"6h", 2, 0.5, 9 * time.Hour}, {"0 8 * * *", 1, 0, 24 * time.Hour}, {"0 8 * * *", 1, 0.5, 24 * time.Hour},
		{"0 8 * * 1-5", 1, 0, week / 5}, {"0 8 * * 1-5", 10, 0, 2 * week}, {"0 8 * * *", 4, 0.5, 84 * time.Hour}, {"@monthly", 1, 0, 730.5 * 3600 * time.Second},
		{"0 8 * * *", 100_000, 0, longest}, {"0 0 30 2 *", 1, 0.15, longest},
	} {
		got := mustParse(t, test.cycle).Mean(soon, test.n, test.vary)
		if off := math.Abs(float64(got-test.want)) / float64(test.want); off > 0.03 {
			t.Errorf("%s: Mean(%d, %v) = %v, want about %v", test.cycle, test.n, test.vary, got, test.want)
		}
	}
}

// A schedule in a zone keeps its local time over a change of the clocks.
func TestCronCycleFollowsItsZone(t *testing.T) {
	t.Parallel()
	c := mustParse(t, "CRON_TZ=Europe/Berlin 30 3 * * *")
	winter := c.Due(time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC), 1, 0, 0)
	if want := time.Date(2026, 10, 25, 2, 30, 0, 0, time.UTC); !winter.Equal(want) {
		t.Errorf("03:30 Berlin after the clocks went back = %v, want %v", winter, want)
	}
	summer := c.Due(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), 1, 0, 0)
	if want := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC); !summer.Equal(want) {
		t.Errorf("03:30 Berlin after the clocks went forward = %v, want %v", summer, want)
	}
}

// A schedule with no further time keeps finite due times.
func TestCronCycleThatNeverComes(t *testing.T) {
	t.Parallel()
	c := mustParse(t, "0 0 30 2 *")
	if due := c.Due(noon, 3, 0.15, 0.5); !due.After(noon) || due.Year() > 9000 {
		t.Errorf("Due of a schedule that never comes = %v, want a finite time", due)
	}
}

func TestCalendarProperties(t *testing.T) {
	t.Parallel()
	cycles := []string{"1m", "6h", "1d", "30d", "0 */6 * * *", "*/7 3 * * 1-5", "@monthly", "CRON_TZ=Europe/Berlin 30 2 * * *"}
	rapid.Check(t, func(t *rapid.T) {
		c := mustParse(t, rapid.SampledFrom(cycles).Draw(t, "cycle"))
		now := noon.Add(time.Duration(rapid.Int64Range(0, int64(10*365*24*time.Hour)).Draw(t, "now")))
		n := rapid.IntRange(1, 400).Draw(t, "n")
		vary := rapid.Float64Range(0, 0.5).Draw(t, "vary")
		u := rapid.Float64Range(0, 0.999999).Draw(t, "u")
		due := c.Due(now, n, vary, u)
		if !due.After(now) {
			t.Fatalf("Due(%v, %d, %v, %v) = %v, want later", now, n, vary, u, due)
		}
		if fr := c.CyclesUntil(now, due); fr < 1 || fr > n {
			t.Fatalf("CyclesUntil(%v, %v) = %d, want within [1, %d]", now, due, fr, n)
		}
		if fr := c.CyclesUntil(due, due); fr != 0 {
			t.Fatalf("CyclesUntil at the due time = %d, want 0", fr)
		}
		half := now.Add(due.Sub(now) / 2)
		if a, b := c.CyclesUntil(now, due), c.CyclesUntil(half, due); b > a {
			t.Fatalf("fr grew from %d to %d as time went on", a, b)
		}
	})
}

// The longest interval that the bounds of the configuration allow is still a time.
func TestDueSaturates(t *testing.T) {
	t.Parallel()
	if due := mustParse(t, "366d").Due(noon, 100_000, 0.5, 0); due.Sub(noon) != longest {
		t.Errorf("100,000 cycles of 366 days end after %v, want %v", due.Sub(noon), longest)
	}
}

// A page's visits differ in their time of day, over the configured share and no more.
func TestDueVaries(t *testing.T) {
	t.Parallel()
	c := mustParse(t, "1d")
	lowest, highest := time.Duration(1<<62), time.Duration(0)
	for visit := range int32(1000) {
		wait := c.Due(noon, 1, 0.15, chance(42, visit, useVary)).Sub(noon)
		lowest, highest = min(lowest, wait), max(highest, wait)
	}
	const day = 24 * time.Hour
	if lowest < day*85/100 || lowest > day*86/100 || highest > day || highest < day*99/100 {
		t.Errorf("1000 visits a day with vary 15 %% lie between %v and %v, want from 20.4h to 24h", lowest, highest)
	}
}

func mustParse(t interface {
	Helper()
	Fatalf(string, ...any)
}, cycle string) Calendar {
	t.Helper()
	c, err := ParseCycle(cycle)
	if err != nil {
		t.Fatalf("ParseCycle(%q) = %v", cycle, err)
	}
	return c
}

// stepping is a schedule of every hour that counts how often it is asked.
type stepping struct{ asked int }

func (s *stepping) Next(t time.Time) time.Time {
	s.asked++
	return t.Truncate(time.Hour).Add(time.Hour)
}

// Start times are walked once and then searched, from the first cycle on.
func TestCronTimesAreRemembered(t *testing.T) {
	t.Parallel()
	s := &stepping{}
	c := Calendar{cron: &cronTimes{schedule: s}}
	for i := range 1000 {
		c.Due(noon.Add(time.Duration(i)*time.Second), 100, 0, 0)
	}
	if s.asked > 110 {
		t.Errorf("1000 due times 100 hours ahead asked the schedule %d times, want about 100", s.asked)
	}
	if got := c.Due(noon.Add(-90*time.Minute), 1, 0, 0); !got.Equal(noon.Add(-time.Hour)) {
		t.Errorf("Due of an earlier moment = %v, want 11:00", got)
	}
}

// No schedule and no number of cycles leads past a century: later times cannot be shown, nor subtracted.
func TestDueOfACronSaturates(t *testing.T) {
	t.Parallel()
	for _, cycle := range []string{"0 0 30 2 *", "0 0 29 2 *", "@yearly"} {
		c := mustParse(t, cycle)
		if due := c.Due(noon, 120, 0.15, 0); due.Sub(noon) > longest {
			t.Errorf("120 cycles of %q end in the year %d, want within a century", cycle, due.Year())
		}
		if d := c.Interval(noon, 120); d > longest {
			t.Errorf("120 cycles of %q take %v, want a century at most", cycle, d)
		}
	}
}

// counting is a schedule that counts what it is asked.
type counting struct {
	cron.Schedule
	asked int
}

func (c *counting) Next(after time.Time) time.Time {
	c.asked++
	return c.Schedule.Next(after)
}

// TestCronTimesAreFoundOnce: whoever passes over all pages counts from the visit of each, in no order, between visits that count from
// now: each start is looked for a few times at most.
func TestCronTimesAreFoundOnce(t *testing.T) {
	t.Parallel()
	schedule, err := cron.ParseStandard("0 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	count := &counting{Schedule: schedule}
	calendar := Calendar{cron: &cronTimes{schedule: count}}
	const days = 100
	for page := range int64(2000) {
		at := noon.Add(time.Duration(chance(page, 1, useVary) * days * 24 * float64(time.Hour)))
		if got, want := calendar.Interval(at, 100), at.Truncate(time.Hour).Add(100*time.Hour).Sub(at); got != want {
			t.Fatalf("100 cycles after %v take %v, want %v", at, got, want)
		}
		calendar.Interval(noon.Add(days*24*time.Hour), 1)
	}
	if starts := days*24 + 100; count.asked > 20*starts {
		t.Errorf("%d times asked for the next start, of %d", count.asked, starts)
	}
}

// TestNobodyCountsFromTheYearOne: whoever asks whether a page that was never visited may be visited early asks a cron schedule for none of the
// starts since the year 1.
func TestNobodyCountsFromTheYearOne(t *testing.T) {
	t.Parallel()
	schedule, err := cron.ParseStandard("0 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	count := &counting{Schedule: schedule}
	c := config.Default()
	plan := testPlanner(t, &c)
	plan.calendar = Calendar{cron: &cronTimes{schedule: count}}
	w := NewWorker(Config{Store: counted{new(notes)}, Clock: clock.NewVirtual(noon)}, plan)
	page := models.Page{SiteID: 1, State: models.StateNew, Rule: models.RuleStart, DueAt: models.At(noon.Add(time.Hour))}
	w.tooEarly(t.Context(), plan, &page, nil, noon)
	if plan.calendar.Interval(noon, 1); count.asked > 2 {
		t.Errorf("%d times asked for the next start, want it once", count.asked)
	}
}
