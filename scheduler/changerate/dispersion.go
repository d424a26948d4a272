package changerate

// dispersion is how a host's changes come: one by one, or many at once as where a commit or a new template touches a hundred pages.
// It is the variance of the changes that visits of a week find, beside what it would be of pages that change each by themselves:
// 1 where they do. Weeks, since days differ wherever people work; and around what weeks find on average, since a rate that is
// expected too high or too low for long is no clump.
//
// The logarithm of a likelihood that takes changes for independent is divided by it: a hundred changes that are one event say as
// much as one (quasi-likelihood; Wedderburn, Biometrika 61, 1974; McCullagh & Nelder, Generalized Linear Models, 1989, equation 9.5).
type dispersion struct {
	week                   uint32  // the last one that something was found in
	found, expected, alone float32 // in it: changes, the same by what was expected of each visit, and the variance of that
	changes, forecast      float32 // of the weeks before: found, and expected
	squares, variance      float32 // of them: how far found was from what was to be expected, squared, and alone
}

// What a host's changes are taken for before there are so many: where a tenth of the hosts is of the many at once, evidence that is
// believed too soon is worse than evidence that comes late.
const (
	usualDispersion = 3
	usualChanges    = 20
)

// weeksKept is for how many weeks a week counts, about.
const weeksKept = 52

// add enters a visit that was to find a change with a chance.
func (d *dispersion) add(at, chance float64, changed bool) {
	if week := uint32(at / 7); week != d.week {
		d.end()
		d.week = week
	}
	if changed {
		d.found++
	}
	d.expected += float32(chance)
	d.alone += float32(chance * (1 - chance))
}

// end enters the week as one that is over.
func (d *dispersion) end() {
	const kept = 1 - 1.0/weeksKept
	beyond := d.found - d.expected*(d.changes+usualChanges)/(d.forecast+usualChanges)
	*d = dispersion{
		changes:  kept*d.changes + d.found,
		forecast: kept*d.forecast + d.expected,
		squares:  kept*d.squares + beyond*beyond,
		variance: kept*d.variance + d.alone,
	}
}

// size is the dispersion, at least 1.
func (d *dispersion) size() float64 {
	return max(1, float64(d.squares+usualChanges*usualDispersion)/float64(d.variance+usualChanges))
}

func (d *dispersion) write(w *writer) {
	w.uint32(d.week)
	w.shorts([]float32{d.found, d.expected, d.alone, d.changes, d.forecast, d.squares, d.variance})
}

func readDispersion(r *reader) dispersion {
	d, sums := dispersion{week: r.uint32()}, make([]float32, 7)
	r.shorts(sums)
	d.found, d.expected, d.alone = sums[0], sums[1], sums[2]
	d.changes, d.forecast, d.squares, d.variance = sums[3], sums[4], sums[5], sums[6]
	return d
}
