package simulate

import (
	"context"

	"recrawld/models"
)

// Unname is models.Store.Unname.
func (m *Memory) Unname(_ context.Context, now models.Instant, bucket int16, ids []int64) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if p := m.page(key{bucket, id}); p != nil && p.Unname(now) {
			p.host.Removals++
			n++
		}
	}
	return n, nil
}

// GiveUp is models.Store.GiveUp.
func (m *Memory) GiveUp(_ context.Context, now, before models.Instant, bucket int16, ids []int64) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if p := m.page(key{bucket, id}); p != nil && p.GiveUp(now, before) {
			m.makeDue(p, p.DueAt, p.Rule)
			n++
		}
	}
	return n, nil
}

// NameAgain is models.Store.NameAgain.
func (m *Memory) NameAgain(_ context.Context, now models.Instant, bucket int16, ids []int64) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if p := m.page(key{bucket, id}); p != nil && m.nameAgain(p, now) {
			n++
		}
	}
	return n, nil
}

// nameAgain takes note that a page is named, and tells whether it was not.
func (m *Memory) nameAgain(p *page, now models.Instant) bool {
	unnamed, due := p.NameAgain(now)
	if due {
		m.makeDue(p, p.DueAt, p.Rule)
		p.host.Ask(now)
	}
	return unnamed
}
