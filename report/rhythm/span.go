package rhythm

import (
	"cmp"
	"math"
	"slices"
)

// Span is some hours of some days of the week. Hours that run past midnight are those of the day that they began on.
type Span struct {
	FirstDay int // from 0, Monday
	Days     int // 1–7
	From     int // hour, 0–23
	Hours    int // 1–24
}

// longestHours is how many of a day's hours a span has at most, unless it has all.
const longestHours = 20

// has tells whether an hour of the week is one of the span's.
func (s Span) has(hour int) bool {
	since := ((hour-s.FirstDay*Day-s.From)%Week + Week) % Week
	return since%Day < s.Hours && since/Day < s.Days
}

// upTo is how many half hours of the span lie before each half hour of two weeks.
func (s Span) upTo() (sums [2*halfHours + 1]float64) {
	for half := range 2 * halfHours {
		sums[half+1] = sums[half]
		if s.has(half / 2 % Week) {
			sums[half+1]++
		}
	}
	return sums
}

// Workdays tells whether its days are those from Monday to Friday, and Weekend whether they are the others.
func (s Span) Workdays() bool { return s.FirstDay == 0 && s.Days == 5 }

// Weekend tells whether its days are Saturday and Sunday.
func (s Span) Weekend() bool { return s.FirstDay == 5 && s.Days == 2 }

// odd is what it takes from the logarithm of how likely a span is that its days are of no kind: there are many such, and one of them fits
// a little better by chance.
func (s Span) odd() float64 {
	if s.Days == 7 || s.Workdays() || s.Weekend() {
		return 0
	}
	return 3
}

// spans are those that may be, with a rhythm of the day, of the week or both.
func spans(daily, weekly bool) (all []Span) {
	days := []Span{{Days: 7}}
	if weekly {
		for first := range 7 {
			for n := 1; n <= 6; n++ {
				days = append(days, Span{FirstDay: first, Days: n})
			}
		}
	}
	for _, s := range days {
		if s.Hours = Day; s.Days < 7 {
			all = append(all, s)
		}
		for from := 0; daily && from < Day; from++ {
			for s.From, s.Hours = from, 1; s.Hours <= longestHours; s.Hours++ {
				all = append(all, s)
			}
		}
	}
	return all
}

// best is the likeliest span. Those that the hours alone, blurred as they are, make likeliest are the first guess, and from there each better
// neighbour is gone to.
func (e *evidence) best(daily, weekly bool) fit {
	all := spans(daily, weekly)
	guess := slices.MaxFunc(all, func(a, b Span) int { return cmp.Compare(e.roughly(a), e.roughly(b)) })
	tried := make(map[Span]fit)
	try := func(s Span) fit {
		f, known := tried[s]
		if !known {
			f = e.fitted(s, searchSteps)
			f.likely -= s.odd()
			tried[s] = f
		}
		return f
	}
	top := try(guess)
	for moved := true; moved; {
		moved = false
		for _, s := range all {
			if !top.Span.near(s) {
				continue
			}
			if f := try(s); f.within > f.outside && f.likely > top.likely+1e-9 {
				top, moved = f, true
			}
		}
	}
	return e.fitted(top.Span, finalSteps)
}

// near tells whether another span differs by an hour at one end or at both, or in its days alone.
func (s Span) near(o Span) bool {
	if s.From == o.From && s.Hours == o.Hours {
		return s != o
	}
	from := (o.From-s.From+Day+Day/2)%Day - Day/2
	to := from + o.Hours - s.Hours
	return s.FirstDay == o.FirstDay && s.Days == o.Days && max(from, -from) <= 1 && max(to, -to) <= 1
}

// roughly is how likely a span is by the hours alone, as a logarithm: that of counts.
func (e *evidence) roughly(s Span) float64 {
	var came, expected [2]float64
	for hour, h := range e.hours {
		i := 0
		if s.has(hour) {
			i = 1
		}
		came[i] += h.came
		expected[i] += h.expected
	}
	if !(expected[0] > 0 && expected[1] > 0) || came[1]*expected[0] <= came[0]*expected[1] {
		return math.Inf(-1)
	}
	likely := -s.odd()
	for i := range came {
		if came[i] > 0 {
			likely += came[i] * math.Log(came[i]/expected[i])
		}
	}
	return likely
}
