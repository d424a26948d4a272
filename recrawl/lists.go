package recrawl

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/sitemap"
)

// listTime is how long reading a list and the copy that is held may take: 50,000 entries of both take a second.
const listTime = 15 * time.Second

// fewestTold is how many pages of a host must be known for its lists to be read that lie beyond the site's level: one says something of these alone
// then, and costs as much as a visit to each of a few.
const fewestTold = 5

// within is a level, or the site's limit: lists beyond that are read as well, for what they say of the pages that are known.
func (s *visit) within(level int) int { return min(level, s.settings.Level) }

// beyond tells whether a level is beyond the site's limit.
func (s *visit) beyond(level int) bool { return level > s.settings.Level }

// readsLists tells whether the lists of the page's host are read that are found on a level.
func (s *visit) readsLists(level int) bool {
	return s.settings.Lists != config.ListsOff && (!s.beyond(level) || s.turn.Host.Pages >= fewestTold)
}

// namedLists are the sitemaps that the robots.txt just read names, as far as the site keeps them.
func (s *visit) namedLists() []models.FoundLink {
	if !s.readsLists(models.ListLevel) {
		return nil
	}
	var found []models.FoundLink
	for _, raw := range s.rules.of(s.robots).Sitemaps() {
		if u, err := s.url.Resolve(raw); err == nil {
			found = s.keepListed(found, u, models.ListLevel, true)
		}
	}
	return found
}

// keepListed appends what a list or robots.txt names, perhaps as a list, if scope, filters and robots.txt keep it. Beyond the level
// nothing of other hosts is worth it: a list is believed of its own host alone.
func (s *visit) keepListed(found []models.FoundLink, u canon.URL, level int, list bool) []models.FoundLink {
	if s.beyond(level) && u.HostName() != s.url.HostName() || !s.inScope(u, s.within(level)) || !s.mayName(s.rules.of(s.robots), u) {
		return found
	}
	return append(found, models.FoundLink{URL: u.String(), Host: u.HostName(), List: list})
}

// listKind is what list the page is: by its root element or, for one without mark-up, because robots.txt names it or it was
// one before.
func (s *visit) listKind(body []byte) sitemap.Kind {
	if s.settings.Lists == config.ListsOff || s.needed {
		return sitemap.None
	}
	if !mayBeList(s.out.ContentType, body) {
		return sitemap.None
	}
	kind := sitemap.KindOf(body)
	if kind != sitemap.None || s.out.ContentType != "text/plain" && !bytes.HasPrefix(body, gzipMagic) {
		return kind
	}
	if s.page.Entries > 0 || s.isNamed() {
		return sitemap.Plain
	}
	return sitemap.None
}

// isNamed tells whether robots.txt names the page as a list, or what redirects to it.
func (s *visit) isNamed() bool {
	for _, raw := range s.rules.of(s.robots).Sitemaps() {
		if u, err := s.url.Resolve(raw); err == nil && (u == s.url || slices.Contains(s.page.Chain, models.PageID(u.String()))) {
			return true
		}
	}
	return false
}

// isList tells whether the page is named as a list, or was one: what it leads to is one, too.
func (s *visit) isList() bool {
	if s.settings.Lists == config.ListsOff {
		return false
	}
	return s.page.IsList() || s.isNamed()
}

var gzipMagic = []byte{0x1F, 0x8B}

// mayBeList tells bodies that are surely no list: it costs next to nothing.
func mayBeList(media string, body []byte) bool {
	if bytes.HasPrefix(body, gzipMagic) {
		return true
	}
	head := bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), 64)], []byte("\xef\xbb\xbf")), " \t\r\n")
	if media != "text/html" {
		return mayHoldText(media)
	}
	for _, begin := range []string{"<?xml", "<urlset", "<sitemapindex", "<rss", "<feed", "<rdf:"} {
		if len(head) >= len(begin) && strings.EqualFold(string(head[:len(begin)]), begin) {
			return true
		}
	}
	return false
}

// lists is a list as it was read, and as it was before.
type lists struct {
	now, before sitemap.Set
	held        bool // there is a before
	err         error
}

// listed reads a list whose bytes are others than those of the copy that is held: what it says decides what they are worth,
// and it may say something of other pages. false: it is no list after all, or could not be read in time.
func (s *visit) listed(ctx context.Context, kind sitemap.Kind, body []byte, header http.Header) bool {
	read, ok := s.readLists(ctx, body)
	if !ok {
		return false
	}
	first := s.out.Kind == models.First
	if kind == sitemap.Feed && !first { // what it says beside its links and dates counts as of any page
		if s.weigh(ctx, body, header); !s.out.Kind.Observed() {
			return true
		}
	}
	if !read.held {
		read.before = sitemap.Set{Kind: read.now.Kind, Partial: true}
	}
	news := sitemap.Compare(read.before, read.now, s.out.At)
	if kind != sitemap.Feed && !first && read.held {
		s.judgeList(&news)
	}
	s.report(ctx, &read, &news, first)
	return true
}

