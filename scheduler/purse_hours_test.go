package scheduler

import (
	"math"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
)

// TestABudgetIsSpentInItsWindows: where all visits are made early, what comes in while nothing may be visited is spent in the windows, as far as it
// finds room, and nothing is tried outside them. Of a budget without windows as much is spent.
func TestABudgetIsSpentInItsWindows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"": 1, "22:00-04:00 UTC": 1, "22:00-01:00 UTC,01:00-04:00 UTC": 1, "01:00-23:00 UTC": 1,
		"02:00-03:00 UTC": 1, "02:00-03:00 UTC,04:00-05:00 UTC": 1} {
		var windows []config.Window
		for name := range strings.SplitSeq(text, ",") {
			if window, err := config.ParseWindow(name); err == nil {
				windows = append(windows, window)
			}
		}
		clk := clock.NewVirtual(noon)
		p := newPurse(new(notes), clk, &allowance{requests: 48, bytes: math.Inf(1)})
		p.open = func() []config.Window { return windows }
		visits := 0
		for minute := range 60 * 24 * 60 {
			clk.SleepUntil(t.Context(), noon.Add(time.Duration(minute)*time.Minute))
			paid, err := p.take(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			early := paid.requests > 0 && !paid.full.After(clk.Now())
			switch {
			case !early:
				p.settle(-paid.requests, 0)
			case !Allowed(windows, clk.Now()) && !Allowed(windows, clk.Now().Add(-time.Second)): // what was saved by the end of a window
				t.Fatalf("windows %q: a visit would be made at %v", text, clk.Now())
			case minute >= 30*24*60: // by then there is room for most of a day
				visits++
			}
		}
		if got := float64(visits) / (30 * 48); math.Abs(got-want) > 0.015 {
			t.Errorf("windows %q: %.2f of the budget is spent, want %.2f", text, got, want)
		}
	}
}

// TestABudgetHasTheWindowsOfItsSites: that of all is spent while pages of any site may be visited, at any time where one has no windows, and that of
// a site in its own.
func TestABudgetHasTheWindowsOfItsSites(t *testing.T) {
	t.Parallel()
	for other, want := range map[string][3]time.Duration{ // until a window opens, of all, the first site and the other one
		"12:00-13:00 UTC": {0, 10 * time.Hour, 0},
		"20:00-21:00 UTC": {8 * time.Hour, 10 * time.Hour, 8 * time.Hour},
		"":                {0, 10 * time.Hour, 0},
	} {
		c := config.Default()
		for i, text := range []string{"22:00-04:00 UTC", other} {
			s := c.Defaults
			s.Budget.Requests.PerDay = 10
			if window, err := config.ParseWindow(text); err == nil {
				s.Windows = []config.Window{window}
			}
			c.Sites = append(c.Sites, config.Site{ID: int32(i + 1), Settings: s})
		}
		p := newPurses(counted{new(notes)}, clock.NewVirtual(noon))
		p.follow(&c)
		if got := [3]time.Duration{p.all.hours(noon).opensIn, p.own(1).hours(noon).opensIn, p.own(2).hours(noon).opensIn}; got != want {
			t.Errorf("with windows %q of the other site they open in %v, want %v", other, got, want)
		}
		if h := p.all.hours(noon.Add(11 * time.Hour)); (h.closed == 0) != (other == "") {
			t.Errorf("with windows %q of the other site that of all is closed for %v after 04:00", other, h.closed)
		}
	}
}

// TestWindowsAreLookedForOnce: where windows follow each other the whole day the span that they make is not looked for at each visit, and how a moment
// lies to windows does not depend on what was asked before, also where the clock is set back.
func TestWindowsAreLookedForOnce(t *testing.T) {
	t.Parallel()
	var day []config.Window
	for hour := range 24 {
		day = append(day, window(t, time.Duration(hour)*time.Hour, time.Duration(hour+1)*time.Hour, "UTC"))
	}
	for name, windows := range map[string][]config.Window{"all day": day, "all day but an hour": day[1:], "two hours": day[3:5]} {
		p := newPurse(new(notes), nil, nil)
		p.open = func() []config.Window { return windows }
		spells := 0
		for minute := range 3 * 24 * 60 {
			at := noon.Add(time.Duration(minute) * time.Minute)
			if minute%1000 == 999 {
				at = at.Add(-30 * time.Hour)
			}
			got := p.hours(at)
			if p.spell.since.Equal(at) {
				spells++
			}
			if minute%37 > 0 && minute%1000 < 999 {
				continue // to look for all of them takes as long as what is saved
			}
			if fresh := spellOf(windows, at); got != fresh.hours(at) {
				t.Fatalf("%s: at %v %+v, want %+v", name, at, got, fresh.hours(at))
			}
		}
		if spells > 20 {
			t.Errorf("%s: looked for %d times in three days", name, spells)
		}
	}
}

// TestLongestClosed holds the longest time between windows against what they say, whenever it is asked.
func TestLongestClosed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"03:00-04:00 UTC": 23 * time.Hour, "22:00-04:00 UTC": 18 * time.Hour, "Sun 03:00-05:00 UTC": 166 * time.Hour,
		"Sat,Sun 00:00-24:00 UTC": 120 * time.Hour, "00:00-12:00 UTC; 11:00-20:00 UTC": 4 * time.Hour, "00:00-24:00 UTC": 0, "": 0} {
		var windows []config.Window
		for name := range strings.SplitSeq(text, "; ") {
			if window, err := config.ParseWindow(name); err == nil {
				windows = append(windows, window)
			}
		}
		for hour := range 8 * 24 {
			if got := longestClosed(windows, noon.Add(time.Duration(hour)*time.Hour)); got != want {
				t.Fatalf("windows %q from hour %d on: closed for %v at most, want %v", text, hour, got, want)
			}
		}
	}
}
