package changerate

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// lead is what is known of how many new pages are found by visits to one page, beside the gamma prior of its rate. The zero value is a page
// of which nothing but that it leads anywhere is known.
type lead struct {
	found  float32 // new pages
	worth  float32 // of these together, where a page of importance 1 counts as one
	days   float32 // in which they came
	visits float32 // that found them
	seenAt float32 // when the last one was, in days since 1970; 0: not known
	grows  float32 // the log odds, within ±mostGrows, that what a visit finds grows with the days since the one before; below 0: visits find as many however soon
	site   int32   // whose page it is
}

// A page leads to half a page in eight days before its visits say anything; so the first visit that finds none after a month says more than
// the prior. What was found is half forgotten after leadHalf days. Of the pages of one visit mostLed count, so that a page which is rebuilt once is not
// taken for one that always has so much news; one that has is visited again the sooner, until its visits find no more at a time.
const (
	leadShape, leadDays = 0.5, 8
	leadHalf            = 60
	mostLed             = 16
)

// mostWorth is the most that a page is worth (importance.Most).
const mostWorth = 1000

// A page becomes one that leads to others where a visit after the first one found a new page, or the first one so many (ledAtFirst): what it then
// names is all that came in years, and of a page that is read first in a site's first pass there are many. It is none any more where it leads to
// less than a page in leastLed days. Of a host most leads are kept, those that lead to the most.
const (
	ledAtFirst = 10
	leastLed   = 150
	mostLeads  = 64
)

// perDay is the mean of the rate, in new pages a day: that of a gamma posterior of Poisson counts (Gelman et al., Bayesian Data Analysis, 2013,
// section 2.6).
func (l lead) perDay() float64 { return (leadShape + float64(l.found)) / (leadDays + float64(l.days)) }

// worthPerDay is that of what they are worth together.
func (l lead) worthPerDay() float64 {
	if !(l.found > 0) {
		return l.perDay()
	}
	return l.perDay() * bounded(float64(l.worth)/float64(l.found), 0, mostWorth)
}

// perVisit is how many a visit finds, as often as it is visited now.
func (l lead) perVisit() float64 { return float64(l.found) / max(float64(l.visits), 1) }

// passed is the lead after so many more days without a visit, as if one had found nothing.
func (l lead) passed(days float64) lead {
	days = min(max(days, 0), lastDay)
	keep := math.Exp2(-days / leadHalf)
	l.found, l.worth, l.visits = float32(float64(l.found)*keep), float32(float64(l.worth)*keep), float32(float64(l.visits)*keep)
	l.days = float32(float64(l.days)*keep + days)
	return l
}

// lasting is the lead by the time of the host's newest one: a page that is visited no more, by the intervals between its visits so far, counts as one
// whose visits find nothing.
func (l lead) lasting(newest float32) lead {
	if l.seenAt == 0 {
		return l
	}
	return l.passed(float64(newest - l.seenAt - leadLate*l.days/max(l.visits, 1)))
}

// leadLate is how many times as long as usual a page is not visited before that is so.
const leadLate = 2

// growsBy is what a visit says of whether what is found grows with time: the logarithm of how many times likelier its pages are where they come by the day
// than where they come by the visit, by as many as came so far, as Poisson counts (the evidence of a sequential probability ratio test: Wald, Sequential
// Analysis, 1947). Of mostLed and more it is not known how many there were. What comes in bursts is neither: no visit says more than a bit, and one that
// finds none not that visits find as many.
func (l lead) growsBy(f Finds) float64 {
	if !(l.found > 0 && l.visits > 0 && l.days > 0) {
		return 0
	}
	byVisit := l.perVisit()
	times := f.Since * float64(l.visits) / float64(l.days) // as long as usual
	says := float64(f.Pages)*math.Log(times) - byVisit*(times-1)
	switch {
	case f.Pages == 0:
		says = max(says, 0)
	case f.Pages >= mostLed:
		says = math.Log(ledMost(byVisit*times) / ledMost(byVisit))
	}
	return bounded(says, -visitGrows, visitGrows)
}

// ledMost is how likely a Poisson count with a mean reaches mostLed, or what is next to nothing.
func ledMost(mean float64) float64 {
	p, fewer := math.Exp(-mean), 0.0
	for n := range mostLed {
		fewer += p
		p *= mean / float64(n+1)
	}
	return max(1-fewer, 1e-9)
}

// What one visit may say of that, and all together: some three visits turn what was sure.
const (
	visitGrows = 2
	mostGrows  = 4
)

// Finds is what a visit to a page led to that nobody had named before.
type Finds struct {
	At    float64 // when the visit was, in days since 1970
	Since float64 // days since the one before; anything that is not a number of days: it was the first
	Pages int     // new pages
	Worth float64 // of these together, where a page of importance 1 counts as one; ≥ 0
	Site  int32   // of the page visited
}

