package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// SyncSites makes the sites of the configuration file those of the database, by name, and returns them in the same
// order with their IDs. A site that left the file keeps its pages and loses only FromFile; where another that is new there has
// its start URL it is the same under another name (see Renamed). Paused is left as it is.
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
		err = s.eachSlice(ctx, `site_id = $4 AND rule = $5`, []any{site, int16(RulePaused)},
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
	err := s.eachSlice(ctx, `site_id = $4 AND rule = $5 AND COALESCE(requisite,false)`, []any{site, int16(RuleExcluded)},
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
		err = s.eachSlice(ctx, `site_id = $4 AND rule = $5`, []any{site, int16(RuleGuarded)},
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

// RemoveSite removes a site with its pages, their history, versions, links and daily sums, in slices, so that nobody
// waits long; the site's own row goes last, and until then it is paused. Of each page that there was a copy of an event tells; events stay until
// they are pruned, and the name until then (RemovedSites). An unknown site is ErrNotFound, after pages that bear its ID were removed: another
// process may have added some while the site went. What is cut off, and what does not lie beside the pages, is for ClearRemoved.
func (s *Store) RemoveSite(ctx context.Context, site int32, now time.Time) error {
	known, err := s.siteOrRemoved(ctx, site)
	if err == nil {
		err = s.beginRemoval(ctx, site)
	}
	if err == nil {
		err = s.eachSlice(ctx, `site_id = $4`, []any{site}, func(q *queue, bucket int16, pages []pageRef) error {
			if err := q.tellRemoved(ctx, bucket, pages, known, At(now)); err != nil {
				return err
			}
			return q.removePages(ctx, bucket, pages)
		})
	}
	if err == nil {
		err = s.removeDaily(ctx, site)
	}
	if err == nil {
		err = s.endRemoval(ctx, site)
	}
	if err != nil {
		return fmt.Errorf("remove site %d: %w", site, err)
	}
	return nil
}

// beginRemoval pauses a site, since what is visited meanwhile finds removed pages anew, and marks it.
func (s *Store) beginRemoval(ctx context.Context, site int32) error {
	return s.inTx(ctx, func(t *tx) error {
		err := t.setOfSite(ctx, `UPDATE sites SET paused = $2 WHERE id = $1`, site, true)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err == nil {
			_, err = t.exec(ctx, `INSERT INTO meta (key, value) VALUES ($1, 'pages') ON CONFLICT DO NOTHING`, removingKey(site))
		}
		return err
	})
}

// endRemoval removes the row of a site with its mark and its notes, and returns ErrNotFound where another one has.
func (s *Store) endRemoval(ctx context.Context, site int32) error {
	var missing error
	err := s.inTx(ctx, func(t *tx) error {
		missing = t.setOfSite(ctx, `DELETE FROM sites WHERE id = $1`, site)
		if missing != nil && !errors.Is(missing, ErrNotFound) {
			return missing
		}
		if _, err := t.exec(ctx, `DELETE FROM meta WHERE key = $1`, removingKey(site)); err != nil {
			return err
		}
		return t.removeNotes(ctx, site)
	})
	return cmp.Or(err, missing)
}

// removeDaily removes the daily sums of a site, bucket by bucket: those of ten years are a million rows.
func (s *Store) removeDaily(ctx context.Context, site int32) error {
	for bucket := range int16(Buckets) {
		err := s.inShard(ctx, bucket, func(t *tx) error {
			// Index: the primary key.
			_, err := t.exec(ctx, `DELETE FROM daily WHERE bucket = $1 AND site_id = $2`, bucket, site)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func allBuckets() []int16 {
	all := make([]int16, Buckets)
	for i := range all {
		all[i] = int16(i)
	}
	return all
}

// removePages removes pages of locked hosts.
func (q *queue) removePages(ctx context.Context, bucket int16, pages []pageRef) error {
	ids := pageIDs(pages)
	if err := q.countRemoved(ctx, bucket, ids); err != nil {
		return err
	}
	if err := q.forgetPages(ctx, bucket, pages); err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM visits WHERE bucket = $1 AND page_id = ANY($2)`,
		`DELETE FROM versions WHERE bucket = $1 AND page_id = ANY($2)`,
		`DELETE FROM links WHERE bucket = $1 AND parent_id = ANY($2)`,
		`DELETE FROM pages WHERE bucket = $1 AND id = ANY($2)`,
	} {
		if _, err := q.tx.exec(ctx, statement, bucket, ids); err != nil {
			return err
		}
	}
	var idle []rowKey
	for _, p := range pages {
		h := q.get(bucket, p.host)
		h.Pages = max(h.Pages-1, 0)
		if p.requisite {
			h.Requisites = max(h.Requisites-1, 0)
		}
		h.Removals++                  // what is familiar of it is not any more
		h.Trials.SitemapFound = false // it may be among them, and where it is not another look finds it
		if h.LeaseUntil == 0 {
			idle = append(idle, rowKey{bucket, p.host})
		}
	}
	return q.settle(ctx, idle, (*Host).Free)
}
