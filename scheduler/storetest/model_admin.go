package storetest

import (
	"math"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"recrawld/models"
)

func (p *pair) pause(t *rapid.T) {
	site, paused := p.drawSite(t), rapid.Bool().Draw(t, "paused")
	p.each("SetPaused", func(s Store) error { return s.SetPaused(p.ctx, site, paused, p.now) })
}

// drawPage draws a page that may be known, most often one of the last leases.
func (p *pair) drawPage(t *rapid.T) models.Page {
	if len(p.leases) > 0 && !rarely(t, 3, "other") {
		if l := p.drawLease(t); len(l.Pages) > 0 {
			return rapid.SampledFrom(l.Pages).Draw(t, "leased").Page
		}
	}
	d := rapid.Custom(p.drawFound).Draw(t, "page")
	return d.Row(p.now)
}

func (p *pair) visitNow(t *rapid.T) {
	page := p.drawPage(t)
	p.each("VisitNow", func(s Store) error { return s.VisitNow(p.ctx, p.now, page.Bucket, page.ID) })
}

// name notes that a page and others of its host are named by no copy, are given up, or are named again.
func (p *pair) name(t *rapid.T) {
	page := p.drawPage(t)
	ids := []int64{page.ID}
	for n := range fewPages {
		_, id := keysOf(strings.Split(page.URL, "/")[2], n)
		ids = append(ids, id)
	}
	now, before := models.At(p.now), p.drawInstant(t)
	switch rapid.IntRange(0, 3).Draw(t, "named") {
	case 0, 1:
		both(p, "Unname", func(s Store) (int, error) { return s.Unname(p.ctx, now, page.Bucket, ids) })
	case 2:
		both(p, "GiveUp", func(s Store) (int, error) { return s.GiveUp(p.ctx, now, before, page.Bucket, ids) })
	default:
		both(p, "NameAgain", func(s Store) (int, error) { return s.NameAgain(p.ctx, now, page.Bucket, ids) })
	}
}

// announce tells of pages of a host, and of one of another host, which is none of the announcement's.
func (p *pair) announce(t *rapid.T) {
	page, other := p.drawPage(t), p.drawPage(t)
	about := models.Announcement{Bucket: page.Bucket, HostID: page.HostID, SiteID: page.SiteID, Pages: []int64{page.ID, other.ID}}
	for n := range fewPages {
		host := strings.Split(page.URL, "/")[2]
		if _, id := keysOf(host, n); rapid.Bool().Draw(t, "told") {
			about.Pages = append(about.Pages, id)
		}
	}
	most := rapid.IntRange(0, 3).Draw(t, "most")
	both(p, "Announce", func(s Store) (models.Heard, error) {
		return s.Announce(p.ctx, p.now, about, func(*models.Host) int { return most })
	})
}

// guard guards a site, or approves of what it has lost.
func (p *pair) guard(t *rapid.T) {
	site := p.drawSite(t)
	if rapid.Bool().Draw(t, "guarded") {
		since, loss := p.drawInstant(t), rapid.SampledFrom([]float32{0, 0.25, float32(math.NaN())}).Draw(t, "loss")
		p.each("SetGuarded", func(s Store) error { return s.SetGuarded(p.ctx, site, since, loss) })
		return
	}
	type approved struct {
		Held    int
		Guarded bool
	}
	both(p, "Approve", func(s Store) (approved, error) {
		held, guarded, err := s.Approve(p.ctx, site, p.now)
		return approved{held, guarded}, err
	})
}

// configure reads the configuration file anew, which may name sites otherwise or lack some, or adds a site beside it.
func (p *pair) configure(t *rapid.T) {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"one", "two", "three"}), 1, 3, rapid.ID).Draw(t, "names")
	sites := make([]models.Site, len(names))
	for i, name := range names {
		sites[i] = models.Site{Name: name, URL: rapid.SampledFrom([]string{"", "https://a.example/", "https://b.example/"}).Draw(t, "start")}
	}
	if rapid.Bool().Draw(t, "file") {
		p.syncSites(sites)
		return
	}
	sites[0].Settings = drawText(t, "settings")
	both(p, "AddSite", func(s Store) (models.Site, error) { return s.AddSite(p.ctx, p.now, sites[0]) })
}

