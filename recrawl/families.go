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
// So are families whose pages are other addresses of pages (tellOther).

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
	if !s.isNew() || !s.isAside(ctx) {
		return false
	}
	s.out.Aside = true
	s.exclude(fmt.Sprintf("the %d pages of its family that were visited all ask for noindex and nofollow, or are other addresses of pages that are visited, "+
		"so it is left aside; noindex: all visits each", content.EnoughAside))
	return true
}

// isNew tells whether the page was never visited, not even in vain.
func (s *visit) isNew() bool {
	p := s.page
	return p.Stats.Records == 0 && p.Version == 0 && p.Failures == 0 && p.MissingVisits == 0
}

// isAside tells whether the page is left aside. What somebody named, as the start page or in a list to import, or asks for now is not.
func (s *visit) isAside(ctx context.Context) bool {
	return s.page.Level > 0 && s.page.Rule != models.RuleManual && s.leavesAside(ctx, s.url)
}

// family is that of the page itself; 0: none that is watched.
func (s *visit) family() content.Family {
	if !s.watchesFamilies() {
		return 0
	}
	return content.FamilyOf(s.url)
}

// tellFamily takes note of what the page is for, for others of its family. One that answers 304 says what it did.
func (s *visit) tellFamily(ctx context.Context) {
	family := s.family()
	if family == 0 {
		return
	}
	host, named := s.hostMemory(ctx), s.named()
	if s.out.LinksKnown {
		switch {
		case s.out.NoIndex && s.out.NoFollow:
			s.noted(host.tell(family, s.page.ID, true, ""))
		case named == "":
			s.noted(host.tell(family, s.page.ID, false, ""))
		default:
			s.tellOther(ctx, family, named, func(_ canon.URL, p *models.Page) bool { return s.isSaidBy(ctx, p, "") })
		}
	}
	s.out.Aside = s.isAside(ctx) && (host.speaks(family, s.page.ID) || named != "" && host.speaks(family, models.PageID(named)))
}

// named is what the page names as its canonical URL, also where it answers 304; "": no other.
func (s *visit) named() string {
	if s.out.Kind == models.NotModified {
		return s.page.Canonical
	}
	return s.out.Canonical
}

// leaveFamily takes note of a page that is there no more, lest nobody finds out what its family is for by now, and of one that only leads elsewhere.
func (s *visit) leaveFamily(ctx context.Context) {
	kind := s.out.Kind
	if kind != models.Missing && kind != models.Gone && kind != models.Moved {
		return
	}
	if plain := content.PlainFamilyOf(s.url); plain != 0 && s.watchesPlain() {
		s.noted(s.hostMemory(ctx).leave(plain, s.page.ID))
	}
	s.tellLed(ctx)
	family := s.family()
	if family == 0 {
		return
	}
	leads := kind == models.Moved && s.page.Version == 0 // and shows nothing of its own
	host := s.hostMemory(ctx)
	if leads && s.page.RedirectTo == s.out.RedirectTo {
		s.out.Aside = s.out.Aside || s.isAside(ctx) && host.speaks(family, models.PageID(s.out.RedirectTo))
		return
	}
	s.noted(host.leave(family, s.page.ID))
	for _, other := range []string{s.page.Canonical, s.page.RedirectTo} {
		if other != "" {
			s.noted(host.leave(family, models.PageID(other)))
		}
	}
	if leads {
		s.tellOther(ctx, family, s.out.RedirectTo, func(to canon.URL, _ *models.Page) bool { return !content.WantsLogin(s.url, to) })
	}
}

// listFamily takes note of a page that a sitemap of its host names: so its family is for readers, whatever its pages ask for, as those of an intranet do,
// all of them. A feed's word is none: a wiki's names what changed, by pages that tell how.
func (s *visit) listFamily(ctx context.Context, u canon.URL) {
	if u.HostName() != s.url.HostName() {
		return
	}
	page := models.PageID(u.String())
	if family := content.FamilyOf(u); family != 0 && s.watchesFamilies() {
		s.noted(s.hostMemory(ctx).tell(family, page, false, ""))
	}
	if family := content.PlainFamilyOf(u); family != 0 && s.watchesPlain() {
		s.noted(s.hostMemory(ctx).tell(family, page, false, ""))
		s.noted(s.hostMemory(ctx).tellShown(u))
	}
}

// noted takes over a host's memory as it is now; nil: it is as it was.
func (s *visit) noted(memory []byte, turn int64) {
	if memory != nil {
		s.out.HostMemory, s.out.HostTurn = memory, turn
	}
}
