package simulate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/scheduler/changerate"
)

// Subject is what policies are compared on.
type Subject struct {
	Trace *Trace
	Made  *Made // what is known of a made-up world beforehand; nil for a history
}

// Spending is a budget as it is written: "0.02/page/day", "2000/day", "2GiB/day", or "1x", that many visits a true change.
type Spending struct {
	PerChange float64     // above 0: visits a true change
	Bytes     int64       // above 0: bytes a day
	Rate      config.Rate // otherwise
}

// ParseSpending reads a budget. "off" is none: pages are visited when the policy says.
func ParseSpending(text string) (Spending, error) {
	if number, ok := strings.CutSuffix(text, "x"); ok {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !(v > 0 && v <= 1e6) {
			return Spending{}, fmt.Errorf("%q is not a budget, write one like 1x (visits a true change), 0.02/page/day or 2000/day", text)
		}
		return Spending{PerChange: v}, nil
	}
	if size, err := config.ParseBytesADay(text); err == nil {
		return Spending{Bytes: size}, nil
	}
	rate, err := config.ParseRate(text)
	if err != nil {
		return Spending{}, fmt.Errorf("%w; or bytes, like 2GiB/day, or visits a true change, like 1x", err)
	}
	return Spending{Rate: rate}, nil
}

// String is the budget as ParseSpending reads it.
func (s Spending) String() string {
	if s.PerChange > 0 {
		return fmt.Sprintf("%gx", s.PerChange)
	}
	if s.Bytes > 0 {
		return config.FormatSize(s.Bytes) + "/day"
	}
	return s.Rate.String()
}

// Of is the budget in visits a day on a trace, constant over its time; 0: none, or one of bytes.
func (s Spending) Of(t *Trace) float64 {
	if s.PerChange > 0 {
		return t.PerChange(s.PerChange)
	}
	return s.Rate.Of(int64(len(t.Pages)))
}

// Yardstick is what a budget could buy on a subject: what results are measured by.
type Yardstick struct {
	Subject  Subject
	Spending Spending
	PerDay   float64 // the budget in visits a day; 0: none, or one of bytes
	Window   Window  // what is scored
	Bounds   Bounds  // NaN without a budget of visits
	Best     float64 // freshness of the known-rate optimum; NaN where rates are not known beforehand
	Phase    float64 // that of visits which know the rhythm too; NaN where there is none
}

// Measure makes the yardstick of a budget. An error says that the subject has no length. It is not safe to measure one
// made-up world twice at a time.
func Measure(s Subject, b Spending) (Yardstick, error) {
	nan := math.NaN()
	y := Yardstick{Subject: s, Spending: b, PerDay: b.Of(s.Trace), Window: s.Trace.Scored(Learn), Bounds: Bounds{nan, nan}, Best: nan, Phase: nan}
	if s.Trace.To <= s.Trace.From {
		return y, fmt.Errorf("trace %s has no length: all of it happens at one moment", s.Trace.Name)
	}
	if b.Bytes > 0 && !s.Trace.Sized() {
		return y, fmt.Errorf("of trace %s no sizes are known: a budget of bytes, %s, cannot be simulated", s.Trace.Name, b)
	}
	if y.PerDay == 0 {
		return y, nil
	}
	y.Bounds = BoundsOf(s.Trace, y.Window, y.PerDay)
	if m := s.Made; m != nil {
		y.Best = KnownRates(m.Sources, y.PerDay, m.Most).Freshness
		if m.Profile != nil && m.Most == nil {
			y.Phase = m.gains.optimum(m.Sources, y.PerDay).Freshness
		}
	}
	return y, nil
}

// Trial is one policy with one budget on one subject.
type Trial struct {
	Yardstick
	Policy  string
	Cycle   time.Duration   // as in Setup; 0: 15m, or less where a budget visits pages more often than every 5h (see cycle)
	Longest time.Duration   // as in Setup
	Windows []config.Window // likewise
	Sight   Sight
	Said    Publishers
	Weights *changerate.Weights // what the adaptive policy begins with; nil: its defaults
}

// shortCycle is the usual cycle, and evenCycles how many there are at least between visits to a page where a budget visits all alike: while a
// history has few of its pages these have all visits, and a longer cycle would hold them up.
const (
	shortCycle = 15 * time.Minute
	evenCycles = 20
)

// cycle is short enough to hold no policy up, as far as a minute is.
func (y Yardstick) cycle() time.Duration {
	if y.PerDay == 0 {
		return shortCycle
	}
	even := span(float64(len(y.Subject.Trace.Pages)) / y.PerDay * 24 * 3600 * 1000)
	return max(min(shortCycle, even/evenCycles), time.Minute)
}

// Result is what became of a trial.
type Result struct {
	Trial
	Course
	Score Score
	Took  time.Duration // on the machine's clock
}

// Do runs a trial; now is the machine's clock, for Took.
func (t Trial) Do(ctx context.Context, now func() time.Time) (Result, error) {
	began := now()
	setup := Setup{Trace: t.Subject.Trace, Policy: t.Policy, PerDay: t.PerDay, Bytes: t.Spending.Bytes, Cycle: cmp.Or(t.Cycle, t.cycle()), Longest: t.Longest, Windows: t.Windows,
		Sight: t.Sight, Said: t.Said, Weights: t.Weights}
	if m := t.Subject.Made; m != nil {
		setup.Sources = m.Sources
	}
	course, err := Run(ctx, setup)
	if err != nil {
		return Result{}, err
	}
	score := Judge(t.Subject.Trace, t.Window, course.Log)
	score.Received = t.Window.received(course)
	score.RobotsPerDay, score.ListsPerDay = t.Window.perDay(course.Robots), t.Window.perDay(course.Lists)
	return Result{Trial: t, Course: course, Took: now().Sub(began), Score: score}, nil
}

// Worth is the score beside round robin and the clairvoyant, see Bounds.Of.
func (r Result) Worth() float64 { return r.Bounds.Of(r.Score.Freshness) }

// OverBytes tells whether the visits brought more than a budget of bytes allows.
func (r Result) OverBytes() bool {
	return r.Spending.Bytes > 0 && r.Score.Received > meanSlack*float64(r.Spending.Bytes)
}

// Excess is E = (1 − F)/(1 − F*), the staleness beside that of the known-rate optimum: 1 is as good.
func (r Result) Excess() float64 { return (1 - r.Score.Freshness) / (1 - r.Best) }

// Captured is the share of what knowing the rhythm is worth, beyond the known-rate optimum, that was reached.
func (r Result) Captured() float64 { return (r.Score.Freshness - r.Best) / (r.Phase - r.Best) }
