package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
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
			g.Missing += c.Pages - c.Requisites
		case models.StateLive, models.StateMoved:
			g.There += c.Pages - c.Requisites
		}
		if known {
			guards[c.SiteID] = g
		}
	}
	return guards, nil
}

// siteGuards is what the planner knows of the sites of rows whose pages are lost at once, or some usually.
func (f *inForce) siteGuards() map[int32]scheduler.SiteGuard {
	guards := make(map[int32]scheduler.SiteGuard)
	for _, row := range f.rows {
		if g := (scheduler.SiteGuard{Held: f.guarded(row), ApprovedAt: row.ApprovedAt, LossPerDay: float64(row.LossPerDay)}); g != (scheduler.SiteGuard{}) {
			guards[row.ID] = g
		}
	}
	return guards
}

// guarded tells whether no page of a site counts as gone.
func (f *inForce) guarded(row models.Site) bool {
	return row.GuardedAt != 0 && f.sites[row.ID].site.Settings.GoneGuard > 0
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

// guard begins to guard those of these sites whose pages vanish, and ends it for the others; and it notes what is usual there, by which their
// hosts are guarded.
func (d *daemon) guard(ctx context.Context, rows []models.Site, found findings, now time.Time) error {
	force := d.force.Load()
	for _, row := range rows {
		settings, _ := force.site(row.ID)
		is, was, perDay := found.vanishing[row.ID] && settings.Settings.GoneGuard > 0, row.GuardedAt != 0, noted(found.usual[row.ID])
		if was == is && perDay == row.LossPerDay {
			continue
		}
		since := row.GuardedAt
		switch {
		case is && !was:
			since = models.At(now)
		case !is:
			since = 0
		}
		if err := d.store.SetGuarded(ctx, row.ID, since, perDay); err != nil && !errors.Is(err, models.ErrNotFound) { // else it was removed just now
			return err
		}
	}
	return nil
}

// noted is the share of a site's pages that is usually lost in a day, as its row has it: to one digit, because each change is a new
// configuration for all workers, and 0 where a fortnight of it is none that anybody guards against.
func noted(perDay float64) float32 {
	if perDay*models.VanishTimes*models.VanishDays < 0.05 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(perDay)))
	return float32(math.Ceil(perDay/unit) * unit)
}

// mostGuarded is how many guarded hosts are looked at: of more of them nobody reads.
const mostGuarded = 200

// findGuardedHosts finds hosts that are guarded by themselves, and says so of their sites, but for those that are guarded as a whole.
func (d *daemon) findGuardedHosts(ctx context.Context, rows []models.Site, found *findings) error {
	hosts, err := d.store.GuardedHosts(ctx, mostGuarded)
	if err != nil {
		return err
	}
	names, bySite := siteNames(rows), map[int32][]models.GuardedHost{}
	for _, h := range hosts {
		if !found.vanishing[h.SiteID] {
			bySite[h.SiteID] = append(bySite[h.SiteID], h)
		}
	}
	for _, row := range rows {
		if hosts := bySite[row.ID]; len(hosts) > 0 {
			found.Sites = append(found.Sites, report.Unusual{Site: row.ID, Kind: report.Vanishing, Words: hostWords(hosts) +
				fmt.Sprintf("; none of such a host counts as gone until they are back, or are seen to come and go as a rule, or until you say: recrawld approve %s", names[row.ID])})
		}
	}
	return nil
}

// hostWords says how the guarded hosts of a site are: the one that lost most, and how many there are beside it.
func hostWords(hosts []models.GuardedHost) string {
	worst := slices.MaxFunc(hosts, func(a, b models.GuardedHost) int { return cmp.Compare(a.Trials.Losses.Lost, b.Trials.Losses.Lost) })
	l := worst.Trials.Losses
	words := fmt.Sprintf("%s of %s not found any more since %s, %.0f %% of those looked at", report.Plural(int64(l.Lost), "page"), worst.Name,
		l.Since.Time().Format("2 January"), 100*l.Share())
	if more := len(hosts) - 1; more > 0 {
		words += fmt.Sprintf(", and %s likewise", report.Plural(more, "other host"))
	}
	return words
}

// heldWords says what becomes of the pages of a guarded site.
func (f *inForce) heldWords(now time.Time, site int32) string {
	row := f.row(site)
	if row.ApprovedAt < row.GuardedAt {
		return fmt.Sprintf("; none counts as gone until they are back, or are seen to come and go as a rule, or until you say: recrawld approve %s", row.Name)
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
	return g.withSites(ctx, whichSites{Site: c.Site}, func(store *models.Store, sites []models.Site) error {
		site := sites[0]
		clk, err := clockOf(ctx, store)
		if err != nil {
			return err
		}
		held, guarded, err := store.Approve(ctx, site.ID, clk.Now())
		if err != nil {
			return err
		}
		words := fmt.Sprintf("%s: %s held back, each is gone if it is not found once more; what goes missing from now on is held back again",
			site.Name, report.Plural(held, "page"))
		switch {
		case held == 0 && !guarded:
			words = fmt.Sprintf("nothing of %s is held back", site.Name)
		case held == 0:
			words = site.Name + ": nothing is held back yet; what is missing by now is gone once that is confirmed"
		}
		return g.answer(struct {
			Site    string `json:"site"`
			Guarded bool   `json:"guarded"` // nothing of it counted as gone
			Held    int    `json:"held"`    // pages that were held back, each of which is gone if it is not found once more
		}{site.Name, guarded, held}, words)
	})
}
