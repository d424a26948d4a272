package recrawl

import (
	"bytes"
	"context"
	"net/http"
	"slices"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/extract"
	"recrawld/recrawl/robots"
)

// pageReader reads pages one after the other, and their text where that is asked for.
type pageReader struct {
	extract.Reader
	text bytes.Buffer
}

// mostText is the capacity in bytes of the largest buffer for text that is kept for another page.
const mostText = 1 << 20

// read takes title, text and links out of a body, as far as the page allows it. It tells whether to lead elsewhere is all that the page does.
func (s *visit) read(ctx context.Context, body []byte, header http.Header, said extract.Directives) (leads bool) {
	reader, _ := s.readers.Get().(*pageReader)
	if reader == nil {
		reader = new(pageReader)
	}
	options := extract.Options{Bytes: int(s.settings.BodyBytes), Links: s.settings.LinksPerPage, Agent: s.agent.Name,
		Requisites: s.wantsRequisites(), At: s.out.At, Linked: header.Values("Link")}
	first := s.past != nil && (s.page.Digest.IsZero() || s.page.Lost)
	if first {
		reader.text.Reset()
		options.Text = &reader.text
	}
	found := reader.Page(body, header.Get("Content-Type"), s.url, options)
	s.suspect = first && found.HTML && content.Suspect(found.Title, reader.text.Bytes())
	if reader.text.Cap() <= mostText {
		s.readers.Put(reader)
	}
	if s.refreshes(&found) {
		return true
	}
	said = said.Or(found.Robots)
	s.out.NoIndex, s.out.NoFollow, s.out.NoArchive = said.NoIndex, said.NoFollow, said.NoArchive
	s.out.Title, s.out.TextDigest = clean(found.Title, maxDetail), found.TextDigest
	s.out.LinksKnown, s.out.LinkPrint = found.HTML && !found.Cut && !s.needed, found.LinkPrint
	s.out.Print = models.Print(found.Print)
	s.out.Canonical = canonical(s.url, found.Canonical, header)
	if !said.NoFollow && !s.needed {
		s.out.Links = s.keep(ctx, found.Links)
	}
	if len(found.Requisites) > 0 {
		s.out.Requisites = s.keepRequisites(&found)
	}
	return false
}

// mostRoom is for how many links room is made before they are known to be kept.
const mostRoom = 64

// keep returns the links that scope, filters and, on the page's own origin, robots.txt keep. What robots.txt says on
// another origin is found out when that page's turn comes.
//
// Of the feeds that a head names the start page's are kept, and of any other page's the first: that is the site's, and those behind it
// are of comments, of tags and of the page itself, as many as there are pages. A table in another order says nothing new, and what a link with a token asks for is no
// crawler's to do. A log-in is kept without its way back to the page.
func (s *visit) keep(ctx context.Context, found []extract.Link) []models.FoundLink {
	rules := s.rules.of(s.robots)
	kept := make([]models.FoundLink, 0, min(len(found), mostRoom))
	feeds, again := 0, false
	for _, link := range found {
		if link.Feed {
			feeds++
		}
		if link.NoFollow || link.Order || link.Action || link.Feed && feeds > 1 && s.page.Level > 0 {
			continue
		}
		if login := content.WithoutReturn(s.url, link.URL); login != link.URL {
			link.URL, again = login, true
		}
		if !s.inScope(link.URL, int(s.page.Level)+1) || !s.mayName(rules, link.URL) {
			continue
		}
		if plainly, ok := s.plainly(ctx, link.URL); ok && s.names(plainly, int(s.page.Level)+1) && !s.isLost(ctx, plainly) {
			link.URL, again = plainly, true
		}
		kept = append(kept, models.FoundLink{URL: link.URL.String(), Host: link.URL.HostName(), Relative: link.Relative, List: link.Feed,
			Aside: !link.Feed && s.leavesAside(ctx, link.URL)})
	}
	if again {
		return once(kept)
	}
	return kept
}

// once leaves out links that are there before: several addresses may stand for one page.
func once(links []models.FoundLink) []models.FoundLink {
	seen := make(map[string]bool, len(links))
	return slices.DeleteFunc(links, func(l models.FoundLink) bool {
		before := seen[l.URL]
		seen[l.URL] = true
		return before
	})
}

// mostEffort bounds the work of holding what a page names against robots.txt (robots.Rules.Effort): ten seconds or so. Fifty thousand
// entries of a list and a thousand rules with stars are well within it; with all the rules that a robots.txt has room for they
// would take a quarter of an hour.
const mostEffort = 2e9

// mayName is mayAsk for one of many URLs that a page names. Those that come after too much work are not kept: the links are not
// known as a whole then.
func (s *visit) mayName(rules *robots.Rules, u canon.URL) bool {
	if u.Origin() != s.robots.Origin {
		return true
	}
	if s.cut = s.cut || s.over(); s.cut || s.effort > mostEffort {
		s.out.LinksKnown = false
		return false
	}
	if s.effort += rules.Effort(s.agent.Name, u.RequestURI()); s.effort > mostEffort {
		s.log.Warn("what a page names is too much for its robots.txt: the rest is left out", "page", s.page.URL)
	}
	return s.mayAsk(rules, u)
}

func (s *visit) mayAsk(rules *robots.Rules, u canon.URL) bool {
	return u.Origin() != s.robots.Origin || robotsExempt(u) || rules.Verdict(s.agent.Name, u.RequestURI()).Allowed
}

// robotsExempt tells the one URL that robots.txt does not rule (RFC 9309 section 2.2.2).
func robotsExempt(u canon.URL) bool { return u.RequestURI() == "/robots.txt" }

// inScope asks the site's scope about what the page names; one of a site that is in no configuration any more is kept.
func (s *visit) inScope(u canon.URL, level int) bool {
	return s.scope == nil || s.scope.Decide(u, level).Keep
}
