package report

import (
	"fmt"
	"slices"

	"recrawld/models"
)

// Oddity is a kind of what is unusual of a site.
type Oddity string

// The kinds of what is unusual.
const (
	Failing   Oddity = "failing"   // most visits fail, which hardly any did before, or none has succeeded for longer than ever
	Vanishing Oddity = "vanishing" // many of the pages are lost at once (FindVanishing)
	Overhaul  Oddity = "overhaul"  // nearly every visit finds a change, which few did before
	Quiet     Oddity = "quiet"     // no visit has found a change for longer than ever

	Variants    Oddity = "variants"   // much of what is visited is the same once more, by another address (FindVariants)
	Backlog     Oddity = "backlog"    // new pages wait for their first visit, and will for months (FindBacklog)
	Requisites  Oddity = "requisites" // there are so many that no new ones are kept (FindFull)
	MissesLevel Oddity = "slo"        // the service level that it is promised is missed (Level.FindMissed)
)

// Oddities are all kinds.
func Oddities() []Oddity {
	return []Oddity{Failing, Vanishing, Overhaul, Quiet, Variants, Backlog, Requisites, MissesLevel}
}

// Unusual is what is unusual of a site, in words for a person.
type Unusual struct {
	Site  int32  `json:"site_id"`
	Kind  Oddity `json:"kind"`
	Words string `json:"words"`
}

// UnusualDays is how many days back FindUnusual looks, the present one included.
const UnusualDays = 120

// How much a site must have been visited before a part of its visits says anything, and how long is lately and before.
const (
	oddVisits  = 20
	lately     = 2  // days, the present one, which is not over, among them
	beforeThat = 28 // days
)

// FindUnusual looks for what is unusual of a site in its daily sums: those of the last UnusualDays, in any order, where a day without
// visits has none. What happened before is what is usual, so of a young site nothing is said. One that failed when was looked before, and
// answered no visit since, fails still, however long ago it answered: nothing else says of a host that is gone for good that it is. What FindVanishing
// finds is not among it.
func FindUnusual(days []models.Daily, today int32, failed bool) []Unusual {
	days = upTo(today, days)
	var all []Unusual
	for _, look := range []func([]models.Daily, int32) (Oddity, string){share, unanswered, quiet} {
		kind, words := look(days, today)
		if kind != "" && !slices.ContainsFunc(all, func(u Unusual) bool { return u.Kind == kind }) {
			all = append(all, Unusual{Site: days[0].SiteID, Kind: kind, Words: words})
		}
	}
	if words := stillFails(days); failed && words != "" && !slices.ContainsFunc(all, func(u Unusual) bool { return u.Kind == Failing }) {
		all = append(all, Unusual{Site: days[0].SiteID, Kind: Failing, Words: words})
	}
	return all
}

// upTo is the last UnusualDays of days, the oldest first.
func upTo(today int32, days []models.Daily) []models.Daily {
	days = slices.DeleteFunc(slices.Clone(days), func(d models.Daily) bool { return d.Day > today || d.Day <= today-UnusualDays })
	slices.SortFunc(days, func(a, b models.Daily) int { return int(a.Day - b.Day) })
	return days
}

// shares are the parts of the visits that are looked at, the gravest first: unusual is at least so much lately where it was at most so
// much before. Of changes those visits are asked that could find one: a first copy is none, and what is not there has none.
var shares = []struct {
	kind          Oddity
	what          string
	of, among     func(d *models.Daily) int64
	lately, usual float64
}{
	{Failing, "failed", func(d *models.Daily) int64 { return d.Failed }, func(d *models.Daily) int64 { return d.Asked }, 0.5, 0.1},
	{Overhaul, "found a change", func(d *models.Daily) int64 { return d.Changed },
		func(d *models.Daily) int64 { return d.Asked - d.First - d.Gone }, 0.8, 0.3},
}

// share tells whether a part of the visits is much larger lately than it was before that began.
func share(days []models.Daily, today int32) (Oddity, string) {
	for _, s := range shares {
		over := func(limit float64) func(models.Daily) bool {
			return func(d models.Daily) bool { return float64(s.of(&d)) >= limit*float64(s.among(&d)) }
		}
		now := sumOf(days, today-lately, today)
		if s.among(&now) < oddVisits || !over(s.lately)(now) {
			continue
		}
		began := today - lately // the last day before; today alone says nothing while it is young
		for i := len(days) - 1; i >= 0 && (days[i].Day > today-lately || over(s.usual)(days[i])); i-- {
			began = min(began, days[i].Day-1)
		}
		before := sumOf(days, began-beforeThat, began)
		if s.among(&before) < oddVisits || over(s.usual)(before) {
			continue
		}
		return s.kind, fmt.Sprintf("%s of %s since yesterday %s, %s in the %d days before %s", Share(s.of(&now), s.among(&now)),
			Plural(s.among(&now), "visit"), s.what, Share(s.of(&before), s.among(&before)), beforeThat, DayOf(began+1).Format("2 January"))
	}
	return "", ""
}

