package simulate

import (
	"context"
	"iter"
	"slices"
	"time"

	"recrawld/models"
)

// KeptVersions is models.Store.KeptVersions.
func (m *Memory) KeptVersions(_ context.Context, site int32) iter.Seq2[models.Kept, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	var kept []models.Kept
	for _, k := range sorted(m.versions) {
		if p := m.page(k); site != 0 && p.SiteID != site {
			continue
		}
		for _, v := range m.versions[k] {
			if v.Record.File != "" {
				kept = append(kept, models.Kept{Bucket: k.bucket, PageID: k.id, Number: v.Number, Digest: v.Digest, Record: v.Record})
			}
		}
	}
	return func(yield func(models.Kept, error) bool) {
		for _, k := range kept {
			if !yield(k, nil) {
				return
			}
		}
	}
}

// version is the row that was kept, or nil.
func (m *Memory) version(k *models.Kept) *models.Version {
	versions := m.versions[key{k.Bucket, k.PageID}]
	i := slices.IndexFunc(versions, func(v models.Version) bool {
		return v.Number == k.Number && v.Record.File == k.Record.File && v.Record.Offset == k.Record.Offset
	})
	if i < 0 {
		return nil
	}
	return &versions[i]
}

// LoseContents is models.Store.LoseContents.
func (m *Memory) LoseContents(_ context.Context, lost []models.Kept) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range lost {
		if c := m.contents[k.Digest]; c.Record.File == k.Record.File && c.Record.Offset == k.Record.Offset {
			delete(m.contents, k.Digest)
		}
	}
	return nil
}

// LoseVersions is models.Store.LoseVersions.
func (m *Memory) LoseVersions(_ context.Context, now time.Time, lost []models.Kept) (asked int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range lost {
		if v := m.version(&lost[i]); v != nil && v.Record.Length == lost[i].Record.Length {
			v.Record.Length = -v.Record.Length
		}
	}
	for _, k := range lost {
		p := m.page(key{k.Bucket, k.PageID})
		if p == nil || p.Lost || !m.newest(p, models.Record.Lost) {
			continue
		}
		p.Lost = true
		if p.State != models.StateLive || p.DueAt == 0 {
			continue
		}
		asked++
		if p.Rule != models.RuleManual {
			m.makeDue(p, models.LostDue(p.Importance, now), models.RuleLost)
		}
	}
	return asked, nil
}

// newest tells whether a page's newest version is there and its record is so.
func (m *Memory) newest(p *page, so func(models.Record) bool) bool {
	return slices.ContainsFunc(m.versions[key{p.Bucket, p.ID}], func(v models.Version) bool { return v.Number == p.Version && so(v.Record) })
}

// LostPages is models.Store.LostPages.
func (m *Memory) LostPages(context.Context) (n int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := range m.pages() {
		if p.Lost && p.State == models.StateLive && p.DueAt > 0 {
			n++
		}
	}
	return n, nil
}

// FindVersions is models.Store.FindVersions.
func (m *Memory) FindVersions(_ context.Context, some []models.Kept, to models.Content) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	to.Clean()
	for i := range some {
		if v := m.version(&some[i]); v != nil && v.Digest == to.Digest {
			v.Record = to.Record
		}
	}
	for _, k := range some {
		if p := m.page(key{k.Bucket, k.PageID}); p != nil && m.newest(p, func(r models.Record) bool { return r.Length > 0 }) {
			p.Lost = false
		}
	}
	if _, known := m.contents[to.Digest]; !known {
		m.contents[to.Digest] = to
	}
	return nil
}
