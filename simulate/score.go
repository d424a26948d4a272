package simulate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"recrawld/models"
)

// Window is the part of a trace that is scored.
type Window struct{ From, To models.Instant }

// Scored is the window of a trace without its first share, which teaches.
func (t *Trace) Scored(learn float64) Window {
	return Window{From: t.From + models.Instant(learn*float64(t.To-t.From)), To: t.To}
}

// Learn is the share of a trace that is not scored.
const Learn = 0.25

// Score is how fresh a visit log kept the pages of a trace over a window, in continuous time, computed from the trace and
// the log alone. Shares are in [0, 1]; NaN where there is nothing to divide by.
type Score struct {
	Freshness float64       // weighted share of the pages' time during which the copy equalled the page
	Age       time.Duration // weighted mean of how long the copy had been stale, 0 while it was fresh
	Delay50   time.Duration // from the first change that a copy missed to the visit that saw it: median ...
	Delay95   time.Duration // ... and 95th percentile, over the visits that saw one
	Waste     float64       // share of the visits that found nothing new
	Caught    float64       // share of the changes that a visit saw before the next change
	Visits    int           // in the window, to pages that were not yet known to be deleted
	PerDay    float64       // visits a day, robots.txt left out
	Busiest   float64       // visits a day in the busiest seven days
	Unvisited float64       // share of the pages alive at the end, for at least a tenth of the window, without a visit
	Starved   float64       // share of them whose last visit lies more than ten even intervals (pages/PerDay) back

	Received     float64 // bytes a day that the visits brought; NaN where sizes are not known, 0 from Judge
	RobotsPerDay float64 // requests for robots.txt a day, beside the visits; 0 from Judge, whose log has none
	ListsPerDay  float64 // readings of sitemaps a day, likewise
}

// Judge scores a log, the earliest visit first.
func Judge(t *Trace, w Window, log []Seen) Score {
	j := judge{trace: t, window: w, pages: make([]copied, len(t.Pages))}
	for i := range t.Pages {
		j.pages[i] = copied{at: t.Pages[i].Born}
	}
	for _, v := range log {
		j.visit(v)
	}
	for i := range j.pages {
		j.finish(int32(i))
	}
	return j.score(log)
}

// judge adds up while it follows a log.
type judge struct {
	trace  *Trace
	window Window
	pages  []copied

	live, fresh, stale float64 // weighted: time, fresh time, and the integral of the copy's age, in milliseconds
	delays             []models.Instant
	changes, caught    int
	visits, wasted     int
}

// copied is the copy of a page: made at the moment at, when next changes lay behind.
type copied struct {
	at      models.Instant
	next    int32
	gone    bool
	visited bool
}

// visit takes a visit into account. One before the page's birth or after its end was known teaches nothing.
func (j *judge) visit(v Seen) {
	l, c := &j.trace.Pages[v.Page], &j.pages[v.Page]
	if c.gone || v.At < l.Born || v.At >= j.trace.To {
		return
	}
	scored := v.At >= j.window.From && v.At < j.window.To
	if scored {
		j.visits++
	}
	c.visited = true
	j.account(l, c, v.At)
	if l.Died != 0 && l.Died <= v.At {
		c.gone = true
		return
	}
	j.saw(l, c, v.At, scored)
	c.at = v.At
}

// saw counts what a visit found.
func (j *judge) saw(l *Life, c *copied, at models.Instant, scored bool) {
	first := c.next
	for int(c.next) < len(l.Changes) && l.Changes[c.next] <= at {
		if j.counts(l.Changes[c.next]) {
			j.changes++
		}
		c.next++
	}
	switch {
	case !scored:
	case c.next == first:
		j.wasted++
	default:
		j.caught++
		j.delays = append(j.delays, at-l.Changes[first])
	}
}

func (j *judge) counts(change models.Instant) bool {
	return change >= j.window.From && change < j.window.To
}

// account adds the time from the copy's making to at.
func (j *judge) account(l *Life, c *copied, at models.Instant) {
	from, to := max(c.at, j.window.From), min(at, l.End(j.trace), j.window.To)
	if to <= from {
		return
	}
	changed := models.Instant(math.MaxInt64)
	if int(c.next) < len(l.Changes) {
		changed = l.Changes[c.next]
	}
	w := l.weight()
	j.live += w * float64(to-from)
	j.fresh += w * float64(max(min(to, changed)-from, 0))
	if changed < to {
		since, until := float64(max(changed, from)-changed), float64(to-changed)
		j.stale += w * (until*until - since*since) / 2
	}
}

