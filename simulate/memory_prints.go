package simulate

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"recrawld/models"
)

// Twins implements scheduler.Store.
func (m *Memory) Twins(ctx context.Context, keys []int64) (map[int64][]models.Twin, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	twins := make(map[int64][]models.Twin)
	for _, k := range keys {
		if len(m.prints[k]) == 0 || twins[k] != nil {
			continue
		}
		filed := sorted(m.prints[k])
		for _, page := range filed[:min(len(filed), models.TwinsPerKey)] {
			twin := models.Twin{Bucket: page.bucket, ID: page.id}
			if p := m.page(page); p != nil {
				twin = p.Twin()
			}
			twins[k] = append(twins[k], twin)
		}
	}
	return twins, nil
}

// Whereabouts implements scheduler.Store.
func (m *Memory) Whereabouts(ctx context.Context, pages []models.PageKey) (map[models.PageKey]models.Whereabouts, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := make(map[models.PageKey]models.Whereabouts, len(pages))
	for _, k := range pages {
		if p := m.page(key{k.Bucket, k.ID}); p != nil {
			found[k] = p.Whereabouts()
		}
	}
	return found, nil
}

// file takes a page from the keys of what it said before and puts it under those of what it says now.
func (m *Memory) file(r *models.Result) {
	if m.options.Forget {
		return
	}
	for _, f := range r.Unfiled {
		delete(m.prints[f.Key], key{f.PageBucket, f.PageID})
		if len(m.prints[f.Key]) == 0 {
			delete(m.prints, f.Key)
		}
	}
	for _, f := range r.Filed {
		if m.prints[f.Key] == nil {
			m.prints[f.Key] = make(map[key]bool)
		}
		m.prints[f.Key][key{f.PageBucket, f.PageID}] = true
	}
}

// filings is all of them in the order of the database's.
func (m *Memory) filings() []models.Filing {
	var all []models.Filing
	for _, k := range slices.SortedFunc(maps.Keys(m.prints), func(a, b int64) int {
		return cmp.Or(cmp.Compare(models.Filing{Key: a}.Bucket(), models.Filing{Key: b}.Bucket()), cmp.Compare(a, b))
	}) {
		for _, page := range sorted(m.prints[k]) {
			all = append(all, models.Filing{Key: k, PageBucket: page.bucket, PageID: page.id})
		}
	}
	return all
}
