package recrawl

import (
	"context"
	"fmt"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
)

// Programs that make pages link to more than what they are for: to a form to edit each, to its versions, to a log of it, to a log-in that leads back
// to it, ten times as many as there are pages that somebody reads. They ask crawlers for noindex and nofollow there, so by the word of the site itself
// these are for no reader and lead nowhere. That is heard once some pages of a family were seen: all that say it are of families that say nothing else.

// watchesFamilies tells whether pages of the site are left aside.
func (s *visit) watchesFamilies() bool {
	return s.past != nil && !s.needed && !s.page.Requisite && s.settings.NoIndex == config.NoIndexFew
}

// leavesAside tells whether a URL on the page's own host is of a family of pages that are left aside.
func (s *visit) leavesAside(ctx context.Context, u canon.URL) bool {
	if !s.watchesFamilies() || u.HostName() != s.url.HostName() {
		return false
	}
	family := content.FamilyOf(u)
	return family != 0 && s.hostMemory(ctx).leavesAside(family)
}

// aside ends the turn of a page that was never visited and is of such a family. One whose first visit failed is asked for again.
func (s *visit) aside(ctx context.Context) bool {
	p := s.page
	if p.Stats.Records > 0 || p.Version > 0 || p.Failures > 0 || p.MissingVisits > 0 || !s.isAside(ctx) {
		return false
	}
	s.out.Aside = true
	s.exclude(fmt.Sprintf("the %d pages of its family that were visited all ask for noindex and nofollow, so it is left aside; noindex: all visits each", content.EnoughAside))
	return true
}

// isAside tells whether the page is left aside. What somebody named, as the start page, in a list to import, or its publisher in a sitemap, or asks for now
// is not: a site may ask for noindex and nofollow on all its pages, as an intranet does.
func (s *visit) isAside(ctx context.Context) bool {
	return s.page.Level > models.ListLevel && s.page.Rule != models.RuleManual && s.leavesAside(ctx, s.url)
}

// tellFamily takes note of what the page asks for, for others of its family. One that answers 304 asks for what it did.
func (s *visit) tellFamily(ctx context.Context) {
	family := content.FamilyOf(s.url)
	if family == 0 || !s.watchesFamilies() {
		return
	}
	if s.out.LinksKnown {
		body, turn := s.hostMemory(ctx).tell(family, s.page.ID, s.out.NoIndex && s.out.NoFollow)
		if body != nil {
			s.out.HostMemory, s.out.HostTurn = body, turn
		}
	}
	s.out.Aside = s.isAside(ctx) && s.hostMemory(ctx).speaks(family, s.page.ID)
}

// leaveFamily takes note of a page that is there no more, lest nobody finds out what its family asks for by now.
func (s *visit) leaveFamily(ctx context.Context) {
	switch s.out.Kind {
	case models.Missing, models.Gone, models.Moved:
	default:
		return
	}
	family := content.FamilyOf(s.url)
	if family == 0 || !s.watchesFamilies() {
		return
	}
	if body, turn := s.hostMemory(ctx).leave(family, s.page.ID); body != nil {
		s.out.HostMemory, s.out.HostTurn = body, turn
	}
}
