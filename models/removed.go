package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// removeRows is how many pages a transaction removes: each may have hundreds of visits and versions, and on SQLite all others wait meanwhile.
const removeRows = 200

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
		err = s.eachSlice(ctx, removeRows, `site_id = $4`, []any{site}, func(q *queue, bucket int16, pages []pageRef) error {
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

// SiteIDs lists the sites of a name or a start URL: that there is, and those that were removed, as long as events that tell of that are
// kept, in the order in which they were added. None: there is no such site, or nothing that tells of one.
func (s *Store) SiteIDs(ctx context.Context, name, url string) ([]int32, error) {
	// No index but that of names: both tables are small.
	rows, err := s.rows(ctx, `SELECT id FROM sites WHERE name = $1 OR url = $2
		UNION SELECT site_id FROM removed_sites WHERE name = $1 OR url = $2 ORDER BY 1`, Clean(name), Clean(url))
	var ids []int32
	err = eachRow(rows, err, func(rows answer) error {
		var id int32
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the sites called %s: %w", name, err)
	}
	return ids, nil
}

// RemovedSites lists the sites that were removed, as long as events that tell of that are kept, by ID. Of each the ID, the name and the
// start URL are known.
func (s *Store) RemovedSites(ctx context.Context) ([]Site, error) {
	var sites []Site
	var site Site
	for _, err := range s.scan(ctx, []any{&site.ID, &site.Name, &site.URL}, `SELECT DISTINCT site_id, name, url FROM removed_sites ORDER BY site_id`) {
		if err != nil {
			return nil, fmt.Errorf("list removed sites: %w", err)
		}
		sites = append(sites, site)
	}
	return sites, nil
}

// siteOrRemoved is a site that there is, or that was removed and gets pages all the same; without a name where neither is known.
func (s *Store) siteOrRemoved(ctx context.Context, id int32) (Site, error) {
	site := Site{ID: id}
	for _, query := range []struct {
		text string
		args []any
	}{
		{`SELECT name, url FROM sites WHERE id = $1`, []any{id}},
		{`SELECT name, url FROM removed_sites WHERE site_id = $1 AND bucket = ANY($2)`, []any{id, allBuckets()}},
	} {
		for _, err := range s.scan(ctx, []any{&site.Name, &site.URL}, query.text, query.args...) {
			if err != nil {
				return site, err
			}
		}
		if cmp.Or(site.Name, site.URL) != "" {
			break
		}
	}
	return site, nil
}

// tellRemoved writes an event of each of some pages that have a copy, and has the site's name remembered for as long as they are.
func (q *queue) tellRemoved(ctx context.Context, bucket int16, pages []pageRef, site Site, at Instant) error {
	// Index: the primary key.
	rows, err := q.tx.rows(ctx, `SELECT id, site_id, url, version, COALESCE(requisite,false) FROM pages WHERE bucket = $1 AND id = ANY($2) AND version > 0`, bucket,
		pageIDs(pages))
	var events []Event
	err = eachRow(rows, err, func(rows answer) error {
		e := Event{At: at, Kind: EventRemoved, Note: cmp.Or(site.Name, site.URL)}
		err := rows.Scan(&e.PageID, &e.SiteID, &e.URL, &e.Version, &e.Requisite)
		events = append(events, e)
		return err
	})
	if err != nil || len(events) == 0 {
		return err
	}
	slices.SortFunc(events, func(a, b Event) int { return cmp.Compare(a.PageID, b.PageID) })
	if events, err = q.tx.number(ctx, map[int16][]Event{bucket: events}); err != nil {
		return err
	}
	if err := eventTable.insert(ctx, q.tx, events); err != nil || cmp.Or(site.Name, site.URL) == "" {
		return err
	}
	_, err = q.tx.exec(ctx, `INSERT INTO removed_sites (bucket, site_id, name, url, seq) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (bucket, site_id) DO UPDATE SET seq = excluded.seq`, bucket, site.ID, site.Name, site.URL, events[len(events)-1].Seq)
	return err
}

// forgetRemoved forgets the names of removed sites whose last event in a bucket was pruned with all up to a number.
func (s *Store) forgetRemoved(ctx context.Context, bucket int16, upTo int64) error {
	return s.inTx(ctx, func(t *tx) error {
		// Index: the primary key.
		_, err := t.exec(ctx, `DELETE FROM removed_sites WHERE bucket = $1 AND seq <= $2`, bucket, upTo)
		return err
	})
}

// nameRemoved has the names of removed sites known that only the events of the removal have: those of before step 13, in a backup. Step 15
// does the same.
func (t *tx) nameRemoved(ctx context.Context) error {
	_, err := t.exec(ctx, `INSERT INTO removed_sites (bucket, site_id, name, url, seq)
		SELECT bucket, site_id, MAX(note), '', MAX(seq) FROM events WHERE kind = $1 AND note <> '' GROUP BY bucket, site_id
		ON CONFLICT (bucket, site_id) DO NOTHING`, int16(EventRemoved))
	if err != nil {
		return fmt.Errorf("name removed sites: %w", err)
	}
	return nil
}
