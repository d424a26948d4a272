package main

import (
	"context"
	"slices"

	"recrawld/models"
	"recrawld/report"
)

// keepsRequisites tells whether a site keeps what its pages need to be shown.
func (f *inForce) keepsRequisites(site int32) bool {
	s, known := f.sites[site]
	return known && s.site.Settings.KeepsRequisites()
}

// findFull finds the sites that have as many requisites as they may gather; those of before that were stay so for a while.
func (d *daemon) findFull(ctx context.Context, before []report.Unusual) ([]report.Unusual, error) {
	return d.force.Load().full(ctx, d.store, before, d.store.RefusedRequisites)
}

// full is what findFull finds; refused are the URLs of the last requisites of a site that were not added.
func (f *inForce) full(ctx context.Context, store *models.Store, before []report.Unusual, refused func(int32) []string) ([]report.Unusual, error) {
	counts, err := store.PageCounts(ctx)
	if err != nil {
		return nil, err
	}
	var found []report.Unusual
	has := models.RequisitesBySite(counts)
	for _, row := range f.rows {
		if !f.keepsRequisites(row.ID) {
			continue
		}
		was := slices.ContainsFunc(before, func(u report.Unusual) bool { return u.Site == row.ID && u.Kind == report.Requisites })
		if u, is := report.FindFull(row.ID, has[row.ID], refused(row.ID), was); is {
			found = append(found, u)
		}
	}
	return found, nil
}

// statusFull adds the sites that are full now. The daemon, which knows what it did not add, has said better what would help.
func (l *look) statusFull(ctx context.Context, s *status, noted unusual) error {
	full, err := l.force.full(ctx, l.store, noted.Sites, func(int32) []string { return nil })
	if err != nil {
		return err
	}
	names := siteNames(l.force.rows)
	for _, u := range full {
		at := l.now
		same := func(n report.Unusual) bool { return n.Site == u.Site && n.Kind == u.Kind }
		if i := slices.IndexFunc(noted.Sites, same); i >= 0 {
			u, at = noted.Sites[i], noted.At.Time()
		}
		s.Unusual = append(s.Unusual, siteUnusual{names[u.Site], u.Kind, u.Words, at})
	}
	return nil
}
