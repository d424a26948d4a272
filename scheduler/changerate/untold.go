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

// both is what is known, in the order in which it is written.
func (u *untold) both() [2]*leftOut { return [...]*leftOut{&u.named, &u.others} }

func (u *untold) of(named bool) *leftOut {
	if named {
		return &u.named
	}
	return &u.others
}

// Sought teaches what a teller leaves out, by a visit to a page that he told nothing of since the one before. f is what was
// expected of it then. Only such visits say that: one to a page that was told of finds one change, whatever came before it. So the share
// of the changes found that were told of before is too large, and by far where visits are few: what goes untold is hidden by what is
// told behind it.
func (c *Crowd) Sought(by Teller, named bool, f Forecast, changed bool) {
	l := c.untold[by].of(named)
	first := leftOut{rate: Gamma{Shape: untoldFirst, Days: untoldFirst}}
	if *l == (leftOut{}) {
		*l = first
	}
	all := f.All()
	expected := bounded(all.Shape*math.Log1p(bounded(f.Elapsed, 0, maxDays)/all.Days), 1e-9, mostSought)
	if l.doubts(expected, changed); l.doubt > math.Log(silentFor) {
		*l = first
	}
	if changed {
		l.rate = l.rate.Changed(expected)
	} else {
		l.rate = l.rate.Unchanged(expected)
	}
	if l.rate.Days > untoldKept {
		l.rate = Gamma{Shape: l.rate.Shape * untoldKept / l.rate.Days, Days: untoldKept}.sane()
	}
}

// mostSought is how many changes a visit may be expected to find: more say no more of what is told.
const mostSought = 20

// doubts follows how much likelier, as a logarithm, what visits found lately would be if nothing were told of any more than if as
// much were as before: a cumulative sum that begins anew where it falls below 0 (Page 1954), so that of years in which all was told
// nothing stands against the weeks in which nothing was.
func (l *leftOut) doubts(expected float64, changed bool) {
	share := l.share()
	ratio := -(1 - share) * expected
	if changed {
		ratio = math.Log(math.Expm1(-expected) / math.Expm1(-share*expected))
	}
	l.doubt = max(0, l.doubt+ratio)
}

// share is that of the changes that go untold, in (0, 1].
func (l *leftOut) share() float64 {
	if l.rate == (Gamma{}) {
		return 1
	}
	return min(1, l.rate.Mean())
}

// Untold is the share of the changes of a page that a teller leaves out, in (0, 1]: of one that he told of before, or of the
// others. It is 1 where nothing is known of that.
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
