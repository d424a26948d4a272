package main

import (
	"context"
	"slices"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/report"
)

const (
	// sampledEvery is how often a sample of the pages is looked at for variants and what waits, by the daemon's clock; sooner where twice as many were visited
	// since: of a site that was just added it is said while much of it is still to be visited.
	sampledEvery = 24 * time.Hour
	// sampledBreak is how far looks are apart at most, in real time, where the daemon's clock runs so fast that each finds more than a day gone.
	sampledBreak = 5 * time.Minute
	// sampledNote is the name of the note with what was found last; the first releases that looked found variants alone.
	sampledNote = "variants"
)

// sampledLook is what the note holds.
type sampledLook struct {
	At    models.Instant   `json:"at"`   // 0: nobody has looked
	Live  int64            `json:"live"` // pages that were visited and there
	Sites []report.Unusual `json:"sites"`

	// Filters are those that the sites in Sites had: with another one what was found is over, or is yet to be found again.
	Filters map[int32]string `json:"filters"`

	// Piled is since when each look found so many pages of a site waiting that they may be a backlog.
	Piled map[int32]models.Instant `json:"piled"`
}

// holds tells whether it holds of a site still.
func (v *sampledLook) holds(f *inForce, site int32) bool { return v.Filters[site] == f.filterOf(site) }

// filterOf is a site's filter as it is written.
func (f *inForce) filterOf(site int32) string {
	s, _ := f.site(site)
	return s.Settings.Filter.String()
}

// rests tells whether it is not time yet to look again.
func (v *sampledLook) rests(f *inForce, live int64, now time.Time) bool {
	return v.lookedWithin(sampledEvery, now) && live < max(2*v.Live, v.Live+1) &&
		!slices.ContainsFunc(v.Sites, func(u report.Unusual) bool { return !v.holds(f, u.Site) })
}

// lookedWithin tells whether somebody has looked since less than some time.
func (v *sampledLook) lookedWithin(some time.Duration, now time.Time) bool {
	return v.At != 0 && !tooFarAhead(v.At, now, unusualEvery/2) && now.Sub(v.At.Time()) < some
}

// lookAtSamples finds the sites much of whose pages say the same once more, or wait for their first visit for long, given what was unusual before. Once a day it looks; in between
// what was found then holds, by whichever worker.
func (d *daemon) lookAtSamples(ctx context.Context, before []report.Unusual, now time.Time) ([]report.Unusual, error) {
	note, err := d.store.Note(ctx, sampledNote)
	if err != nil {
		return nil, err
	}
	counts, err := d.store.PageCounts(ctx)
	if err != nil {
		return nil, err
	}
	live := int64(0)
	for _, c := range counts {
		if c.State == models.StateLive {
			live += c.Pages
		}
	}
	today := report.DayNumber(now)
	force, last := d.force.Load(), fromNote[sampledLook](note)
	if last.rests(force, live, now) {
		return last.Sites, nil
	}
	days, err := d.store.DailySums(ctx, 0, today-report.BacklogDays, today-1)
	if err != nil {
		return nil, err
	}
	pace := unhurried{began: clock.System{}.Now()}
	sites := force.sampledSites(counts, days, before)
	piled := last.piledUp(sites, now, max(2*sampledEvery, d.clock.Real(sampledBreak)))
	found, err := report.LookAtSamples(ctx, d.store, sites, pace.rest)
	if err != nil {
		return nil, err
	}
	look := sampledLook{At: models.At(now), Live: live, Sites: found, Filters: make(map[int32]string), Piled: piled}
	for _, u := range found {
		look.Filters[u.Site] = force.filterOf(u.Site)
	}
	return found, d.store.Merge(ctx, sampledNote, func([]byte) []byte { return toNote(look) })
}

// piledUp is since when the pages of each site have piled up, by what was so at the look before. A pace says nothing of those for which they have not
// for as long as it is of: what was found yesterday could not be visited before, nor anything by a daemon that stood still, which is so where nobody
// has looked for longer than a break.
func (v *sampledLook) piledUp(sites []report.SampledSite, now time.Time, pause time.Duration) map[int32]models.Instant {
	looked, piled := v.lookedWithin(pause, now), make(map[int32]models.Instant)
	for i := range sites {
		of := &sites[i]
		if of.First < 0 || !of.Piles() {
			continue
		}
		at, was := v.Piled[of.Site]
		if !was || !looked && !of.HadBacklog || at.Time().After(now) {
			at = models.At(now)
		}
		if piled[of.Site] = at; report.DayNumber(at.Time()) >= report.DayNumber(now)-report.BacklogDays {
			of.First = -1
		}
	}
	return piled
}

// sampledSites are the sites of whose pages a sample is looked at, by how many pages there are, by the sums of the days whose pace counts and by
// what was unusual before.
func (f *inForce) sampledSites(counts []models.SiteState, days []models.Daily, before []report.Unusual) []report.SampledSite {
	pages, waiting, visits := make(map[int32]int64), make(map[int32]int64), make(map[int32]models.Daily)
	for _, c := range counts {
		if c.State != models.StateGone && c.State != models.StateExcluded {
			pages[c.SiteID] += c.Pages - c.Requisites
		}
		if c.State == models.StateNew {
			waiting[c.SiteID] += c.Pages - c.Requisites
		}
	}
	for _, d := range days {
		visits[d.SiteID] = visits[d.SiteID].Plus(d)
	}
	var of []report.SampledSite
	for _, row := range f.rows {
		site, rules := f.site(row.ID)
		had := func(kind report.Oddity) bool {
			return slices.ContainsFunc(before, func(u report.Unusual) bool { return u.Site == row.ID && u.Kind == kind })
		}
		s := report.SampledSite{Site: row.ID, Pages: pages[row.ID], Filter: site.Settings.Filter, Keeps: func(url string) bool {
			u, err := canon.Parse(url)
			return err != nil || rules == nil || rules.Decide(u, 0).Keep
		}, Waiting: waiting[row.ID], First: mayBeFirst(visits[row.ID]), HadVariants: had(report.Variants), HadBacklog: had(report.Backlog)}
		if row.Paused {
			s.First = -1
		}
		of = append(of, s)
	}
	return of
}

// mayBeFirst is how many visits may have been the first to a page: of those that were led elsewhere or found nothing it is not known, so they are all
// taken for such. -1: most failed, which is told of as that.
func mayBeFirst(d models.Daily) int64 {
	if 2*d.Failed > d.Asked {
		return -1
	}
	return d.First + d.Moved + d.Gone
}

// filteredSince are the sites whose filter is another one than when variants were found in them: what is noted of them is over.
func (l *look) filteredSince(ctx context.Context) (func(site int32) bool, error) {
	note, err := l.store.Note(ctx, sampledNote)
	last := fromNote[sampledLook](note)
	return func(site int32) bool { return !last.holds(l.force, site) }, err
}
