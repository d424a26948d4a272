package recrawl

import (
	"net/http"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
	"recrawld/recrawl/robots"
)

// read takes title, text and links out of a body, as far as the page allows it.
func (s *visit) read(body []byte, header http.Header, said extract.Directives) {
	found := extract.Page(body, header.Get("Content-Type"), s.url, extract.Options{
		Bytes: int(s.settings.BodyBytes), Links: s.settings.LinksPerPage, Agent: s.agent.Name,
	})
	said = said.Or(found.Robots)
	s.out.NoIndex, s.out.NoFollow, s.out.NoArchive = said.NoIndex, said.NoFollow, said.NoArchive
	s.out.Title, s.out.TextDigest = clean(found.Title, maxDetail), found.TextDigest
	s.out.LinksKnown, s.out.LinkPrint = found.HTML && !found.Cut, found.LinkPrint
	s.out.Print = models.Print(found.Print)
	s.out.Canonical = canonical(s.url, found.Canonical, header)
	if !said.NoFollow {
		s.out.Links = s.keep(found.Links)
	}
}

// keep returns the links that scope, filters and, on the page's own origin, robots.txt keep. What robots.txt says on
// another origin is found out when that page's turn comes.
func (s *visit) keep(found []extract.Link) []models.FoundLink {
	rules := s.rules.of(s.robots)
	var kept []models.FoundLink
	for _, link := range found {
		if link.NoFollow {
			continue
		}
		if _, ok := s.inScope(link.URL, int(s.page.Level)+1); !ok || !s.mayAsk(rules, link.URL) {
			continue
		}
		kept = append(kept, models.FoundLink{URL: link.URL.String(), Host: link.URL.HostName(), Relative: link.Relative})
	}
	return kept
}

func (s *visit) mayAsk(rules *robots.Rules, u canon.URL) bool {
	return u.Origin() != s.robots.Origin || robotsExempt(u) || rules.Verdict(s.agent.Name, u.RequestURI()).Allowed
}

// robotsExempt tells the one URL that robots.txt does not rule (RFC 9309 section 2.2.2).
func robotsExempt(u canon.URL) bool { return u.RequestURI() == "/robots.txt" }

// inScope asks the site's scope; a page of a site that is in no configuration any more is kept. The rule that decided
// comes with it.
func (s *visit) inScope(u canon.URL, level int) (rule string, kept bool) {
	if s.scope == nil {
		return "", true
	}
	verdict := s.scope.Decide(u, level)
	return verdict.Rule, verdict.Keep
}
