package simulate

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"recrawld/models"
)

// SyncSites is models.Store.SyncSites.
func (m *Memory) SyncSites(_ context.Context, now time.Time, sites []models.Site) ([]models.Site, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	renamed := models.Renamed(m.sites, sites)
	for i := range m.sites {
		m.sites[i].FromFile = false
		m.sites[i].Name = cmp.Or(models.Clean(renamed[m.sites[i].ID]), m.sites[i].Name)
	}
	out := make([]models.Site, 0, len(sites))
	for _, site := range sites {
		site.FromFile = true
		out = append(out, m.putSite(now, site))
	}
	return out, nil
}

// AddSite is models.Store.AddSite.
func (m *Memory) AddSite(_ context.Context, now time.Time, site models.Site) (models.Site, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.putSite(now, site), nil
}

func (m *Memory) putSite(now time.Time, site models.Site) models.Site {
	site.Name, site.URL, site.Settings = models.Clean(site.Name), models.Clean(site.URL), models.Clean(site.Settings)
	for i := range m.sites {
		if had := &m.sites[i]; had.Name == site.Name {
			had.URL, had.FromFile = site.URL, had.FromFile || site.FromFile
			had.Settings = cmp.Or(site.Settings, had.Settings)
			return *had
		}
	}
	m.lastSite++
	site.ID, site.CreatedAt = m.lastSite, models.At(now)
	m.sites = append(m.sites, site)
	return site
}

// Sites is models.Store.Sites.
func (m *Memory) Sites(context.Context) ([]models.Site, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sites), nil
}

// SetPaused is models.Store.SetPaused.
func (m *Memory) SetPaused(_ context.Context, site int32, paused bool, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.site(site)
	if s == nil {
		return models.ErrNotFound
	}
	s.Paused = paused
	if paused {
		return nil
	}
	for p := range m.pages() {
		if p.SiteID == site && p.Rule == models.RulePaused {
			m.makeDue(p, models.At(now), models.RuleResumed)
		}
	}
	return nil
}

// site is a site's row, nil for none.
func (m *Memory) site(id int32) *models.Site {
	if i := slices.IndexFunc(m.sites, func(s models.Site) bool { return s.ID == id }); i >= 0 {
		return &m.sites[i]
	}
	return nil
}

// SetGuarded is models.Store.SetGuarded.
func (m *Memory) SetGuarded(_ context.Context, site int32, since models.Instant, lossPerDay float32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.site(site)
	if s == nil {
		return models.ErrNotFound
	}
	s.GuardedAt, s.LossPerDay = since, float32(models.Finite(float64(lossPerDay)))
	return nil
}

// Approve is models.Store.Approve.
func (m *Memory) Approve(_ context.Context, site int32, now time.Time) (held int, guarded bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.site(site)
	if s == nil {
		return 0, false, models.ErrNotFound
	}
	guarded = s.GuardedAt > 0
	for p := range m.pages() {
		guarded = guarded || p.SiteID == site && p.State == models.StateMissing && p.DueAt > 0 && !p.Requisite && m.buckets[p.Bucket].hosts[p.HostID].GuardedAt > 0
		if p.SiteID == site && p.Rule == models.RuleGuarded {
			m.makeDue(p, models.At(now), models.RuleApproved)
			held++
		}
	}
	if guarded || held > 0 {
		s.ApprovedAt = models.At(now)
	}
	return held, guarded, nil
}

// RemoveSite is models.Store.RemoveSite.
func (m *Memory) RemoveSite(_ context.Context, site int32, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.sites, func(s models.Site) bool { return s.ID == site })
	name := m.removedName(site)
	if i >= 0 {
		name = cmp.Or(m.sites[i].Name, m.sites[i].URL)
	}
	for n := range m.buckets {
		b := &m.buckets[n]
		for _, id := range slices.Sorted(maps.Keys(b.pages)) {
			if p := b.pages[id]; p.SiteID == site {
				m.tellRemoved(b, p, name, now)
				m.removePage(p)
			}
		}
	}
	for i := range m.buckets {
		b := &m.buckets[i]
		maps.DeleteFunc(b.daily, func(k siteDay, _ *models.Daily) bool { return k.site == site })
		b.today = nil
	}
	delete(m.notes, models.NoteBudget+models.SiteAccount(site))
	delete(m.notes, models.NotePrice+models.SiteAccount(site))
	if i < 0 {
		return models.ErrNotFound
	}
	m.sites = slices.Delete(m.sites, i, i+1)
	return nil
}

func (m *Memory) tellRemoved(b *bucket, p *page, site string, now time.Time) {
	if p.Version == 0 || m.options.Forget {
		return
	}
	b.events = append(b.events, models.Event{Bucket: b.index, Seq: b.next, At: models.At(now), Kind: models.EventRemoved, SiteID: p.SiteID,
		PageID: p.ID, URL: p.URL, Requisite: p.Requisite, Version: p.Version, Note: site, Mark: m.mark()})
	if site != "" {
		if b.removed == nil {
			b.removed = map[int32]removedSite{}
		}
		b.removed[p.SiteID] = removedSite{name: site, seq: b.next}
	}
	b.next++
}

