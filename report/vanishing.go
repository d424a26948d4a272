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
)

// FindVanishing tells whether so many of a site's pages are lost at once that it is more likely a mistake than what the site wants: in
// its daily sums (as for FindUnusual), where share, in (0, 1], is how large a part is too many. since is the day since when that has
// been so, and 0 where it has not. It is over, and does not begin, where of the last oddVisits that were looked at and the rest of their
// days fewer than half as many are lost. A site that is not visited any more stays as it is.
func FindVanishing(days []models.Daily, today int32, share float64, since int32) (Unusual, bool) {
	days = upTo(today, days)
	lately, first := latelyLooked(days, today)
	usual := sumOf(days, today-UnusualDays, cmp.Or(since, today)-vanishDays)
	limit := max(share, vanishTimes*lostShare(usual))
	goesOn := lostShare(lately) >= limit/2
	if since != 0 {
		return vanishing(lately, usual, first), goesOn || lately.Found+lately.Lost < oddVisits
	}
	for first := today; goesOn && first > today-vanishDays; first-- {
		if now := sumOf(days, first-1, today); now.Lost >= vanishPages && lostShare(now) >= limit {
			return vanishing(now, usual, first), true
		}
	}
	return Unusual{}, false
}

// latelyLooked is the last days in which oddVisits were looked at, vanishDays at most, and the first of them.
func latelyLooked(days []models.Daily, today int32) (sum models.Daily, first int32) {
	for first = today; ; first-- {
		if sum = sumOf(days, first-1, today); sum.Found+sum.Lost >= oddVisits || first <= today-vanishDays+1 {
			return sum, first
		}
	}
}

// lostShare is the share of the pages that were looked at and are lost, 0 where these are too few to say.
func lostShare(d models.Daily) float64 {
	if d.Found+d.Lost < vanishPages {
		return 0
	}
	return float64(d.Lost) / float64(d.Found+d.Lost)
}

// vanishing is that, in words, where first is the first day of now.
func vanishing(now, usual models.Daily, first int32) Unusual {
	if now.Found+now.Lost == 0 {
		return Unusual{Kind: Vanishing, Words: "many pages were not found, and none has been looked at since"}
	}
	words := fmt.Sprintf("%s of %s looked at since %s is not found any more", Share(now.Lost, now.Found+now.Lost),
		Plural(now.Found+now.Lost, "page"), DayOf(first).Format("2 January"))
	if looks := usual.Found + usual.Lost; looks >= oddVisits {
		words += fmt.Sprintf(", %s before", Share(usual.Lost, looks))
	}
	return Unusual{Site: now.SiteID, Kind: Vanishing, Words: words}
}
