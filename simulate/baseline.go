package simulate

import (
	"container/heap"
	"math"
	"slices"
	"sort"

	"recrawld/models"
)

// Bounds are what scores of a trace and a budget are measured by: 0 is round robin, 1 is a clairvoyant.
type Bounds struct {
	RoundRobin  float64 // freshness of visits that take the pages in turn
	Clairvoyant float64 // freshness that nobody exceeds: every change is known beforehand
}

// Of is the score of a freshness: (F − F_round-robin)/(F_clairvoyant − F_round-robin). NaN where the bounds are equal.
func (b Bounds) Of(freshness float64) float64 {
	return (freshness - b.RoundRobin) / (b.Clairvoyant - b.RoundRobin)
}

// BoundsOf computes both for a budget of perDay visits a day.
func BoundsOf(t *Trace, w Window, perDay float64) Bounds {
	return Bounds{RoundRobin: Judge(t, w, RoundRobin(t, perDay)).Freshness, Clairvoyant: Clairvoyant(t, w, perDay)}
}

// roundTicks is how many ticks round robin divides a trace into, at least: it looks for born pages, and spends the budget
// that came in, at each.
const roundTicks = 2000

// RoundRobin is the visits of a crawler that takes the known pages in turn, each as often as all others, with a budget of
// perDay visits a day: the page that waits longest is next, and a page that is born waits since then. Among pages that
// wait since the same tick the order is that of a binary heap: any order is round robin, but small traces score a little
// differently by it, so it is the one that freshjudge has.
func RoundRobin(t *Trace, perDay float64) []Seen {
	if perDay <= 0 || len(t.Pages) == 0 {
		return nil
	}
	tick := min(t.Span()/roundTicks, 0.1*float64(len(t.Pages))/perDay)
	unborn := make([]int32, len(t.Pages))
	for i := range unborn {
		unborn[i] = int32(i)
	}
	sort.Slice(unborn, func(a, b int) bool { return t.Pages[unborn[a]].Born < t.Pages[unborn[b]].Born })
	var log []Seen
	var waiting turns
	credit := 0.0
	for day := 0.0; day < t.Span(); day += tick {
		now := t.From + models.Instant(math.Ceil(day*24*3600*1000))
		for len(unborn) > 0 && days(t.Pages[unborn[0]].Born-t.From) <= day {
			heap.Push(&waiting, turn{page: unborn[0], since: day})
			unborn = unborn[1:]
		}
		credit += perDay * tick
		n := int(credit)
		credit -= float64(n)
		first := len(log)
		for range min(n, len(waiting)) {
			log = append(log, Seen{At: now, Page: heap.Pop(&waiting).(turn).page})
		}
		for _, v := range log[first:] {
			if died := t.Pages[v.Page].Died; died == 0 || died > now {
				heap.Push(&waiting, turn{page: v.Page, since: day})
			}
		}
	}
	return log
}

// turn is a page that waits since a tick.
type turn struct {
	page  int32
	since float64
}

// turns is a heap of pages, the longest waiting first.
type turns []turn

func (w turns) Len() int           { return len(w) }
func (w turns) Less(a, b int) bool { return w[a].since < w[b].since }
func (w turns) Swap(a, b int)      { w[a], w[b] = w[b], w[a] }

// Push implements heap.Interface.
func (w *turns) Push(x any) { *w = append(*w, x.(turn)) }

// Pop implements heap.Interface.
func (w *turns) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

// Clairvoyant is the most freshness that a budget of perDay visits a day can buy: a visit right after a change buys the
// time to the next one, what visits buy adds up, so the best are those that buy the largest gaps. What the copies held at
// the start of the window, and at births, are fresh for is free.
func Clairvoyant(t *Trace, w Window, perDay float64) float64 {
	var gaps []float64
	var live, fresh float64
	for i := range t.Pages {
		l := &t.Pages[i]
		end, weight := min(l.End(t), w.To), l.weight()
		live += weight * float64(max(end-max(l.Born, w.From), 0))
		for n := -1; n < len(l.Changes); n++ {
			since, until := l.Born, end
			if n >= 0 {
				since = l.Changes[n]
			}
			if n+1 < len(l.Changes) {
				until = min(end, l.Changes[n+1])
			}
			gap := weight * float64(until-max(since, w.From))
			switch {
			case gap <= 0:
			case n < 0 || since <= w.From:
				fresh += gap
			default:
				gaps = append(gaps, gap)
			}
		}
	}
	slices.Sort(gaps)
	visits := int(perDay * days(w.To-w.From))
	for n := len(gaps) - 1; n >= 0 && n >= len(gaps)-visits; n-- {
		fresh += gaps[n]
	}
	return fresh / live
}
