package recrawl

import (
	"context"
	"fmt"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/extract"
)

// A shop links to a product from each list that it is in, by an address that says from where (?path=1_2&page=3&product_id=7), and the product names the
// address without that as canonical: twenty addresses for each. Which parameters that leaves out is learned from some pages of each family that say what
// their canonical page says; then a link to others of the family counts as one to that page (after Bar-Yossef, Keidar and Schonfeld 2007, "Do not crawl in
// the DUST", who learn such rules from what pages say and try them; the site's own word comes in the place of trying here). Parameters that only lead to
// the address without them are learned of a host as a whole: there is one on each page for each language that a program speaks.

// plainly is the address that stands for a URL on the page's own host by what the pages of its family name as canonical, or lead to; false: none does.
func (s *visit) plainly(ctx context.Context, u canon.URL) (canon.URL, bool) {
	if !s.watchesPlain() || u.Query() == "" || u.HostName() != s.url.HostName() {
		return canon.URL{}, false
	}
	return s.hostMemory(ctx).plainly(u)
}

// watchesPlain tells whether such addresses are learned and left out on the site.
func (s *visit) watchesPlain() bool {
	return s.past != nil && !s.needed && !s.page.Requisite && s.settings.Duplicates
}

// isPlain ends the turn of a page that was never visited and is known by a plain address, which is the only link of it. Where a redirect leads is kept as it
// stands: whoever follows the copies is told that address.
func (s *visit) isPlain(ctx context.Context) bool {
	if !s.isNew() || s.page.Level == 0 || s.page.Rule == models.RuleManual || len(s.page.Chain) > 0 {
		return false
	}
	u, ok := s.plainly(ctx, s.url)
	if !ok || !s.names(u, int(s.page.Level)) || s.isLost(ctx, u) {
		return false
	}
	s.out.Aside = true
	s.out.Links = []models.FoundLink{{URL: u.String(), Host: u.HostName()}}
	s.exclude(fmt.Sprintf("by what pages with such parameters that were visited name as canonical, or lead to, %s stands for it, which is visited in its place; duplicates: off visits each", u))
	return true
}

const (
	// mostLost is how many pages that stand for links of a page are looked for in its visit. What comes after them is taken to be there.
	mostLost = 500

	// mostFailing is how often in a row a page that never showed anything fails before it is taken not to be there.
	mostFailing = 3
)

// isLost tells whether a page of the host was looked for and is not there, leads elsewhere, or is left aside itself: then what it was to stand for is asked itself.
func (s *visit) isLost(ctx context.Context, u canon.URL) bool {
	if lost, known := s.lost[u]; known || len(s.lost) >= mostLost {
		return lost
	}
	p, err := s.past.Page(ctx, models.BucketOf(u.HostName()), models.PageID(u.String()))
	lost := err == nil && p.State != models.StateLive && (p.State != models.StateNew || p.Failures >= mostFailing)
	if s.lost == nil {
		s.lost = make(map[canon.URL]bool)
	}
	s.lost[u] = lost
	return lost
}

// names tells whether a link to a URL, on a level, is kept.
func (s *visit) names(u canon.URL, level int) bool {
	return s.inScope(u, level) && s.mayName(s.rules.of(s.robots), u)
}

// tellPlain takes note of what the page leaves out of its address, for others of its family, and that it shows something by it. One that answers 304 says what it
// did: it may have been known before anything was learned of its host.
func (s *visit) tellPlain(ctx context.Context) {
	family := content.PlainFamilyOf(s.url)
	if family == 0 || !s.watchesPlain() {
		return
	}
	host := s.hostMemory(ctx)
	s.noted(host.tellShown(s.url))
	switch {
	case s.out.LinksKnown:
		s.learnPlain(ctx, family)
	case s.named() == "":
		s.noted(host.tell(family, s.page.ID, false, ""))
	}
	s.out.Aside = s.out.Aside || host.leavesAside(family) && host.speaks(family, s.page.ID)
}

// tellLed takes note of where a page leads that never showed anything: where that is its own address without a parameter, this does nothing.
func (s *visit) tellLed(ctx context.Context) {
	to, err := canon.Parse(s.out.RedirectTo)
	if err != nil || !s.watchesPlain() || s.page.Version > 0 || content.WantsLogin(s.url, to) {
		return
	}
	host := s.hostMemory(ctx)
	s.noted(host.tellLed(s.url, to))
	s.out.Aside = s.page.Level > 0 && host.speaksLed(s.url, to)
}

// learnPlain is tellPlain for a page that was read. One that names no other page, or not by leaving something out, speaks against all; so does, less, one
// that says something else than the page that it names, as further pages of a list do that name the first one, unless it is the same in another order.
func (s *visit) learnPlain(ctx context.Context, family content.Family) {
	params := ""
	u, err := canon.Parse(s.out.Canonical)
	if err == nil {
		params = content.PlainParams(s.url, u)
	}
	host, id := s.hostMemory(ctx), s.page.ID
	switch {
	case params == "":
		s.noted(host.tell(family, id, false, ""))
	case host.undecided(family, params) || host.speaks(family, id):
		s.weighOther(ctx, saying{family, id, params}, u, func(p *models.Page) bool {
			return extract.IsOrder(s.url, u) && p.Canonical == "" || s.isSaidBy(ctx, p, params)
		})
	}
}