func (p *pair) syncSites(sites []models.Site) {
	both(p, "SyncSites", func(s Store) ([]models.Site, error) { return s.SyncSites(p.ctx, p.now, sites) })
	both(p, "Sites", func(s Store) ([]models.Site, error) { return s.Sites(p.ctx) })
}

func (p *pair) removeSite(t *rapid.T) {
	if !rarely(t, 2, "remove") {
		t.Skip("site stays")
	}
	site := p.drawSite(t)
	p.each("RemoveSite", func(s Store) error { return s.RemoveSite(p.ctx, site, p.now) })
}

// clear removes what removed sites left, also hosts that were asked just now.
func (p *pair) clear(t *rapid.T) {
	before := p.now.Add(-rapid.SampledFrom([]time.Duration{0, time.Minute, 24 * time.Hour}).Draw(t, "rest"))
	both(p, "ClearRemoved", func(s Store) (models.Cleared, error) { return s.ClearRemoved(p.ctx, p.now, before) })
}

const mirror = "mirror" // a sink

// drain hands events on to the sink: some of one of the buckets that have news.
func (p *pair) drain(t *rapid.T) {
	news := both(p, "News", func(s Store) ([]int16, error) { return s.News(p.ctx, mirror) })
	if len(news) == 0 {
		t.Skip("no news")
	}
	bucket, limit := rapid.SampledFrom(news).Draw(t, "bucket"), rapid.IntRange(1, 3).Draw(t, "limit")
	after := both(p, "Cursor", func(s Store) (int64, error) { return s.Cursor(p.ctx, mirror, bucket) })
	events := both(p, "Events", func(s Store) ([]models.Event, error) { return s.Events(p.ctx, bucket, after, limit) })
	if len(events) > 0 {
		last := events[len(events)-1].Seq
		p.each("SetCursors", func(s Store) error {
			last, err := s.Events(p.ctx, bucket, last-1, 1) // of the mark that it has there
			if err != nil {
				return err
			}
			return s.SetCursors(p.ctx, mirror, map[int16]int64{bucket: after}, map[int16]models.EventRef{bucket: last[0].Ref()})
		})
	}
}

func (p *pair) prune(t *rapid.T) {
	before := p.now.Add(-time.Duration(rapid.IntRange(0, 300).Draw(t, "age")) * time.Second)
	both(p, "PruneVisits", func(s Store) (int64, error) { return s.PruneVisits(p.ctx, before, 3) })
	sinks := slices.Repeat([]string{mirror}, rapid.IntRange(0, 1).Draw(t, "sinks"))
	both(p, "PruneEvents", func(s Store) (int64, error) { return s.PruneEvents(p.ctx, before, sinks, 3) })
}

// beat does what a worker does beside visits.
func (p *pair) beat(t *rapid.T) {
	name := rapid.SampledFrom([]string{"w", "v"}).Draw(t, "worker")
	if rarely(t, 3, "leaves") {
		p.each("Leave", func(s Store) error { return s.Leave(p.ctx, name) })
	} else {
		w := models.Worker{Name: name, Machine: drawText(t, "machine"), StartedAt: models.At(start), BeatAt: models.At(p.now), Visits: int64(len(p.committed))}
		p.each("Beat", func(s Store) error { return s.Beat(p.ctx, w) })
	}
	both(p, "Workers", func(s Store) ([]models.Worker, error) { return s.Workers(p.ctx) })
	both(p, "NewestInstant", func(s Store) (models.Instant, error) { return s.NewestInstant(p.ctx) })

	old, value := drawText(t, "old"), drawText(t, "value")+"."
	both(p, "SetMeta", func(s Store) (string, error) { return s.SetMeta(p.ctx, "key", old, value) })
	both(p, "Meta", func(s Store) (string, error) { return s.Meta(p.ctx, "key") })
}

// order is what a person decides of a host.
func (p *pair) order(t *rapid.T) {
	page, body := p.drawPage(t), drawBytes(t, "orders")
	p.each("SetOrders", func(s Store) error { return s.SetOrders(p.ctx, page.Bucket, page.HostID, body) })
	for _, id := range []int64{page.ID, models.HostMemoryID, models.OrdersID} {
		both(p, "Memory", func(s Store) ([]byte, error) { return s.Memory(p.ctx, page.Bucket, page.HostID, id) })
	}
}
