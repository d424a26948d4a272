package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/robots"
	"recrawld/recrawl/scope"
	"recrawld/recrawl/sitemap"
)

// surveyor looks at a site with few requests, each in its turn: it asks through a visitor, so what holds for every visit
// (addresses, robots.txt, limits) holds here. A host that says that it has too much to do is asked nothing more.
type surveyor struct {
	g         *globals
	config    *config.Config
	site      config.Site
	start     canon.URL
	scope     *scope.Scope // of the site
	flags     addCmd
	visitor   *recrawl.Visitor
	turns     *turns
	robots    []models.Robots
	rules     *robots.Rules
	seen      map[int64]bool
	needs     *needing
	selectors sought
	found     survey
}

func newSurveyor(g *globals, c *config.Config, site config.Site, flags addCmd, turns *turns) (*surveyor, error) {
	u, err := canon.Parse(site.URL)
	if err != nil {
		return nil, usagef("%s: %w", site.URL, err)
	}
	own, err := scope.Compile(site)
	if err != nil {
		return nil, usagef("%w", err)
	}
	needs, err := newNeeding(site)
	if err != nil {
		return nil, usagef("%w", err)
	}
	whole, wide, err := compileWhole(site, u)
	if err != nil {
		return nil, usagef("%w", err)
	}
	whole.Settings.Lists = config.ListsOff // it reads them itself
	whole.Settings.Audit = 0               // whether conditions are answered is what it asks
	visitor, err := recrawl.New(recrawl.Config{
		Agent: c.Agent, Version: versionText(), Network: c.Network, Log: g.Log,
		Sites: func(int32) (config.Site, *scope.Scope, *content.Rules) { return whole, wide, nil },
	})
	if err != nil {
		return nil, err
	}
	return &surveyor{g: g, config: c, site: site, start: u, scope: own, flags: flags, visitor: visitor, turns: turns, needs: needs,
		rules: robots.Parse(nil), seen: make(map[int64]bool), found: survey{URL: u.String(), Scope: append([]string{u.Directory()}, site.Settings.Scope...)}}, nil
}

func (v *surveyor) close() { v.visitor.Close() }

// survey makes the requests. Its error says that the start URL cannot be had.
func (v *surveyor) survey(ctx context.Context) (*survey, error) {
	out, err := v.askStart(ctx)
	if err != nil {
		return nil, err
	}
	s := &v.found
	v.unmatched(v.start.String(), out)
	if out.Kind == models.Excluded {
		s.Excluded = out.Detail
		return s, nil
	}
	if err := v.checkStart(out); err != nil {
		return nil, err
	}
	s.NoFollow = out.NoFollow
	s.probe(out)
	v.needs.page(&out)
	v.keep(v.start.String(), 0)
	if err := v.readSitemaps(ctx); err != nil {
		return nil, err
	}
	for _, link := range out.Links {
		if len(s.pages) == 0 && s.Sitemaps.URLs == 0 {
			s.Links += v.count(link.URL)
		}
	}
	if err := v.probePages(ctx, out); err != nil {
		return nil, err
	}
	s.Overloaded = v.turns.overloaded
	v.estimate()
	return s, nil
}

// askStart asks for the start page, and for the page that it leads to where that is one of the site: the daemon goes there, too.
func (v *surveyor) askStart(ctx context.Context) (models.Outcome, error) {
	out, err := v.ask(ctx, models.Page{URL: v.start.String()})
	if err != nil || out.Kind != models.Moved {
		return out, err
	}
	to, bad := canon.Parse(out.RedirectTo)
	if bad != nil || !v.scope.Decide(to, 1).Keep || v.turns.overloaded {
		return out, nil
	}
	v.keep(v.start.String(), 0)
	v.start, v.found.LeadsTo = to, to.String()
	return v.ask(ctx, models.Page{URL: to.String(), Level: 1})
}

// checkStart refuses a start URL that does not lead to a page.
func (v *surveyor) checkStart(out models.Outcome) error {
	switch {
	case out.Kind == models.Moved:
		return fmt.Errorf("%s redirects to %s: add that", v.start, out.RedirectTo)
	case out.Kind == models.Missing || out.Kind == models.Gone:
		return notFoundf("%s: status %d", v.start, out.Status)
	case out.Class == models.BlockedAddress:
		return refusedf("%s: %s", v.start, out.Detail)
	case !out.Kind.Observed():
		return fmt.Errorf("%s cannot be had: %s: %s", v.start, out.Class, out.Detail)
	}
	return nil
}

