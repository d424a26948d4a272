package scheduler

import (
	"math"

	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// leastPacked is what share of its length a page has at least that is sent compressed.
const leastPacked = 0.05

// cost is what visits to a page take of a budget of bytes, in usual visits; of any other, one. It is safe for concurrent use.
type cost struct {
	each  float64 // a visit, whatever it finds
	found float64 // one that finds a change, beside that
}

// whole is that of a visit that finds a change for sure.
func (c cost) whole() float64 { return c.each + c.found }

// in is what a visit counts so many days after the moment of a forecast, 0 or more (see Gamma.Asked).
func (c cost) in(f *changerate.Forecast, days float64) float64 {
	if c.found == 0 {
		return c.each
	}
	return c.each + c.found*f.Rate.Found(f.Elapsed+days)
}

// cost is what visits to the page of a question cost. A server that can say that nothing has changed, and does, sends its content when that has changed
// alone, or when other bytes mean the same.
func (q *question) cost(c *crowd) cost {
	p := q.page
	if q.usual.bytes <= 0 || p.Bytes <= 0 {
		return cost{each: 1}
	}
	head, body := models.UsualHead/q.usual.bytes, q.usual.packed()*float64(p.Bytes)/q.usual.bytes
	noise := min(float64(max(p.ByteChanges-p.Stats.Changes, 0))/float64(max(p.Stats.Records, 1)), 1)
	noise = max(noise, c.wholeAgain(p))
	return cost{each: head + noise*body, found: (1 - noise) * body}
}

// wholeAgain is how likely a page is sent whole that has not changed: by a server that looks at no conditions, or is not asked on any since its
// validators are not trusted. That is as it was at the page's last visit, or where that does not say, as with the pages of its host of late.
func (c *crowd) wholeAgain(p *models.Page) float64 {
	switch seen := p.Stats.VisitedAt; {
	case p.ETag == "" && p.LastModified == "":
		return 1
	case p.Stats.Records < 2 || p.BytesAt >= seen || p.FullAt == 0:
		return c.whole
	case p.FullAt >= seen:
		return 1
	}
	return 0
}

// answers learns from a visit that found no change how pages of the host are sent then.
func (c *crowd) answers(p *models.Page, kind models.OutcomeKind) {
	if p.ETag == "" && p.LastModified == "" {
		return
	}
	switch kind {
	case models.NotModified:
		c.whole -= wholeStep * c.whole
	case models.SameBytes:
		c.whole += wholeStep * (1 - c.whole)
	}
}

// wholeStep is the weight of one visit in that.
const wholeStep = 0.05

// asks is what a visit to the page of a question must be worth, in days of its freshness, where a usual one to a page of importance 1 must be worth the price.
func (q *question) asks(c *crowd, f *changerate.Forecast, price float64) float64 {
	of := q.cost(c)
	price /= importance(q.page)
	if of.found == 0 {
		return price * of.each
	}
	return f.Rate.Asked(price, of.each, of.found)
}

// usual is how many bytes a visit has on average: received, and by the length of its page where that was sent; zero: not known.
type usual struct{ bytes, length float64 }

// known tells whether these are numbers of bytes.
func (u usual) known() bool {
	return u.bytes >= 0 && u.length >= 0 && !math.IsInf(u.bytes+u.length, 1)
}

// packed is how many bytes are received of a page beside its length: less where servers compress.
func (u usual) packed() float64 {
	if u.length <= 0 {
		return 1
	}
	return max(leastPacked, min((u.bytes-models.UsualHead)/u.length, 1))
}

// sees learns from a visit how many bytes one has. What was asked for robots.txt alone, for a name that does not exist, or not at all, is none. What is
// answered in place of a page has no other length than came.
func (v *visited) sees(page *models.Page, out *models.Outcome) {
	if !out.Kind.Asked() || out.Received() == 0 && out.Sent != 1 {
		return
	}
	v.visits++
	v.sum.bytes += float64(out.Received())
	switch {
	case out.WireBytes == 0:
	case out.Kind.Observed() && out.Body == nil && page.Bytes > 0:
		v.sum.length += float64(page.Bytes)
	default:
		v.sum.length += float64(length(out))
	}
}
