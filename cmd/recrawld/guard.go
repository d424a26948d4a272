package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
)

// guards is what is known of the sites beside their daily sums, by which it shows whether their pages vanish.
func (d *daemon) guards(ctx context.Context, rows []models.Site) (map[int32]report.Guard, error) {
	counts, err := d.store.PageCounts(ctx)
	if err != nil {
		return nil, err
	}
	force, guards := d.force.Load(), make(map[int32]report.Guard, len(rows))
	for _, row := range rows {
		guards[row.ID] = report.Guard{Site: row.ID, Share: guardOf(force, row.ID), Since: models.DayOf(row.GuardedAt), Approved: models.DayOf(row.ApprovedAt)}
	}
	for _, c := range counts {
		g, known := guards[c.SiteID]
		switch c.State {
		case models.StateMissing:
			g.Missing += c.Pages
		case models.StateLive, models.StateMoved:
			g.There += c.Pages
		}
		if known {
			guards[c.SiteID] = g
		}
	}
	return guards, nil
}

// guarded are the sites of rows whose pages do not count as gone, and by when those were missing that do all the same.
func (f *inForce) guarded() map[int32]models.Instant {
	sites := make(map[int32]models.Instant)
	for _, row := range f.rows {
		if row.GuardedAt != 0 && f.sites[row.ID].site.Settings.GoneGuard > 0 {
			sites[row.ID] = row.ApprovedAt
		}
	}
	return sites
}

// guardOf is from which share of lost pages on a site's pages vanish; where its guard is off they are only told of.
func guardOf(force *inForce, site int32) float64 {
	settings, _ := force.site(site)
	if share := settings.Settings.GoneGuard; share > 0 {
		return share
	}
	return config.Default().Defaults.GoneGuard
}

// row is the row of a site that there is.
func (f *inForce) row(site int32) models.Site {
	return f.rows[slices.IndexFunc(f.rows, func(row models.Site) bool { return row.ID == site })]
}

// guard begins to guard those of these sites whose pages vanish, and ends it for the others.
func (d *daemon) guard(ctx context.Context, rows []models.Site, found []report.Unusual, now time.Time) error {
	force, vanishing := d.force.Load(), map[int32]bool{}
	for _, u := range found {
		vanishing[u.Site] = vanishing[u.Site] || u.Kind == report.Vanishing
	}
	for _, row := range rows {
		settings, _ := force.site(row.ID)
		is := vanishing[row.ID] && settings.Settings.GoneGuard > 0
		var since models.Instant
		if is {
			since = models.At(now)
		}
		if was := row.GuardedAt != 0; was == is {
			continue
		}
		if err := d.store.SetGuarded(ctx, row.ID, since); err != nil && !errors.Is(err, models.ErrNotFound) { // else it was removed just now
			return err
		}
	}
	return nil
}

// heldWords says what becomes of the pages of a guarded site.
func (f *inForce) heldWords(now time.Time, site int32) string {
	row := f.row(site)
	if row.ApprovedAt < row.GuardedAt {
		return fmt.Sprintf("; none counts as gone until they are back, or until you say: recrawld approve %s", row.Name)
	}
	return fmt.Sprintf("; what was missing by %s counts as gone, as you said, and nothing else until you say again: recrawld approve %s",
		report.Moment(now, row.ApprovedAt.Time()), row.Name)
}

// approveCmd lets those pages of a site count as gone that are missing.
type approveCmd struct {
	Site string `arg:"" help:"Name or start URL of the site."`
}

// Run implements the command.
func (c approveCmd) Run(ctx context.Context, g *globals) error {
	return g.withSites(ctx, c.Site, func(store *models.Store, sites []models.Site) error {
		site := sites[0]
		clk, err := clockOf(ctx, store)
		if err != nil {
			return err
		}
		held, err := store.Approve(ctx, site.ID, clk.Now())
		switch {
		case err != nil:
			return err
		case held == 0 && site.GuardedAt == 0:
			fmt.Fprintf(g.Stdout, "nothing of %s is held back\n", site.Name)
		case held == 0:
			fmt.Fprintf(g.Stdout, "%s: nothing is held back yet; what is missing by now is gone once that is confirmed\n", site.Name)
		default:
			fmt.Fprintf(g.Stdout, "%s: %s held back, each is gone if it is not found once more; what goes missing from now on is held back again\n",
				site.Name, report.Plural(held, "page"))
		}
		return nil
	})
}
