package recrawl

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/sitemap"
)

// sitemapHops is how many redirects of /sitemap.xml are followed.
const sitemapHops = 5

// lookedForSitemap spends the visit on /sitemap.xml, where robots.txt names no list and it is time to see whether the site has one by now: that
// is as often as a name is asked for that does not exist, until it is there. Where that was led elsewhere the next visit is spent on what it leads
// to. The page's own turn comes next.
func (s *visit) lookedForSitemap(ctx context.Context) bool {
	trials := &s.turn.Host.Trials
	if s.scope == nil || !s.readsLists(models.ListLevel) || trials.SitemapFound || trials.SitemapTo == "" && !s.probeDue(trials.SitemapAt) || !s.ofStart() {
		return false
	}
	target, due := s.sitemapTarget()
	if !due || target == s.url || len(s.rules.of(s.robots).Sitemaps()) > 0 || !s.mayBeSitemap(target) {
		return false
	}
	if !s.hosts.of(&s.turn.Host).claimProbe() {
		return false
	}
	a, ok := s.probe(ctx, target, s.asks.pages)
	s.out.Looked = s.out.Kind == models.Probed
	if ok {
		s.sawSitemap(target, &a)
	}
	return true
}

// sitemapPlace is where the sitemap of a site stands that does not say where.
func (s *visit) sitemapPlace() (canon.URL, bool) {
	u, err := canon.Parse(s.url.Origin() + "/sitemap.xml")
	return u, err == nil
}

// mayBeSitemap tells whether scope and robots.txt let a list be asked for.
func (s *visit) mayBeSitemap(u canon.URL) bool {
	return s.inScope(u, s.within(models.ListLevel)) && s.mayAsk(s.rules.of(s.robots), u)
}

// sitemapTarget is what to ask for, if that is due: where the last answer leads, unless that has come to be kept out, or /sitemap.xml.
func (s *visit) sitemapTarget() (target canon.URL, due bool) {
	trials := &s.turn.Host.Trials
	if next, err := canon.Parse(trials.SitemapTo); err == nil && next.Origin() == s.url.Origin() && s.mayBeSitemap(next) {
		return next, s.probeDue(0)
	}
	target, ok := s.sitemapPlace()
	return target, ok && s.probeDue(trials.SitemapAt)
}

// sawSitemap says what an answer shows: a list, which comes with the place that led there, since that may lead elsewhere some day; or where it is.
func (s *visit) sawSitemap(target canon.URL, a *answer) {
	s.out.Detail = fmt.Sprintf("%s, which robots.txt does not name, is answered with %d", target.Path(), a.Status)
	media := mediaType(a.Header)
	switch {
	case isRedirect(a.Status):
		if next, ok := s.sitemapLeads(target, a.Header); ok {
			s.out.RedirectTo = next.String()
			s.out.Detail += ", which leads to " + next.Path()
		}
	case a.Status == http.StatusOK && mayBeList(media, a.Body) && sitemap.KindOf(a.Body) != sitemap.None:
		if place, ok := s.sitemapPlace(); ok && place != target {
			s.out.Links = append(s.out.Links, models.FoundLink{URL: place.String(), Host: place.HostName(), List: true})
		}
		s.out.Links = append(s.out.Links, models.FoundLink{URL: target.String(), Host: target.HostName(), List: true})
	}
}

// sitemapLeads is where a redirect leads, if that may be a sitemap and may be asked for in the turns of the same pages: it stands on the same scheme
// and host, and is no front page, which is where many lead to for all that they do not have.
func (s *visit) sitemapLeads(from canon.URL, header http.Header) (canon.URL, bool) {
	if s.turn.Host.Trials.SitemapTo != "" && s.turn.Host.Trials.SitemapHops >= sitemapHops {
		return canon.URL{}, false
	}
	next, bad := location(from, header)
	if bad != nil || next == from || next == s.url || next.String() == s.start || next.RequestURI() == "/" || next.Origin() != s.url.Origin() {
		return canon.URL{}, false
	}
	return next, s.mayBeSitemap(next)
}

// ofStart tells whether the page lies on the host of its site's start URL, which may lead from http to https, and to or from the name with "www.".
func (s *visit) ofStart() bool {
	start, err := canon.Parse(s.start)
	return err == nil && strings.TrimPrefix(start.HostName(), "www.") == strings.TrimPrefix(s.url.HostName(), "www.")
}
