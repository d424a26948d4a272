package recrawl

import (
	"context"
	"errors"
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/fingerprint"
)

// Forums have an address for each of their posts, which shows the page of the topic that it stands on and names that as canonical, and others that lead to
// the last or the first new one of a topic: ten times as many as there are topics. What they show is known without them, by the word of the site itself,
// where that other page was known before they were visited. Where it was not it may be that they are the only way to it. That all of them lead to one
// page says nothing: so does a site that is being repaired.

// tellOther takes note of whether the page is no more than another address of one that is known, as stands tells of that one's row. One that calls its own address
// without some parameters canonical is none: that may be known by such pages alone (tellPlain).
func (s *visit) tellOther(ctx context.Context, family content.Family, other string, stands func(canon.URL, *models.Page) bool) {
	host, id := s.hostMemory(ctx), models.PageID(other)
	to, err := canon.Parse(other)
	switch {
	case !host.undecided(family, "") && !host.speaks(family, id):
	case err != nil || to.HostName() != s.url.HostName() || s.out.Kind != models.Moved && isWithin(s.url, to):
		s.noted(host.tell(family, s.page.ID, false, ""))
	case s.out.Kind == models.Moved && s.leavesAside(ctx, to):
		s.noted(host.tell(family, id, true, ""))
	default:
		place := s.placeOf(to)
		s.weighOther(ctx, saying{family, id, ""}, place, func(p *models.Page) bool { return stands(to, p) && (place == to || s.isFound(ctx, to)) })
	}
}

// isFound tells whether nothing is lost where the page does not lead to another one of its host: that is known without it, or is not kept.
func (s *visit) isFound(ctx context.Context, to canon.URL) bool {
	_, err := s.past.Page(ctx, models.BucketOf(to.HostName()), models.PageID(to.String()))
	return err == nil || !s.names(to, int(s.page.Level))
}

// saying is that a page of a family says a thing (content.HostMemory.Tells).
type saying struct {
	family content.Family
	page   int64
	params string
}

// weighOther takes note of what the page says of another one, and so of its family, by whether that one was read and stands for it. One that nobody has read yet says nothing,
// nor does one that is not known, where the page is what makes it known.
func (s *visit) weighOther(ctx context.Context, of saying, other canon.URL, stands func(*models.Page) bool) {
	host := s.hostMemory(ctx)
	row, err := s.past.Page(ctx, models.BucketOf(other.HostName()), models.PageID(other.String()))
	known := err == nil
	switch {
	case !known && !errors.Is(err, models.ErrNotFound):
		s.log.Warn("whether a page is known could not be read", "page", s.page.URL, "other", other, "err", err)
	case known && isRead(&row) && stands(&row):
		s.noted(host.tell(of.family, of.page, true, of.params))
	case known && row.State == models.StateNew, !known && of.params != "":
	case host.speaks(of.family, of.page):
		s.noted(host.leave(of.family, of.page))
	default:
		s.noted(host.doubt(of.family))
	}
}

// isRead tells whether a page was seen to be there for itself, and is still asked for.
func isRead(p *models.Page) bool {
	return !p.Requisite && p.State == models.StateLive && p.Stats.Records > 0
}

// isSaidBy tells whether what the page says is said by another one as well, which it names as canonical, leaving out params of its own address, and whether
// that leads where it does. Shops and blogs name the first page of a list so on all that follow.
func (s *visit) isSaidBy(ctx context.Context, p *models.Page, params string) bool {
	if p.Canonical != "" {
		return false
	}
	same := p.TextDigest == s.out.TextDigest && !p.TextDigest.IsZero()
	if print := fingerprint.Print(s.out.Print); !print.IsZero() {
		same = print.Alike(fingerprint.Print(p.Print))
	}
	return same && !s.leadsOn(ctx, p, params)
}

// placeOf is where a link that the page names, or leads to, stands: in what is known by the page's own address without what is to be done with it, where
// that is one of the same script and tells what that tells (?topic=7&action=last, of ?topic=7, leads to ?topic=7&post=99, which the topic's page leads to as well), or
// else for itself.
func (s *visit) placeOf(to canon.URL) canon.URL {
	bare, ok := content.Bare(s.url)
	if ok && s.out.Kind == models.Moved && isWithin(to, bare) {
		return bare
	}
	return to
}

// isWithin tells whether a URL is another one without some of its parameters.
func isWithin(u, part canon.URL) bool {
	if u.Path() != part.Path() {
		return false
	}
	params := strings.Split(u.Query(), config.ParamSeparator(u.Query()))
	for param := range strings.SplitSeq(part.Query(), config.ParamSeparator(part.Query())) {
		if param != "" && !slices.Contains(params, param) {
			return false
		}
	}
	return true
}
