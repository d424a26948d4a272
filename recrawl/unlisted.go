package recrawl

import (
	"context"
	"fmt"
	"net/http"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/sitemap"
)

// lookedForSitemap spends the visit on /sitemap.xml, where robots.txt names no list and it is time to see whether the site has one by now: that
// is as often as a name is asked for that does not exist, until it is there. The page's own turn comes next.
func (s *visit) lookedForSitemap(ctx context.Context) bool {
	trials := &s.turn.Host.Trials
	if s.scope == nil || s.settings.Lists == config.ListsOff || trials.SitemapFound || !s.probeDue(trials.SitemapAt) {
		return false
	}
	rules := s.rules.of(s.robots)
	target, err := canon.Parse(s.url.Origin() + "/sitemap.xml")
	if err != nil || target == s.url || len(rules.Sitemaps()) > 0 || !s.ofStart() || !s.inScope(target, listLevel) || !s.mayAsk(rules, target) {
		return false
	}
	if !s.hosts.of(&s.turn.Host).claimProbe() {
		return false
	}
	a, ok := s.probe(ctx, target, s.asks.pages)
	s.out.Looked = s.out.Kind == models.Probed
	if !ok {
		return true
	}
	s.out.Detail = fmt.Sprintf("%s, which robots.txt does not name, is answered with %d", target.Path(), a.Status)
	media := mediaType(a.Header)
	if a.Status == http.StatusOK && mayBeList(media, a.Body) && sitemap.KindOf(a.Body) != sitemap.None {
		s.out.Links = []models.FoundLink{{URL: target.String(), Host: target.HostName(), List: true}}
	}
	return true
}

// ofStart tells whether the page lies on the host of its site's start URL, which may lead from http to https.
func (s *visit) ofStart() bool {
	start, err := canon.Parse(s.start)
	return err == nil && start.HostName() == s.url.HostName()
}
