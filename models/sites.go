package models

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// SyncSites makes the sites of the configuration file those of the database, by name, and returns them in the same
// order with their IDs. A site that left the file keeps its pages and loses only FromFile; where another that is new there has
// its start URL it is the same under another name (see Renamed). Paused is left as it is, unless a removal that was cut off set it.
func (s *Store) SyncSites(ctx context.Context, now time.Time, sites []Site) ([]Site, error) {
	var out []Site
	err := s.inTx(ctx, func(t *tx) error {
		out = out[:0]
		if _, err := t.exec(ctx, `UPDATE sites SET from_file = $1 WHERE from_file`, false); err != nil {
			return err
		}
		had, err := t.sites(ctx, `SELECT `+siteTable.list()+` FROM sites ORDER BY id`)
		if err != nil {
			return err
		}
		for id, name := range Renamed(had, sites) {
			if _, err := t.exec(ctx, `UPDATE sites SET name = $2 WHERE id = $1`, id, Clean(name)); err != nil {
				return err
			}
		}
		for _, site := range sites {
			site.FromFile, site.CreatedAt = true, At(now)
			stored, err := t.putSite(ctx, site)
			if err != nil {
				return err
			}
			out = append(out, stored)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("store sites: %w", err)
	}
	return out, nil
}

// Renamed is what becomes of the names of the sites that there are where the configuration file has these, by ID: a site that the
// file does not have gets the name of one that is new there and starts at the same URL. Else its pages would stay behind under the
// old name, and the new site would have none.
func Renamed(had, file []Site) map[int32]string {
	named, wanted := map[string]bool{}, map[string]bool{}
	for _, site := range had {
		named[site.Name] = true
	}
	for _, site := range file {
		wanted[site.Name] = true
	}
	names := map[int32]string{}
	for _, site := range file {
		if named[site.Name] || site.URL == "" {
			continue
		}
		i := slices.IndexFunc(had, func(old Site) bool { return old.URL == site.URL && !wanted[old.Name] && names[old.ID] == "" })
		if i >= 0 {
			names[had[i].ID] = site.Name
		}
	}
	return names
}

// AddSite stores a site that a command gave, with its settings, and returns it with its ID. A site of that name keeps
// its ID and whether it is in the configuration file.
func (s *Store) AddSite(ctx context.Context, now time.Time, site Site) (Site, error) {
	var stored Site
	err := s.inTx(ctx, func(t *tx) error {
		site.CreatedAt = At(now)
		var err error
		stored, err = t.putSite(ctx, site)
		return err
	})
	if err != nil {
		return Site{}, fmt.Errorf("store site %s: %w", site.Name, err)
	}
	return stored, nil
}

// putSite updates the site of that name or adds it, and returns the row. The update comes first because an insertion
// that ends in a conflict uses up an ID.
func (t *tx) putSite(ctx context.Context, site Site) (Site, error) {
	name, url, settings := Clean(site.Name), Clean(site.URL), Clean(site.Settings)
	stored, err := t.sites(ctx, `UPDATE sites SET url = $2, settings = CASE WHEN $3 = '' THEN settings ELSE $3 END,
		from_file = from_file OR $4 WHERE name = $1 RETURNING `+siteTable.list(), name, url, settings, site.FromFile)
	if err == nil && len(stored) == 0 {
		stored, err = t.sites(ctx, `INSERT INTO sites (name, url, settings, from_file, paused, created_at)
			VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (name) DO UPDATE SET url = excluded.url, from_file = sites.from_file OR excluded.from_file
			RETURNING `+siteTable.list(), name, url, settings, site.FromFile, site.Paused, int64(site.CreatedAt))
	}
	if err == nil {
		err = t.stay(ctx, &stored[0])
	}
	if err != nil {
		return Site{}, err
	}
	return stored[0], nil
}

// stay has a site stay whose removal was cut off: somebody wants it again.
func (t *tx) stay(ctx context.Context, site *Site) error {
	n, err := t.exec(ctx, `DELETE FROM meta WHERE key = $1`, removingKey(site.ID)) // Index: the primary key.
	if err != nil || n == 0 {
		return err
	}
	site.Paused = false
	return t.setOfSite(ctx, `UPDATE sites SET paused = $2 WHERE id = $1`, site.ID, false)
}

func (t *tx) sites(ctx context.Context, query string, args ...any) ([]Site, error) {
	rows, err := t.rows(ctx, query, args...)
	return siteTable.scan(rows, err)
}

// Sites lists all sites by ID.
func (s *Store) Sites(ctx context.Context) ([]Site, error) {
	var sites []Site
	if err := s.read.WithContext(ctx).Order("id").Find(&sites).Error; err != nil {
		return nil, fmt.Errorf("list sites: %w", err)
	}
	return sites, nil
}

// SetPaused pauses a site or resumes it. Pausing only sets the flag: the worker defers the site's pages as their turns
// come (RulePaused). Resuming makes those that were deferred due now (RuleResumed). It returns ErrNotFound for an unknown site.
func (s *Store) SetPaused(ctx context.Context, site int32, paused bool, now time.Time) error {
	err := s.inTx(ctx, func(t *tx) error {
		return t.setOfSite(ctx, `UPDATE sites SET paused = $2 WHERE id = $1`, site, paused)
	})
	if err == nil && !paused {
		err = s.eachSlice(ctx, sliceRows, `site_id = $4 AND rule = $5`, []any{site, int16(RulePaused)},
			func(q *queue, bucket int16, pages []pageRef) error {
				return q.makeDue(ctx, At(now), RuleResumed, bucket, pages)
			})
	}
	if err != nil {
		return fmt.Errorf("pause or resume site %d: %w", site, err)
	}
	return nil
}

// Readmit makes those requisites of a site due now that are not visited (RuleExcluded, then RuleStart): it keeps more of what its pages
// need than it did. What may not be asked for is excluded again by its visit.
func (s *Store) Readmit(ctx context.Context, site int32, now time.Time) error {
	err := s.eachSlice(ctx, sliceRows, `site_id = $4 AND rule = $5 AND COALESCE(requisite,false)`, []any{site, int16(RuleExcluded)},
		func(q *queue, bucket int16, pages []pageRef) error {
			return q.makeDue(ctx, At(now), RuleStart, bucket, pages)
		})
	if err != nil {
		return fmt.Errorf("readmit requisites of site %d: %w", site, err)
	}
	return nil
}

// SetGuarded notes since when too many of a site's pages have been lost at once for any to count as gone; 0: they do again; and the share
// of them that is usually lost in a day. It returns ErrNotFound for an unknown site.
func (s *Store) SetGuarded(ctx context.Context, site int32, since Instant, lossPerDay float32) error {
	if err := s.inTx(ctx, func(t *tx) error {
		return t.setOfSite(ctx, `UPDATE sites SET guarded_at = $2, loss_per_day = $3 WHERE id = $1`, site, int64(since), Finite(float64(lossPerDay)))
	}); err != nil {
		return fmt.Errorf("guard the pages of site %d: %w", site, err)
	}
	return nil
}

// Approve lets those pages of a site count as gone that are missing by now, if it is guarded, or a host on which any of them is, and makes
// those due that were held back (RuleGuarded, then RuleApproved): each is gone if it is not found once more. It returns how many these
// are, whether anything is guarded, and ErrNotFound for an unknown site.
func (s *Store) Approve(ctx context.Context, site int32, now time.Time) (held int, guarded bool, err error) {
	counts := make(map[int64]int) // of the slices, by the first page, since one that is tried again counts once
	guarded, err = s.isGuarded(ctx, site)
	if err == nil && guarded {
		err = s.setApproved(ctx, site, now)
	}
	if err == nil {
		err = s.eachSlice(ctx, sliceRows, `site_id = $4 AND rule = $5`, []any{site, int16(RuleGuarded)},
			func(q *queue, bucket int16, pages []pageRef) error {
				counts[pages[0].id] = len(pages)
				return q.makeDue(ctx, At(now), RuleApproved, bucket, pages)
			})
	}
	if err == nil && !guarded && len(counts) > 0 { // that was over a moment ago
		err = s.setApproved(ctx, site, now)
	}
	if err != nil {
		return 0, false, fmt.Errorf("approve that pages of site %d are gone: %w", site, err)
	}
	for _, n := range counts {
		held += n
	}
	return held, guarded, nil
}

func (s *Store) setApproved(ctx context.Context, site int32, now time.Time) error {
	return s.inTx(ctx, func(t *tx) error {
		return t.setOfSite(ctx, `UPDATE sites SET approved_at = $2 WHERE id = $1`, site, int64(At(now)))
	})
}

// isGuarded tells whether a site is guarded, or a host on which pages of it are missing.
func (s *Store) isGuarded(ctx context.Context, site int32) (bool, error) {
	rows, err := siteTable.scan(s.rows(ctx, "SELECT "+siteTable.list()+" FROM sites WHERE id = $1", site))
	switch {
	case err != nil:
		return false, err
	case len(rows) == 0:
		return false, ErrNotFound
	case rows[0].GuardedAt > 0:
		return true, nil
	}
	// Indexes: hosts_guarded, pages_due.
	const query = `SELECT h.id FROM hosts h JOIN pages p ON p.bucket = h.bucket AND p.host_id = h.id
		WHERE h.bucket = $1 AND h.guarded_at > 0 AND p.due_at > 0 AND p.state = $2 AND p.site_id = $3
		AND NOT COALESCE(p.requisite,false) LIMIT 1`
	for bucket := range int16(Buckets) {
		rows, err := s.rows(ctx, query, bucket, StateMissing, site)
		if err != nil {
			return false, err
		}
		if hosts, err := scanIDs(rows); err != nil || len(hosts) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// setOfSite runs an update of one site's row.
func (t *tx) setOfSite(ctx context.Context, update string, args ...any) error {
	n, err := t.exec(ctx, update, args...)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

func allBuckets() []int16 {
	all := make([]int16, Buckets)
	for i := range all {
		all[i] = int16(i)
	}
	return all
}
