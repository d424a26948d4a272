package rhythm

// A rhythm is only said to be there by so many changes at least that are known to within a week, of so small a probability that there is none.
const (
	LeastChanges = 20
	MostP        = 0.01
)

// Rhythm is what a tally says.
type Rhythm struct {
	Changes, Dated int64   // that were seen, and those of them that a date tells the moment of
	Pages          int64   // that they are of
	Noisy          int64   // pages that looked changed at so many looks that they are left out
	Look           float64 // the median time in which a change without a date lies, in hours; 0: there is none

	Hours [Week]Hour

	// The probability of what was seen where there is no rhythm of a day, or of a week, doubled, as both are asked for; 1 where too little was seen.
	DailyP, WeeklyP float64
	Daily, Weekly   bool // there is one

	Span  Span    // where there is one: when pages change
	Times float64 // how many times as often as else they do then
	Share float64 // of the changes, 0–1, that come then
}

// Hour is what an hour of the week had.
type Hour struct {
	Came     float64 // changes
	Expected float64 // where they come at any hour alike
}

// Times is how many times as often as at any hour alike pages changed. One change is taken for granted, so that few say little.
func (h Hour) Times() float64 { return (h.Came + 1) / (h.Expected + 1) }

// Plus is both hours together.
func (h Hour) Plus(o Hour) Hour { return Hour{h.Came + o.Came, h.Expected + o.Expected} }

// Some tells whether there is a rhythm.
func (r *Rhythm) Some() bool { return r.Daily || r.Weekly }

// Rhythm is what the looks say that were counted so far.
func (t *Tally) Rhythm() Rhythm {
	r := Rhythm{Changes: t.changes, Dated: t.dated, Pages: t.pages, Noisy: t.noisy, Look: t.medianLength(), DailyP: 1, WeeklyP: 1}
	e := t.evidence(t.days.scales())
	r.hours(&e.hours)
	if t.noted < LeastChanges {
		return r
	}
	r.DailyP, r.WeeklyP = min(1, 2*t.days.p()), min(1, 2*t.weeks.p())
	r.Daily, r.Weekly = r.DailyP < MostP, r.WeeklyP < MostP
	if r.Some() {
		r.when(e)
	}
	return r
}

// hours are those of a table, with as many changes expected as came: a sweep counts as less than the pages' rates, which it is part of, expect.
func (r *Rhythm) hours(of *table) {
	var came, expected float64
	for _, h := range of {
		came, expected = came+h.came, expected+h.expected
	}
	for hour, h := range of {
		r.Hours[hour].Came = h.came
		if expected > 0 {
			r.Hours[hour].Expected = h.expected * came / expected
		}
	}
}

// when finds the hours.
func (r *Rhythm) when(e *evidence) {
	best := e.best(r.Daily, r.Weekly)
	var expected [2]float64
	for hour, h := range e.hours {
		if best.Span.has(hour) {
			expected[1] += h.expected
		} else {
			expected[0] += h.expected
		}
	}
	within, outside := best.within*expected[1], best.outside*expected[0]
	r.Span, r.Times = best.Span, best.within/best.outside
	r.Share = within / (within + outside)
}
