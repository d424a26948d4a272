package simulate

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"recrawld/models"
)

// Memory is a store in memory, with the semantics of models.Store: it passes the same suite (scheduler/storetest). It
// is for simulations and tests; nothing of it survives the process. It is safe for concurrent use. The zero value is
// not ready: use NewMemory. It keeps the byte slices that it is given: nobody may change them afterwards.
type Memory struct {
	options  MemoryOptions
	gathered models.Gathered

	mu       sync.Mutex // guards all below
	sites    []models.Site
	lastSite int32
	buckets  [models.Buckets]bucket
	ready    queue[*bucket]      // those with a host that is ever ready
	ahead    queue[*earlyBucket] // those with a host that may be visited early
	contents map[models.Digest]models.Content
	prints   map[int64]map[key]bool   // pages by the keys of what they say
	visits   map[key][]models.Visit   // by page, by number
	versions map[key][]models.Version // by page, by number
	links    map[key]map[key]bool     // children by parent
	cursors  map[string]*[models.Buckets]int64
	marks    int64 // of events, drawn so far
	workers  map[string]models.Worker
	meta     map[string]string
	notes    map[string][]byte
	commit   memoryCommit // its slices are used again by each commit
	leases   []models.Lease
	leased   []models.LeasedPage
	handed   []*page // of the last claim
	awaited  int     // the one of these whose result is to come next
	list     []models.BucketReady
	verdicts []error
}

// MemoryOptions say what a Memory keeps.
type MemoryOptions struct {
	PagesPerHost int   // as in models.Options; 0: no limit
	Requisites   int64 // likewise
	Forget       bool  // keep no history (visits, versions, events) and no bodies' first records: for long simulations

	// ReadyBuckets is how many buckets Ready lists at most, the earliest first: for simulations, in which a worker takes
	// one host at a time and looks again. 0: all.
	ReadyBuckets int

	// Reuse lets what Claim, Ready and Commit return be good only until the next call of the same method: for simulations,
	// in which one worker without fetchers asks.
	Reuse bool
}

// again is an empty slice with room for so many in the place of an older one, where that may be used again.
func again[T any](m *Memory, last *[]T, room int) []T {
	if !m.options.Reuse {
		return make([]T, 0, room)
	}
	*last = slices.Grow((*last)[:0], room)
	return *last
}

// key names a page.
type key struct {
	bucket int16
	id     int64
}

// NewMemory returns an empty store.
func NewMemory(o MemoryOptions) *Memory {
	m := &Memory{
		options:  o,
		gathered: models.Gathered{Least: o.Requisites},
		contents: make(map[models.Digest]models.Content),
		prints:   make(map[int64]map[key]bool),
		visits:   make(map[key][]models.Visit),
		versions: make(map[key][]models.Version),
		links:    make(map[key]map[key]bool),
		cursors:  make(map[string]*[models.Buckets]int64),
		workers:  make(map[string]models.Worker),
		meta:     make(map[string]string),
		notes:    make(map[string][]byte),
	}
	for n := range m.buckets {
		m.buckets[n] = bucket{index: int16(n), next: 1, hosts: make(map[int64]*host), pages: make(map[int64]*page),
			daily: make(map[siteDay]*models.Daily)}
	}
	return m
}

// page is a page by its key, or nil.
func (m *Memory) page(k key) *page {
	if k.bucket < 0 || k.bucket >= models.Buckets {
		return nil
	}
	return m.buckets[k.bucket].pages[k.id]
}

// Claim implements scheduler.Store.
func (m *Memory) Claim(ctx context.Context, c models.ClaimRequest) ([]models.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leased, m.handed, m.awaited = m.leased[:0], m.handed[:0], 0
	leases := again(m, &m.leases, 0)
	for looked := 1; len(leases) == 0 && looked > 0; {
		looked = 0
		for _, n := range c.Buckets {
			leases = m.claimBucket(&c, &m.buckets[n], leases, &looked)
		}
	}
	if m.options.Reuse {
		m.leases = leases
	}
	return leases, nil
}

