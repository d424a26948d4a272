package changerate

import "math"

// rhythm is at what hours of the week the pages of a host change: many sites change once a day at an hour of their own, or
// while their people are at work. A visit just after those hours is worth more than one before them.
//
// What visits find is held against guesses, each of which says that most changes come in some hours of each day, or of each
// working day; the hours begin at any hour, UTC. The weight of a guess grows with how much likelier it makes what was found
// than changes at any hour alike do (Bayes). Dates of changes tell the hour at once; that a page changed somewhere between
// two visits tells a little of it, as long as not all visits are whole days apart.
type rhythm struct {
	odds   [guesses]int16 // logarithms, in steps, of how much likelier each guess makes it all than no rhythm does
	clumps dispersion     // of the changes, by which the odds are divided
	told   [habits]int16  // what the customs were told of them last (see bearing), and in which era
	era    uint32
	today  uint32   // the day of the last visit that counted
	spent  float32  // how much those of that day moved the odds at most, together
	lately int      // visits since the customs were told
	shape  *surplus // what was made of the odds since then, nil where no rhythm is likely
	likely float64  // of a rhythm, by the same
	made   bool
}

// The guesses: so many hours, of all days or of five, from each hour on.
const (
	dayHours, weekHours = 24, 7 * 24
	workdays            = 5
	lengthsTried        = 3
	habits              = 2 * lengthsTried // guesses that differ in where they begin alone are of one habit
	guesses             = habits * dayHours
)

// hoursTried is for how many hours a day pages are guessed to change, most of the time.
var hoursTried = [lengthsTried]int{1, 4, 10}

// busyShare is the share of the changes that a guess says come in its hours.
const busyShare = 0.9

// The guesses are acted upon from so likely on, together; evidence of so many visits counts.
const (
	rhythmActs   = 0.5
	rhythmVisits = 1000
)

// What one visit multiplies the odds by is at most e to the first, and all of a day together at most e to the second, but for the
// last one that counts, before they are divided by the dispersion: what a large host's pages have in common on one day says little. Visits
// further apart, in days, say nothing of hours, which are of no use there either.
const (
	rhythmJump  = 3
	rhythmDaily = 10
	rhythmApart = 14
)

// covered is how many hours of a stretch of time lie in each hour of the week.
func covered(from, to float64) (hours [weekHours]float64) {
	weeks := math.Floor((to - from) / 7)
	for i := range hours {
		hours[i] = weeks
	}
	at := hourOf(from)
	for left := (to - from - 7*weeks) * dayHours; left > 0; {
		i := int(at) % weekHours
		part := min(left, math.Floor(at)+1-at)
		if !(part > 1e-9) {
			part = min(left, 1e-9)
		}
		hours[i] += part
		at += part
		left -= part
		if at >= weekHours {
			at -= weekHours
		}
	}
	return hours
}

// inside is how many of those hours are in the hours of each guess.
func inside(hours *[weekHours]float64) (in [guesses]float64) {
	var sums [2][2*dayHours + 1]float64 // of all days and of working days, up to an hour of the dayHours or of the next one
	for h := range 2 * dayHours {
		var all, work float64
		for d := range 7 {
			x := hours[(d*dayHours+h)%weekHours]
			all += x
			if d < workdays {
				work += x
			}
		}
		sums[0][h+1], sums[1][h+1] = sums[0][h]+all, sums[1][h]+work
	}
	for g := range in {
		kind, long, start := parts(g)
		in[g] = sums[kind][start+long] - sums[kind][start]
	}
	return in
}

// parts are what a guess says: all days (0) or working days (1), for how many hours, from which hour on.
func parts(guess int) (kind, long, start int) {
	return guess / (lengthsTried * dayHours), hoursTried[guess/dayHours%lengthsTried], guess % dayHours
}

// densities are how many times as often as on average pages change in the hours of a guess and outside of them.
func densities(guess int) (busy, calm float64) {
	kind, long, _ := parts(guess)
	hours := float64(7 * long)
	if kind == 1 {
		hours = float64(workdays * long)
	}
	return busyShare * weekHours / hours, (1 - busyShare) * weekHours / (weekHours - hours)
}

// busyAt tells whether an hour of the week is one of a guess's.
func busyAt(guess, hour int) bool {
	kind, long, start := parts(guess)
	since := ((hour-start)%weekHours + weekHours) % weekHours // hours since the first day's began
	return since%dayHours < long && (kind == 0 || since/dayHours < workdays)
}

// learn enters a visit to a page of the given rate: days are those since the visit before, as far as they count, and
// changedAt is 0 or the date of the change. A change whose date is known is the last one: of the time before it nothing is
// known.
func (r *rhythm) learn(g Gamma, from, at, days float64, changed bool, changedAt float64) {
	g = g.sane()
	if at-from > rhythmApart || !(at-from > 1e-6) {
		return
	}
	if today := uint32(at); today != r.today {
		r.today, r.spent = today, 0
	}
	entered := r.spent < rhythmDaily
	r.clumps.add(at, -expm1Of(chanceOf(g, days, false, false)), changed, entered)
	if !entered {
		return
	}
	more, most := evidenceOf(g, from, at, days, changed, changedAt)
	r.spent += float32(most)
	r.lately++
	round, top, bound := dither(from, at, days), 0.0, oddsMost*min(r.clumps.size(), dispersionKept)
	var odds [guesses]float64
	for i := range odds {
		odds[i] = float64(r.odds[i])*(1-1.0/rhythmVisits) + more[i]/oddsStep
		top = max(top, odds[i]-bound)
	}
	for i, x := range odds {
		r.odds[i] = int16(math.Floor(bounded(x-top, -bound, bound) + round))
	}
}

