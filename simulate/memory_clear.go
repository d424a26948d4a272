package simulate

import (
	"context"
	"maps"
	"slices"
	"time"

	"recrawld/models"
)

// ClearRemoved is models.Store.ClearRemoved.
func (m *Memory) ClearRemoved(ctx context.Context, now, before time.Time) (models.Cleared, error) {
	var done models.Cleared
	for _, site := range m.ownerless() {
		_ = m.RemoveSite(ctx, site, now) // which says that there is no such site
		done.Sites++
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for print, filed := range m.prints {
		maps.DeleteFunc(filed, func(k key, _ bool) bool {
			gone := m.page(k) == nil
			if gone {
				done.Filings++
			}
			return gone
		})
		if len(filed) == 0 {
			delete(m.prints, print)
		}
	}
	for i := range m.buckets {
		b := &m.buckets[i]
		maps.DeleteFunc(b.daily, func(k siteDay, _ *models.Daily) bool { return k.site > 0 && m.site(k.site) == nil })
		b.today = nil
		maps.DeleteFunc(b.hosts, func(_ int64, h *host) bool {
			gone := h.Deserted(models.At(before))
			if gone {
				done.Hosts++
			}
			return gone
		})
	}
	return done, nil
}

// ownerless are the sites that have pages and are no more.
func (m *Memory) ownerless() []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[int32]bool{}
	for p := range m.pages() {
		if p.SiteID > 0 && m.site(p.SiteID) == nil {
			found[p.SiteID] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
