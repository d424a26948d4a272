package report

import (
	"cmp"
	"fmt"

	"recrawld/models"
)

// A site's pages vanish where within some days, at most vanishDays of them, a share of the pages that were looked at is lost, and
// vanishPages at least: fewer are any editor's afternoon. Where pages come and go as ever, it takes vanishTimes the share that was usual
// before those days.
const (
	vanishDays  = 14
	vanishPages = 10
	vanishTimes = 3
	calmDays    = 7 // by so many days at least it is seen that they are back
)

// Guard is what FindVanishing goes by beside the daily sums of a site.
type Guard struct {
	Site           int32
	Share          float64 // how large a part is too many, in (0, 1]
	Since          int32   // the day since when too many are lost; 0: they are not
	Approved       int32   // the last day when somebody approved of what was lost; 0: nobody has
	Missing, There int64   // how many of its pages are missing at present, and how many are there
}

// FindVanishing tells whether so many of a site's pages are lost at once that it is more likely a mistake than what the site wants, by
// its daily sums (as for FindUnusual). It begins where that is so of some days, as long as it is so of half as many of the last oddVisits
// that were looked at, or of all pages. It is over where of those looked at since it began, in the last calmDays at least, fewer than half
// as many were lost, and fewer of all pages are missing: a page that is held back may not have been looked at for long. A site that is hardly
// visited any more stays as it is while anything is missing, and for calmDays unless somebody approved. What was approved of is usual from
// then on.
func FindVanishing(days []models.Daily, today int32, g Guard) (Unusual, bool) {
	days = upTo(today, days)
	usual := sumOf(days, today-UnusualDays, max(cmp.Or(g.Since, today)-vanishDays, g.Approved))
	limit := max(g.Share, vanishTimes*lostShare(usual))
	if g.Since != 0 {
		lately := latelyLooked(days, today, max(today-calmDays+1, g.Since), g.Since)
		young := today-g.Since < calmDays && g.Approved < g.Since
		few := lately.Found+lately.Lost < oddVisits && (g.Missing > 0 || young)
		return g.unusual(g.words()), few || lostShare(lately) >= limit/2 || g.missingShare() >= limit/2
	}
	earliest := max(today-vanishDays, g.Approved) + 1
	lately := latelyLooked(days, today, today, earliest)
	goesOn := lostShare(lately) >= limit/2 || g.missingShare() >= limit/2
	for first := today; goesOn && first >= earliest; first-- {
		if now := sumOf(days, first-1, today); now.Lost >= vanishPages && lostShare(now) >= limit {
			return g.unusual(vanishing(now, usual, first)), true
		}
	}
	return Unusual{}, false
}

// latelyLooked is the days from one on up to today, and the earlier ones in which oddVisits were looked at: vanishDays at most, and none
// before the earliest.
func latelyLooked(days []models.Daily, today, from, earliest int32) (sum models.Daily) {
	for first := from; ; first-- {
		if sum = sumOf(days, first-1, today); sum.Found+sum.Lost >= oddVisits || first <= max(today-vanishDays+1, earliest) {
			return sum
		}
	}
}

// missingShare is the share of its pages that are missing.
func (g Guard) missingShare() float64 { return float64(g.Missing) / float64(max(g.Missing+g.There, 1)) }

// words say how a site is that is guarded.
func (g Guard) words() string {
	return fmt.Sprintf("%s of %s is missing, after many were lost at once on %s", Share(g.Missing, g.Missing+g.There),
		Plural(g.Missing+g.There, "page"), DayOf(g.Since).Format("2 January"))
}

func (g Guard) unusual(words string) Unusual {
	return Unusual{Site: g.Site, Kind: Vanishing, Words: words}
}

// lostShare is the share of the pages that were looked at and are lost, 0 where these are too few to say.
func lostShare(d models.Daily) float64 {
	if d.Found+d.Lost < vanishPages {
		return 0
	}
	return float64(d.Lost) / float64(d.Found+d.Lost)
}

// vanishing says what was lost of a site in the days from the first on.
func vanishing(now, usual models.Daily, first int32) string {
	words := fmt.Sprintf("%s of %s looked at since %s is not found any more", Share(now.Lost, now.Found+now.Lost),
		Plural(now.Found+now.Lost, "page"), DayOf(first).Format("2 January"))
	if looks := usual.Found + usual.Lost; looks >= oddVisits {
		words += fmt.Sprintf(", %s before", Share(usual.Lost, looks))
	}
	return words
}
