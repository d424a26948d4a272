package recrawl

import (
	"context"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/extract"
)

// Pages of a list that share a long introduction say nearly the same, and so do those of a gallery without words. They differ in what they lead to, which
// may be found by them alone.

// mostBeside is how many links to other pages a page may have that the one which stands for it has not: where it is in the site's categories, and what a shop
// shows beside it that is another thing each day.
const mostBeside = 6

// leadsOn tells whether the page leads to what the one that it names as canonical, and of which it leaves out params, does not lead to: to many pages, or to
// any where it is one of several that are counted by such a parameter. Where the body of that one was not kept or is large, that is not known, and it counts as so.
func (s *visit) leadsOn(ctx context.Context, row *models.Page, params string) bool {
	if row.LinkPrint == s.out.LinkPrint || len(s.out.Links) == 0 {
		return false
	}
	if row.Bytes > compareBytes {
		return true
	}
	body, kind, ok, err := s.past.Body(ctx, row)
	if err != nil {
		s.log.Warn("what a page leads to that stands for another one could not be read", "page", s.page.URL, "other", row.URL, "err", err)
	}
	if !ok || err != nil {
		return true
	}
	other, err := canon.Parse(row.URL)
	if err != nil {
		return true
	}
	leads := s.linksOf(ctx, other, body, kind, params)
	beside, counted := 0, false
	for _, link := range s.out.Links {
		u, err := canon.Parse(link.URL)
		if err != nil {
			continue
		}
		counted = counted || content.IsCounted(s.url, u, params)
		if !leads[content.LeaveOut(u, params)] {
			beside++
		}
	}
	return beside > mostBeside || counted && beside > 0
}

// linksOf is what a page that was read leads to, as links of this one would be kept.
func (s *visit) linksOf(ctx context.Context, at canon.URL, body []byte, kind, params string) map[canon.URL]bool {
	found := extract.Page(body, kind, at, extract.Options{Bytes: int(s.settings.BodyBytes), Links: s.settings.LinksPerPage, Agent: s.agent.Name, At: s.out.At})
	leads := map[canon.URL]bool{at: true, content.LeaveOut(s.url, params): true}
	for _, link := range found.Links {
		u := content.WithoutReturn(at, link.URL)
		leads[content.LeaveOut(u, params)] = true
		if plainly, ok := s.plainly(ctx, u); ok {
			leads[content.LeaveOut(plainly, params)] = true
		}
	}
	return leads
}
