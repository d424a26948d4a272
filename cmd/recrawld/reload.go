package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
)

// listenForReload reads the configuration again at each SIGHUP until ctx ends.
func (d *daemon) listenForReload(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.hup:
		}
		d.notify.reloading()
		if err := d.reload(ctx); err != nil {
			d.log.Error("the configuration is not reloaded; the old one stays in force", "err", err)
			d.notify.ready("reload refused: " + firstLine(err) + "; the old configuration stays in force")
			continue
		}
		d.notify.ready(d.summary())
	}
}

// reload puts the file as it is now in force, all of it or nothing.
func (d *daemon) reload(ctx context.Context) error {
	base, origins, err := d.readBase()
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	rows, err := d.store.Sites(ctx)
	if err != nil {
		return err
	}
	if _, err := d.prepare(base, origins, rows); err != nil {
		return err
	}
	if err := syncSites(ctx, d.store, &base, d.clock.Now()); err != nil {
		return err
	}
	had := rows
	if rows, err = d.store.Sites(ctx); err != nil {
		return err
	}
	force, err := d.prepare(base, origins, rows)
	if err != nil {
		return err
	}
	before := d.force.Load()
	if err := d.putInForce(ctx, force); err != nil {
		return err
	}
	d.base, d.origins = base, origins
	if err := d.noteConfig(ctx); err != nil {
		d.log.Warn("commands do not learn what is in force", "err", err) // it is in force all the same
	}
	d.tell(config.Diff(&before.config, &d.force.Load().config))
	d.tellLeft(had, rows)
	return nil
}

// tellLeft warns of the sites that the configuration file had and has no more.
func (d *daemon) tellLeft(before, after []models.Site) {
	for _, site := range leftFile(before, after) {
		d.log.Warn("a site is not in the configuration any more and is visited under the defaults: recrawld remove forgets it", "site", site.Name)
	}
}

// leftFile are the sites that the configuration file had and has no more.
func leftFile(before, after []models.Site) []models.Site {
	var left []models.Site
	for _, row := range after {
		had := slices.ContainsFunc(before, func(b models.Site) bool { return b.ID == row.ID && b.FromFile })
		if had && !row.FromFile {
			left = append(left, row)
		}
	}
	return left
}

