package scheduler

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"recrawld/config"
)

// Calendar counts in cycles. It is safe for concurrent use.
//
// A cycle given as a length of time is counted from each page's own visit, so that visits spread by themselves; a cycle
// given as a cron schedule begins at the schedule's times for all pages alike, because the operator chose those times.
type Calendar struct {
	every time.Duration // > 0: cycles of this length
	cron  *cronTimes    // otherwise
}

// ParseCycle reads a cycle: a duration with a unit ("6h", "1d") or a cron expression ("0 */6 * * *", "@daily",
// "CRON_TZ=Europe/Berlin 0 3 * * *"; five fields, UTC unless it names a zone).
func ParseCycle(cycle string) (Calendar, error) {
	cycle = strings.TrimSpace(cycle)
	if every, err := config.ParseDuration(cycle); err == nil {
		if every < time.Minute || every > 366*24*time.Hour {
			return Calendar{}, fmt.Errorf("cycle %s is not between 1m and 366d", cycle)
		}
		return Calendar{every: every}, nil
	}
	schedule, err := cron.ParseStandard(cycle)
	if err != nil {
		return Calendar{}, fmt.Errorf("cycle %q is neither a duration (6h) nor a cron expression (0 */6 * * *): %w", cycle, err)
	}
	return Calendar{cron: &cronTimes{schedule: schedule}}, nil
}

// Interval is how long n cycles take, counted from now; n < 1 counts as 1.
func (c Calendar) Interval(now time.Time, n int) time.Duration {
	n = max(n, 1)
	if c.every > 0 {
		return c.fixed(n)
	}
	return min(c.cron.start(now, n).Sub(now), longest)
}

// meanOver is how many cycles of a cron schedule are averaged: weeks and nights are in proportion among them.
const meanOver = 2000

// Mean is how long n cycles take on the long run, with vary as for Due: where Interval ends with the n-th start of a cron schedule after now, which
// may be in a minute, each cycle counts as long as it is on average. n < 1 counts as 1.
func (c Calendar) Mean(now time.Time, n int, vary float64) time.Duration {
	n = max(n, 1)
	if c.every > 0 {
		return time.Duration(float64(c.fixed(n)) * (1 - vary/2))
	}
	first := c.cron.start(now, 1)
	last := earlier(c.cron.start(now, meanOver), first.Add(longest))
	cycles := c.cron.count(first, last)
	if cycles == 0 {
		return longest
	}
	cycle := float64(last.Sub(first)) / float64(cycles)
	return time.Duration(min(cycle*(float64(n)-meanEarly(vary*float64(n))), float64(longest)))
}

// meanEarly is how many whole cycles earlier Due is on average, where it is up to most: the mean of ⌊u·most⌋ for u in [0, 1).
func meanEarly(most float64) float64 {
	whole := math.Floor(most)
	if whole == 0 {
		return 0
	}
	return whole - whole*(whole+1)/(2*most)
}

// longest bounds every interval: a century is as good as never, and far from the end of time.Duration.
const longest = 100 * 365 * 24 * time.Hour

// fixed is the length of n cycles of a fixed length, at most a century.
func (c Calendar) fixed(n int) time.Duration {
	if n > int(longest/c.every) {
		return longest
	}
	return time.Duration(n) * c.every
}

// Due is the moment of a visit n cycles after now. u in [0, 1) varies it: over the share vary of the interval, always
// to the earlier side, so that n cycles are an upper bound, and with a cron schedule always inside a cycle: within the
// share vary of the cycle's length after its start. The result is after now.
func (c Calendar) Due(now time.Time, n int, vary, u float64) time.Time {
	n = max(n, 1)
	if c.every > 0 {
		interval := c.fixed(n)
		return now.Add(interval - time.Duration(u*vary*float64(interval)))
	}
	early := u * vary * float64(n)
	return c.within(now, n-int(early), vary*frac(early))
}

// Spread is the moment u in [0, 1) of n cycles after now: with a cron schedule, whose times the operator chose, inside the cycle that this
// lies in, within the share vary of its length after its start. The result is not before now.
func (c Calendar) Spread(now time.Time, n int, vary, u float64) time.Time {
	n = max(n, 1)
	if c.every > 0 {
		return now.Add(time.Duration(u * float64(c.fixed(n))))
	}
	whole := u * float64(n)
	return c.within(now, 1+int(whole), vary*frac(whole))
}

// within is the moment a share of its length after the n-th start of a cron schedule after now.
func (c Calendar) within(now time.Time, n int, share float64) time.Time {
	start := c.cron.start(now, n)
	length := c.cron.start(now, n+1).Sub(start)
	return earlier(start.Add(time.Duration(share*float64(length))), now.Add(longest))
}

// CyclesUntil is fr: how many cycles lie between now and due, 0 when it is due. A cron cycle counts when it has begun.
func (c Calendar) CyclesUntil(now, due time.Time) int {
	left := due.Sub(now)
	if left <= 0 {
		return 0
	}
	if c.every > 0 {
		return int((left + c.every - 1) / c.every)
	}
	return c.cron.count(now, due)
}

func frac(x float64) float64 { return x - float64(int(x)) }

// cronTimes remembers the coming start times of a cron schedule, so that counting cycles is a search and not a walk.
type cronTimes struct {
	schedule cron.Schedule

	mu     sync.Mutex
	from   time.Time   // guarded by mu; the first of starts is the first after it
	starts []time.Time // guarded by mu; ascending, without gaps from the first on
}

// farthest bounds how many starts are kept: 100,000 cycles is the largest fr_max. An interval of more (Ceiling) is not counted by them.
const farthest = 200_000

// start is the n-th start after now, n ≥ 1, or the 100,001st, or the first one past the longest interval. A schedule that has no further
// start (30 February) ends a thousand years on.
func (c *cronTimes) start(now time.Time, n int) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.index(now)
	n = min(n, farthest/2+1)
	for len(c.starts) < first+n && c.starts[len(c.starts)-1].Sub(now) < longest {
		c.starts = append(c.starts, c.next(c.starts[len(c.starts)-1]))
	}
	return c.starts[min(first+n, len(c.starts))-1]
}

// count is how many starts lie in (now, due].
func (c *cronTimes) count(now, due time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.index(now)
	for c.starts[len(c.starts)-1].Before(due) && len(c.starts) < first+farthest {
		c.starts = append(c.starts, c.next(c.starts[len(c.starts)-1]))
	}
	return sort.Search(len(c.starts), func(i int) bool { return c.starts[i].After(due) }) - first
}

// index is the position of the first start after now. It begins anew when now lies before what is remembered or when
// too much has passed; what lies a little ahead is added, since others count from moments in between.
func (c *cronTimes) index(now time.Time) int {
	now = now.UTC()
	for n := len(c.starts); n > 0 && n <= farthest && !c.starts[n-1].After(now); n = len(c.starts) {
		c.starts = append(c.starts, c.next(c.starts[n-1]))
	}
	past := sort.Search(len(c.starts), func(i int) bool { return c.starts[i].After(now) })
	if now.Before(c.from) || past > farthest || past == len(c.starts) {
		c.from, c.starts = now, append(c.starts[:0], c.next(now))
		return 0
	}
	return past
}

func (c *cronTimes) next(after time.Time) time.Time {
	next := c.schedule.Next(after)
	if next.IsZero() {
		return after.AddDate(1000, 0, 0)
	}
	return next.UTC()
}
