package changerate

import (
	"hash/fnv"
	"math"
)

// customs are how usual it is that hosts have hours, and of what habits: what the visits to all hosts say of that. A host of
// which little was seen is taken for one like the others.
//
// It is said by a few theories: that one share of the hosts or another has hours, and that these are all of one habit or as
// likely of each. Each number is the logarithm of how much likelier a theory makes what was seen of all hosts than one that
// there are no hours anywhere: a sum over hosts, of log(1 − p + p·B), B the mean odds of the guesses that the theory allows.
// So it does not depend on who saw what first, and what several workers saw adds up.
//
// Each host counts once: what it told last is kept with what is known of it, with the era, which is another one wherever customs
// began anew. What was told in another era is not among the sums.
type customs struct {
	era  uint32
	said [theories]float64
}

// mostSaid is more than all hosts there are can say of a theory.
const mostSaid = 1e12

// The theories: for each share, each habit alone and then all of them.
const theories = len(sharesTried) * (habits + 1)

// sharesTried are the shares of hosts that may have hours, and how likely each is beforehand: 0.02 on average, so that a
// host alone must show its hours clearly.
var sharesTried = [...]struct{ share, likely float64 }{
	{0.002, 0.88}, {0.03, 0.07}, {0.1, 0.02}, {0.3, 0.012}, {0.6, 0.008}, {0.9, 0.006}, {0.97, 0.004},
}

// oneHabit is how likely it is beforehand that all hosts with hours are of one habit.
const oneHabit = 0.5

// bearing is how much likelier a rhythm of each habit makes what was seen of a host than none does, as a logarithm, in steps of
// oddsStep, already divided by the dispersion: the mean of its guesses.
func (r *rhythm) bearing() (odds [habits]int16) {
	step := r.step()
	for habit := range odds {
		sum := 0.0
		for _, x := range r.odds[habit*dayHours:][:dayHours] {
			sum += math.Exp(float64(x) * step)
		}
		odds[habit] = int16(math.Round(bounded(math.Log(sum/dayHours)/oddsStep, -oddsMost, oddsMost)))
	}
	return odds
}

// Tell lets the weights know what concerns all hosts: whether this one changes at hours of its own. It is called just before the
// crowd is written, so that what was told is not told again by who reads it.
func (c *Crowd) Tell(w *Weights) {
	if c.rhythm != nil && c.rhythm.lately >= rhythmSteady {
		w.customs.tell(c.rhythm)
	}
}

// tell replaces what was told of a host by what is known of it now.
func (c *customs) tell(r *rhythm) {
	was := c.sayingOf(r)
	r.told, r.era, r.lately, r.made = r.bearing(), c.era, 0, false
	for i, is := range saying(&r.told) {
		c.said[i] += is - was[i]
	}
}

// sayingOf is what a host added to each theory.
func (c *customs) sayingOf(r *rhythm) (more [theories]float64) {
	if r.era == c.era {
		more = saying(&r.told)
	}
	return more
}

// merged are customs with what a worker was told since base. What it was told in another era is told again by the hosts.
func (c *customs) merged(base, mine *customs) customs {
	sum := *c
	if base.era == c.era && mine.era == c.era {
		for i := range sum.said {
			sum.said[i] += mine.said[i] - base.said[i]
		}
	}
	return sum
}

// write writes the customs.
func (c *customs) write(w *writer) {
	w.uint32(c.era)
	for _, x := range c.said {
		w.number(x)
	}
}

func readCustoms(r *reader) (c customs) {
	c.era = r.uint32()
	for i := range c.said {
		if c.said[i] = r.number(); math.Abs(c.said[i]) > mostSaid {
			r.fail("what hosts say of hours is out of bounds")
		}
	}
	return c
}

// begun are customs that nobody told anything yet, beside weights that were learned from so many changes in so many page-days: in an
// era of their own.
func begun(changes, days float64) customs {
	h := fnv.New32a()
	w := writer{}
	w.uint32(Mark())
	w.number(changes)
	w.number(days)
	h.Write(w)
	return customs{era: h.Sum32()}
}

// saying is what a host adds to each theory.
func saying(told *[habits]int16) (more [theories]float64) {
	var odds [habits + 1]float64
	for i, x := range told {
		odds[i] = math.Exp(float64(x) * oddsStep)
		odds[habits] += odds[i] / habits
	}
	for i := range more {
		more[i] = math.Log1p(sharesTried[i/(habits+1)].share * (odds[i%(habits+1)] - 1))
	}
	return more
}

// without is how likely each habit is for a host, by what was seen of the others.
func (c *customs) without(host *rhythm) (prior [habits]float64) {
	own := c.sayingOf(host)
	top := math.Inf(-1)
	for i := range c.said {
		top = max(top, c.said[i]-own[i])
	}
	var sum float64
	for i := range c.said {
		tried, habit := sharesTried[i/(habits+1)], i%(habits+1)
		likely := tried.likely * math.Exp(c.said[i]-own[i]-top)
		if habit < habits {
			likely *= oneHabit / habits
			prior[habit] += likely * tried.share
		} else {
			likely *= 1 - oneHabit
			for h := range prior {
				prior[h] += likely * tried.share / habits
			}
		}
		sum += likely
	}
	for h := range prior {
		prior[h] /= sum
	}
	return prior
}