// ask visits a page, and its robots.txt before where that is due.
func (v *surveyor) ask(ctx context.Context, page models.Page) (models.Outcome, error) {
	u, err := canon.Parse(page.URL)
	if err != nil {
		return models.Outcome{}, err
	}
	page.Bucket, page.HostID, page.ID = models.BucketOf(u.HostName()), models.HostID(u.HostName()), models.PageID(page.URL)
	page.State = models.StateNew
	if page.Version > 0 {
		page.State = models.StateLive
	}
	for { // one answer for robots.txt ends it for hours
		v.progress(v.asks(u))
		slot, err := v.turns.begin(ctx, u.HostName(), v.site.Settings.PageTime)
		if err != nil {
			return models.Outcome{}, err
		}
		out := v.visitor.Visit(ctx, models.Turn{
			Host:   models.Host{Bucket: page.Bucket, ID: page.HostID, Name: u.HostName(), Delay: v.site.Settings.Delay},
			Robots: v.robots, Page: models.LeasedPage{Page: page}, Now: v.turns.own.Now(),
		})
		if out.Sent > 0 {
			v.found.Requests += out.Sent
			v.found.delay = out.Delay
		}
		if err := v.turns.end(ctx, slot, &v.site.Settings, &out); err != nil {
			return out, err
		}
		if out.Kind != models.RobotsFetched || out.Robots == nil {
			return out, ctx.Err()
		}
		v.learnRobots(out.Robots)
	}
}

// asks is what a visit to a page asks for: the page or, as long as that is not known, its robots.txt.
func (v *surveyor) asks(u canon.URL) string {
	i := slices.IndexFunc(v.robots, func(row models.Robots) bool { return row.Origin == u.Origin() })
	if i < 0 {
		return u.Origin() + "/robots.txt"
	}
	return cmp.Or(v.robots[i].LeadsTo, u.String())
}

func (v *surveyor) learnRobots(row *models.Robots) {
	v.robots = slices.DeleteFunc(v.robots, func(old models.Robots) bool { return old.Origin == row.Origin })
	v.robots = append(v.robots, *row)
	v.rules = robots.Parse(row.Body)
	v.found.Robots = surveyRobots{Status: int(row.Status), CrawlDelay: row.CrawlDelay.Seconds(), Class: row.Class.String()}
}

// readSitemaps reads what robots.txt names, or /sitemap.xml where it names none.
func (v *surveyor) readSitemaps(ctx context.Context) error {
	queue := v.rules.Sitemaps()
	guessed := len(queue) == 0
	if guessed {
		queue = []string{v.start.Origin() + "/sitemap.xml"}
	}
	s, startListed := &v.found.Sitemaps, false
	for ; len(queue) > 0 && s.Files < v.flags.Sitemaps && !v.turns.overloaded; queue = queue[1:] {
		u, err := v.start.Resolve(queue[0])
		if err != nil || u.HostName() != v.start.HostName() {
			s.Elsewhere++
			continue
		}
		set, ok, err := v.readSitemap(ctx, u)
		if err != nil {
			return err
		}
		if !ok {
			if !guessed {
				s.Broken++
			}
			continue
		}
		s.Files++
		if guessed {
			v.keepList(u)
		}
		for _, listed := range set.Sitemaps {
			queue = append(queue, listed.Loc)
		}
		for _, entry := range set.URLs {
			s.URLs++
			if !entry.LastMod.IsZero() {
				s.LastMod++
			}
			s.InScope += v.keep(entry.Loc, 1)
			startListed = startListed || v.isStart(entry.Loc)
		}
		guessed = false // what it leads to is found by it
	}
	if startListed {
		s.InScope++ // keep knew it
	}
	s.Unread = len(queue)
	return nil
}

// keepList remembers a sitemap that robots.txt does not name: only as a page of the site does it tell of changes and of new pages from now on.
func (v *surveyor) keepList(u canon.URL) {
	if v.site.Settings.Lists != config.ListsOff && v.scope.Decide(u, 1).Keep {
		v.found.list = u.String()
	}
}

