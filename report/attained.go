package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"recrawld/config"
	"recrawld/scheduler/slo"
)

// Attainment is what was attained of a service level over a time.
type Attainment struct {
	Goal      config.Goal
	From, Now time.Time // measured from one to the other
	Missed    slo.Missed
	Share     slo.Attained // where no change was found, of all
}

// Over is what was attained since a moment, in whole days, by a site of so many pages with a copy.
func (l Level) Over(since, now time.Time, pages int64) Attainment {
	from := later(DayOf(DayNumber(since)), later(l.Since.Time(), DayOf(DayNumber(now)-LevelDays+1)))
	a := Attainment{Goal: l.Goal, From: from, Now: now}
	for _, d := range l.Days {
		if d.Day >= DayNumber(from) && d.Day <= DayNumber(now) {
			a.Missed = a.Missed.Plus(d.Missed)
		}
	}
	all := a.Missed.Expected
	if l.Goal.Fresh() {
		all = float64(pages) * now.Sub(from).Hours() / 24
	}
	a.Share = a.Missed.Attained(all)
	return a
}

// Used is the part of the error budget that is used; more than 1: the promise is broken.
func (a Attainment) Used() float64 { return a.Share.BudgetUsed(a.Goal.Share) }

// Broken tells whether the error budget is used up, of enough changes to say so.
func (a Attainment) Broken() bool { return a.Missed.Changes >= oddVisits && a.Used() > 1 }

// A promise that was broken is kept again where a twentieth of the error budget is left: one that is just kept would be broken
// and kept by turns else.
const budgetRegained = 0.95

// FindMissed tells whether a service level is missed over LevelDays, of which there are enough changes to say so, given
// whether it was before.
func (l Level) FindMissed(now time.Time, pages int64, was bool) (Unusual, bool) {
	a := l.Over(time.Time{}, now, pages)
	if still := was && a.Missed.Changes >= oddVisits && a.Used() > budgetRegained; !a.Broken() && !still {
		return Unusual{}, false
	}
	return Unusual{Site: l.Site, Kind: MissesLevel, Words: a.Words()}, true
}

// days is over how many it was measured, the present one among them.
func (a Attainment) days() int32 { return DayNumber(a.Now) - DayNumber(a.From) + 1 }

// Words is "97.2 % of 1,204 changes seen within 6h in 30 days, 95 % promised; 44 % of the error budget left".
func (a Attainment) Words() string {
	what := "of the pages fresh"
	if !a.Goal.Fresh() {
		what = fmt.Sprintf("of %s seen within %s", Plural(a.Missed.Changes, "change"), config.FormatDuration(a.Goal.Within))
	}
	budget := percent(1-a.Used()) + " of the error budget left"
	if a.Used() > 1 {
		budget = fmt.Sprintf("%s times the error budget used", strconv.FormatFloat(a.Used(), 'f', 1, 64))
	}
	return fmt.Sprintf("%s %s in %s, %s promised; %s", percent(a.Share.Likely), what, Plural(a.days(), "day"), percent(a.Goal.Share), budget)
}

// percent writes a share with the digits that it takes, rounded down: "95 %", "94.9 %", "99.98 %".
func percent(share float64) string {
	scale := 10.0
	if share > 0.99 {
		scale = 100
	}
	return strconv.FormatFloat(math.Floor(share*100*scale+1e-6)/scale, 'f', -1, 64) + " %"
}
