package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/scheduler"
)

// syncSites brings the sites of the configuration file into the database.
func syncSites(ctx context.Context, store *models.Store, c *config.Config, now time.Time) error {
	sites := make([]models.Site, len(c.Sites))
	for i, site := range c.Sites {
		u, err := canon.Parse(site.URL)
		if err != nil {
			return usagef("site %s: %w", site.Name, err)
		}
		sites[i] = models.Site{Name: site.Name, URL: u.String()}
	}
	_, err := store.SyncSites(ctx, now, sites)
	return err
}

// withStarts is a configuration with start URLs as further sites.
func withStarts(c config.Config, urls []string) (config.Config, error) {
	c.Sites = slices.Clone(c.Sites)
	for _, raw := range urls {
		u, err := canon.Parse(raw)
		if err != nil {
			return c, usagef("%s: %w", raw, err)
		}
		site, err := config.NewSite(u.HostName(), u.String(), c.Defaults)
		if err != nil {
			return c, usagef("%s: %w", raw, err)
		}
		c.Sites = append(c.Sites, site)
	}
	return c, nil
}

// addStart makes a canonical URL the start of a site, unless it is that of one already.
func addStart(ctx context.Context, store *models.Store, raw string, now time.Time) error {
	u, err := canon.Parse(raw)
	if err != nil {
		return usagef("%s: %w", raw, err)
	}
	rows, err := store.Sites(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(row models.Site) bool { return row.URL == u.String() }) {
		return nil
	}
	_, err = store.AddSite(ctx, now, models.Site{Name: freeName(rows, u), URL: u.String()})
	return err
}

// freeName is a name for the site of a start URL that no other site has: its host, or the host and a number.
func freeName(rows []models.Site, u canon.URL) string {
	name := u.HostName()
	for n := 2; slices.ContainsFunc(rows, func(row models.Site) bool { return row.Name == name }); n++ {
		name = fmt.Sprintf("%s-%d", u.HostName(), n)
	}
	return name
}

// addStartPages adds the start page of every site; those that are known stay as they are.
func addStartPages(ctx context.Context, store *models.Store, force *inForce, now time.Time) (models.Added, error) {
	var pages []models.Discovery
	for id, s := range force.sites {
		u, err := canon.Parse(s.site.URL)
		if err != nil {
			continue // the scope of such a site did not compile, so there is none
		}
		page := scheduler.NewPage(u.String(), u.HostName(), id, 0, s.site.Settings.FR)
		page.DueAt = models.At(now)
		pages = append(pages, models.Discovery{Page: page, Host: u.HostName()})
	}
	force.weigh(pages)
	return store.AddPages(ctx, now, pages, force.config.Defaults.PagesPerHost)
}
