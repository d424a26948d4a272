package simulate

import (
	"context"
	"fmt"
	"slices"

	"recrawld/models"
)

// remember replaces what is remembered under a key of the host; empty: it leaves it.
func (h *host) remember(page int64, body []byte) {
	if len(body) == 0 {
		return
	}
	if h.memories == nil {
		h.memories = make(map[int64][]byte)
	}
	h.memories[page] = body
}

// Memory is models.Store.Memory. Nobody may change what it returns.
func (m *Memory) Memory(ctx context.Context, bucket int16, host, page int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.buckets[bucket].hosts[host]
	if h == nil {
		return nil, nil
	}
	return h.memories[page], nil
}

// SetOrders is models.Store.SetOrders.
func (m *Memory) SetOrders(_ context.Context, bucket int16, host int64, body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.buckets[bucket].hosts[host]
	if h == nil {
		return fmt.Errorf("write orders of host %d: %w", host, models.ErrNotFound)
	}
	delete(h.memories, models.OrdersID)
	h.remember(models.OrdersID, slices.Clone(body))
	return nil
}

// Page is models.Store.Page.
func (m *Memory) Page(ctx context.Context, bucket int16, id int64) (models.Page, error) {
	if err := ctx.Err(); err != nil {
		return models.Page{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.page(key{bucket, id})
	if p == nil {
		return models.Page{}, models.ErrNotFound
	}
	return p.Page, nil
}
