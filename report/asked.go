package report

import (
	"math"
	"slices"
	"time"

	"recrawld/models"
)

// asked is what was asked of one host, added up.
type asked struct {
	bucket int16
	id     int64

	requests, robotsRequests int64
	first, last              models.Instant // when the first and the last began
	seen, notModified        int64          // answers that saw a page, and those of them with 304

	gaps              int64         // between the end of the requests before and the begin of the next; 0 long where they were under way at once
	least, p5, median time.Duration // of the gaps; the quantiles to 1 %
	atOnce            int           // the most requests that were under way

	perDay          float64
	bytesPerDay     int64
	busiest         time.Time // the day, in UTC, with most requests
	busiestRequests int64

	toldToWait int64         // answers 429 and 503
	waits      int64         // of them, those behind which there was another request
	leftAlone  time.Duration // the shortest time from one of these to the next request
}

// askedRun adds up the requests of a host, which come in the order in which they began. It holds as much for many as for a few.
type askedRun struct {
	asked
	now   time.Time
	bytes int64

	lengths lengths
	over    time.Time   // the end of all requests so far
	under   []time.Time // the ends of those that may be under way
	resting bool        // one was told to wait since the last gap
	day     time.Time   // of the request before
	today   int64       // requests on it
}

func newAskedRun(now time.Time) *askedRun { return &askedRun{now: now} }

// add takes the next request.
func (r *askedRun) add(v models.PastVisit) {
	begin := v.At.Time()
	end := begin.Add(v.Took)
	if r.requests > 0 {
		r.gap(max(begin.Sub(r.over), 0))
	} else {
		r.first = v.At
	}
	r.requests++
	r.last, r.bytes = v.At, r.bytes+v.Bytes
	r.overlap(begin, end)
	r.count(v)
	r.onDay(begin)
	if told := v.Status == 429 || v.Status == 503; told {
		r.toldToWait++
		r.resting = true
	}
	if end.After(r.over) {
		r.over = end
	}
}

// gap takes the time between two requests.
func (r *askedRun) gap(gap time.Duration) {
	if r.gaps == 0 || gap < r.least {
		r.least = gap
	}
	r.gaps++
	r.lengths.add(gap)
	if !r.resting {
		return
	}
	if r.resting = false; r.waits == 0 || gap < r.leftAlone {
		r.leftAlone = gap
	}
	r.waits++
}

// overlap counts the requests that are under way when one begins.
func (r *askedRun) overlap(begin, end time.Time) {
	r.under = slices.DeleteFunc(r.under, func(until time.Time) bool { return !until.After(begin) })
	r.under = append(r.under, end)
	r.atOnce = max(r.atOnce, len(r.under))
}

// count takes what a request was for and what came of it.
func (r *askedRun) count(v models.PastVisit) {
	if v.Kind == models.RobotsFetched {
		r.robotsRequests++
	}
	if v.Kind.Observed() {
		r.seen++
	}
	if v.Kind == models.NotModified {
		r.notModified++
	}
}

func (r *askedRun) onDay(begin time.Time) {
	if day := begin.UTC().Truncate(day); !day.Equal(r.day) {
		r.day, r.today = day, 0
	}
	if r.today++; r.today > r.busiestRequests {
		r.busiest, r.busiestRequests = r.day, r.today
	}
}

// sums is what came together. Less than a day counts as one: a first hour says nothing of a day.
func (r *askedRun) sums() asked {
	days := max(r.now.Sub(r.first.Time()), day).Hours() / 24
	r.perDay, r.bytesPerDay = float64(r.requests)/days, int64(float64(r.bytes)/days)
	r.p5, r.median = max(r.lengths.quantile(0.05), r.least), max(r.lengths.quantile(0.5), r.least)
	return r.asked
}

// lengths counts times by their length, so that quantiles are known to 1 % without the times: a bucket reaches from one
// power of 1.01 of a millisecond to the next, and those of less than a millisecond are in the first.
type lengths struct {
	counts []int64
	all    int64
}

var lengthStep = math.Log(1.01)

func (l *lengths) add(length time.Duration) {
	n := 0
	if length >= time.Millisecond {
		n = 1 + int(math.Log(float64(length)/float64(time.Millisecond))/lengthStep)
	}
	for len(l.counts) <= n {
		l.counts = append(l.counts, 0)
	}
	l.counts[n]++
	l.all++
}

// quantile is a length that this share of the lengths is not above; 0 of none.
func (l *lengths) quantile(share float64) time.Duration {
	rank := int64(math.Ceil(share * float64(l.all)))
	for n, count := range l.counts {
		if rank -= count; rank <= 0 && l.all > 0 {
			if n == 0 {
				return 0
			}
			return time.Duration(math.Exp(float64(n-1)*lengthStep) * float64(time.Millisecond))
		}
	}
	return 0
}
