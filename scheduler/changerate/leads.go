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
	return l.passed(float64(newest - l.seenAt - leadLate*l.days/max(l.visits, 1)))
}

// leadLate is how many times as long as usual a page is not visited before that is so.
const leadLate = 2

// Finds is what a visit to a page led to that nobody had named before.
type Finds struct {
	At    float64 // when the visit was, in days since 1970
	Since float64 // days since the one before; anything that is not a number of days: it was the first
	Pages int     // new pages
	Worth float64 // of these together, where a page of importance 1 counts as one; ≥ 0
}

// Led teaches to what a visit to a page led.
func (c *Crowd) Led(page int64, f Finds) {
	l, known := c.leads[page]
	switch {
	case !(f.Since > 0):
		known = known || f.Pages >= ledAtFirst
	default:
		known = known || f.Pages > 0
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
	l.seenAt = float32(bounded(f.At, 0, lastDay))
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

// Leads is to how many new pages a day a page leads, as far as visits to it found them first, and what these are worth together; 0: it is not known to
// lead to any.
func (c *Crowd) Leads(page int64) (perDay, worth float64) {
	l, known := c.leads[page]
	if !known {
		return 0, 0
	}
	return l.perDay(), l.worthPerDay()
}

// LeadsAsk is what the host's pages that lead to others ask of a budget, in visits a day, those to what they find included, where a visit costs half a
// page-day and each is made as often as it pays (√(2p/a) days apart for a pages a day and a price p); for another price by the root of twice that less. Of
// pages that name so many at each visit these are more, the more often they are visited, and that is what it counts.
func (c *Crowd) LeadsAsk() (visits float64) {
	newest := c.newestLead()
	for _, l := range c.leads {
		visits += math.Round((1+l.perVisit())*math.Sqrt(l.lasting(newest).worthPerDay())*askUnit) / askUnit
	}
	return visits
}

// askUnit is of which part of a visit what pages ask for is a multiple: so its sum is the same in whatever order they and hosts are added up.
const askUnit = 1 << 12

func (c *Crowd) writeLeads(w *writer) {
	w.byte(byte(len(c.leads)))
	for _, page := range slices.Sorted(maps.Keys(c.leads)) {
		l := c.leads[page]
		w.uint64(uint64(page))
		w.shorts([]float32{l.found, l.worth, l.days, l.visits, l.seenAt})
	}
}

// readLeads reads them. Of those of before (onceForm) it is taken that each visit found one page, of importance 1.
func (c *Crowd) readLeads(r *reader, form byte) {
	count := int(r.byte())
	if count > mostLeads {
		r.fail("too many pages that lead to others")
		return
	}
	for range count {
		page, n := int64(r.uint64()), [5]float32{}
		if form == onceForm {
			r.shorts(n[:2])
			n = [5]float32{n[0], n[0], n[1], n[0]}
		} else {
			r.shorts(n[:])
		}
		if c.leads == nil {
			c.leads = make(map[int64]lead, count)
		}
		c.leads[page] = lead{n[0], n[1], n[2], n[3], n[4]}
	}
}
