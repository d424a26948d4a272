package models

import (
	"context"
	"strings"
)

// millisADay divides an Instant into days.
const millisADay = 24 * 60 * 60 * 1000

// DayOf is the day of a moment: days since 1970-01-01 UTC.
func DayOf(at Instant) int32 {
	day := at / millisADay
	if at < 0 && at%millisADay != 0 {
		day--
	}
	return int32(day)
}

// Counts tells whether a result is of a turn, and so of some day: a page that was put off had none.
func (r *Result) Counts() bool { return r.Visit.At != 0 || r.Visit.Kind != 0 }

// Count adds a result to the sums of its day, site and bucket.
func (d *Daily) Count(r *Result) {
	kind := r.Visit.Kind
	if kind.Asked() {
		d.Asked++
	}
	if r.Robots != nil || kind == Probed {
		d.Robots++
	}
	switch kind {
	case NotModified:
		d.NotModified++
		d.BytesSaved += r.Page.Bytes
	case SameBytes, SameText, Noise:
		d.Same++
	case Changed:
		d.Changed++
	case First:
		d.First++
	case Moved:
		d.Moved++
	case Missing, Gone:
		d.Gone++
	case Failed:
		d.Failed++
	case Skipped:
		d.Skipped++
	}
	d.Bytes += r.Visit.Bytes
	d.look(r)
}

// look counts a page that there is a copy of, unless it is a requisite, of which a site has others with each release: where it is found for the first time of a day or since it was missing, and where it is lost.
// That it is missing still counts no more, or those few that are lost would seem to be as many as the visits that confirm it.
func (d *Daily) look(r *Result) {
	before, kind := r.Before, r.Visit.Kind
	if before == nil || before.Requisite || before.Version == 0 && kind != First {
		return
	}
	was := before.State == StateMissing || before.State == StateGone
	days := LookDays(before.Stats.VisitedAt, r.Visit.At)
	again := before.Stats.VisitedAt != 0 && DayOf(r.Visit.At) == DayOf(before.Stats.VisitedAt)
	switch {
	case kind.Observed() && (was || !again):
		d.Found, d.FoundDays = d.Found+1, d.FoundDays+days
	case r.Lost() && !was:
		d.Lost, d.LostDays = d.Lost+1, d.LostDays+days
	}
}

// LookDays is for how many days a look at a page stands, given when it was last looked at (0: never): 1 to LookedDays.
func LookDays(last, now Instant) int64 {
	if last == 0 {
		return 1
	}
	return min(max(int64(DayOf(now)-DayOf(last)), 1), LookedDays)
}

// LookedDays is the longest for which one look at a page stands (Daily.FoundDays): in a year a page is looked at.
const LookedDays = 365

// Lost tells whether the visit did not find the page: it answers so, or leads where others of its host do as well, and that does not yet
// count as where it is.
func (r *Result) Lost() bool {
	kind := r.Visit.Kind
	return kind == Missing || kind == Gone || kind == Moved && r.Page.State == StateMissing
}

// writeDaily adds the results to the daily sums.
func (c *commit) writeDaily(ctx context.Context) error {
	sums := make(map[rowKey]*Daily) // by site and day within a bucket, in the order of the primary key
	for _, r := range c.fresh {
		if !r.Counts() {
			continue
		}
		day, site := DayOf(r.Visit.At), r.Page.SiteID
		at := rowKey{r.Lease.Bucket, int64(site)<<32 | int64(uint32(day))}
		if sums[at] == nil {
			sums[at] = &Daily{Bucket: r.Lease.Bucket, SiteID: site, Day: day}
		}
		sums[at].Count(r)
	}
	rows := make([]Daily, 0, len(sums))
	for _, d := range byRowKey(sums) {
		rows = append(rows, *d)
	}
	return dailyTable.add(ctx, c.tx, rows, addDaily())
}

// addDaily is the clause that adds to a row that exists.
func addDaily() string {
	var sets []string
	for _, name := range strings.Fields(dailyTable.columns)[dailyTable.key:] {
		sets = append(sets, name+" = daily."+name+" + excluded."+name)
	}
	return " ON CONFLICT (bucket, site_id, day) DO UPDATE SET " + strings.Join(sets, ", ")
}