// evidenceOf is the logarithm of how much likelier each guess makes what a visit found than no rhythm does, and the largest
// of their amounts.
func evidenceOf(g Gamma, from, at, days float64, changed bool, changedAt float64) (more [guesses]float64, most float64) {
	since := max(from, changedAt)
	hours := covered(since, at)
	in := inside(&hours)
	length := max((at-since)*dayHours, 1e-6)
	exposed := days * (at - since) / (at - from)
	usual := chanceOf(g, exposed, changed, changedAt > 0)
	hour := int(hourOf(changedAt))
	var busy, calm, found float64
	for i := range more {
		first := i%dayHours == 0 // of its habit: the others differ in when their hours begin alone, and have as many of them, often
		if first {
			busy, calm = densities(i)
		}
		if first || in[i] != in[i-1] {
			found = chanceOf(g, exposed*(calm+(busy-calm)*in[i]/length), changed, changedAt > 0)
		}
		likely := found
		switch {
		case changedAt > 0 && busyAt(i, hour):
			likely += math.Log(busy)
		case changedAt > 0:
			likely += math.Log(calm)
		}
		more[i] = max(-rhythmJump, min(rhythmJump, likely-usual))
		most = max(most, math.Abs(more[i]))
	}
	return more, most
}

// oddsStep is the smallest part of an odds that counts. What a visit adds is rounded up or down so that it is right on average.
// oddsMost, in these, is the largest odds of changes that come one by one; of others they are as many times as large as their
// dispersion, up to dispersionKept. Where that is more than some 27, no evidence is enough: such a host has hours if others do.
const (
	oddsStep       = 1.0 / 128
	oddsMost       = 15 / oddsStep
	dispersionKept = 16
)

// chanceOf is the logarithm of the probability of what a visit found, or its density where the change has a date.
func chanceOf(g Gamma, days float64, changed, dated bool) float64 {
	still := -g.Shape * log1pOf(days/g.Days)
	switch {
	case dated:
		return still - log1pOf(days/g.Days)
	case changed:
		return math.Log(max(1e-9, -expm1Of(still)))
	}
	return still
}

// step is what one step of the odds that are kept is worth, as a logarithm: divided by the dispersion.
func (r *rhythm) step() float64 { return oddsStep / r.clumps.size() }

// rhythmSteady is after how many visits that count, at least, the customs are told of them and the shape is made anew.
const rhythmSteady = 16

// week is the shape of the week, nil where no rhythm is likely, and how likely one is.
func (r *rhythm) week(others *customs) (*surplus, float64) {
	if r == nil {
		return nil, 0
	}
	if !r.made {
		r.shape, r.likely = r.mixed(others.without(r))
		r.made = true
	}
	return r.shape, r.likely
}

// mixed is the shape that all guesses make together, each by its weight, and how likely they are, where those of each habit are as
// likely beforehand as prior says.
func (r *rhythm) mixed(prior [habits]float64) (*surplus, float64) {
	var weight [guesses]float64
	most, step := 0.0, r.step()
	for _, x := range r.odds {
		most = max(most, float64(x)*step)
	}
	none := 1.0
	for _, p := range prior {
		none -= p
	}
	none *= math.Exp(-most)
	sum := none
	for i, x := range r.odds {
		weight[i] = prior[i/dayHours] / dayHours * math.Exp(float64(x)*step-most)
		sum += weight[i]
	}
	likely := 1 - none/sum
	if likely < rhythmActs {
		return nil, likely
	}
	var profile [weekHours]float64
	for i, w := range weight {
		if w < 1e-3*sum {
			none += w
			continue
		}
		busy, calm := densities(i)
		for h := range profile {
			if busyAt(i, h) {
				profile[h] += w / sum * busy
			} else {
				profile[h] += w / sum * calm
			}
		}
	}
	for h := range profile {
		profile[h] += none / sum
	}
	return surplusOf(&profile), likely
}

// write writes the odds, or that there are none.
func (r *rhythm) write(w *writer) {
	if r == nil {
		w.byte(0)
		return
	}
	w.byte(1)
	w.uint32(r.today)
	w.short(r.spent)
	w.odds(r.odds[:])
	w.odds(r.told[:])
	w.uint32(r.era)
	r.clumps.write(w)
}

// readRhythm reads what was written in a form. At its next writing the customs are told: a host that is held for a few visits
// at a time would not come to it.
func readRhythm(r *reader, form byte) *rhythm {
	switch r.byte() {
	case 0:
		return nil
	case 1:
	default:
		r.fail("neither with hours nor without")
		return nil
	}
	read := &rhythm{today: r.uint32(), lately: rhythmSteady}
	spent := make([]float32, 1)
	r.shorts(spent)
	read.spent = spent[0]
	r.odds(read.odds[:])
	if form > idleForm {
		r.odds(read.told[:])
		read.era = r.uint32()
	}
	if form > evenForm {
		read.clumps = readDispersion(r)
	} else {
		coarser(read.odds[:])
		coarser(read.told[:])
	}
	return read
}

// coarser brings odds into the steps of the present form, which are sixteen times as large as those before: to the nearest, since what
// was told is taken out of the customs again.
func coarser(odds []int16) {
	for i, x := range odds {
		odds[i] = int16(math.Round(float64(x) / finerSteps))
	}
}

const finerSteps = 16
