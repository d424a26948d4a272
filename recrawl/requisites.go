package recrawl

import (
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/extract"
	"recrawld/recrawl/scope"
)

// wantsRequisites tells whether it is looked what the page needs to be shown. What the bytes that are held name is known already.
func (s *visit) wantsRequisites() bool {
	return s.settings.KeepsRequisites() && (s.out.Digest != s.page.Digest || s.page.Lost || s.returns())
}

// returns tells whether the page may be one that is there again. What it names may have been given up meanwhile, so it is read whole and told
// of once more. A page that is missing or fails for a while names what it did, a style may not have been named itself.
func (s *visit) returns() bool {
	p := s.page
	away := p.State == models.StateGone || p.State == models.StateMoved || p.State == models.StateExcluded || p.Rule == models.RuleNamed ||
		p.Requisite && (p.State == models.StateMissing || p.Failures > 0)
	return away && s.settings.KeepsRequisites() && models.MayName(p.ContentType)
}

// keepRequisites returns the requisites of a page that are kept, but for what it links to, too, and what robots.txt keeps out on its
// own origin. That it is asked not to follow links has nothing to do with it.
func (s *visit) keepRequisites(found *extract.Extraction) []models.FoundLink {
	linked := make(map[string]bool, len(s.out.Links))
	for i := range s.out.Links {
		linked[s.out.Links[i].URL] = true
	}
	rules, known := s.rules.of(s.robots), s.out.LinksKnown
	kept := KeptRequisites(found, s.scope, s.needed, func(u canon.URL) bool { return !linked[u.String()] && s.mayName(rules, u) })
	s.out.LinksKnown = known // what is left out here is no link
	return kept
}

// mostHosts bounds on how many hosts the requisites of one page may lie. Real pages name a few dozen; each costs a look-up and a robots.txt, and
// a page that makes up thousands of them, others at each visit, would have those of all other pages wait.
const mostHosts = 100

// KeptRequisites are the requisites of a page that its site keeps, on the first hundred hosts at most; scope nil: all. outside tells that
// the page is kept as a requisite alone: of HTML none are, for what answers in place of an image or a style is no page of the site. may is
// asked of each that is kept otherwise.
func KeptRequisites(found *extract.Extraction, pages *scope.Scope, outside bool, may func(canon.URL) bool) []models.FoundLink {
	if found.HTML && outside {
		return nil
	}
	var kept []models.FoundLink
	hosts := make(map[string]bool)
	for _, u := range found.Requisites {
		host := u.HostName()
		if pages != nil && !pages.DecideRequisite(u).Keep || !hosts[host] && len(hosts) >= mostHosts || !may(u) {
			continue
		}
		hosts[host] = true
		kept = append(kept, models.FoundLink{URL: u.String(), Host: host})
	}
	return kept
}

// KnownAs is as what the rules of its site decide about a page.
func KnownAs(p *models.Page) scope.Known {
	return scope.Known{Level: int(p.Level), Requisite: p.Requisite, List: p.IsList()}
}

// known asks the site's scope about a page that is known, or to which this one leads, as a page of its kind; one of a site that is in no
// configuration any more is kept.
func (s *visit) known(u canon.URL) scope.Verdict {
	if s.scope == nil {
		return scope.Verdict{Keep: true}
	}
	return s.scope.DecideKnown(u, KnownAs(s.page))
}

// accepts are the types that are asked for. A page is rather had as HTML, an image or a style as it is.
func (s *visit) accepts() []string {
	if s.page.Requisite {
		return s.asks.requisites
	}
	return s.asks.pages
}

// replaced tells whether a page answers in place of an image, a style or a script, as where a server shows its front page for all that it
// does not have, such as what a release has put under other names. Who asks for a log-in, or bars us, says nothing of what he has.
func (s *visit) replaced(v *content.Verdict) bool {
	if !s.page.Requisite || isDocument(s.page.ContentType) || !isDocument(s.out.ContentType) {
		return false
	}
	return v.Kind == content.Change || v.Kind == content.Transient && v.Class != models.LoginWall && v.Class != models.BlockPage
}

func isDocument(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }
