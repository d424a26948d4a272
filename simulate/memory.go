package simulate

import (
	"cmp"
	"container/heap"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"recrawld/models"
)

// Memory is a store in memory, with the semantics of models.Store: it passes the same suite (scheduler/storetest). It
// is for simulations and tests; nothing of it survives the process. It is safe for concurrent use. The zero value is
// not ready: use NewMemory.
type Memory struct {
	options MemoryOptions

	mu       sync.Mutex // guards all below
	sites    []models.Site
	lastSite int32
	queues   [models.Buckets]hostHeap
	hosts    map[key]*host
	pages    map[key]*page
	contents map[models.Digest]models.Content
	visits   map[key][]models.Visit   // by page, by number
	versions map[key][]models.Version // by page, by number
	links    map[key]map[key]bool     // children by parent
	events   [models.Buckets][]models.Event
	nextSeq  [models.Buckets]int64
	daily    map[dayKey]*models.Daily
	cursors  map[string]*[models.Buckets]int64
	workers  map[string]models.Worker
	meta     map[string]string
}

// MemoryOptions say what a Memory keeps.
type MemoryOptions struct {
	PagesPerHost int  // as in models.Options; 0: no limit
	Forget       bool // keep no visits and no events: for long simulations
}

// key names a host or a page.
type key struct {
	bucket int16
	id     int64
}

type dayKey struct {
	bucket    int16
	site, day int32
}

// host is a host with its place in its bucket's queue and its pages.
type host struct {
	models.Host
	index  int // in the queue; -1: not in it, because ReadyAt is never
	robots map[string]models.Robots
	due    pageHeap
}

// page is a page with its place in its host's queue.
type page struct {
	models.Page
	index int // in the queue; -1: not in it, because DueAt is never
}

// NewMemory returns an empty store.
func NewMemory(o MemoryOptions) *Memory {
	m := &Memory{
		options:  o,
		hosts:    make(map[key]*host),
		pages:    make(map[key]*page),
		contents: make(map[models.Digest]models.Content),
		visits:   make(map[key][]models.Visit),
		versions: make(map[key][]models.Version),
		links:    make(map[key]map[key]bool),
		daily:    make(map[dayKey]*models.Daily),
		cursors:  make(map[string]*[models.Buckets]int64),
		workers:  make(map[string]models.Worker),
		meta:     make(map[string]string),
	}
	for b := range m.nextSeq {
		m.nextSeq[b] = 1
	}
	return m
}

// Claim implements scheduler.Store.
func (m *Memory) Claim(ctx context.Context, c models.ClaimRequest) ([]models.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var leases []models.Lease
	for _, bucket := range c.Buckets {
		leases = m.claimBucket(c, bucket, leases)
	}
	return leases, nil
}

// claimBucket appends the leases of one bucket.
func (m *Memory) claimBucket(c models.ClaimRequest, bucket int16, leases []models.Lease) []models.Lease {
	now, queue := models.At(c.Now), &m.queues[bucket]
	// A store on a database looks at no more hosts than it may lease, those without a due page included.
	for looked := c.Hosts - len(leases); looked > 0; looked-- {
		if len(*queue) == 0 || (*queue)[0].ReadyAt > now {
			break
		}
		h := (*queue)[0]
		limit := max(c.Pages, 1)
		if c.Patient > 0 && h.Delay >= c.Patient {
			limit = 1
		}
		due := h.due.first(limit, now)
		if len(due) == 0 {
			h.Free(h.due.earliest())
			m.requeue(h)
			continue
		}
		until := models.At(c.Now.Add(c.Lease))
		h.Take(c.Owner, until)
		m.requeue(h)
		leases = append(leases, m.lease(h, until, due))
	}
	return leases
}

func (m *Memory) lease(h *host, until models.Instant, due []*page) models.Lease {
	l := models.Lease{Host: h.Host, Until: until.Time()}
	for _, origin := range slices.Sorted(maps.Keys(h.robots)) {
		l.Robots = append(l.Robots, h.robots[origin])
	}
	for _, p := range due {
		leased := models.LeasedPage{Page: p.Page}
		if p.Children > 0 {
			for child := range m.links[key{p.Bucket, p.ID}] {
				if c := m.pages[child]; c != nil {
					leased.Share.Count(&p.Page, &c.Page)
				}
			}
		}
		l.Pages = append(l.Pages, leased)
	}
	return l
}

// Ready implements scheduler.Store.
func (m *Memory) Ready(ctx context.Context) ([]models.BucketReady, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var ready []models.BucketReady
	for bucket, queue := range m.queues {
		if len(queue) > 0 {
			ready = append(ready, models.BucketReady{Bucket: int16(bucket), At: queue[0].ReadyAt.Time()})
		}
	}
	slices.SortFunc(ready, func(a, b models.BucketReady) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Bucket, b.Bucket))
	})
	return ready, nil
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

// requeue puts a host where its ReadyAt says.
func (m *Memory) requeue(h *host) {
	queue := &m.queues[h.Bucket]
	switch {
	case h.index >= 0 && h.ReadyAt == 0:
		heap.Remove(queue, h.index)
	case h.index >= 0:
		heap.Fix(queue, h.index)
	case h.ReadyAt != 0:
		heap.Push(queue, h)
	}
}

// reschedule puts a page where its DueAt says.
func (m *Memory) reschedule(p *page) {
	queue := &m.hosts[key{p.Bucket, p.HostID}].due
	switch {
	case p.index >= 0 && p.DueAt == 0:
		heap.Remove(queue, p.index)
	case p.index >= 0:
		heap.Fix(queue, p.index)
	case p.DueAt != 0:
		heap.Push(queue, p)
	}
}

// discover adds pages that do not exist, and their hosts.
func (m *Memory) discover(now time.Time, found []models.Discovery, limit int) models.Added {
	var sum models.Added
	for i := range found {
		row := found[i].Row(now)
		h := m.hosts[key{row.Bucket, row.HostID}]
		if h == nil {
			h = &host{index: -1, Host: models.Host{Bucket: row.Bucket, ID: row.HostID, Name: models.Clean(found[i].Host)}}
			m.hosts[key{row.Bucket, row.HostID}] = h
		}
		known := m.pages[key{row.Bucket, row.ID}]
		switch {
		case known != nil && known.URL == row.URL:
			sum.Known++
		case known != nil, limit > 0 && int(h.Pages) >= limit:
			sum.Dropped++
		default:
			p := &page{Page: row, index: -1}
			m.pages[key{row.Bucket, row.ID}] = p
			m.reschedule(p)
			h.Pages++
			h.Hasten(p.DueAt)
			m.requeue(h)
			sum.Added++
		}
	}
	return sum
}
