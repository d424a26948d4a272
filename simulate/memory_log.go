package simulate

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"recrawld/models"
)

// Events is models.Store.Events.
func (m *Memory) Events(_ context.Context, bucket int16, after int64, limit int) ([]models.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	log := m.buckets[bucket].events
	i, _ := slices.BinarySearchFunc(log, after+1, func(e models.Event, seq int64) int { return cmp.Compare(e.Seq, seq) })
	return slices.Clone(log[i:min(i+limit, len(log))]), nil
}

// News is models.Store.News.
func (m *Memory) News(_ context.Context, sink string) ([]int16, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var buckets []int16
	for i := range m.buckets {
		if b := &m.buckets[i]; b.next != m.cursor(sink, b.index)+1 {
			buckets = append(buckets, b.index)
		}
	}
	return buckets, nil
}

func (m *Memory) cursor(sink string, bucket int16) int64 {
	if seqs := m.cursors[sink]; seqs != nil {
		return seqs[bucket]
	}
	return 0
}

// Cursor is models.Store.Cursor.
func (m *Memory) Cursor(_ context.Context, sink string, bucket int16) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cursor(sink, bucket), nil
}

// SetCursors is models.Store.SetCursors.
func (m *Memory) SetCursors(_ context.Context, sink string, from map[int16]int64, to map[int16]models.EventRef) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for bucket, ref := range to {
		if from != nil && from[bucket] != m.cursor(sink, bucket) || !m.buckets[bucket].had(ref) {
			return models.ErrOtherEvents
		}
	}
	if m.cursors[sink] == nil {
		m.cursors[sink] = new([models.Buckets]int64)
	}
	for bucket, ref := range to {
		m.cursors[sink][bucket] = ref.Seq
	}
	return nil
}

// had tells whether an event was written, be it pruned or not.
func (b *bucket) had(ref models.EventRef) bool {
	if len(b.events) == 0 || ref.Seq < b.events[0].Seq {
		return ref.Seq < b.next
	}
	i := ref.Seq - b.events[0].Seq
	return i < int64(len(b.events)) && b.events[i].Mark == ref.Mark
}

// mark draws the mark of an event: each has one of its own here, since nothing is lost of what is in memory.
func (m *Memory) mark() int64 {
	m.marks++
	return m.marks
}

// PruneEvents is models.Store.PruneEvents.
func (m *Memory) PruneEvents(_ context.Context, before time.Time, sinks []string, _ int) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var n int64
	for i := range m.buckets {
		b := &m.buckets[i]
		upTo := int64(math.MaxInt64)
		for _, sink := range sinks {
			upTo = min(upTo, m.cursor(sink, b.index))
		}
		old := slices.IndexFunc(b.events, func(e models.Event) bool { return e.Seq > upTo || e.At >= models.At(before) })
		if old < 0 {
			old = len(b.events)
		}
		b.events = slices.Delete(b.events, 0, old)
		n += int64(old)
		maps.DeleteFunc(b.removed, func(_ int32, r removedSite) bool { return len(b.events) == 0 || r.seq < b.events[0].Seq })
	}
	return n, nil
}

// PruneVisits is models.Store.PruneVisits.
func (m *Memory) PruneVisits(_ context.Context, before time.Time, _ int) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var n int64
	for k, visits := range m.visits {
		had, last := len(visits), visits[len(visits)-1].Number
		m.visits[k] = slices.DeleteFunc(visits, func(v models.Visit) bool { return v.At < models.At(before) && v.Number != last })
		n += int64(had - len(m.visits[k]))
	}
	return n, nil
}

// NewestInstant is models.Store.NewestInstant.
func (m *Memory) NewestInstant(context.Context) (models.Instant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var newest models.Instant
	for _, s := range m.sites {
		newest = max(newest, s.CreatedAt)
	}
	for _, w := range m.workers {
		newest = max(newest, w.BeatAt)
	}
	for i := range m.buckets {
		b := &m.buckets[i]
		for k := range b.daily {
			newest = max(newest, models.Instant(k.day)*24*60*60*1000)
		}
		if len(b.events) > 0 {
			newest = max(newest, b.events[len(b.events)-1].At)
		}
	}
	return newest, nil
}
