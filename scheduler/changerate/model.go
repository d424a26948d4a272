package changerate

import "math"

// Evidence is what a page's own visits say of its change rate beyond the prior: what they add to its shape and to its
// days. Either may be negative. The prior may change meanwhile.
type Evidence struct {
	Shape float64
	Days  float64
}

// Subject is a page, as far as its change rate goes. Times are days since 1970, UTC, as fractions.
type Subject struct {
	Names     Names
	Place     *Place  // its groups, remembered from one look to the next; nil: not remembered
	KnownAt   float64 // when it became known
	New       bool    // it appeared while its site was watched, so that KnownAt is when it came to be
	LastAt    float64 // the last record of its content
	ChangedAt float64 // the last record that differed from the one before; 0: none did
	Visits    int     // records compared with the one before
	Bytes     int64   // the length of its content; 0: not known
	Evidence  Evidence
	Cycle     float64 // the mean days between two visits of a page: pages by visits a day; 0: 30
	Told      float64 // the share of its changes that somebody else tells of, for which no visit need look; in [0, 1)
}

// Sight is what one visit saw.
type Sight struct {
	At        float64 // when
	Changed   bool    // the content differs from the last record
	ChangedAt float64 // when it changed, where a date tells that can be trusted; else 0
	First     bool    // what changed is known to be the first change since the last record, because of one before the visit would have come before
}

// Forecast is what is known of a page's changes at one time.
type Forecast struct {
	Rate    Gamma   // of the change rate from now on, of what nobody else will tell of
	Elapsed float64 // days since the last record, at that rate: more than really passed where its neighbours changed
	Prior   float64 // the share of its neighbours and features in the mean rate; its own visits have the rest
	Noise   float64 // in [0, 1]: how little the rates of this host are to be trusted (see Crowd)
	Passed  float64 // days since the last record
	Cycle   float64 // the subject's
	Told    float64 // the subject's
	News    float64 // how many times the change that the rate to come would have brought is known to have come since
}

// Stale is the probability that the page has changed since its last record.
func (f Forecast) Stale() float64 { return 1 - f.Rate.Survival(f.Elapsed) }

// Value is what a visit now is worth, in days of freshness: the index of Olston & Pandey (see Gamma.Utility). Where
// rates are noise it is that of a page like all others, so that a host's pages are visited in turn.
func (f Forecast) Value() float64 { return f.valueIn(0) }

// valueIn is the value in so many days, if nothing more becomes known.
func (f Forecast) valueIn(days float64) float64 {
	value := f.Rate.Utility(f.Elapsed + days)
	if f.Noise > 0 {
		value = (1-f.Noise)*value + f.Noise*f.alike().Utility(f.Passed+days) // the one may be so large that a difference loses the other
	}
	return value
}

// alike is the rate to assume of a page when nothing tells it from others: about a change a cycle.
func (f Forecast) alike() Gamma { return Gamma{Shape: 1, Days: f.Cycle} }

