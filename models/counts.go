package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The counts of pages by bucket, site and state are kept by every transaction that adds, removes or visits pages, so that
// nobody has to pass over all of them to know how many there are. A transaction collects what it changes and writes it as
// the last thing it does: the rows are shared by all hosts of a bucket and a site, and are not locked for longer than that.

// countKey names a row of page_counts.
type countKey struct {
	bucket int16
	site   int32
	state  PageState
}

func compareCounts(a, b countKey) int {
	return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.site, b.site), cmp.Compare(a.state, b.state))
}

// pageCount is a row of page_counts, or what is to be added to it.
type pageCount struct {
	countKey
	pages, failing, requisites int64
}

var countTable = table[pageCount]{"page_counts", "bucket site_id state pages failing requisites", 3, func(c *pageCount) []any {
	return []any{&c.bucket, &c.site, &c.state, &c.pages, &c.failing, &c.requisites}
}}

// addCounts is the clause that adds to a row that exists. Index: the primary key.
const addCounts = ` ON CONFLICT (bucket, site_id, state) DO UPDATE SET pages = page_counts.pages + excluded.pages,
	failing = page_counts.failing + excluded.failing, requisites = page_counts.requisites + excluded.requisites`

// counts is what a transaction adds to the counts.
type counts map[countKey]pageCount

// add counts what a row has more, or less.
func (c counts) add(more pageCount) {
	row := c[more.countKey]
	c[more.countKey] = pageCount{more.countKey, row.pages + more.pages, row.failing + more.failing, row.requisites + more.requisites}
}

// page counts a page, n times.
func (c counts) page(bucket int16, p pageClass, n int64) {
	row := pageCount{countKey: countKey{bucket, p.site, p.state}, pages: n}
	if p.failures > 0 {
		row.failing = n
	}
	if p.requisite {
		row.requisites = n
	}
	c.add(row)
}

// pageClass is what a page is counted by.
type pageClass struct {
	site      int32
	state     PageState
	failures  int32
	requisite bool
}

func classOf(p *Page) pageClass { return pageClass{p.SiteID, p.State, p.Failures, p.Requisite} }

// writeCounts writes what a transaction adds to the counts, in the order of their keys.
func (q *queue) writeCounts(ctx context.Context) error {
	maps.DeleteFunc(q.counts, func(_ countKey, row pageCount) bool { return row == pageCount{countKey: row.countKey} })
	rows := make([]pageCount, 0, len(q.counts))
	for _, key := range slices.SortedFunc(maps.Keys(q.counts), compareCounts) {
		rows = append(rows, q.counts[key])
	}
	return countTable.add(ctx, q.tx, rows, addCounts)
}

// end writes the hosts and then the counts: the last statements of a transaction.
func (q *queue) end(ctx context.Context) error {
	if err := q.flush(ctx); err != nil {
		return err
	}
	return q.writeCounts(ctx)
}

// countPages is what the pages are by the pages themselves; %s is a condition.
const countPages = `SELECT bucket, site_id, state, COUNT(*), SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END),
	SUM(CASE WHEN requisite THEN 1 ELSE 0 END) FROM pages %s GROUP BY bucket, site_id, state`

// countRemoved counts pages of a bucket that are about to be removed. Index: the primary key.
func (q *queue) countRemoved(ctx context.Context, bucket int16, ids []int64) error {
	rows, err := q.tx.rows(ctx, fmt.Sprintf(countPages, "WHERE bucket = $1 AND id = ANY($2)"), bucket, ids)
	return eachRow(rows, err, func(rows answer) error {
		var row pageCount
		err := rows.Scan(countTable.fields(&row)...)
		q.counts.add(pageCount{row.countKey, -row.pages, -row.failing, -row.requisites})
		return err
	})
}

