package report

import (
	"cmp"
	"fmt"

	"recrawld/models"
)

// calmDays is by how many days at least it is seen that pages are back.
const calmDays = 7

// Guard is what FindVanishing goes by beside the daily sums of a site.
type Guard struct {
	Site           int32
	Share          float64 // how large a part is too many, in (0, 1]
	Since          int32   // the day since when too many are lost; 0: they are not
	Approved       int32   // the last day when somebody approved of what was lost; 0: nobody has
	Missing, There int64   // how many of its pages, requisites left out, are missing at present, and how many are there
}

// FindVanishing tells whether so many of a site's pages are lost at once that it is more likely a mistake than what the site wants, by
// its daily sums (as for FindUnusual). It begins where that is so of some days (lostShare, models.LossLimit), as long as it is so of half as many in the last
// days in which oddVisits were looked at, or of all pages. It is over where of those looked at since it began, in the last calmDays at
// least, fewer than half as many were lost, and fewer of all pages are missing: a page that is held back may not have been looked at for
// long. A site that is hardly visited any more stays as it is while anything is missing, and for calmDays unless somebody approved. What
// was approved of is usual from then on.
//
// It is over, too, where the pages come and go as a rule, and by what is known of that by now it would not have begun (asEver).
func FindVanishing(days []models.Daily, today int32, g Guard) (Unusual, bool) {
	days = upTo(today, days)
	perDay := lossPerDay(days, today, g)
	if g.Since != 0 && g.asEver(days, today) {
		return Unusual{}, false
	}
	if g.Since != 0 {
		lately, over := latelyLooked(days, today, max(today-calmDays+1, g.Since), g.Since)
		young := today-g.Since < calmDays && g.Approved < g.Since
		few := lately.Found+lately.Lost < oddVisits && (g.Missing > 0 || young)
		return g.unusual(g.words()), few || g.goesOn(lately, over, perDay)
	}
	earliest := max(today-models.VanishDays, g.Approved) + 1
	lately, over := latelyLooked(days, today, today, earliest)
	goesOn := g.goesOn(lately, over, perDay)
	for first := today; goesOn && first >= earliest; first-- {
		now, over := sumOf(days, first-1, today), today-first+1
		if share, is := g.tooMany(now, over, perDay); is {
			return g.unusual(vanishing(share, now, first, meanLoss(days, today, g))), true
		}
	}
	return Unusual{}, false
}

// LossPerDay is the share of a site's pages that was lost in a day as a rule, before its pages vanished if they do; where they come and go in
// batches that by which a batch is as ever (models.UsualAtOnce).
func LossPerDay(days []models.Daily, today int32, g Guard) float64 {
	return lossPerDay(upTo(today, days), today, g)
}

func lossPerDay(days []models.Daily, today int32, g Guard) float64 {
	perDay := meanLoss(days, today, g)
	if g.Since != 0 && turned(days, g.Since, today) > 0 {
		g.Since = 0 // what was lost since is as ever, too
		return max(perDay, lossPerDay(days, today, g))
	}
	if from := max(today-UnusualDays, g.Approved); g.Since == 0 && turned(days, from, today-models.VanishDays) > 0 {
		perDay = max(perDay, g.atOnce(days, from))
	}
	return perDay
}

// meanLoss is how many were lost for each day that a page was watched, which is what all looks stand for together.
func meanLoss(days []models.Daily, today int32, g Guard) float64 {
	usual := sumOf(days, today-UnusualDays, max(cmp.Or(g.Since, today)-models.VanishDays, g.Approved))
	if usual.Found+usual.Lost < models.VanishPages {
		return 0
	}
	return float64(usual.Lost) / float64(max(usual.FoundDays+usual.LostDays, 1))
}

// limit is how large a share of its pages is too many in so many days.
func (g Guard) limit(perDay float64, days int32) float64 {
	return models.LossLimit(g.Share, perDay, float64(days))
}

// tooMany tells whether too many pages were lost in so many days, and which share. Those that were not looked at for longer had as long to be
// lost, where any are as a rule.
func (g Guard) tooMany(d models.Daily, over int32, perDay float64) (share float64, is bool) {
	share = g.lostShare(d, over)
	return share, d.Lost >= models.VanishPages && share >= models.LossLimit(g.Share, perDay, max(float64(over), eachLook(d)))
}

// goesOn tells whether half as many are lost as it takes to begin, of those looked at lately or of all.
func (g Guard) goesOn(lately models.Daily, days int32, perDay float64) bool {
	return g.lostShare(lately, days) >= g.limit(perDay, days)/2 || g.missingShare() >= g.limit(perDay, 1)/2
}

// latelyLooked is the days from one on up to today, and the earlier ones in which oddVisits were looked at: models.VanishDays at most, and none
// before the earliest; and how many days these are.
func latelyLooked(days []models.Daily, today, from, earliest int32) (sum models.Daily, over int32) {
	for first := from; ; first-- {
		if sum = sumOf(days, first-1, today); sum.Found+sum.Lost >= oddVisits || first <= max(today-models.VanishDays+1, earliest) {
			return sum, today - first + 1
		}
	}
}

// lostShare is the share of a site's pages that is lost, by those looked at in some days; 0 where these are too few to say. Each page counts
// once, however often it was looked at: a look stands for the days since the one before, so the looks of so many days stand for as many
// times the pages (Horvitz and Thompson 1952: each is weighed by one over its chance to be among them). What they stand for beside the
// pages that were looked at themselves is no more than there are others.
func (g Guard) lostShare(d models.Daily, days int32) float64 {
	if d.Found+d.Lost < models.VanishPages {
		return 0
	}
	stands := float64(d.FoundDays) / float64(days)
	found, lost := min(float64(d.Found), stands), float64(d.Lost)
	moreFound, moreLost := stands-found, max(float64(d.LostDays)/float64(days)-lost, 0)
	others := max(float64(g.Missing+g.There)-found-lost, 0)
	part := min(1, others/max(moreFound+moreLost, 1))
	return (lost + part*moreLost) / (found + lost + part*(moreFound+moreLost))
}

// missingShare is the share of its pages that are missing.
func (g Guard) missingShare() float64 { return float64(g.Missing) / float64(max(g.Missing+g.There, 1)) }

// words say how a site is that is guarded.
func (g Guard) words() string {
	if g.Missing == 0 {
		return fmt.Sprintf("many were lost at once on %s, and though none of %s is missing now, too many were by the looks of the last days",
			DayOf(g.Since).Format("2 January"), Plural(g.There, "page"))
	}
	return fmt.Sprintf("%s of %s is missing, after many were lost at once on %s", Share(g.Missing, g.Missing+g.There),
		Plural(g.Missing+g.There, "page"), DayOf(g.Since).Format("2 January"))
}

func (g Guard) unusual(words string) Unusual {
	return Unusual{Site: g.Site, Kind: Vanishing, Words: words}
}

// vanishing says what was lost of a site in the days from the first on.
func vanishing(share float64, now models.Daily, first int32, perDay float64) string {
	words := fmt.Sprintf("%s not found any more since %s, %.0f %% of the site by those looked at", Plural(now.Lost, "page"),
		DayOf(first).Format("2 January"), 100*share)
	if perDay > 0 {
		words += fmt.Sprintf("; usual is %.2g %% a day", 100*perDay)
	}
	return words
}