// removedName is the name of a removed site, as long as events of its removal are kept.
func (m *Memory) removedName(site int32) (name string) {
	for i := range m.buckets {
		name = cmp.Or(name, m.buckets[i].removed[site].name)
	}
	return name
}

// pages yields all pages; those yielded may be removed.
func (m *Memory) pages() iter.Seq[*page] {
	return func(yield func(*page) bool) {
		for i := range m.buckets {
			for _, p := range m.buckets[i].pages {
				if !yield(p) {
					return
				}
			}
		}
	}
}

func (m *Memory) removePage(p *page) {
	p.DueAt = 0
	m.reschedule(p)
	h := p.host
	h.Pages--
	if p.Requisite {
		h.Requisites--
	}
	h.Removals++
	h.Trials.SitemapFound = false
	if h.LeaseUntil == 0 {
		h.Free(h.due.earliest())
		m.requeue(h)
	}
	k := key{p.Bucket, p.ID}
	delete(h.memories, p.ID)
	delete(m.buckets[p.Bucket].pages, p.ID)
	m.handed, m.awaited = m.handed[:0], 0
	delete(m.visits, k)
	delete(m.versions, k)
	delete(m.links, k)
}

// AddPages is models.Store.AddPages.
func (m *Memory) AddPages(_ context.Context, now time.Time, found []models.Discovery, maxPerHost int) (models.Added, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	type place struct {
		key
		index int
	}
	order := make([]place, len(found))
	for i := range found {
		order[i] = place{key{models.BucketOf(models.Clean(found[i].Host)), models.PageID(models.Clean(found[i].Page.URL))}, i}
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.id, b.id), cmp.Compare(a.index, b.index))
	})
	var sum models.Added
	gathering := m.gathered.Begin()
	for _, o := range order {
		m.add(now, &found[o.index], maxPerHost, gathering, &sum)
	}
	gathering.End(true)
	return sum, nil
}

// VisitNow is models.Store.VisitNow.
func (m *Memory) VisitNow(_ context.Context, now time.Time, bucket int16, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.page(key{bucket, id})
	if p == nil {
		return models.ErrNotFound
	}
	m.makeDue(p, models.At(now), models.RuleManual)
	p.host.Ask(models.At(now))
	return nil
}

// Announce is models.Store.Announce.
func (m *Memory) Announce(_ context.Context, now time.Time, a models.Announcement, believed func(*models.Host) int) (models.Heard, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.buckets[a.Bucket].hosts[a.HostID]
	if h == nil {
		return models.Heard{}, nil
	}
	var pages []models.Page
	for _, id := range a.Pages {
		if p := m.page(key{a.Bucket, id}); p != nil {
			pages = append(pages, p.Page)
		}
	}
	most := believed(&h.Host)
	heard := a.Hears(pages, models.At(now), max(most-m.announcedOpen(h, models.At(now)), 0), most > 0)
	for _, id := range slices.Concat(heard.Forward, heard.Pressed, heard.Waiting, heard.Noted) {
		m.page(key{a.Bucket, id}).AnnouncedAt = models.At(now)
	}
	for _, id := range heard.Pressed {
		m.page(key{a.Bucket, id}).Rule = models.RuleAnnounced
	}
	for _, id := range heard.Forward {
		m.makeDue(m.page(key{a.Bucket, id}), models.At(now), models.RuleAnnounced)
	}
	if len(heard.Pressed) > 0 {
		h.Ask(models.At(now))
	}
	return models.Heard{Forward: len(heard.Forward), Waiting: len(heard.Pressed) + len(heard.Waiting), Noted: len(heard.Noted)}, nil
}

// announcedOpen is how many pages of a host were announced and are not visited yet, of those that are due since the shortest time.
func (m *Memory) announcedOpen(h *host, now models.Instant) (open int) {
	var due []*page
	for p := range m.pages() {
		if p.host == h && p.DueAt > 0 && p.DueAt <= now {
			due = append(due, p)
		}
	}
	slices.SortFunc(due, func(a, b *page) int { return cmp.Or(cmp.Compare(b.DueAt, a.DueAt), cmp.Compare(b.ID, a.ID)) })
	for _, p := range due[:min(len(due), models.OpenAmong)] {
		if p.Rule == models.RuleAnnounced {
			open++
		}
	}
	return open
}

// Recover is models.Store.Recover.
func (m *Memory) Recover(_ context.Context, now time.Time, owner string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for i := range m.buckets {
		for _, h := range m.buckets[i].hosts {
			if h.LeaseUntil != 0 && (owner == "" || h.LeaseOwner == owner) {
				h.Void(models.NotBefore(now), h.due.earliest())
				m.requeue(h)
				n++
			}
		}
	}
	return n, nil
}
