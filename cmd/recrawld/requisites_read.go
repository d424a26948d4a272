package main

import (
	"cmp"
	"context"
	"time"

	"recrawld/archive"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
	"recrawld/recrawl/robots"
	"recrawld/scheduler"
)

// needsReading finds what the pages of some sites need to be shown in their newest versions, and adds it. It asks no server anything.
type needsReading struct {
	store  *models.Store
	past   *past
	force  *inForce
	sites  map[int32]needsOf // whose pages are read
	reader extract.Reader

	host  int64 // whose robots.txt are known
	rules map[string]*robots.Rules

	read, unread int // copies that were read, and those that could not be
	added        int
	refused      int // what their sites, or hosts, have no room for
}

func newNeedsReading(store *models.Store, past *past, force *inForce, sites map[int32]needsOf) *needsReading {
	return &needsReading{store: store, past: past, force: force, sites: sites}
}

// slice reads the next pages, of as many buckets as it takes, and moves the turn behind them.
func (r *needsReading) slice(ctx context.Context, now time.Time, turn *requisitesTurn) error {
	if err := r.store.CountRequisites(ctx); err != nil { // a daemon that may visit nothing counts none
		return err
	}
	for left := requisitesSlice; left > 0 && turn.Bucket < models.Buckets; {
		n, err := r.bucket(ctx, now, turn, left)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// bucket reads the next pages of a bucket, at most so many, and returns how many there were.
func (r *needsReading) bucket(ctx context.Context, now time.Time, turn *requisitesTurn, most int) (int, error) {
	pages, err := r.store.PagesFrom(ctx, turn.Bucket, turn.After, most)
	if err != nil {
		return 0, err
	}
	found := make(map[int32][]models.Discovery) // by site
	for i := range pages {
		p := &pages[i]
		if _, read := r.sites[p.SiteID]; !read || p.Version == 0 || p.Lost || !models.MayName(p.ContentType) {
			continue
		}
		needs, err := r.needs(ctx, now, p)
		if err != nil {
			return 0, err
		}
		found[p.SiteID] = append(found[p.SiteID], needs...)
	}
	for site, some := range found {
		r.force.weigh(some)
		added, err := r.store.AddPages(ctx, now, some, r.force.config.Site(site).Settings.PagesPerHost)
		if err != nil {
			return 0, err
		}
		r.added += added.Added
		r.refused += added.Dropped
	}
	if len(pages) < most {
		turn.Bucket, turn.After = turn.Bucket+1, -1
	} else {
		turn.After = pages[len(pages)-1].ID
	}
	return len(pages), nil
}

// needs are the requisites of a page, as pages that are due now. A copy that cannot be read, or lies in another archive, has none.
func (r *needsReading) needs(ctx context.Context, now time.Time, p *models.Page) ([]models.Discovery, error) {
	site, pages := r.force.site(p.SiteID)
	at, err := canon.Parse(p.URL)
	if err != nil {
		return nil, nil
	}
	verdict := pages.DecideKnown(at, recrawl.KnownAs(p))
	level, findable := scheduler.RequisiteLevel(p.Level, &site.Settings)
	if !verdict.Keep || !findable {
		return nil, nil
	}
	answer, ok, err := r.past.answer(ctx, p)
	if err != nil || !ok {
		r.unread++
		return nil, ctx.Err()
	}
	r.read++
	rules, err := r.rulesOf(ctx, p, at.Origin())
	if err != nil {
		return nil, err
	}
	agent := r.force.config.Agent.Name
	page := r.reader.Page(answer.Body, archive.Field(answer.Header, "Content-Type"), at, extract.Options{Bytes: int(site.Settings.BodyBytes), Links: site.Settings.LinksPerPage,
		Agent: agent, Requisites: true, At: readAt(p), Linked: archive.Fields(answer.Header, "Link")})
	kept := recrawl.KeptRequisites(&page, pages, verdict.Needed, func(u canon.URL) bool {
		return u.Origin() != at.Origin() || rules.Verdict(agent, u.RequestURI()).Allowed
	})
	needs := make([]models.Discovery, len(kept))
	for i, k := range kept {
		page := scheduler.NewPage(k.URL, k.Host, p.SiteID, level, site.Settings.FR)
		page.Requisite, page.DueAt = true, models.At(now)
		needs[i] = models.Discovery{Page: page, Host: k.Host}
	}
	return needs, nil
}

// readAt is when the newest copy of a page was read for the first time.
func readAt(p *models.Page) time.Time { return cmp.Or(p.BytesAt, p.Stats.FirstAt).Time() }

// rulesOf are what the robots.txt of a page's origin says, as it was read last.
func (r *needsReading) rulesOf(ctx context.Context, p *models.Page, origin string) (*robots.Rules, error) {
	if r.rules == nil || r.host != p.HostID {
		rows, err := r.store.HostRobots(ctx, p.Bucket, p.HostID)
		if err != nil {
			return nil, err
		}
		r.host, r.rules = p.HostID, make(map[string]*robots.Rules)
		for _, row := range rows {
			r.rules[row.Origin] = robots.Parse(row.Body)
		}
	}
	if rules := r.rules[origin]; rules != nil {
		return rules, nil
	}
	return robots.Parse(nil), nil
}