func (v *surveyor) isStart(raw string) bool {
	u, err := canon.Parse(raw)
	return err == nil && (u == v.start || u.String() == v.found.URL)
}

// sitemapHops is how many redirects of a sitemap are followed.
const sitemapHops = 5

// readSitemap reads one file, also where it redirects to on its host; false: there is none there.
func (v *surveyor) readSitemap(ctx context.Context, u canon.URL) (sitemap.Set, bool, error) {
	page := models.Page{URL: u.String(), Level: 1}
	out, err := v.ask(ctx, page)
	for len(page.Chain) < sitemapHops && err == nil && out.Kind == models.Moved && !v.turns.overloaded {
		to, bad := canon.Parse(out.RedirectTo)
		if bad != nil || to.HostName() != v.start.HostName() || to.RequestURI() == "/" {
			break
		}
		page.Chain = append(page.Chain, models.PageID(page.URL))
		page.URL = to.String()
		out, err = v.ask(ctx, page)
	}
	if err != nil || !out.Kind.Observed() {
		return sitemap.Set{}, false, err
	}
	set, err := sitemap.Read(bytes.NewReader(out.Body), sitemap.Limits{URLs: sitemap.MaxURLs, Bytes: sitemap.MaxBytes})
	if err != nil && len(set.URLs) == 0 && len(set.Sitemaps) == 0 {
		return set, false, nil
	}
	return set, true, nil
}

// keep remembers a page that is to be added and returns 1, or 0 where the rules drop it or it is known.
func (v *surveyor) keep(raw string, level int) int {
	if v.count(raw) == 0 {
		return 0
	}
	if level > 0 {
		v.found.pages = append(v.found.pages, raw)
	}
	return 1
}

// count is 1 for a page of the site that was not counted before, else 0.
func (v *surveyor) count(raw string) int {
	u, err := canon.Parse(raw)
	if err != nil || v.seen[models.PageID(u.String())] || !v.scope.Decide(u, 1).Keep {
		return 0
	}
	if u.Origin() == v.start.Origin() && !v.rules.Verdict(v.config.Agent.Name, u.RequestURI()).Allowed {
		v.found.Sitemaps.Robots++
		return 0
	}
	v.seen[models.PageID(u.String())] = true
	return 1
}

// probePages looks at a few more pages, and asks once more for the start page with the validators it gave.
func (v *surveyor) probePages(ctx context.Context, start models.Outcome) error {
	for _, raw := range v.sample(start.Links) {
		if v.turns.overloaded {
			break
		}
		out, err := v.ask(ctx, models.Page{URL: raw, Level: 1})
		if err != nil {
			return err
		}
		v.found.probe(out)
		v.needs.page(&out)
		v.unmatched(raw, out)
	}
	if start.ETag == "" && start.LastModified == "" || v.turns.overloaded {
		return nil
	}
	again, err := v.ask(ctx, models.Page{URL: v.start.String(), Version: 1, ETag: start.ETag,
		LastModified: start.LastModified, Digest: start.Digest, TextDigest: start.TextDigest, LinkPrint: start.LinkPrint, ContentType: start.ContentType})
	v.found.Probes.Again = again.Kind.String()
	return err
}

// sample picks the pages to probe beside the start page, spread over what was found.
func (v *surveyor) sample(links []models.FoundLink) []string {
	from := v.found.pages
	if len(from) == 0 {
		for _, link := range links {
			if u, err := canon.Parse(link.URL); err == nil && link.URL != v.start.String() && v.scope.Decide(u, 1).Keep {
				from = append(from, link.URL)
			}
		}
	}
	n := min(v.flags.Probes-1, len(from))
	picked := make([]string, 0, max(n, 0))
	for i := range n {
		picked = append(picked, from[i*len(from)/n])
	}
	return picked
}

// progress says on a terminal what is asked for.
func (v *surveyor) progress(url string) {
	if isTerminal(v.g.Stderr) {
		if len(url) > 90 {
			url = url[:90] + "…"
		}
		fmt.Fprintf(v.g.Stderr, "  asking %s\n", strings.TrimSpace(url))
	}
}