// claimBucket appends the leases of one bucket, and counts the hosts that it looked at.
func (m *Memory) claimBucket(c *models.ClaimRequest, b *bucket, leases []models.Lease, looked *int) []models.Lease {
	now := models.At(c.Now)
	// A store on a database looks at no more hosts than it may lease, those without a due page included.
	for ; *looked < c.Hosts; *looked++ {
		var h *host
		switch {
		case len(b.ready.entries) > 0 && b.ready.entries[0].at <= now:
			h = b.ready.entries[0].of
		case c.Ahead.After(c.Now):
			h = b.early(now, models.At(c.Ahead))
		}
		if h == nil {
			break
		}
		due := m.duePages(h, c)
		if len(due) == 0 {
			h.Free(h.due.earliest())
			m.requeue(h)
			continue
		}
		h.Take(c)
		m.requeue(h)
		leases = append(leases, m.lease(h, h.LeaseUntil, due))
	}
	return leases
}

// duePages copies the pages of a host that a request is for.
func (m *Memory) duePages(h *host, c *models.ClaimRequest) []models.LeasedPage {
	limit := c.PagesOf(&h.Host)
	var room [64]*page
	found := room[:0]
	for _, p := range h.due.ordered(c.DueBy(&h.Host)) {
		if found = append(found, p); len(found) == limit {
			break
		}
	}
	var due []models.LeasedPage
	if m.options.Reuse {
		m.leased = slices.Grow(m.leased, len(found)) // behind those of the call's other hosts
		due = m.leased[len(m.leased):][:len(found):len(found)]
		m.leased = m.leased[:len(m.leased)+len(found)]
		m.handed = append(m.handed, found...)
	} else {
		due = make([]models.LeasedPage, len(found))
	}
	for i, p := range found {
		due[i].Page = p.Page // in place: a row that is made first is copied twice
		due[i].Share = models.ChildShare{}
	}
	return due
}

// Further implements scheduler.Store.
func (m *Memory) Further(ctx context.Context, now time.Time, limit int, hosts []models.Handed) ([][]models.LeasedPage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([][]models.LeasedPage, len(hosts))
	for i, handed := range hosts {
		h := m.buckets[handed.Bucket].hosts[handed.HostID]
		if h == nil {
			continue
		}
		var due []models.LeasedPage
		for at, p := range h.due.ordered(models.At(now)) {
			if len(due) == limit {
				break
			}
			if at > handed.DueAt || at == handed.DueAt && p.ID > handed.PageID {
				due = append(due, models.LeasedPage{Page: p.Page})
			}
		}
		m.share(due)
		out[i] = due
	}
	return out, nil
}

func (m *Memory) lease(h *host, until models.Instant, due []models.LeasedPage) models.Lease {
	l := models.Lease{Host: h.Host, Until: until.Time(), Pages: due}
	if len(h.robots) > 0 {
		for _, origin := range slices.Sorted(maps.Keys(h.robots)) {
			l.Robots = append(l.Robots, h.robots[origin])
		}
	}
	m.share(due)
	return l
}

// share counts the known children of pages.
func (m *Memory) share(due []models.LeasedPage) {
	for i := range due {
		p := &due[i]
		if p.Children == 0 {
			continue
		}
		for child := range m.links[key{p.Bucket, p.ID}] {
			if c := m.page(child); c != nil {
				p.Share.Count(&p.Page, &c.Page)
			}
		}
	}
}

// Contents implements scheduler.Store.
func (m *Memory) Contents(ctx context.Context, digests []models.Digest) (map[models.Digest]models.Content, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := make(map[models.Digest]models.Content, len(digests))
	for _, d := range digests {
		if c, ok := m.contents[d]; ok {
			seen[d] = c
		}
	}
	return seen, nil
}

// add adds a page unless it exists, and its host.
func (m *Memory) add(now time.Time, found *models.Discovery, limit int, gathering *models.Gathering, sum *models.Added) {
	row := found.Row(now)
	b := &m.buckets[row.Bucket]
	h := b.hosts[row.HostID]
	if h == nil {
		h = &host{Host: models.NewHost(row.Bucket, row.HostID, models.Clean(found.Host), now)}
		b.hosts[row.HostID] = h
	}
	known := b.pages[row.ID]
	switch {
	case known != nil && known.URL == row.URL:
		sum.Known++
		m.nameAgain(known, models.At(now))
	case known != nil, limit > 0 && int(h.Pages) >= limit, !gathering.Add(&row):
		sum.Dropped++
	default:
		p := &page{Page: row, host: h}
		p.Clean()
		b.pages[row.ID] = p
		m.reschedule(p)
		h.Pages++
		if p.Requisite {
			h.Requisites++
		}
		h.Hasten(p.DueAt)
		m.requeue(h)
		sum.Added++
	}
}
