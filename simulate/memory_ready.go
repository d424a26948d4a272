package simulate

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"recrawld/models"
)

// host is a host with its pages and its numbers in its bucket's queues.
type host struct {
	models.Host
	ready, ahead int32
	robots       map[string]models.Robots
	knowledge    []byte           // never changed in place
	memories     map[int64][]byte // by page, or HostMemoryID, OrdersID; never changed in place
	due          queue[*page]
}

func (h *host) number() *int32 { return &h.ready }

// earlyHost is a host as it lies in the queue of those that may be visited early.
type earlyHost host

func (h *earlyHost) number() *int32 { return &h.ahead }

// page is a page with its host and its number in the host's queue.
type page struct {
	models.Page
	queued int32
	host   *host
}

func (p *page) number() *int32 { return &p.queued }

// bucket is a bucket's rows and queues.
type bucket struct {
	index  int16
	hosts  map[int64]*host
	pages  map[int64]*page
	events []models.Event
	next   int64 // number of the next event
	daily  map[siteDay]*models.Daily
	today  *models.Daily // the one that was last added to

	removed map[int32]removedSite // by ID

	ready   queue[*host]      // the hosts that are ever ready, by ReadyAt
	ahead   queue[*earlyHost] // those of them that may be visited early (models.Host.Waits), by ReadyAt
	byReady int32             // its number in the queue of buckets by their first ready host
	byAhead int32             // its number in the queue of buckets by their first host for an early visit
}

type siteDay struct{ site, day int32 }

// removedSite is a site that was removed; seq is the last event of that in the bucket.
type removedSite struct {
	name string
	seq  int64
}

func (b *bucket) number() *int32 { return &b.byReady }

// earlyBucket is a bucket as it lies in the queue of those with a host that may be visited early.
type earlyBucket bucket

func (b *earlyBucket) number() *int32 { return &b.byAhead }

// Ready implements scheduler.Store.
func (m *Memory) Ready(ctx context.Context) ([]models.BucketReady, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := len(m.ready.entries)
	if m.options.ReadyBuckets > 0 {
		limit = min(limit, m.options.ReadyBuckets)
	}
	list := again(m, &m.list, limit)
	for at, b := range m.ready.ordered(math.MaxInt64) {
		if list = append(list, models.BucketReady{Bucket: b.index, At: at.Time()}); len(list) == limit {
			break
		}
	}
	return list, nil
}

// Ahead implements scheduler.Learning.
func (m *Memory) Ahead(ctx context.Context, now time.Time, limit int) ([]models.BucketReady, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]models.BucketReady, 0, min(limit, len(m.ahead.entries))+1)
	for first, b := range m.ahead.ordered(math.MaxInt64) {
		// The first host of a bucket may not be open yet, so its next one may come behind those of later buckets.
		if len(list) >= limit && (limit <= 0 || !list[limit-1].At.After(first.Time())) {
			break
		}
		if h := (*bucket)(b).early(models.At(now), math.MaxInt64); h != nil {
			first := models.BucketReady{Bucket: b.index, At: h.ReadyAt.Time()}
			place, _ := slices.BinarySearchFunc(list, first, compareReady)
			list = slices.Insert(list, place, first)
			list = list[:min(limit, len(list))]
		}
	}
	return list, nil
}

func compareReady(a, b models.BucketReady) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Bucket, b.Bucket))
}

// early is the host that may be visited at now for the page that is due first after now and until then; nil: none.
func (b *bucket) early(now, until models.Instant) *host {
	for at, h := range b.ahead.ordered(until) {
		if at > now && h.OpenAt <= now && h.BackoffUntil <= now {
			return (*host)(h)
		}
	}
	return nil
}

// requeue puts a host where its ReadyAt says.
func (m *Memory) requeue(h *host) {
	b := &m.buckets[h.Bucket]
	b.ready.put(h, h.ID, h.ReadyAt)
	m.ready.put(b, int64(b.index), b.ready.earliest())
	at := h.ReadyAt
	if !h.Ahead || !h.Waits() {
		at = 0
	}
	if at == 0 && h.ahead == 0 {
		return
	}
	b.ahead.put((*earlyHost)(h), h.ID, at)
	m.ahead.put((*earlyBucket)(b), int64(b.index), b.ahead.earliest())
}

// reschedule puts a page where its DueAt says.
func (m *Memory) reschedule(p *page) { p.host.due.put(p, p.ID, p.DueAt) }
