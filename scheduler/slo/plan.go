package slo

import (
	"math"
	"slices"
	"time"
)

// Plan answers questions about one site and one kind of goal. It does not change.
type Plan struct {
	site    Site
	within  time.Duration
	f       []float64   // frequencies
	first   int         // the one of the longest interval; less often only where a budget or a host allows no more
	weights []float64   // by class: what its curve counts
	curves  [][]float64 // by class, at each frequency
	total   float64     // of all weights
	hosts   [][]int     // the classes of each host
	ceiling []ration    // by host: the most it gets
}

// ration is the frequencies of the classes of one host, and the price of the last visit.
type ration struct {
	f     []float64
	price float64
}

// New prepares a site for goals of changes seen within a time, or with 0 of fresh pages. An error says that the site has
// no pages or a bound that is none.
func New(site Site, within time.Duration) (*Plan, error) {
	if err := site.check(); err != nil {
		return nil, err
	}
	p := &Plan{site: site, within: within, hosts: make([][]int, len(site.Hosts)), ceiling: make([]ration, len(site.Hosts))}
	p.draw()
	for i, c := range site.Classes {
		p.hosts[c.Host] = append(p.hosts[c.Host], i)
	}
	for h := range p.hosts {
		p.ceiling[h] = p.saturate(h)
	}
	return p, nil
}

// draw computes the curves.
func (p *Plan) draw() {
	s, w := &p.site, newWeek(p.site.Open)
	low, high, days := s.low(), s.high(), p.within.Hours()/24
	p.weights, p.curves = make([]float64, len(s.Classes)), make([][]float64, len(s.Classes))
	if p.within > 0 {
		var corners []float64
		v := w.vary(s.Vary, days)
		for _, o := range w.spells(days) {
			corners = append(corners, (1-v/2)/o.days, 1/o.days, (1+v/2)/o.days)
		}
		p.f = grid(low, high, corners...)
		p.first, _ = slices.BinarySearch(p.f, low)
		seen := w.caught(p.f, days, v)
		for i, c := range s.Classes {
			p.weights[i], p.curves[i] = c.Rate*c.Pages, seen
			p.total += p.weights[i]
		}
		return
	}
	p.f = grid(low, high)
	p.first, _ = slices.BinarySearch(p.f, low)
	var y younger
	if w.n > 0 {
		y = w.younger(p.f, s.Vary)
	}
	for i, c := range s.Classes {
		p.weights[i] = c.Pages
		p.total += c.Pages
		if w.n > 0 {
			p.curves[i] = y.fresh(c.Rate)
			continue
		}
		p.curves[i] = make([]float64, len(p.f))
		for j, f := range p.f {
			p.curves[i][j] = calm(c.Rate / f)
		}
	}
}

// at is the value of a class's curve at a frequency, straight between those it is kept at.
func (p *Plan) at(class int, f float64) float64 {
	j, exact := slices.BinarySearch(p.f, f)
	curve := p.curves[class]
	switch {
	case exact:
		return curve[j]
	case j == len(p.f):
		return curve[j-1]
	case j == 0:
		return curve[0] * f / p.f[0] // at least so much, for it is concave
	}
	part := (f - p.f[j-1]) / (p.f[j] - p.f[j-1])
	return curve[j-1] + part*(curve[j]-curve[j-1])
}

// choose is the frequency of a class at a price: the last at which the visits before it gained more than the price each.
func (p *Plan) choose(class int, price float64) float64 {
	worth := p.weights[class] / max(p.site.Classes[class].Pages, 1e-300)
	low, high := p.first, len(p.f)-1
	for low < high {
		mid := (low + high) / 2
		gain := worth * (p.curves[class][mid+1] - p.curves[class][mid]) / (p.f[mid+1] - p.f[mid])
		if gain > price {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return p.f[low]
}

// saturate is what a host gets at the price 0, or at the one at which its capacity is used up.
func (p *Plan) saturate(host int) ration {
	most := p.site.capacity(host)
	pick := func(price float64) []float64 {
		f := make([]float64, len(p.hosts[host]))
		for i, class := range p.hosts[host] {
			f[i] = p.choose(class, price)
		}
		return f
	}
	sum := func(f []float64) float64 {
		n := 0.0
		for i, class := range p.hosts[host] {
			n += p.site.Classes[class].Pages * f[i]
		}
		return n
	}
	free := pick(0)
	if sum(free) <= most {
		return ration{f: free}
	}
	least := pick(math.Inf(1))
	if n := sum(least); n >= most { // not even the longest interval: all equally seldom
		for i := range least {
			least[i] *= most / n
		}
		return ration{least, math.Inf(1)}
	}
	low, high := p.bracket(func(price float64) bool { return sum(pick(price)) > most })
	return ration{mix(pick(high), pick(low), func(f []float64) bool { return sum(f) > most }), high}
}

// bracket finds two prices next to each other, at the lower of which there is too much and at the higher not.
func (p *Plan) bracket(tooMuch func(price float64) bool) (low, high float64) {
	low, high = math.Log(1e-30), math.Log(1e30)
	for range 100 {
		if mid := (low + high) / 2; tooMuch(math.Exp(mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Exp(low), math.Exp(high)
}

// mix goes from one set of frequencies so far towards another as it is not too much.
func mix(from, to []float64, tooMuch func([]float64) bool) []float64 {
	blend := func(part float64) []float64 {
		f := make([]float64, len(from))
		for i := range f {
			f[i] = from[i] + part*(to[i]-from[i])
		}
		return f
	}
	low, high := 0.0, 1.0
	for range 60 {
		if mid := (low + high) / 2; tooMuch(blend(mid)) {
			high = mid
		} else {
			low = mid
		}
	}
	return blend(low)
}

// frequencies is what all classes get at a price.
func (p *Plan) frequencies(price float64) []float64 {
	f := make([]float64, len(p.site.Classes))
	for h, classes := range p.hosts {
		for i, class := range classes {
			if price <= p.ceiling[h].price {
				f[class] = p.ceiling[h].f[i]
			} else {
				f[class] = p.choose(class, price)
			}
		}
	}
	return f
}

// visits is how many a day a set of frequencies takes.
func (p *Plan) visits(f []float64) float64 {
	n := 0.0
	for i, c := range p.site.Classes {
		n += c.Pages * f[i]
	}
	return n
}

// share is what a set of frequencies reaches.
func (p *Plan) share(f []float64) float64 {
	if p.total == 0 {
		return 1 // no change, none missed
	}
	sum := 0.0
	for i := range f {
		sum += p.weights[i] * p.at(i, f[i])
	}
	return min(sum/p.total, 1)
}
