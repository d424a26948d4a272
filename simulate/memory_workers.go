package simulate

import (
	"context"
	"maps"
	"slices"

	"recrawld/models"
)

// Beat is models.Store.Beat.
func (m *Memory) Beat(_ context.Context, w models.Worker) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Name, w.Machine, w.Release = models.Clean(w.Name), models.Clean(w.Machine), models.Clean(w.Release)
	m.workers[w.Name] = w
	return nil
}

// Leave is models.Store.Leave.
func (m *Memory) Leave(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.workers, name)
	return nil
}

// Workers is models.Store.Workers.
func (m *Memory) Workers(context.Context) ([]models.Worker, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []models.Worker
	for _, name := range slices.Sorted(maps.Keys(m.workers)) {
		out = append(out, m.workers[name])
	}
	return out, nil
}

// Meta is models.Store.Meta.
func (m *Memory) Meta(_ context.Context, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.meta[key], nil
}

// SetMeta is models.Store.SetMeta.
func (m *Memory) SetMeta(_ context.Context, key, old, value string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.meta[key] == models.Clean(old) {
		m.meta[key] = models.Clean(value)
	}
	return m.meta[key], nil
}
