package simulate

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"recrawld/models"
)

// Dump is models.Store.Dump.
func (m *Memory) Dump(context.Context) (models.Dump, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := models.Dump{Sites: slices.Clone(m.sites)}
	for i := range m.buckets {
		m.buckets[i].dump(&d)
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
	for _, digest := range slices.SortedFunc(maps.Keys(m.contents), func(a, b models.Digest) int {
		return slices.Compare(a[:], b[:])
	}) {
		d.Contents = append(d.Contents, m.contents[digest])
	}
	d.Filings = m.filings()
	for _, name := range slices.Sorted(maps.Keys(m.notes)) {
		d.Notes = append(d.Notes, models.Note{Name: name, Body: m.notes[name]})
	}
	return d, nil
}

// dump appends the rows of a bucket.
func (b *bucket) dump(d *models.Dump) {
	for _, id := range slices.Sorted(maps.Keys(b.hosts)) {
		h := b.hosts[id]
		d.Hosts = append(d.Hosts, h.Host)
		for _, origin := range slices.Sorted(maps.Keys(h.robots)) {
			d.Robots = append(d.Robots, h.robots[origin])
		}
		if h.Learned > 0 {
			d.Knowledge = append(d.Knowledge, models.Knowledge{Bucket: b.index, HostID: id, Body: h.knowledge})
		}
		for _, page := range slices.Sorted(maps.Keys(h.memories)) {
			d.Memories = append(d.Memories, models.Memory{Bucket: b.index, HostID: id, PageID: page, Body: h.memories[page]})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(b.pages)) {
		d.Pages = append(d.Pages, b.pages[id].Page)
	}
	d.Events = append(d.Events, b.events...)
	for _, k := range slices.SortedFunc(maps.Keys(b.daily), func(a, b siteDay) int {
		return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(a.day, b.day))
	}) {
		d.Daily = append(d.Daily, *b.daily[k])
	}
}

// sorted is the keys of a map in the order of the database's.
func sorted[V any](rows map[key]V) []key {
	return slices.SortedFunc(maps.Keys(rows), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.id, b.id))
	})
}
