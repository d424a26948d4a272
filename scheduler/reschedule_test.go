package scheduler

import (
	"cmp"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

// TestReschedule: what is put off by settings that were changed since a page's visit is put where the new ones have it.
func TestReschedule(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	office := []config.Window{{From: 12 * time.Hour, To: 13 * time.Hour, Days: [7]bool{true, true, true, true, true, true, true}, Zone: time.UTC}}
	for name, c := range map[string]struct {
		change func(c *config.Config)
		page   func(p *models.Page)
		want   time.Duration // from the visit, which was a day ago; 0: it stays
		cycles int32
		rule   models.Rule
	}{
		"nothing":                     {},
		"a shorter cycle":             {change: func(c *config.Config) { c.Cycle = "3h" }, want: 60 * time.Hour, cycles: 20},
		"a longer cycle":              {change: func(c *config.Config) { c.Cycle = "12h" }, want: 10 * day, cycles: 20},
		"a cron schedule":             {change: func(c *config.Config) { c.Cycle = "0 0 * * *" }, want: 19*day + 12*time.Hour, cycles: 20},
		"a lower ceiling":             {change: func(c *config.Config) { c.Defaults.FRMax = 8 }, want: 2 * day, cycles: 8},
		"fixed":                       {change: func(c *config.Config) { c.Defaults.Policy, c.Defaults.FR = "fixed", 12 }, want: 3 * day, cycles: 12},
		"a window":                    {change: func(c *config.Config) { c.Defaults.Windows = office; c.Cycle = "4h" }, want: 4 * day, cycles: 20, rule: models.RuleWindow},
		"a window less":               {page: func(p *models.Page) { p.Rule = models.RuleWindow; p.DueAt += models.Instant(3 * day.Milliseconds()) }, want: 5 * day, cycles: 20},
		"since a skip":                {change: func(c *config.Config) { c.Cycle = "3h" }, page: func(p *models.Page) { p.Skips = 1; p.DueAt += models.Instant(day.Milliseconds()) }, want: 84 * time.Hour, cycles: 20},
		"a skip too far":              {change: func(c *config.Config) { c.Defaults.FRMax = 16 }, page: func(p *models.Page) { p.FRMax, p.Wanted, p.Skips = 12, 3*day, 1 }, want: 4 * day, cycles: 12},
		"a redirect":                  {change: func(c *config.Config) { c.Cycle = "3h" }, page: func(p *models.Page) { p.State = models.StateMoved }, want: 60 * time.Hour, cycles: 20},
		"a list":                      {change: func(c *config.Config) { c.Cycle = "3h" }, page: func(p *models.Page) { p.Rule = models.RuleList }, want: 60 * time.Hour, cycles: 20},
		"adaptive, within":            {change: func(c *config.Config) { c.Defaults.Policy = policy.AdaptiveName }},
		"adaptive, beyond":            {change: func(c *config.Config) { c.Defaults.Policy, c.Defaults.FRMax = policy.AdaptiveName, 8 }, want: 2 * day, cycles: 8},
		"adaptive, too soon":          {change: func(c *config.Config) { c.Defaults.Policy, c.Cycle = policy.AdaptiveName, "7d" }, want: 7 * day, cycles: 1},
		"asked for":                   {change: func(c *config.Config) { c.Cycle = "1h" }, page: func(p *models.Page) { p.Rule = models.RuleManual }},
		"failing":                     {change: func(c *config.Config) { c.Cycle = "1h" }, page: func(p *models.Page) { p.Failures = 1 }},
		"a promise, kept by a window": {change: func(c *config.Config) { c.Cycle, c.Defaults.FRMax = "3h", 16 }, page: func(p *models.Page) { p.Rule, p.FreshUntil = models.RuleWindow, p.DueAt }, want: 5 * day, cycles: 16, rule: models.RuleWindow},
		"a promise":                   {change: func(c *config.Config) { c.Cycle = "1h" }, page: func(p *models.Page) { p.Rule = models.RuleHint }},
		"due":                         {change: func(c *config.Config) { c.Cycle = "1h" }, page: func(p *models.Page) { p.DueAt = models.At(noon.Add(day)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conf := config.Default()
			conf.Defaults.Vary, conf.Defaults.Policy = 0, "classic"
			page := models.Page{ID: 7, State: models.StateLive, Rule: models.RulePolicy, FRMax: 20, Wanted: 5 * day, Visits: 3,
				DueAt: models.At(noon.Add(5 * day)), Stats: models.ChangeStats{Records: 3, VisitedAt: models.At(noon)}}
			if c.change != nil {
				c.change(&conf)
			}
			if c.page != nil {
				c.page(&page)
			}
			p, err := NewPlanner(&conf, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, moves := p.Reschedule(&page, noon.Add(day))
			if !moves || c.want == 0 {
				if moves != (c.want != 0) {
					t.Errorf("moves: %v (%v, %d cycles), want %v", moves, got.DueAt.Time().Sub(noon), got.FRMax, c.want)
				}
				return
			}
			c.rule = cmp.Or(c.rule, models.RulePolicy)
			slack := time.Duration(0)
			if c.rule == models.RuleWindow {
				slack = time.Hour // it lies anywhere within the window
			}
			if after := got.DueAt.Time().Sub(noon); after < c.want || after > c.want+slack || got.FRMax != c.cycles || got.Rule != c.rule {
				t.Errorf("due %v after the visit in %d cycles by %v, want %v, %d and %v", after, got.FRMax, got.Rule, c.want, c.cycles, c.rule)
			}
			page.DueAt, page.FRMax, page.Wanted, page.Rule = got.DueAt, got.FRMax, got.Wanted, got.Rule
			if again, moves := p.Reschedule(&page, noon.Add(day)); moves {
				t.Errorf("done twice it moves once more, to %v", again.DueAt)
			}
		})
	}
}

// TestRescheduleSpreadsWhatIsOverdue: of many pages whose time would have passed none comes later than it would have, and they come over
// one new interval.
func TestRescheduleSpreadsWhatIsOverdue(t *testing.T) {
	t.Parallel()
	conf := config.Default()
	conf.Cycle, conf.Defaults.Policy = "1h", "classic"
	p, err := NewPlanner(&conf, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := noon.Add(24 * time.Hour)
	const pages, hours = 2000, 20
	var early int
	for id := range int64(pages) {
		was := now.Add(time.Duration(id+1) * time.Minute)
		page := models.Page{ID: id, State: models.StateLive, Rule: models.RulePolicy, FRMax: hours, DueAt: models.At(was),
			Stats: models.ChangeStats{Records: 3, VisitedAt: models.At(noon)}}
		due, moves := p.Reschedule(&page, now)
		at := was
		if moves {
			at = due.DueAt.Time()
		}
		if moves && (at.Before(now) || at.After(was) || at.Sub(now) > hours*time.Hour) {
			t.Fatalf("page %d is due at %v, was at %v; it is %v now", id, at, was, now)
		} else if at.Sub(now) < hours*time.Hour/2 {
			early++
		}
	}
	if early < pages*2/5 || early > pages*3/5 {
		t.Errorf("%d of %d pages come in the first half of an interval", early, pages)
	}
}

// TestRescheduleIsDoneOnce: a pass that was cut short begins anew some time later, and another change may follow: what was moved once stays
// where it is, whether it is spread, was skipped, varied or put into a window.
func TestRescheduleIsDoneOnce(t *testing.T) {
	t.Parallel()
	week := [7]bool{0: true}
	for name, change := range map[string]func(c *config.Config){
		"a duration": func(c *config.Config) { c.Cycle = "1h" },
		"cron":       func(c *config.Config) { c.Cycle = "0 3 * * *" },
		"windows": func(c *config.Config) {
			c.Defaults.Windows = []config.Window{{From: 3 * time.Hour, To: 5 * time.Hour, Days: week, Zone: time.UTC}}
		},
		"adaptive":      func(c *config.Config) { c.Cycle, c.Defaults.Policy = "1h", policy.AdaptiveName },
		"a long policy": func(c *config.Config) { c.Defaults.Policy, c.Defaults.FR = "fixed", 100 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conf := config.Default()
			conf.Defaults.Policy = "classic"
			change(&conf)
			p, err := NewPlanner(&conf, nil)
			if err != nil {
				t.Fatal(err)
			}
			moved := 0
			for id := range int64(500) {
				from := noon.Add(-time.Duration(id) * time.Hour)
				page := models.Page{ID: id, State: models.StateLive, Rule: models.RulePolicy, FRMax: 20, Wanted: 30 * 24 * time.Hour, Visits: 3,
					DueAt: models.At(from.Add(30 * 24 * time.Hour)), Skips: int16(id % 2), Stats: models.ChangeStats{Records: 3, VisitedAt: models.At(from.Add(-time.Duration(id%2) * 24 * time.Hour))}}
				first, moves := p.Reschedule(&page, noon)
				if !moves {
					continue
				}
				moved++
				page.DueAt, page.FRMax, page.Wanted, page.Rule = first.DueAt, first.FRMax, first.Wanted, first.Rule
				for pass := range 3 {
					now := noon.Add(time.Duration(pass) * 20 * time.Minute)
					again, moves := p.Reschedule(&page, now)
					if moves && again.DueAt != first.DueAt {
						t.Fatalf("page %d: moved to %v, then by a pass at %v to %v", id, first.DueAt, now, again.DueAt)
					}
				}
			}
			if moved < 200 {
				t.Errorf("%d of 500 pages are moved at all", moved)
			}
		})
	}
}

// TestRescheduleKeepsToACronSchedule: what would be overdue is spread over the times that the schedule has, and comes at no other.
func TestRescheduleKeepsToACronSchedule(t *testing.T) {
	t.Parallel()
	conf := config.Default()
	conf.Cycle, conf.Defaults.Policy, conf.Defaults.Vary = "0 3 * * *", "classic", 0
	p, err := NewPlanner(&conf, nil)
	if err != nil {
		t.Fatal(err)
	}
	nights := make(map[models.Instant]int)
	for id := range int64(300) {
		page := models.Page{ID: id, State: models.StateLive, Rule: models.RulePolicy, FRMax: 3, DueAt: models.At(noon.Add(40 * 24 * time.Hour)),
			Stats: models.ChangeStats{Records: 3, VisitedAt: models.At(noon.Add(-20 * 24 * time.Hour))}}
		due, moves := p.Reschedule(&page, noon)
		if at := due.DueAt.Time(); !moves || at.Hour() != 3 || at.Minute() != 0 {
			t.Fatalf("page %d comes at %v (%v), not at night", id, at, moves)
		}
		nights[due.DueAt]++
	}
	for night, pages := range nights {
		if len(nights) != 3 || pages < 60 {
			t.Errorf("%d pages at %v, one of %d nights; want a third of 300 in each of 3", pages, night, len(nights))
		}
	}
}

// TestEveryCountsCyclesAsLongAsTheyAre: what was visited a minute before the schedule's time is not asked for 1440 times a day.
func TestEveryCountsCyclesAsLongAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, name := range []string{policy.AdaptiveName, "classic"} {
		conf := config.Default()
		conf.Cycle, conf.Defaults.Policy, conf.Defaults.FRMax, conf.Defaults.Vary = "0 3 * * *", name, 1, 0
		p, err := NewPlanner(&conf, nil)
		if err != nil {
			t.Fatal(err)
		}
		page := models.Page{State: models.StateLive, Rule: models.RulePolicy, FRMax: 1, Wanted: time.Minute, DueAt: models.At(noon.Add(15 * time.Hour)),
			Stats: models.ChangeStats{Records: 3, VisitedAt: models.At(noon.Add(15*time.Hour - time.Minute))}}
		if every, waits := p.Every(&page, noon); !waits || every != 24*time.Hour {
			t.Errorf("%s: every %v (%v), want a day", name, every, waits)
		}
	}
}