// MostlyFails tells in words whether most of the visits to a site failed lately, by its daily sums in any order; "": no, or there were too few.
// It needs nothing of before, so it says of a young site what FindUnusual cannot.
func MostlyFails(days []models.Daily, today int32) string {
	now := sumOf(days, today-lately, today)
	if now.Asked < oddVisits || 2*now.Failed < now.Asked {
		return ""
	}
	return fmt.Sprintf("%s of %s since yesterday failed", Share(now.Failed, now.Asked), Plural(now.Asked, "visit"))
}

// sumOf adds up the days after one up to another.
func sumOf(days []models.Daily, after, last int32) (sum models.Daily) {
	for _, d := range days {
		if d.Day > after && d.Day <= last {
			sum = sum.Plus(d)
		}
	}
	return sum
}

// The stretch without something that is unusual: quietTimes as long as the longest before, where it was met with on so many days.
// Of stretches that are as long as those of a Poisson process, the next is so long with a chance of 2/((n+1)(n+2)) after n others:
// 0.8 % after quietDays and 0.05 % after 60.
const (
	quietDays  = 14
	quietTimes = 2
)

// stretch is a time without something.
type stretch struct {
	days   int32
	visits int64 // in vain
}

// stretches are the one that lasts and the longest before it. They are unusual as far as the days go, or have no length at all.
func stretches(days []models.Daily, today int32, met func(*models.Daily) bool, vain func(*models.Daily) int64) (now, longest stretch, last int32) {
	times := 0
	for i := range days {
		d := &days[i]
		if !met(d) {
			now.visits += vain(d)
			continue
		}
		if times++; times > 1 {
			longest.days, longest.visits = max(longest.days, d.Day-last), max(longest.visits, now.visits)
		}
		now, last = stretch{}, d.Day
	}
	if now.days = today - last; times <= quietDays || now.days <= quietTimes*longest.days {
		return stretch{}, stretch{}, 0
	}
	return now, longest, last
}

// unanswered tells whether no visit has succeeded for longer than ever. A host that does not answer is hardly asked, so visits that
// fail are soon too few for share, and of a name that is gone there is one a week.
func unanswered(days []models.Daily, today int32) (Oddity, string) {
	now, longest, last := stretches(days, today, func(d *models.Daily) bool { return d.Asked > d.Failed },
		func(d *models.Daily) int64 { return d.Failed })
	if now.visits <= longest.visits {
		return "", ""
	}
	return Failing, fmt.Sprintf("no visit has succeeded since %s and %s failed, where %s was the longest between two that did",
		DayOf(last).Format("2 January"), Plural(now.visits, "visit"), Plural(int64(longest.days), "day"))
}

// stillFails tells in words whether no visit of the last days has succeeded; "": one has, or there was none.
func stillFails(days []models.Daily) string {
	failed, since := int64(0), fmt.Sprintf("in %d days", UnusualDays)
	for _, d := range slices.Backward(days) {
		if d.Asked > d.Failed {
			since = "since " + DayOf(d.Day).Format("2 January")
			break
		}
		failed += d.Failed
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("no visit has succeeded %s and %s failed", since, Plural(failed, "visit"))
}

// quiet tells whether there has been no change for longer than ever. Where visits became rare the time alone says nothing, and the
// visits alone say nothing where they became frequent.
func quiet(days []models.Daily, today int32) (Oddity, string) {
	now, longest, last := stretches(days, today, func(d *models.Daily) bool { return d.Changed > 0 },
		func(d *models.Daily) int64 { return d.Asked - d.Failed })
	if now.visits <= quietTimes*max(longest.visits, 1) {
		return "", ""
	}
	return Quiet, fmt.Sprintf("no change in %s and %s, where none took longer than %s in the %s before", Plural(int64(now.days), "day"),
		Plural(now.visits, "visit"), Plural(int64(longest.days), "day"), Plural(int64(last-days[0].Day)+1, "day"))
}
