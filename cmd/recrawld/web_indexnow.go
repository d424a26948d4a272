package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/scheduler"
	"recrawld/web"
)

// announcedLevel is how many links away from the start URL a page counts for that was found because its publisher announced it.
const announcedLevel = 1

// Announce implements web.Library.
func (s shelf) Announce(ctx context.Context, a web.Announcement) (web.Announced, error) {
	return s.library().announce(ctx, a)
}

// announce hears what a publisher says of pages of the sites that have his key: those that are known are visited as far as he is
// believed, those that are not are added.
func (b library) announce(ctx context.Context, a web.Announcement) (web.Announced, error) {
	var done web.Announced
	sites := b.force.published(a.Key)
	if len(sites) == 0 {
		return done, web.Refusal{Status: http.StatusForbidden, Err: errors.New("no site has this key: indexnow in its configuration")}
	}
	about, pages, err := announced(a, sites)
	if err != nil {
		return done, web.Refusal{Status: http.StatusUnprocessableEntity, Err: err}
	}
	for _, id := range slices.Sorted(maps.Keys(about)) {
		heard, err := b.store.Announce(ctx, b.now, *about[id].known, scheduler.Announced)
		if err != nil {
			return done, err
		}
		b.force.weigh(about[id].found)
		for i := range about[id].found {
			about[id].found[i].Page.DueAt = models.At(b.now)
		}
		added, err := b.store.AddPages(ctx, b.now, about[id].found, sites[id].site.Settings.PagesPerHost)
		if err != nil {
			return done, err
		}
		done.Added, done.Next, done.Noted = done.Added+added.Added, done.Next+heard.Forward+heard.Waiting, done.Noted+heard.Noted
	}
	done.LeftOut = pages - done.Added - done.Next - done.Noted
	return done, nil
}

// published are the sites whose publisher has a key, by ID. How long that takes says nothing of other keys.
func (f *inForce) published(key string) map[int32]preparedSite {
	shown := sha256.Sum256([]byte(key))
	found := make(map[int32]preparedSite)
	for id, s := range f.sites {
		own := sha256.Sum256([]byte(s.site.Settings.IndexNow.Value))
		if subtle.ConstantTimeCompare(own[:], shown[:]) == 1 && s.site.Settings.IndexNow.Value != "" {
			found[id] = s
		}
	}
	return found
}

// hearing is what is announced of one site.
type hearing struct {
	known *models.Announcement // all that lies in its scope
	found []models.Discovery   // what it would keep
}

// announced sorts what is announced by site, the first in whose scope a page lies, and counts the pages. All of them are of one host.
func announced(a web.Announcement, sites map[int32]preparedSite) (map[int32]*hearing, int, error) {
	about := make(map[int32]*hearing)
	met := make(map[string]bool, len(a.URLs))
	ids := slices.Sorted(maps.Keys(sites))
	var host string
	for _, raw := range a.URLs {
		u, err := canon.Parse(raw)
		if err != nil {
			return nil, 0, fmt.Errorf("%.200q is no address of a page: %w", raw, err)
		}
		if len(met) == 0 {
			host = hostOf(a.Host, u)
		}
		if u.HostName() != host {
			return nil, 0, fmt.Errorf("%.200q is not of the host %.200q", raw, host)
		}
		if met[u.String()] {
			continue
		}
		met[u.String()] = true
		for _, id := range ids {
			if s := sites[id]; s.scope.Contains(u) {
				about[id] = about[id].with(u, id, &s)
				break
			}
		}
	}
	return about, len(met), nil
}

// hostOf is the name of a host in the form that it has in addresses, given the first; that of the first where it is not named.
func hostOf(named string, first canon.URL) string {
	if named == "" {
		return first.HostName()
	}
	if u, err := canon.Parse(first.Scheme() + "://" + named + "/"); err == nil {
		return u.HostName()
	}
	return named
}

// with adds a page to what is announced of a site.
func (h *hearing) with(u canon.URL, id int32, s *preparedSite) *hearing {
	page := scheduler.NewPage(u.String(), u.HostName(), id, announcedLevel, s.site.Settings.FR)
	if h == nil {
		h = &hearing{known: &models.Announcement{Bucket: page.Bucket, HostID: page.HostID, SiteID: id}}
	}
	h.known.Pages = append(h.known.Pages, page.ID)
	if s.scope.Decide(u, announcedLevel).Keep {
		h.found = append(h.found, models.Discovery{Page: page, Host: u.HostName()})
	}
	return h
}
