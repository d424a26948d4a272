package models

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A site is removed page by page, and some of what is known of pages does not lie beside them: the host is that of other sites' pages too, a
// filing lies where its key belongs and names no site, and counts are added to by whoever holds the bucket. That is left for a chore. The
// counts of a site that there is not any more say that there is something to clear, so they go last.

// removingPrefix begins the keys of the marks of sites whose removal has begun, by ID: one that is cut off is finished by ClearRemoved.
const removingPrefix = "removing:"

func removingKey(site int32) string { return removingPrefix + strconv.Itoa(int(site)) }

// Cleared is what ClearRemoved removed.
type Cleared struct {
	Sites   int   // whose removal had been cut off, or that had got pages back
	Hosts   int64 // without a page
	Filings int64 // of pages that are no more
}

// ClearRemoved removes what removed sites leave behind: it ends removals that were cut off, and removes pages that removed sites got back,
// the filings of pages that are no more, the sums, counts and notes of removed sites, and hosts without any page, with robots.txt and all that
// is known of them, that are idle and were open for a request before then: a host that comes back is polite only as long as its row is
// there. Each transaction is short. Where no site was removed since the last time it reads counts and hosts, and no filing.
func (s *Store) ClearRemoved(ctx context.Context, now, before time.Time) (Cleared, error) {
	var done Cleared
	gone, err := s.endRemovals(ctx, now, &done)
	if err == nil && len(gone) > 0 {
		done.Filings, err = s.clearFilings(ctx)
		if err == nil {
			err = s.clearSums(ctx, gone)
		}
	}
	if err == nil {
		done.Hosts, err = s.clearHosts(ctx, At(before))
	}
	if err != nil {
		return done, fmt.Errorf("clear what removed sites left: %w", err)
	}
	return done, nil
}

// endRemovals ends what was cut off, and lists the sites that are counted and are no more.
func (s *Store) endRemovals(ctx context.Context, now time.Time, done *Cleared) ([]int32, error) {
	begun, err := s.MetaKeys(ctx, removingPrefix)
	if err != nil {
		return nil, err
	}
	var ends []int32
	for _, key := range begun {
		if id, err := strconv.ParseInt(strings.TrimPrefix(key, removingPrefix), 10, 32); err == nil {
			ends = append(ends, int32(id))
		}
	}
	gone, back, err := s.countedAndGone(ctx)
	if err != nil {
		return nil, err
	}
	for _, site := range append(ends, back...) {
		if err := s.RemoveSite(ctx, site, now); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		done.Sites++
	}
	if len(ends) > 0 {
		gone, _, err = s.countedAndGone(ctx)
	}
	return gone, err
}