// Led teaches to what a visit to a page led.
func (c *Crowd) Led(page int64, f Finds) {
	l, known := c.leads[page]
	switch {
	case !(f.Since > 0):
		known = known || f.Pages >= ledAtFirst
	default:
		known = known || f.Pages > 0
		l.grows = float32(bounded(float64(l.grows)+l.growsBy(f), -mostGrows, mostGrows))
		l = l.passed(f.Since)
		l.visits++
		if f.Pages > 0 {
			counted := float64(min(f.Pages, mostLed))
			l.found += float32(counted)
			l.worth += float32(bounded(f.Worth, 0, math.MaxFloat32/2) / float64(f.Pages) * counted)
		}
	}
	if !known || l.perDay() < 1.0/leastLed {
		delete(c.leads, page)
		return
	}
	if c.leads == nil {
		c.leads = make(map[int64]lead)
	}
	l.seenAt, l.site = float32(bounded(f.At, 0, lastDay)), f.Site
	c.leads[page] = l
	if len(c.leads) > mostLeads {
		delete(c.leads, c.leastLead())
	}
}

// LeadsNoMore forgets where a page led that is not there any more.
func (c *Crowd) LeadsNoMore(page int64) { delete(c.leads, page) }

// newestLead is when the last visit was to a page that leads to others, in days since 1970.
func (c *Crowd) newestLead() (at float32) {
	for _, l := range c.leads {
		at = max(at, l.seenAt)
	}
	return at
}

// leastLead is the page that leads to the least, in worth, as it lasts.
func (c *Crowd) leastLead() int64 {
	newest := c.newestLead()
	rate := func(page int64) float64 { return c.leads[page].lasting(newest).worthPerDay() }
	return slices.MinFunc(slices.Collect(maps.Keys(c.leads)), func(a, b int64) int {
		return cmp.Or(cmp.Compare(rate(a), rate(b)), cmp.Compare(a, b))
	})
}

// Leads is to how many new pages a day a page leads, as far as visits to it found them first, what these are worth together, and whether its visits find
// as many however soon they are made; 0: it is not known to lead to any.
func (c *Crowd) Leads(page int64) (perDay, worth float64, byVisit bool) {
	l, known := c.leads[page]
	if !known {
		return 0, 0, false
	}
	return l.perDay(), l.worthPerDay(), l.grows < 0
}

// LeadsAsk is what the host's pages whose visits find as many however soon they are made ask of a budget, by site, in visits a day, those to what they find
// included, where a visit costs half a page-day and each is made as often as it pays (√(2p/a) days apart for a pages a day and a price p); for another
// price by the root of twice that less. These pages are more, the more often they are visited, and that is what it counts.
func (c *Crowd) LeadsAsk() map[int32]float64 {
	asks, newest := make(map[int32]float64), c.newestLead()
	for _, l := range c.leads {
		if l.grows < 0 {
			asks[l.site] += math.Round((1+l.perVisit())*math.Sqrt(l.lasting(newest).worthPerDay())*askUnit) / askUnit
		}
	}
	return asks
}

// askUnit is of which part of a visit what pages ask for is a multiple: so its sum is the same in whatever order they and hosts are added up.
const askUnit = 1 << 12

func (c *Crowd) writeLeads(w *writer) {
	w.byte(byte(len(c.leads)))
	for _, page := range slices.Sorted(maps.Keys(c.leads)) {
		l := c.leads[page]
		w.uint64(uint64(page))
		w.shorts([]float32{l.found, l.worth, l.days, l.visits, l.seenAt})
		w.uint32(math.Float32bits(l.grows))
		w.uint32(uint32(l.site))
	}
}

// readLeads reads them. Of those of before (onceForm) it is taken that each visit found one page, of importance 1.
func (c *Crowd) readLeads(r *reader, form byte) {
	count := int(r.byte())
	if count > mostLeads {
		r.fail("too many pages that lead to others")
		return
	}
	if count > 0 {
		c.leads = make(map[int64]lead, count)
	}
	for range count {
		page := int64(r.uint64())
		if form == onceForm {
			n := [2]float32{}
			r.shorts(n[:])
			c.leads[page] = lead{found: n[0], worth: n[0], days: n[1], visits: n[0]}
			continue
		}
		n := [5]float32{}
		r.shorts(n[:])
		grows := math.Float32frombits(r.uint32())
		if !(math.Abs(float64(grows)) <= mostGrows) {
			r.fail("odds out of bounds")
			return
		}
		c.leads[page] = lead{n[0], n[1], n[2], n[3], n[4], grows, int32(r.uint32())}
	}
}
