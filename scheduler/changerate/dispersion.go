package changerate

import "slices"

// dispersion is how a host's changes come: one by one, or many at once as where a commit or a new template touches a hundred pages.
// It is the variance of the changes that the visits of a week find, beside what it would be of pages that change each by
// themselves: 1 where they do. Weeks, since days differ wherever people work and one commit is found over several; and it is the variance
// around what weeks find on average, since a rate that is expected too high or too low for long is no clump.
//
// The logarithm of a likelihood that takes changes for independent is divided by it: a hundred changes that are one event say as
// much as one (quasi-likelihood; Wedderburn, Biometrika 61, 1974; McCullagh & Nelder, Generalized Linear Models, 1989, chapter 9).
type dispersion struct {
	week                              uint32  // the one under way, in which the last visit fell
	found, expected, spread, entered  float32 // in it: changes, the sum of their chances and of the squares of these; of expected, what made evidence
	changes, forecast                 float32 // of those before with visits, each of which counts for less and less: found, expected
	squares, variance, share, balance float32 // of these: (found − k·expected)², what that is of changes that come alone, entered and expected
}

// What changes are taken for before there are so many, and before how many the level that visits find is taken for the expected one: of
// many at once, since evidence that is believed too soon is worse than evidence that comes late.
const (
	usualDispersion = 3
	usualChanges    = 20
	levelChanges    = 5
)

// weeksKept is for how many weeks one counts, about.
const weeksKept = 52

// add enters a visit that was to find a change with a chance. entered tells that it makes evidence.
func (d *dispersion) add(at, chance float64, changed, entered bool) {
	if week := uint32(at / 7); week != d.week {
		*d = d.ended()
		d.week = week
	}
	if changed {
		d.found++
	}
	d.expected += float32(chance)
	d.spread += float32(chance * chance)
	if entered {
		d.entered += float32(chance)
	}
}

// ended is what is known when the week under way is over.
func (d *dispersion) ended() dispersion {
	const kept = 1 - 1.0/weeksKept
	level := float64(d.changes+levelChanges) / float64(d.forecast+levelChanges)
	mean := level * float64(d.expected)
	beyond := float64(d.found) - mean
	return dispersion{
		changes:  kept*d.changes + d.found,
		forecast: kept*d.forecast + d.expected,
		squares:  kept*d.squares + float32(beyond*beyond),
		variance: kept*d.variance + float32(max(mean-level*level*float64(d.spread), leastSpread*mean)),
		share:    kept*d.share + d.entered,
		balance:  kept*d.balance + d.expected,
	}
}

// leastSpread keeps a variance from falling to nothing or below, where chances times the level are near 1 or beyond: this share of
// the mean.
const leastSpread = 0.1

// size is the dispersion of what made evidence, at least 1, the week under way included. Of a large host no more than a sample of
// each day makes evidence, and what its pages have in common shows less in a sample: the excess is as much smaller as the sample
// is.
func (d *dispersion) size() float64 {
	s := d.ended()
	all := float64(s.squares+usualChanges*usualDispersion) / float64(s.variance+usualChanges)
	return max(1, 1+(all-1)*float64(s.share+usualChanges)/float64(s.balance+usualChanges))
}

func (d *dispersion) write(w *writer) {
	w.uint32(d.week)
	w.shorts([]float32{d.found, d.expected, d.spread, d.entered, d.changes, d.forecast, d.squares, d.variance, d.share, d.balance})
}

// mostCounted is more than a host's visits find in all weeks together, and its square more than their squares.
const mostCounted = 1e9

func readDispersion(r *reader) dispersion {
	d, s := dispersion{week: r.uint32()}, make([]float32, 10)
	r.shorts(s)
	d.found, d.expected, d.spread, d.entered = s[0], s[1], s[2], s[3]
	d.changes, d.forecast, d.squares, d.variance, d.share, d.balance = s[4], s[5], s[6], s[7], s[8], s[9]
	if s[6] > mostCounted*mostCounted || max(slices.Max(s[:6]), slices.Max(s[7:])) > mostCounted {
		r.fail("changes at once are out of bounds")
	}
	return d
}