// finish accounts for the time after the last visit.
func (j *judge) finish(i int32) {
	l, c := &j.trace.Pages[i], &j.pages[i]
	if c.gone {
		return
	}
	j.account(l, c, j.trace.To)
	for n := int(c.next); n < len(l.Changes); n++ {
		if j.counts(l.Changes[n]) {
			j.changes++
		}
	}
}

func (j *judge) score(log []Seen) Score {
	slices.Sort(j.delays)
	s := Score{
		Freshness: j.fresh / j.live, Age: span(j.stale / j.live), Delay50: quantile(j.delays, 0.5), Delay95: quantile(j.delays, 0.95),
		Waste: float64(j.wasted) / float64(j.visits), Caught: float64(j.caught) / float64(j.changes), Visits: j.visits,
	}
	s.PerDay, s.Busiest = Spend(log, j.window)
	s.Unvisited, s.Starved = j.neglect(s.PerDay)
	return s
}

// neglect is the share of the pages alive at the end that were not visited, and not for long.
func (j *judge) neglect(perDay float64) (unvisited, starved float64) {
	even := days(1) // of a millisecond; any length will do where there are no visits
	if perDay > 0 {
		even = float64(len(j.pages)) / perDay
	}
	n := 0
	for i := range j.pages {
		l, c := &j.trace.Pages[i], &j.pages[i]
		if l.End(j.trace) < j.trace.To || days(j.trace.To-l.Born) < days(j.window.To-j.window.From)/10 {
			continue
		}
		n++
		if !c.visited {
			unvisited++
		}
		if days(j.trace.To-c.at) > 10*even {
			starved++
		}
	}
	return unvisited / float64(n), starved / float64(n)
}

// span is milliseconds as a duration, which they saturate.
func span(milliseconds float64) time.Duration {
	if !(milliseconds < float64(math.MaxInt64/int64(time.Millisecond))) {
		return math.MaxInt64
	}
	return time.Duration(milliseconds * float64(time.Millisecond))
}

// quantile is a quantile of sorted lengths of time; 0 where there are none.
func quantile(sorted []models.Instant, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return time.Duration(sorted[int(q*float64(len(sorted)-1))]) * time.Millisecond
}

// Spend is how many visits a day a log makes in the window, on average and in its busiest seven days (or all of it, where
// it is shorter).
func Spend(log []Seen, w Window) (mean, busiest float64) {
	length := days(w.To - w.From)
	week := min(7, length)
	from, _ := slices.BinarySearchFunc(log, w.From, func(v Seen, at models.Instant) int { return cmp.Compare(v.At, at) })
	most, first, n := 0, from, 0
	for i := from; i < len(log) && log[i].At < w.To; i++ {
		n++
		for days(log[i].At-log[first].At) > week {
			first++
		}
		most = max(most, i-first+1)
	}
	return float64(n) / length, float64(most) / week
}

// The bounds that a log keeps to: its mean within one per cent of the budget, and any seven days within fifteen.
const (
	meanSlack = 1.01
	weekSlack = 1.15
)

// perDay is how many of the moments lie in the window, a day.
func (w Window) perDay(moments []models.Instant) float64 {
	from, _ := slices.BinarySearch(moments, w.From)
	to, _ := slices.BinarySearch(moments, w.To)
	return float64(to-from) / days(w.To-w.From)
}

// received is how many bytes a day the visits in the window brought; NaN where that is not known.
func (w Window) received(c Course) float64 {
	if c.Received == nil {
		return math.NaN()
	}
	sum := 0.0
	for i, v := range c.Log {
		if v.At >= w.From && v.At < w.To {
			sum += float64(c.Received[i])
		}
	}
	return sum / days(w.To-w.From)
}

// OverBudget tells whether the requests in the window are more than a budget of perDay requests a day allows. A whole one
// more than that is none too many: budgets have fractions.
func (s Score) OverBudget(perDay float64, w Window) bool {
	return s.PerDay+s.RobotsPerDay+s.ListsPerDay > meanSlack*perDay+1/days(w.To-w.From) || s.Busiest > weekSlack*perDay+1
}
