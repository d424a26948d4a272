package simulate

import (
	"cmp"
	"context"
	"slices"

	"recrawld/models"
)

// Knowledge implements scheduler.Learning. Nobody may change what it returns.
func (m *Memory) Knowledge(_ context.Context, bucket int16, host int64) ([]byte, int32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.buckets[bucket].hosts[host]
	if h == nil {
		return nil, 0, nil
	}
	return h.knowledge, h.Learned, nil
}

// HostPages implements scheduler.Learning. The pages are those of the store itself, which is locked meanwhile.
func (m *Memory) HostPages(ctx context.Context, bucket int16, host int64, yield func(*models.Page) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.buckets[bucket].hosts[host]
	if h == nil {
		return nil
	}
	for i := range h.due.entries {
		if !yield(&h.due.entries[i].of.Page) {
			return nil
		}
	}
	return nil
}

// Reschedule implements scheduler.Learning.
func (m *Memory) Reschedule(ctx context.Context, due []models.Due) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var last *host // whose ReadyAt is still to be set
	met := make(map[key]bool, len(due))
	for i := len(due) - 1; i >= 0; i-- { // of two for one page the later counts
		b, page := &m.buckets[due[i].Bucket], key{due[i].Bucket, due[i].PageID}
		h := b.hosts[due[i].HostID]
		if h == nil || due[i].DueAt <= 0 || met[page] {
			continue
		}
		met[page] = true
		if last != nil && last != h {
			m.settle(last)
		}
		last = h
		if p := b.pages[due[i].PageID]; p != nil && p.host == h {
			m.move(p, &due[i])
		}
	}
	if last != nil {
		m.settle(last)
	}
	return nil
}

// move writes a new due time, be it earlier or later, unless the page was visited or moved since or is never due.
func (m *Memory) move(p *page, d *models.Due) {
	if p.Visits != d.Visits || p.DueAt != d.WasDue || p.DueAt <= 0 || !p.Rule.Movable() {
		return
	}
	p.DueAt, p.FRMax, p.Wanted, p.Rule = d.DueAt, max(d.FRMax, 1), d.Wanted, d.Rule
	m.reschedule(p)
}

// settle sets when an idle host is ready by its pages. A leased one looks at them when it is released.
func (m *Memory) settle(h *host) {
	if h.LeaseUntil == 0 {
		h.ReadyAt = h.ReadyFrom(h.due.earliest())
		m.requeue(h)
	}
}

// Merge implements scheduler.Learning.
func (m *Memory) Merge(ctx context.Context, name string, merge func(old []byte) []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name = models.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if body := merge(slices.Clone(m.notes[name])); len(body) > 0 {
		m.notes[name] = body
	}
	return nil
}

// ForgetNote is models.Store.ForgetNote.
func (m *Memory) ForgetNote(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, models.Clean(name))
	return nil
}

// PagesKnown is models.Store.PagesKnown.
func (m *Memory) PagesKnown(context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var n int64
	for i := range m.buckets {
		n += int64(len(m.buckets[i].pages))
	}
	return n, nil
}

// PagesBySite implements scheduler.Learning.
func (m *Memory) PagesBySite(context.Context) (map[int32]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := make(map[int32]int64)
	for i := range m.buckets {
		for _, p := range m.buckets[i].pages {
			if p.State.Paid() {
				counts[p.SiteID]++
			}
		}
	}
	return counts, nil
}

// CountRequisites implements scheduler.Store.
func (m *Memory) CountRequisites(context.Context) error {
	return m.gathered.Count(func() ([]models.SiteState, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		var states []models.SiteState
		for p := range m.pages() {
			one := models.SiteState{SiteID: p.SiteID, State: p.State, Pages: 1}
			if p.Requisite {
				one.Requisites = 1
			}
			states = append(states, one)
		}
		return states, nil
	})
}

// LinksFrom implements scheduler.Learning. Each call sorts the links of the bucket.
func (m *Memory) LinksFrom(_ context.Context, bucket int16, after models.Link, limit int) ([]models.Link, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var links []models.Link
	after.Bucket = bucket
	for parent, children := range m.links {
		if parent.bucket != bucket || parent.id < after.ParentID {
			continue
		}
		for child := range children {
			l := models.Link{Bucket: bucket, ParentID: parent.id, ChildBucket: child.bucket, ChildID: child.id}
			if compareLinks(l, after) > 0 {
				links = append(links, l)
			}
		}
	}
	slices.SortFunc(links, compareLinks)
	return links[:min(limit, len(links))], nil
}

func compareLinks(a, b models.Link) int {
	return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.ParentID, b.ParentID),
		cmp.Compare(a.ChildBucket, b.ChildBucket), cmp.Compare(a.ChildID, b.ChildID))
}

// SetImportance implements scheduler.Learning.
func (m *Memory) SetImportance(_ context.Context, worths []models.Worth) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range worths {
		if p := m.page(key{w.Bucket, w.PageID}); p != nil {
			p.Importance = float32(models.Finite(float64(w.Importance)))
		}
	}
	return nil
}