// countedAndGone lists the sites that are counted and are no more, and those of them that have pages. Who adds a page has read its site's row
// before, so the counts are read before the sites: what is counted then and is no site is none any more. Pages of no site (0) are nobody's.
func (s *Store) countedAndGone(ctx context.Context) (gone, back []int32, err error) {
	pages := make(map[int32]int64)
	for bucket := range int16(Buckets) {
		var site int32
		var n int64
		// Index: the primary key.
		for _, err := range s.scan(ctx, []any{&site, &n}, `SELECT site_id, CAST(SUM(pages) AS bigint) FROM page_counts WHERE bucket = $1
			AND site_id > 0 GROUP BY site_id`, bucket) {
			if err != nil {
				return nil, nil, err
			}
			pages[site] += n
		}
	}
	sites, err := s.Sites(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, site := range sites {
		delete(pages, site.ID)
	}
	for _, site := range slices.Sorted(maps.Keys(pages)) {
		if gone = append(gone, site); pages[site] > 0 {
			back = append(back, site)
		}
	}
	return gone, back, nil
}

// clearSums removes the daily sums, the notes and, when these are gone, the counts of sites that are no more. What has pages by now stays
// counted.
func (s *Store) clearSums(ctx context.Context, sites []int32) error {
	for _, site := range sites {
		if err := s.removeDaily(ctx, site); err != nil {
			return err
		}
		if err := s.inTx(ctx, func(t *tx) error { return t.removeNotes(ctx, site) }); err != nil {
			return err
		}
	}
	for bucket := range int16(Buckets) {
		err := s.inShard(ctx, bucket, func(t *tx) error {
			// Index: the primary key.
			_, err := t.exec(ctx, `DELETE FROM page_counts WHERE bucket = $1 AND site_id = ANY($2) AND pages = 0 AND failing = 0
				AND requisites = 0`, bucket, sites)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeNotes removes the notes of a site's own budget.
func (t *tx) removeNotes(ctx context.Context, site int32) error {
	account := SiteAccount(site)
	// Index: the primary key.
	_, err := t.exec(ctx, `DELETE FROM notes WHERE name IN ($1, $2)`, NoteBudget+account, NotePrice+account)
	return err
}

// clearRows is how many rows a transaction of ClearRemoved removes: those of hosts have others that go with them.
const clearRows = 500

// clearFilings passes over all filings and removes those whose page is no more. They lie elsewhere than their pages, so nothing keeps one
// from being found anew and filed meanwhile: what is there after all is put back.
func (s *Store) clearFilings(ctx context.Context) (sum int64, err error) {
	for bucket := range int16(Buckets) {
		last := Filing{Key: math.MinInt64, PageBucket: -1}
		for full := true; full; {
			// Index: the primary key.
			rows, err := filingTable.scan(s.rows(ctx, `SELECT `+filingTable.list()+` FROM prints WHERE bucket = $1
				AND (key, page_bucket, page_id) > ($2, $3, $4) ORDER BY key, page_bucket, page_id LIMIT $5`,
				bucket, last.Key, last.PageBucket, last.PageID, clearRows))
			if err != nil {
				return sum, err
			}
			if full = len(rows) == clearRows; len(rows) > 0 {
				last = rows[len(rows)-1].Filing
			}
			n, err := s.clearFiled(ctx, bucket, rows)
			if sum += n; err != nil {
				return sum, err
			}
		}
	}
	return sum, nil
}

func (s *Store) clearFiled(ctx context.Context, bucket int16, rows []filingRow) (int64, error) {
	_, without, err := s.byTheirPages(ctx, rows)
	if err != nil || len(without) == 0 {
		return 0, err
	}
	err = s.inShard(ctx, bucket, func(t *tx) error { return filingTable.remove(ctx, t, without) })
	if err != nil {
		return 0, err
	}
	back, _, err := s.byTheirPages(ctx, without)
	if err == nil && len(back) > 0 {
		err = s.inShard(ctx, bucket, func(t *tx) error { return filingTable.insert(ctx, t, back) })
	}
	return int64(len(without) - len(back)), err
}

// pageKeyTable is the key of pages alone, which the index answers.
var pageKeyTable = table[PageKey]{"pages", "bucket id", 2, func(p *PageKey) []any { return []any{&p.Bucket, &p.ID} }}

// byTheirPages parts filings in those whose page exists and others.
func (s *Store) byTheirPages(ctx context.Context, rows []filingRow) (with, without []filingRow, err error) {
	keys := make([]rowKey, len(rows))
	for i, f := range rows {
		keys[i] = rowKey{f.PageBucket, f.PageID}
	}
	known := make(map[PageKey]bool, len(rows))
	if err := knownOf(ctx, s, pageKeyTable, keys, func(p *PageKey) { known[*p] = true }); err != nil {
		return nil, nil, err
	}
	for _, f := range rows {
		if known[PageKey{f.PageBucket, f.PageID}] {
			with = append(with, f)
		} else {
			without = append(without, f)
		}
	}
	return with, without, nil
}

// Deserted tells whether nothing needs the host any more: it has no page, nobody holds it, and it has been open for a request since before
// then.
func (h *Host) Deserted(before Instant) bool {
	return h.Pages == 0 && h.LeaseUntil == 0 && h.OpenAt <= before && h.BackoffUntil <= before
}

// deserted is Host.Deserted, of a host whose count of pages may be wrong: what is due some day is a page, too (index pages_due).
const deserted = `pages = 0 AND lease_until = 0 AND open_at <= $2 AND backoff_until <= $2
	AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.bucket = $1 AND p.host_id = hosts.id AND p.due_at > 0)`

// clearHosts removes deserted hosts; their robots, knowledge and memories go with them, by foreign keys.
func (s *Store) clearHosts(ctx context.Context, before Instant) (sum int64, err error) {
	for bucket := range int16(Buckets) {
		for full := true; full; {
			// No index: the hosts of a bucket are read as a whole, which a chore may do.
			rows, err := s.rows(ctx, `SELECT id FROM hosts WHERE bucket = $1 AND `+deserted+` ORDER BY id LIMIT $3`, bucket, int64(before), clearRows)
			if err != nil {
				return sum, err
			}
			ids, err := scanIDs(rows)
			if err != nil {
				return sum, err
			}
			full = len(ids) == clearRows
			n := int64(0)
			if len(ids) > 0 {
				err = s.inShard(ctx, bucket, func(t *tx) (err error) {
					// Who gives one a page locks it before: what has one by then is not deserted, and what is gone by then is added.
					n, err = t.exec(ctx, `DELETE FROM hosts WHERE bucket = $1 AND `+deserted+` AND id = ANY($3)`, bucket, int64(before), ids)
					return err
				})
			}
			if sum += n; err != nil {
				return sum, err
			}
		}
	}
	return sum, nil
}
