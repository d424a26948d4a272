package models

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
)

// Print is what tells pages that say nearly the same (package fingerprint); the zero Print means none. The store does not
// look into it.
type Print [16]byte

// IsZero tells whether there is no print.
func (p Print) IsZero() bool { return p == Print{} }

// Value implements driver.Valuer: 16 bytes, or NULL for none.
func (p Print) Value() (driver.Value, error) {
	if p.IsZero() {
		return nil, nil
	}
	return p[:], nil
}

// Scan implements sql.Scanner.
func (p *Print) Scan(src any) error {
	b, ok := src.([]byte)
	switch {
	case src == nil:
		*p = Print{}
	case !ok || len(b) != len(p):
		return fmt.Errorf("print from %T of %d bytes", src, len(b))
	default:
		copy(p[:], b)
	}
	return nil
}

// Filing puts a page under a key of what it says, or takes it from there. Pages that say nearly the same share a key.
// Its bucket is the key's first byte.
type Filing struct {
	Key        int64
	PageBucket int16
	PageID     int64
}

// Bucket is where the filing lies: that of its key and not of the page.
func (f Filing) Bucket() int16 { return bucketOfKey(f.Key) }

func bucketOfKey(key int64) int16 { return int16(uint64(key) >> 56) }

func compareFilings(a, b Filing) int {
	return cmp.Or(cmp.Compare(a.Bucket(), b.Bucket()), cmp.Compare(a.Key, b.Key), cmp.Compare(a.PageBucket, b.PageBucket),
		cmp.Compare(a.PageID, b.PageID))
}

// Twin is a page that may say what another one says. A filing whose page was removed is a Twin without a URL.
type Twin struct {
	Bucket      int16
	ID          int64
	SiteID      int32
	URL         string
	State       PageState
	FirstAt     Instant // Page.Stats.FirstAt
	VisitedAt   Instant // Page.Stats.VisitedAt
	Digest      Digest
	Print       Print
	Canonical   string
	DuplicateOf string
}

// Twin is the page as one that may say what others say.
func (p *Page) Twin() Twin {
	return Twin{Bucket: p.Bucket, ID: p.ID, SiteID: p.SiteID, URL: p.URL, State: p.State, FirstAt: p.Stats.FirstAt, VisitedAt: p.Stats.VisitedAt,
		Digest: p.Digest, Print: p.Print, Canonical: p.Canonical, DuplicateOf: p.DuplicateOf}
}

// TwinsPerKey is the most pages that Twins looks at for one key, the first ones by bucket and ID, and that are worth filing
// under one: pages that share keys and say other things after all, as many as a site can make, shall not make each commit
// slow.
const TwinsPerKey = 16

// readFilings are those of keys on SQLite, which has them all in one answer; readFilingsWide those of keys on PostgreSQL, and
// readFilingsOf those of keys of buckets of one shard. Index: the primary key, for each key.
const (
	readFilings = `SELECT p.key, p.page_bucket, p.page_id FROM json_each($1) u CROSS JOIN prints p
		ON p.bucket = u.value >> 56 & 255 AND p.key = u.value`
	readFilingsOf = `SELECT p.key, p.page_bucket, p.page_id
		FROM unnest($1::smallint[], $2::bigint[]) u (b, k) CROSS JOIN LATERAL (
		SELECT * FROM prints t WHERE t.bucket = u.b AND t.bucket = ANY($1) AND t.key = u.k ORDER BY page_bucket, page_id LIMIT 16) p`
	readFilingsWide = `SELECT p.key, p.page_bucket, p.page_id
		FROM unnest($1::smallint[], $2::bigint[]) u (b, k) CROSS JOIN LATERAL (
		SELECT * FROM prints t WHERE t.bucket = u.b AND t.key = u.k ORDER BY page_bucket, page_id LIMIT 16) p`
)

