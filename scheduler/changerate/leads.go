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
	found float32 // new pages
	days  float32 // in which they came
}

// A page leads to half a page in eight days before its visits say anything; so the first visit that finds none after a month says more than
// the prior. What was found is half forgotten after leadHalf days. Of the pages of one visit mostLed count, so that a page which is rebuilt once is not
// taken for one that always has so much news; one that has is visited again the sooner, until its visits find no more at a time.
const (
	leadShape, leadDays = 0.5, 8
	leadHalf            = 60
	mostLed             = 16
)

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

// Led teaches to how many new pages a visit to a page led that nobody had named before, so many days after the one before; 0 days: the first visit.
// Anything that is not a number of days counts as the first.
func (c *Crowd) Led(page int64, days float64, found int) {
	l, known := c.leads[page]
	switch {
	case !(days > 0):
		known = known || found >= ledAtFirst
	default:
		days = min(days, lastDay)
		known = known || found > 0
		keep := math.Exp2(-days / leadHalf)
		l.found = float32(float64(l.found)*keep + float64(min(max(found, 0), mostLed)))
		l.days = float32(float64(l.days)*keep + days)
	}
	if !known || l.perDay() < 1.0/leastLed {
		delete(c.leads, page)
		return
	}
	if c.leads == nil {
		c.leads = make(map[int64]lead)
	}
	c.leads[page] = l
	if len(c.leads) > mostLeads {
		delete(c.leads, c.leastLead())
	}
}

// LeadsNoMore forgets where a page led that is not there any more.
func (c *Crowd) LeadsNoMore(page int64) { delete(c.leads, page) }

// leastLead is the page that leads to the fewest.
func (c *Crowd) leastLead() int64 {
	return slices.MinFunc(slices.Collect(maps.Keys(c.leads)), func(a, b int64) int {
		return cmp.Or(cmp.Compare(c.leads[a].perDay(), c.leads[b].perDay()), cmp.Compare(a, b))
	})
}

// Leads is to how many new pages a day a page leads, as far as visits to it found them first; 0: it is not known to lead to any.
func (c *Crowd) Leads(page int64) float64 {
	l, known := c.leads[page]
	if !known {
		return 0
	}
	return l.perDay()
}

func (c *Crowd) writeLeads(w *writer) {
	w.byte(byte(len(c.leads)))
	for _, page := range slices.Sorted(maps.Keys(c.leads)) {
		l := c.leads[page]
		w.uint64(uint64(page))
		w.shorts([]float32{l.found, l.days})
	}
}

func (c *Crowd) readLeads(r *reader) {
	count := int(r.byte())
	if count > mostLeads {
		r.fail("too many pages that lead to others")
		return
	}
	for range count {
		page, l := int64(r.uint64()), [2]float32{}
		r.shorts(l[:])
		if c.leads == nil {
			c.leads = make(map[int64]lead, count)
		}
		c.leads[page] = lead{l[0], l[1]}
	}
}