// PageCounts is how many pages each site has in each state, how many of them failed at their last visit and how many are requisites, by
// site and state. It reads a row for each bucket, site and state, and none of a page. The other figures of a SiteState are left 0.
func (s *Store) PageCounts(ctx context.Context) ([]SiteState, error) {
	const query = `SELECT site_id, state, CAST(SUM(pages) AS bigint), CAST(SUM(failing) AS bigint),
		CAST(SUM(requisites) AS bigint) FROM page_counts GROUP BY site_id, state HAVING SUM(pages) <> 0 ORDER BY site_id, state`
	var out []SiteState
	var r SiteState
	for _, err := range s.scan(ctx, []any{&r.SiteID, &r.State, &r.Pages, &r.Failing, &r.Requisites}, query) {
		if err != nil {
			return nil, fmt.Errorf("read counts of pages: %w", err)
		}
		out = append(out, r)
	}
	return out, nil
}

// PagesKnown is how many pages there are, in any state.
func (s *Store) PagesKnown(ctx context.Context) (int64, error) {
	states, err := s.PageCounts(ctx)
	total := int64(0)
	for _, st := range states {
		total += st.Pages
	}
	return total, err
}

// PagesBySite counts the pages of each site that a budget pays for (PageState.Paid).
func (s *Store) PagesBySite(ctx context.Context) (map[int32]int64, error) {
	states, err := s.PageCounts(ctx)
	if err != nil {
		return nil, err
	}
	bySite := make(map[int32]int64)
	for _, st := range states {
		if st.State.Paid() {
			bySite[st.SiteID] += st.Pages
		}
	}
	return bySite, nil
}

// ErrMiscounted is what CheckCounts gives where the counts are not those of the pages.
var ErrMiscounted = errors.New("the counts of pages are wrong")

// CheckCounts passes over all pages and compares them with the counts; where they differ the error wraps ErrMiscounted and
// tells the first difference. It reads both in one snapshot.
func (s *Store) CheckCounts(ctx context.Context) error {
	query := `SELECT bucket, site_id, state, CAST(SUM(pages) AS bigint), CAST(SUM(failing) AS bigint), CAST(SUM(requisites) AS bigint) FROM (
		SELECT bucket, site_id, state, pages, failing, requisites FROM page_counts UNION ALL
		SELECT bucket, site_id, state, -COUNT(*), -SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END), -SUM(CASE WHEN requisite THEN 1 ELSE 0 END)
			FROM pages GROUP BY bucket, site_id, state) AS both_
		GROUP BY bucket, site_id, state HAVING SUM(pages) <> 0 OR SUM(failing) <> 0 OR SUM(requisites) <> 0 ORDER BY bucket, site_id, state`
	wrong, err := countTable.scan(s.rows(ctx, query))
	if err != nil {
		return fmt.Errorf("check counts of pages: %w", err)
	}
	if len(wrong) > 0 {
		w := wrong[0]
		return fmt.Errorf("%w in %d places: in bucket %d, site %d, state %s by %d, failing by %d, requisites by %d", ErrMiscounted, len(wrong),
			w.bucket, w.site, w.state, w.pages, w.failing, w.requisites)
	}
	return nil
}

// recount writes the counts anew.
func (t *tx) recount(ctx context.Context) error {
	if _, err := t.exec(ctx, "DELETE FROM page_counts"); err != nil {
		return fmt.Errorf("count pages: %w", err)
	}
	for _, from := range []string{fmt.Sprintf(countPages, ""),
		// Those that were removed are counted until what they left is cleared.
		`SELECT bucket, site_id, 1, 0, 0, 0 FROM removed_sites WHERE true ON CONFLICT DO NOTHING`} {
		if _, err := t.exec(ctx, "INSERT INTO page_counts (bucket, site_id, state, pages, failing, requisites) "+from); err != nil {
			return fmt.Errorf("count pages: %w", err)
		}
	}
	return nil
}

// countVisited counts what became of the pages of a commit, given what they were.
func (c *commit) countVisited(context.Context) error {
	is := make(map[rowKey]pageClass)
	for _, r := range c.fresh {
		is[rowOfPage(r)] = classOf(&r.Page)
	}
	for key, now := range is {
		was := c.was[key].pageClass
		if now.requisite = was.requisite; was != now { // it stays, whatever the result says
			c.queue.counts.page(key.bucket, was, -1)
			c.queue.counts.page(key.bucket, now, 1)
		}
	}
	return nil
}
