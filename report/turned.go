package report

import (
	"cmp"
	"slices"

	"recrawld/models"
)

// eachLook is for how many days a look stands, on average.
func eachLook(d models.Daily) float64 {
	return float64(d.FoundDays+d.LostDays) / float64(max(d.Found+d.Lost, 1))
}

// turned tells whether a site's pages came and went in the days after one, up to another: as many were found after that day, and then lost,
// as there are on average, and others came for them, at least half as many. A page that was last looked at before may have been lost with all
// others at once. Those that came before any was lost came for none.
// It is how many times they did, 0 where that is less than once.
func turned(days []models.Daily, after, to int32) (times float64) {
	var later, lost, came int64
	for _, d := range days {
		if d.Day <= after || d.Day > to {
			continue
		}
		if lost > 0 {
			came += d.First
		}
		if lost += d.Lost; d.Lost > 0 && d.LostDays <= int64(d.Day-after)*d.Lost {
			later += d.Lost
		}
	}
	all := sumOf(days, after, to)
	there := float64(all.FoundDays) / float64(max(to-max(after, to-UnusualDays), 1))
	if later < models.VanishPages || float64(later) < there || 2*came < lost {
		return 0
	}
	return float64(later) / max(there, 1)
}

// asEver tells whether the pages of a guarded site have come and gone since it is, so that no part of what was lost by now, from
// models.VanishDays before the guard began, is more than is usual there as far as that is known without the last days, or it would have gone by now (models.HeldTurns,
// and what is longer ago than the daily sums).
func (g Guard) asEver(days []models.Daily, today int32) bool {
	if turned(days, g.Since, today) == 0 {
		return false
	}
	since := g.Since
	g.Since = 0
	perDay := lossPerDay(days, today, g)
	for last, d := range days {
		if d.Day <= since-models.VanishDays {
			continue
		}
		sum := models.Daily{}
		for first := last; first >= 0 && days[first].Day > d.Day-models.VanishDays; first-- {
			sum = sum.Plus(days[first])
			if _, is := g.tooMany(sum, d.Day-days[first].Day+1, perDay); is && !wouldHaveGone(days, d.Day, today) {
				return false
			}
		}
	}
	return true
}

// wouldHaveGone tells whether what was lost by a day would have gone since then as a rule.
func wouldHaveGone(days []models.Daily, by, today int32) bool {
	return today-by >= models.HeldDays && turned(days, by, today) >= models.HeldTurns
}

// waves is how many batches must have gone for one of their size to be usual, and wavesApart how many days lie between them at least.
const (
	waves      = 3
	wavesApart = 5
)

// wave is some days in which pages were lost, and the share that is lost in a day as a rule by which that is as ever.
type wave struct {
	first, last int32
	perDay      float64
}

// apart tells whether it is another one.
func (w wave) apart(o wave) bool { return w.first-o.last >= wavesApart || o.first-w.last >= wavesApart }

// atOnce is the share that is lost in a day as a rule by which such batches as have gone since a day are as ever: those of the third largest, or
// of half as many again.
func (g Guard) atOnce(days []models.Daily, after int32) float64 {
	var all, largest []wave
	for last, d := range days {
		sum := models.Daily{}
		for first := last; first >= 0 && days[first].Day > max(d.Day-models.VanishDays, after); first-- {
			over := d.Day - days[first].Day + 1
			if sum = sum.Plus(days[first]); sum.Lost >= models.VanishPages {
				perDay := models.UsualAtOnce(g.lostShare(sum, over), max(float64(over), eachLook(sum)))
				all = append(all, wave{days[first].Day, d.Day, perDay})
			}
		}
	}
	slices.SortFunc(all, func(a, b wave) int { return cmp.Compare(b.perDay, a.perDay) })
	for _, w := range all {
		if !slices.ContainsFunc(largest, func(o wave) bool { return !w.apart(o) }) {
			largest = append(largest, w)
		}
		if len(largest) == waves {
			return w.perDay
		}
	}
	return 0
}