// learnSite tells whether a site is in force, and looks for it in the database where it is not.
func (d *daemon) learnSite(ctx context.Context, id int32) siteNews {
	if d.force.Load().refused[id] != nil {
		return siteRefused
	}
	if _, known := d.force.Load().sites[id]; known {
		return siteKnown
	}
	if err := d.followSites(ctx, d.clock.Now()); err != nil {
		d.log.Warn("a new site cannot be visited", "site", id, "err", err)
		return siteRefused
	}
	if _, known := d.force.Load().sites[id]; known {
		return siteNew
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.force.Load().refused[id] != nil || slices.ContainsFunc(d.refused, func(row models.Site) bool { return row.ID == id }) {
		return siteRefused
	}
	d.orphans.Store(id, true)
	return siteGone
}

// removeOrphans removes pages of sites that are gone: one that was removed while a visit was written, or a list was read, gets
// pages back, and they are found when their turn comes.
func (d *daemon) removeOrphans(ctx context.Context, now time.Time) error {
	var gone []int32
	d.orphans.Range(func(id, _ any) bool { gone = append(gone, id.(int32)); return true })
	if len(gone) == 0 {
		return nil
	}
	rows, err := d.store.Sites(ctx)
	if err != nil {
		return err
	}
	for _, id := range gone {
		d.orphans.Delete(id) // first: what comes to light meanwhile is removed the next time
		if slices.ContainsFunc(rows, func(row models.Site) bool { return row.ID == id }) {
			continue
		}
		if err := d.store.RemoveSite(ctx, id, now); err != nil && !errors.Is(err, models.ErrNotFound) {
			d.orphans.Store(id, true)
			return err
		}
		d.log.Info("pages that a removed site got back are removed", "site", id)
	}
	return nil
}

// followSites puts in force what commands changed in the database since.
func (d *daemon) followSites(ctx context.Context, _ time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	rows, err := d.store.Sites(ctx)
	before := d.force.Load()
	if err != nil || slices.Equal(rows, before.rows) || d.refused != nil && slices.Equal(rows, d.refused) {
		return err
	}
	force, err := d.prepare(d.base, d.origins, rows)
	if err != nil {
		d.refused = rows // said once, not every two seconds
	} else {
		err = d.putInForce(ctx, force)
	}
	if err != nil {
		return fmt.Errorf("sites of the database are not put in force: %w", err)
	}
	d.tellSites(before.rows, rows)
	return nil
}

// putInForce makes a prepared configuration the one that visits go by. The caller holds mu.
func (d *daemon) putInForce(ctx context.Context, force *inForce) error {
	if _, err := addStartPages(ctx, d.store, force, d.clock.Now()); err != nil {
		return err
	}
	if err := d.visitor.follow(&force.config); err != nil {
		return err
	}
	if force.broken != nil {
		d.log.Warn("a site of the database cannot be read and is visited under the defaults", "err", force.broken)
	}
	if before := d.force.Load(); len(force.refused) > len(before.refused) {
		for _, err := range force.refused {
			d.log.Warn("sites may not be visited", "sites", len(force.refused), "err", err)
			break // one says how to mend it for all
		}
	}
	d.disk.setMin(force.config.Worker.MinFree)
	d.force.Store(force)
	d.refused = nil
	d.worker.SetPlanner(force.planner)
	d.worker.Wake()
	return nil
}

// fixed are the keys that a running daemon cannot change.
var fixed = []string{"data", "store", "listen", "worker.name", "worker.fetchers", "worker.slow_share", "worker.lease", "worker.grace",
	"worker.memory", "mirror.dir", "webhooks", "indexes", "mail", "chat"}

// tell logs what a reload changed.
func (d *daemon) tell(changes []config.Change) {
	d.log.Info("configuration reloaded", "changes", len(changes))
	for _, change := range changes {
		if slices.Contains(fixed, change.Key) {
			d.log.Warn("takes effect at the next start", "change", change.String())
			continue
		}
		d.log.Info("changed", "change", change.String())
	}
}

// tellSites logs what commands did to the sites.
func (d *daemon) tellSites(before, after []models.Site) {
	known := make(map[int32]models.Site, len(before))
	for _, site := range before {
		known[site.ID] = site
	}
	for _, site := range after {
		was, old := known[site.ID]
		delete(known, site.ID)
		switch {
		case !old:
			d.log.Info("site added", "site", site.Name, "url", site.URL)
		case site.Paused != was.Paused && site.Paused:
			d.log.Info("site paused", "site", site.Name)
		case site.Paused != was.Paused:
			d.log.Info("site resumed", "site", site.Name)
		case site.ApprovedAt != was.ApprovedAt:
			d.log.Info("what is missing of the site counts as gone: somebody approved", "site", site.Name)
		case site.GuardedAt != was.GuardedAt && site.GuardedAt != 0:
			d.log.Warn("no page of the site counts as gone: too many are lost at once", "site", site.Name)
		case site.GuardedAt != was.GuardedAt:
			d.log.Info("pages of the site count as gone again", "site", site.Name)
		case site.LossPerDay != was.LossPerDay: // nobody did that
		case site != was:
			d.log.Info("site changed", "site", site.Name)
		}
	}
	for _, site := range known {
		d.log.Info("site removed", "site", site.Name)
	}
}

// summary is the daemon in a line.
func (d *daemon) summary() string {
	force := d.force.Load()
	paused := 0
	for _, row := range force.rows {
		if row.Paused {
			paused++
		}
	}
	text := fmt.Sprintf("%d sites", len(force.rows))
	if len(force.rows) == 1 {
		text = "1 site"
	}
	if paused > 0 {
		text += fmt.Sprintf(", %d paused", paused)
	}
	return text
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
