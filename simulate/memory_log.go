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
	log := m.events[bucket]
	i, _ := slices.BinarySearchFunc(log, after+1, func(e models.Event, seq int64) int { return cmp.Compare(e.Seq, seq) })
	return slices.Clone(log[i:min(i+limit, len(log))]), nil
}

// News is models.Store.News.
func (m *Memory) News(_ context.Context, sink string) ([]int16, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var buckets []int16
	for b, next := range m.nextSeq {
		if next > m.cursor(sink, int16(b))+1 {
			buckets = append(buckets, int16(b))
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

// SetCursor is models.Store.SetCursor.
func (m *Memory) SetCursor(_ context.Context, sink string, bucket int16, seq int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cursors[sink] == nil {
		m.cursors[sink] = new([models.Buckets]int64)
	}
	m.cursors[sink][bucket] = seq
	return nil
}

// PruneEvents is models.Store.PruneEvents.
func (m *Memory) PruneEvents(_ context.Context, before time.Time, sinks []string, _ int) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var n int64
	for b := range m.events {
		upTo := int64(math.MaxInt64)
		for _, sink := range sinks {
			upTo = min(upTo, m.cursor(sink, int16(b)))
		}
		had := len(m.events[b])
		m.events[b] = slices.DeleteFunc(m.events[b], func(e models.Event) bool {
			return e.Seq <= upTo && e.At < models.At(before)
		})
		n += int64(had - len(m.events[b]))
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
	for k := range m.daily {
		newest = max(newest, models.Instant(k.day)*24*60*60*1000)
	}
	for _, log := range m.events {
		if len(log) > 0 {
			newest = max(newest, log[len(log)-1].At)
		}
	}
	return newest, nil
}

// Dump is models.Store.Dump.
func (m *Memory) Dump(context.Context) (models.Dump, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := models.Dump{Sites: slices.Clone(m.sites)}
	for _, k := range sorted(m.hosts) {
		h := m.hosts[k]
		d.Hosts = append(d.Hosts, h.Host)
		for _, origin := range slices.Sorted(maps.Keys(h.robots)) {
			d.Robots = append(d.Robots, h.robots[origin])
		}
	}
	for _, k := range sorted(m.pages) {
		d.Pages = append(d.Pages, m.pages[k].Page)
	}
	for _, k := range sorted(m.visits) {
		d.Visits = append(d.Visits, m.visits[k]...)
	}
	for _, k := range sorted(m.versions) {
		d.Versions = append(d.Versions, m.versions[k]...)
	}
	for _, parent := range sorted(m.links) {
		for _, child := range sorted(m.links[parent]) {
			d.Links = append(d.Links, models.Link{Bucket: parent.bucket, ParentID: parent.id, ChildBucket: child.bucket,
				ChildID: child.id})
		}
	}
	for _, log := range m.events {
		d.Events = append(d.Events, log...)
	}
	for _, k := range slices.SortedFunc(maps.Keys(m.daily), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.site, b.site), cmp.Compare(a.day, b.day))
	}) {
		d.Daily = append(d.Daily, *m.daily[k])
	}
	for _, digest := range slices.SortedFunc(maps.Keys(m.contents), func(a, b models.Digest) int {
		return slices.Compare(a[:], b[:])
	}) {
		d.Contents = append(d.Contents, m.contents[digest])
	}
	return d, nil
}

// sorted is the keys of a map in the order of the database's.
func sorted[V any](rows map[key]V) []key {
	return slices.SortedFunc(maps.Keys(rows), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.id, b.id))
	})
}
