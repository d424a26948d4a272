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
	// variantsEvery is how often a sample of the pages is looked at for variants, by the daemon's clock; sooner where twice as many were visited
	// since: of a site that was just added it is said while much of it is still to be visited.
	variantsEvery = 24 * time.Hour
	// variantsNote is the name of the note with what was found last.
	variantsNote = "variants"
)

// variantsLook is what the note holds.
type variantsLook struct {
	At    models.Instant   `json:"at"`   // 0: nobody has looked
	Live  int64            `json:"live"` // pages that were visited and there
	Sites []report.Unusual `json:"sites"`

	// Filters are those that the sites in Sites had: with another one what was found is over, or is yet to be found again.
	Filters map[int32]string `json:"filters"`
}

// holds tells whether it holds of a site still.
func (v *variantsLook) holds(f *inForce, site int32) bool { return v.Filters[site] == f.filterOf(site) }

// filterOf is a site's filter as it is written.
func (f *inForce) filterOf(site int32) string {
	s, _ := f.site(site)
	return s.Settings.Filter.String()
}

// rests tells whether it is not time yet to look again. What was looked at by a clock that was ahead is.
func (v *variantsLook) rests(f *inForce, live int64, now time.Time) bool {
	since := now.Sub(v.At.Time())
	return v.At != 0 && since >= 0 && since < variantsEvery && live < max(2*v.Live, v.Live+1) &&
		!slices.ContainsFunc(v.Sites, func(u report.Unusual) bool { return !v.holds(f, u.Site) })
}

// findVariants finds the sites much of whose pages say the same once more, given what was unusual before. Once a day it looks; in between
// what was found then holds, by whichever worker.
func (d *daemon) findVariants(ctx context.Context, before []report.Unusual, now time.Time) ([]report.Unusual, error) {
	note, err := d.store.Note(ctx, variantsNote)
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
	force, last := d.force.Load(), fromNote[variantsLook](note)
	if last.rests(force, live, now) {
		return last.Sites, nil
	}
	pace := unhurried{began: clock.System{}.Now()}
	found, err := report.LookForVariants(ctx, d.store, force.variantsOf(counts, before), pace.rest)
	if err != nil {
		return nil, err
	}
	look := variantsLook{At: models.At(now), Live: live, Sites: found, Filters: make(map[int32]string)}
	for _, u := range found {
		look.Filters[u.Site] = force.filterOf(u.Site)
	}
	return found, d.store.Merge(ctx, variantsNote, func([]byte) []byte { return toNote(look) })
}

// variantsOf are the sites in which variants are looked for, by how many pages there are and what was unusual before.
func (f *inForce) variantsOf(counts []models.SiteState, before []report.Unusual) []report.VariantsOf {
	pages := make(map[int32]int64)
	for _, c := range counts {
		if c.State != models.StateGone && c.State != models.StateExcluded {
			pages[c.SiteID] += c.Pages - c.Requisites
		}
	}
	var of []report.VariantsOf
	for _, row := range f.rows {
		site, rules := f.site(row.ID)
		keeps := func(url string) bool {
			u, err := canon.Parse(url)
			return err != nil || rules == nil || rules.Decide(u, 0).Keep
		}
		of = append(of, report.VariantsOf{Site: row.ID, Pages: pages[row.ID], Filter: site.Settings.Filter, Keeps: keeps,
			Was: slices.ContainsFunc(before, func(u report.Unusual) bool { return u.Site == row.ID && u.Kind == report.Variants })})
	}
	return of
}

// filteredSince are the sites whose filter is another one than when variants were found in them: what is noted of them is over.
func (l *look) filteredSince(ctx context.Context) (func(site int32) bool, error) {
	note, err := l.store.Note(ctx, variantsNote)
	last := fromNote[variantsLook](note)
	return func(site int32) bool { return !last.holds(l.force, site) }, err
}