// DueIn is in how many days a visit will be worth the price, if nothing more becomes known: 0 where it is already, +Inf
// where it never will.
func (f Forecast) DueIn(price float64) float64 {
	trusted := max(0, f.Rate.Due(price)-bounded(f.Elapsed, 0, maxDays))
	if !(f.Noise > 0) {
		return trusted
	}
	passed := bounded(f.Passed, 0, maxDays)
	alike := max(0, f.alike().Due(price)-passed)
	low, high := min(trusted, alike), min(max(trusted, alike), maxDays)
	if high == maxDays && f.Noise < 1 {
		high = max(low, min(maxDays, f.Rate.Due(price/(1-f.Noise)))) // its share alone is worth the price by then
	}
	switch {
	case f.valueIn(low) >= price:
		return low
	case high == maxDays && !(f.valueIn(high) >= price):
		return math.Inf(1)
	}
	for high-low > 1e-9*high {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if f.valueIn(middle) < price {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// Look forecasts the changes of a page at a time.
func Look(w *Weights, c *Crowd, s *Subject, now float64) Forecast {
	var r Reading
	r.Read(w, c, s)
	return r.Forecast(now)
}

// Forecast is that of the page at a time.
func (r *Reading) Forecast(now float64) Forecast {
	r.present, r.ahead = bounded(now, 1, lastDay), false
	return r.forecast(r.present)
}

// expect is the forecast at a time to come, so many days after that of the last forecast, if nothing more becomes known.
func (r *Reading) expect(days float64) Forecast {
	r.ahead, r.fadedFrom = true, math.NaN()
	return r.forecast(bounded(r.present+days, 1, lastDay))
}

func (r *Reading) forecast(now float64) Forecast {
	r.at(bounded(r.subject.LastAt, 0, now), now)
	g := r.own
	told := bounded(r.subject.Told, 0, mostTold)
	ahead := expOf(-r.future) / (1 - told)
	news := expOf(r.past - r.future)
	return Forecast{
		Rate:    Gamma{Shape: g.Shape, Days: g.Days * ahead}.sane(),
		Elapsed: (r.now - r.last) * news,
		Prior:   min(1, r.prior.Days/g.Days),
		Told:    told,
		News:    news,
		Noise:   r.crowd.noise(r.cycle),
		Passed:  r.now - r.last,
		Cycle:   r.cycle,
	}
}

// mostTold is the largest share of a page's changes that may count as told of.
const mostTold = 0.99

// Learn takes in what a visit saw: it moves the weights and the crowd, and returns the page's new evidence. The subject
// is the page as it was before the visit. A visit no later than the last record teaches nothing.
func Learn(w *Weights, c *Crowd, s *Subject, seen Sight) Evidence {
	at := bounded(seen.At, 1, lastDay)
	last := bounded(s.LastAt, 0, at)
	if !(at > last) {
		return s.Evidence
	}
	if c.begin == 0 || last < c.begin { // last seen before this crowd was begun, so it has not met the page
		c.Known(s, at)
	}
	var values vector
	var r Reading
	r.read(w, c, s, &values)
	r.at(last, at)
	before := r.own
	days := (at - last) * expOf(r.past)
	survival := before.Survival(days)
	slopes, limit := r.slopes(days)
	w.learn(&slopes, survival, seen.Changed, limit)

	after := before.Unchanged(days)
	changedAt := trusted(seen.ChangedAt, last, at)
	switch {
	case seen.Changed && seen.First: // all changes of those days are counted: there was one
		after = before.Counted(1, days)
	case seen.Changed && changedAt > 0:
		after = before.Dated(days * (at - changedAt) / (at - last))
	case seen.Changed:
		after = before.Changed(days)
	}
	entry := sight{from: last, at: at, bytes: s.Bytes, changedAt: changedAt, chance: 1 - survival}
	entry.expected = min(mostChanges, -math.Log(max(1e-6, survival))*math.Exp(r.future-r.past))
	if seen.Changed {
		entry.turned = 1
		entry.changes = Hidden(entry.expected)
		entry.count = Hidden(after.Mean() * days)
	}
	w.changes += entry.count
	w.days += at - last
	c.learn(&s.Names, entry)
	c.hour(before, last, at, days, seen.Changed, changedAt)
	return Evidence{Shape: after.Shape - r.prior.Shape, Days: after.Days - r.prior.Days}
}

// Begin is the evidence of a page's first record, where a date tells when its content came to be: the last change of a
// Poisson process that has been going on for long lies so far back, with the likelihood λ·e^{−λ·quiet}. That a page appeared
// while its site was watched is no change.
func Begin(s *Subject, seen Sight) Evidence {
	if !(seen.ChangedAt > 0) || s.New {
		return s.Evidence
	}
	at := bounded(seen.At, 1, lastDay)
	return Evidence{Shape: s.Evidence.Shape + 1, Days: s.Evidence.Days + bounded(at-seen.ChangedAt, 0, longQuiet)}
}

// longQuiet is how many days without a change before the first record count.
const longQuiet = 3 * 365

// mostChanges is how many changes one visit may stand for.
const mostChanges = 5

// Hidden is how many changes of a Poisson process lie behind one that was seen, where so many were expected: 1 to mostChanges.
func Hidden(expected float64) float64 {
	if !(expected > 1e-9) {
		return 1
	}
	return bounded(expected/-math.Expm1(-expected), 1, mostChanges)
}

// trusted is the time of a change if it lies between two visits, else 0.
func trusted(changedAt, last, at float64) float64 {
	if changedAt > last && changedAt <= at {
		return changedAt
	}
	return 0
}

// cycle is the subject's, in bounds.
func cycle(s *Subject) float64 {
	if !(s.Cycle > 0) {
		return 30
	}
	return bounded(s.Cycle, 1e-4, 1e5)
}