// Twins returns the pages that are filed under keys (Result.Filed), by key, at most TwinsPerKey of each.
func (s *Store) Twins(ctx context.Context, keys []int64) (map[int64][]Twin, error) {
	filings, err := s.filings(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("look up prints: %w", err)
	}
	pages := make([]rowKey, len(filings))
	for i, f := range filings {
		pages[i] = rowKey{f.PageBucket, f.PageID}
	}
	known := make(map[rowKey]Twin, len(pages))
	if err := knownOf(ctx, s, twinTable, pages, func(t *Twin) { known[rowKey{t.Bucket, t.ID}] = *t }); err != nil {
		return nil, fmt.Errorf("look up pages by their prints: %w", err)
	}
	twins := make(map[int64][]Twin, len(keys))
	for _, f := range filings {
		if len(twins[f.Key]) == TwinsPerKey {
			continue
		}
		t, ok := known[rowKey{f.PageBucket, f.PageID}]
		if !ok {
			t = Twin{Bucket: f.PageBucket, ID: f.PageID}
		}
		twins[f.Key] = append(twins[f.Key], t)
	}
	return twins, nil
}

// filings are those of the keys, in order, each once.
func (s *Store) filings(ctx context.Context, keys []int64) ([]Filing, error) {
	var found []Filing
	run := func(ask asker, query string, args ...any) error {
		rows, err := ask.rows(ctx, query, args...)
		return eachRow(rows, err, func(rows answer) error {
			var f Filing
			err := rows.Scan(&f.Key, &f.PageBucket, &f.PageID)
			found = append(found, f)
			return err
		})
	}
	sought := make([]rowKey, len(keys))
	for i, key := range keys {
		sought[i] = rowKey{bucketOfKey(key), key}
	}
	err := s.eachShard(ctx, sought, func(ask asker, some []rowKey) error {
		buckets, keys := columnsOf(some)
		switch {
		case s.dialect == sqliteDialect:
			return run(ask, readFilings, keys)
		case ask.sharded:
			return run(ask, readFilingsOf, buckets, keys)
		}
		return run(ask, readFilingsWide, buckets, keys)
	})
	slices.SortFunc(found, compareFilings)
	return slices.Compact(found), err
}

// writeFilings takes pages from the keys of what they said before and puts them under those of what they say now, as far
// as the transaction holds the keys' buckets.
func (c *commit) writeFilings(ctx context.Context) error {
	filed := filingsOf(c.fresh)
	maps.DeleteFunc(filed, func(f Filing, _ bool) bool { return !c.holds(f.Bucket()) })
	put, taken := rowsOf(filed)
	if err := filingTable.remove(ctx, c.tx, taken); err != nil {
		return err
	}
	return add(ctx, c, filingTable, put, filingTable.insert)
}

// filingsOf is what results file, true, and take away, false, in the end.
func filingsOf(results []*Result) map[Filing]bool {
	filed := make(map[Filing]bool)
	for _, r := range results {
		note(filed, r.Filed, r.Unfiled)
	}
	return filed
}

// note adds to the filings what is filed and taken away after them.
func note(filed map[Filing]bool, add, remove []Filing) {
	for _, f := range remove {
		filed[f] = false
	}
	for _, f := range add {
		filed[f] = true
	}
}

// file adds filings and removes others.
func (t *tx) file(ctx context.Context, filed map[Filing]bool) error {
	put, taken := rowsOf(filed)
	if err := filingTable.remove(ctx, t, taken); err != nil {
		return err
	}
	return filingTable.insert(ctx, t, put)
}

// filingRow is a Filing with its bucket.
type filingRow struct {
	Filing
	bucket int16
}

// rowsOf is the filings that stay and those that go, each by key, so that two transactions with the same ones do not wait for
// each other in a circle.
func rowsOf(filed map[Filing]bool) (put, taken []filingRow) {
	put = make([]filingRow, 0, len(filed))
	for f, stays := range filed {
		if stays {
			put = append(put, filingRow{f, f.Bucket()})
		} else {
			taken = append(taken, filingRow{f, f.Bucket()})
		}
	}
	byKey := func(a, b filingRow) int { return compareFilings(a.Filing, b.Filing) }
	slices.SortFunc(put, byKey)
	slices.SortFunc(taken, byKey)
	return put, taken
}
