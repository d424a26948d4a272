package simulate

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"recrawld/models"
)

// Listings are sitemaps, one on each host of a trace. It names the pages that are alive, each with a date: of its birth, or of the last
// change that is told. A reading shows what was told since the one before.
type Listings struct {
	Share float64 // of the changes whose dates are told, drawn by lot, 0–1; 0: there are no sitemaps
	False float64 // dates that move although nothing changed, beside each change, 0–100
}

// listing is the seed of what sitemaps tell.
const listing dice = 5

// item is something new in a sitemap.
type item struct {
	at   models.Instant
	page int32
	kind itemKind
}

type itemKind int8

const (
	redated itemKind = iota
	entered
	vanished
)

// sitemap is that of a host.
type sitemap struct {
	host, url string
	news      []item // the earliest first
	passed    int    // of them, at the last reading
	alive     int32  // pages that it named then
}

// of is the sitemaps of a trace, none of them read.
func (l Listings) of(t *Trace) *readings {
	if l.Share == 0 {
		return &readings{of: t}
	}
	r := &readings{of: t, lists: make(map[int64]*sitemap), hosts: make(map[string]*sitemap)}
	for i := range t.Pages {
		host := t.Pages[i].Host
		if r.hosts[host] == nil {
			s := &sitemap{host: host, url: "https://" + host + "/sitemap.xml"}
			r.hosts[host], r.lists[models.PageID(s.url)] = s, s
		}
		r.hosts[host].news = append(r.hosts[host].news, l.items(t, i)...)
	}
	for _, s := range r.hosts {
		slices.SortFunc(s.news, func(a, b item) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.page, b.page)) })
	}
	return r
}

// items are what a sitemap says of a page in the course of its life.
func (l Listings) items(t *Trace, page int) []item {
	life, lots := &t.Pages[page], listing.fork(page)
	end := life.End(t)
	said := []item{{life.Born, int32(page), entered}}
	for _, at := range life.Changes {
		if lots.uniform() < l.Share && at <= end {
			said = append(said, item{at, int32(page), redated})
		}
		for more := l.False; lots.uniform() < more; more-- {
			said = append(said, item{life.Born + models.Instant(lots.uniform()*float64(end-life.Born)), int32(page), redated})
		}
	}
	if end < t.To {
		said = append(said, item{end, int32(page), vanished})
	}
	return said
}

// readings are the sitemaps of a trace as they are read in one simulation, whose time only moves forward.
type readings struct {
	of    *Trace
	lists map[int64]*sitemap // by the IDs of their pages
	hosts map[string]*sitemap
	asked []models.Instant
}

// read is what a sitemap answers at now. Lists that are not believed tell nothing by dates alone, as to a visit of the daemon.
func (r *readings) read(s *sitemap, believed bool, now time.Time) models.Outcome {
	r.asked = append(r.asked, models.At(now))
	out := models.Outcome{Kind: models.NotModified, Status: 304, At: now, Sent: 1, NoArchive: true}
	first, names := s.passed == 0, false
	said := make(map[int32]models.Instant)
	for ; s.passed < len(s.news) && s.news[s.passed].at <= models.At(now); s.passed++ {
		e := s.news[s.passed]
		switch e.kind {
		case entered:
			s.alive++
		case vanished:
			s.alive--
			delete(said, e.page)
			names = true
			continue
		}
		names = names || e.kind == entered
		said[e.page] = e.at
	}
	binary.BigEndian.PutUint64(out.Digest[:], uint64(s.passed))
	if len(said) == 0 && !names {
		return out
	}
	out.Kind, out.Status, out.ContentType = models.Changed, 200, "application/xml"
	out.Listing = &models.Listing{Entries: s.alive}
	switch {
	case first:
		out.Kind = models.First
		return out
	case !names && !believed:
		out.Kind = models.Noise
	}
	for _, page := range slices.Sorted(maps.Keys(said)) {
		out.Listing.Told = append(out.Listing.Told, models.Told{PageID: models.PageID(r.of.Pages[page].URL), Since: said[page], At: said[page]})
	}
	return out
}

// unread is the sitemaps, of the hosts of some pages, that were never read, by the order of the pages.
func (r *readings) unread(pages []int32) []*sitemap {
	var found []*sitemap
	met := make(map[*sitemap]bool)
	for _, i := range pages {
		s := r.hosts[r.of.Pages[i].Host]
		if s != nil && s.passed == 0 && !met[s] {
			met[s] = true
			found = append(found, s)
		}
	}
	return found
}
