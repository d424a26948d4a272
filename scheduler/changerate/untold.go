package changerate

import "math"

// Teller is somebody who tells of changes of a host's pages before visits find them.
type Teller int

// The tellers.
const (
	Lists     Teller = iota // sitemaps and feeds of the host
	Publisher               // whoever announces what he changed
	Tellers                 // how many there are
)

// untold is what a teller leaves out. Pages that he told of before, and others, are counted apart, since a list need not name all
// pages, or date them.
type untold struct{ named, others leftOut }

// leftOut is how many changes of a page go untold while one is expected, in gamma distribution: 1 where none is told of. The zero
// value knows nothing.
type leftOut struct {
	rate  Gamma   // by expected changes, not days
	doubt float64 // that anything is told of any more, see doubts
}

// What is known at first is worth untoldFirst expected changes, and at most untoldKept. Who is silentFor times likelier to have
// fallen silent than not is known no more.
const (
	untoldFirst = 2
	untoldKept  = 50
	silentFor   = 1000
)

// leastUntold is the least share of the changes that a teller is held to leave out: should he fall silent, visits still find that
// out, and a single change after years in which he told of all does not say that he did. mostUntold bounds how many changes are found
// beside those expected, over the long run: where all pages change at once, as by a new layout, that says no more of later changes.
const leastUntold, mostUntold = 0.03, 2

// both is what is known, in the order in which it is written.
func (u *untold) both() [2]*leftOut { return [...]*leftOut{&u.named, &u.others} }

func (u *untold) of(named bool) *leftOut {
	if named {
		return &u.named
	}
	return &u.others
}

// Sought teaches what a teller leaves out, by a visit to a page that nobody told of since the one before: of several tellers it
// is what they all leave out. f is what was expected of the page then. Only such visits say that: one to a page that was told of
// finds one change, whatever came before it. So the share of the changes found that were told of before is too large, and by far where
// visits are few: what goes untold is hidden by what is told behind it. A visit no later than the last record teaches nothing.
func (c *Crowd) Sought(by Teller, named bool, f Forecast, changed bool) {
	if !(f.Elapsed > 0) {
		return
	}
	l := c.untold[by].of(named)
	first := leftOut{rate: Gamma{Shape: untoldFirst, Days: untoldFirst}}
	if *l == (leftOut{}) {
		*l = first
	}
	if l.doubts(f, changed); l.doubt > math.Log(silentFor) {
		*l = first
	}
	if expected := f.changes(l.share()); changed {
		l.rate = l.rate.Changed(expected)
	} else {
		l.rate = l.rate.Unchanged(expected)
	}
	kept := min(l.rate.Days, untoldKept)
	l.rate = Gamma{Shape: kept * min(l.rate.Mean(), mostUntold), Days: kept}.sane()
}

// mostSought is how many changes a visit may be expected to find: more say no more of what is told.
const mostSought = 20

// changes is how many changes a visit now would be expected to find if all went untold, worked out so that a share of as many
// go untold: that none was told of says that the page changes seldom, the less goes untold the more surely. With the rate gamma(a, b) of
// all changes, of which nothing is told with the likelihood e^{−λ(1−u)t} in t days, none has happened with the probability
//
//	((b + (1−u)·t)/(b + t))^a = e^{−u·changes}
func (f Forecast) changes(untold float64) float64 {
	all := f.All()
	x := bounded(f.Elapsed, 0, maxDays) / all.Days
	return bounded(-all.Shape*math.Log1p(-untold*x/(1+x))/untold, 1e-9, mostSought)
}

// doubts follows how much likelier, as a logarithm, what visits found lately would be if nothing were told of any more than if as
// much were as before: a cumulative sum that begins anew where it falls below 0 (Page 1954), so that of years in which all was told
// nothing stands against the weeks in which nothing was. If the share is what it is held for, a false alarm comes once in silentFor visits at
// most, on average (Lorden 1971), and far more seldom where each visit says little.
func (l *leftOut) doubts(f Forecast, changed bool) {
	share := l.share()
	silent, before := f.changes(1), share*f.changes(share)
	ratio := before - silent
	if changed {
		ratio = math.Log(math.Expm1(-silent) / math.Expm1(-before))
	}
	l.doubt = max(0, l.doubt+ratio)
}

// share is that of the changes that go untold, in [leastUntold, 1].
func (l *leftOut) share() float64 {
	if l.rate == (Gamma{}) {
		return 1
	}
	return bounded(l.rate.Mean(), leastUntold, 1)
}

// Untold is the share of the changes of a page that a teller leaves out, in [leastUntold, 1]: of one that he told of before, or of
// the others. It is 1 where nothing is known of that.
func (c *Crowd) Untold(by Teller, named bool) float64 { return c.untold[by].of(named).share() }

// writeUntold writes what is known of the tellers, each behind whether anything is.
func (c *Crowd) writeUntold(w *writer) {
	for by := range c.untold {
		for _, l := range c.untold[by].both() {
			if *l == (leftOut{}) {
				w.byte(0)
				continue
			}
			w.byte(1)
			for _, x := range []float64{l.rate.Shape, l.rate.Days, l.doubt} {
				w.number(x)
			}
		}
	}
}

func (c *Crowd) readUntold(r *reader) {
	for by := range c.untold {
		for _, l := range c.untold[by].both() {
			switch r.byte() {
			case 0:
			case 1:
				*l = leftOut{Gamma{Shape: r.sum(), Days: r.sum()}, r.sum()}
				if l.rate != l.rate.sane() || l.rate.Days > untoldKept || l.doubt > math.Log(silentFor) {
					r.fail("what goes untold is out of bounds")
				}
			default:
				r.fail("neither with what goes untold nor without")
			}
		}
	}
}