// readLists reads the list and the copy that is held, if there is one.
func (s *visit) readLists(ctx context.Context, body []byte) (lists, bool) {
	var held []byte
	var read lists
	if s.past != nil && s.page.Version > 0 && s.out.Kind != models.First {
		var err error
		if held, _, read.held, err = s.past.Body(ctx, s.page); err != nil {
			s.log.Warn("the copy of a list cannot be read", "page", s.page.URL, "version", s.page.Version, "err", err)
			read.held = false
		}
	}
	limits := sitemap.Limits{URLs: s.settings.ListEntries, Bytes: sitemap.MaxBytes}
	inside := &lists{held: read.held} // nobody may look at it when the time is over
	err := s.comparer.runFor(ctx, listTime, s.url, listBytes(body)+listBytes(held), func(context.Context) error {
		inside.now, inside.err = sitemap.Read(bytes.NewReader(body), limits)
		if inside.held {
			inside.before, _ = sitemap.Read(bytes.NewReader(held), limits) // what was whole of it; the rest may have been anything
		}
		return nil
	})
	switch {
	case err != nil:
		s.log.Warn("a list cannot be read", "page", s.page.URL, "bytes", len(body), "err", err)
		return read, false
	case errors.Is(inside.err, sitemap.ErrFormat):
		return read, false
	}
	inside.held = inside.held && inside.before.Kind == inside.now.Kind
	return *inside, true
}

// What a list of gzip may come to, which it does not say: no deflate stream grows more than unpacks times, and no more than
// sitemap.MaxBytes of it are read. A list takes about its own length in memory, and other pages take listShare times as much,
// which is what comparisons are bounded by.
const (
	unpacks   = 1032
	listShare = 16
)

// listBytes is by how much the reading of a list counts among the comparisons.
func listBytes(body []byte) int {
	if !bytes.HasPrefix(body, gzipMagic) {
		return len(body)
	}
	return max(len(body), min(len(body), sitemap.MaxBytes/unpacks)*unpacks/listShare)
}

// judgeList says what a list's other bytes are worth. Dates alone are no change where the host's lists are found to lie:
// such a list is made anew each time, with the time of that.
func (s *visit) judgeList(news *sitemap.News) {
	s.out.Kind, s.out.Significance, s.out.Reasons = models.Changed, 1, models.ReasonLinkTarget
	if len(news.New)+news.Vanished > 0 {
		return
	}
	s.out.Reasons = models.ReasonDateOnly
	if news.Quiet() {
		s.out.Reasons = models.ReasonMarkupOnly
	}
	trial := &s.turn.Host.Trials.By[models.HintSitemap]
	if (news.Quiet() || trial.Doubted()) && !s.everyChange() {
		s.out.Kind, s.out.Significance = models.Noise, 0
	}
}

// unknownOf tells which entries may be of pages that are not known: those that a list did not have before, and, when it tells of them, those whose
// page is known by the URL as the list has it, from a release that left out nothing.
func unknownOf(news *sitemap.News) func(sitemap.Entry) bool {
	fresh, told := make(map[string]bool, len(news.New)), make(map[string]bool, len(news.Told))
	for _, e := range news.New {
		fresh[e.Loc] = true
	}
	for _, t := range news.Told {
		told[t.Loc] = true
	}
	return func(e sitemap.Entry) bool { return fresh[e.Loc] || e.Bare && told[e.Loc] }
}

// report puts into the outcome what a list says. Its entries are no children: they change without it, and it without them.
// A first reading tells nothing: what changed since when is not known.
func (s *visit) report(ctx context.Context, read *lists, news *sitemap.News, first bool) {
	out := &models.Listing{Index: read.now.Kind == sitemap.Index}
	s.out.Listing, s.out.Links, s.out.LinksKnown = out, nil, false
	level := int(s.page.Level) + 1
	if !s.readsLists(level) || s.beyond(level) && read.now.Kind == sitemap.Feed && !s.isNamed() { // a feed is there for its own sake, too
		return
	}
	named := read.now.URLs
	if out.Index {
		named = read.now.Sitemaps
	}
	all := first || !read.held || s.page.Entries == 0
	mayBeNew := unknownOf(news)
	discovers := s.settings.AddsListed(int(s.page.Level)) || out.Index
	if !discovers {
		out.Named = make([]int64, 0, len(named))
	}
	kept := make(map[string]string, len(named)) // hosts by URL; "": not kept
	for _, e := range named {
		if _, met := kept[e.Loc]; met {
			continue
		}
		kept[e.Loc] = ""
		u, err := canon.Parse(e.Loc)
		if err != nil {
			continue
		}
		links := s.keepListed(s.out.Links, u, level, out.Index)
		if len(links) == len(s.out.Links) {
			continue
		}
		out.Entries++
		kept[e.Loc] = u.HostName()
		if read.now.Kind == sitemap.Sitemap || read.now.Kind == sitemap.Plain {
			s.listFamily(ctx, u)
		}
		switch {
		case !discovers && u.HostName() == s.url.HostName():
			out.Named = append(out.Named, models.PageID(e.Loc))
		case discovers && (all || mayBeNew(e)):
			s.out.Links = links
		}
	}
	if s.beyond(level) { // then an index costs no more than the pages that its lists may say something of
		s.out.Links = s.out.Links[:min(len(s.out.Links), int(s.turn.Host.Pages))]
	}
	for _, told := range news.Told {
		if !first && kept[told.Loc] == s.url.HostName() {
			since := s.page.Stats.VisitedAt // it said something else then
			if !told.Since.IsZero() {
				since = models.At(told.Since)
			}
			out.Told = append(out.Told, models.Told{PageID: models.PageID(told.Loc), Since: since, At: models.At(told.At), Came: told.Came})
		}
	}
}
