package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// DueRow is a page that will be visited, with what its host adds to the time.
type DueRow struct {
	SiteID    int32
	PageID    int64
	URL       string
	State     PageState
	DueAt     Instant
	FRMax     int32
	Rule      Rule
	Failures  int32
	Requisite bool
	Host      string
	HostReady Instant // no visit on this host before; the end of its lease while it is visited
}

// Due returns the pages due until a moment, the longest due first, at most n; site 0 is all sites. It passes over the
// index pages_due of each bucket; without a site it reads the rows of those n pages alone, and with one the rows of all
// that are due. Memory is that of n rows.
func (s *Store) Due(ctx context.Context, site int32, until Instant, n int) ([]DueRow, error) {
	if site == 0 {
		var err error
		if until, err = s.dueBefore(ctx, until, n); err != nil {
			return nil, fmt.Errorf("read due pages: %w", err)
		}
	}
	var first []DueRow
	for bucket := range int16(Buckets) {
		var r DueRow
		into := []any{&r.SiteID, &r.PageID, &r.URL, &r.State, &r.DueAt, &r.FRMax, &r.Rule, &r.Failures, &r.Requisite, &r.Host, &r.HostReady}
		for _, err := range s.scan(ctx, into, dueQuery, bucket, until, site, n) {
			if err != nil {
				return nil, fmt.Errorf("read due pages: %w", err)
			}
			first = append(first, r)
		}
		slices.SortFunc(first, func(a, b DueRow) int {
			return cmp.Or(cmp.Compare(a.DueAt, b.DueAt), cmp.Compare(a.URL, b.URL))
		})
		first = first[:min(len(first), n)]
	}
	return first, nil
}

// dueQuery begins with the hosts: from the pages, SQLite would read the whole bucket. The cross join makes it.
const dueQuery = `SELECT p.site_id, p.id, p.url, p.state, p.due_at, p.fr_max, p.rule, COALESCE(p.failures,0), COALESCE(p.requisite,false), h.name, h.ready_at
	FROM hosts h CROSS JOIN pages p
	WHERE h.bucket = $1 AND p.bucket = $1 AND p.host_id = h.id AND p.due_at > 0 AND p.due_at <= $2 AND ($3 = 0 OR p.site_id = $3)
	ORDER BY p.due_at LIMIT $4`

// dueOfBucket is the pages p of bucket $1 that are due at some time, by the index pages_due. On PostgreSQL that begins with the
// host, and has no bucket, which only a sharded server must be told.
func (s *Store) dueOfBucket() string {
	switch {
	case s.sharded:
		return " FROM hosts h JOIN pages p ON p.bucket = h.bucket AND p.host_id = h.id WHERE h.bucket = $1 AND p.bucket = $1 AND p.due_at > 0"
	case s.dialect == postgresDialect:
		return " FROM hosts h JOIN pages p ON p.host_id = h.id WHERE h.bucket = $1 AND p.due_at > 0"
	}
	return " FROM pages p WHERE p.bucket = $1 AND p.due_at > 0"
}

// dueBefore is the due time of the n-th page that is due until a moment, or that moment where there are fewer. The index
// pages_due answers it alone.
func (s *Store) dueBefore(ctx context.Context, until Instant, n int) (Instant, error) {
	query := "SELECT p.due_at" + s.dueOfBucket() + " AND p.due_at <= $2 ORDER BY p.due_at LIMIT $3"
	var first []Instant
	for bucket := range int16(Buckets) {
		var at Instant
		for _, err := range s.scan(ctx, []any{&at}, query, bucket, until, n) {
			if err != nil {
				return 0, err
			}
			first = append(first, at)
		}
		slices.Sort(first)
		if first = first[:min(len(first), n)]; n > 0 && len(first) == n {
			until = first[n-1]
		}
	}
	return until, nil
}

// DueCount counts the pages due until a moment, by site. It passes over the index pages_due of each bucket and reads the
// rows of pages that are due.
func (s *Store) DueCount(ctx context.Context, until Instant) (map[int32]int64, error) {
	query := "SELECT p.site_id, COUNT(*)" + s.dueOfBucket() + " AND p.due_at <= $2 GROUP BY p.site_id"
	counts := map[int32]int64{}
	for bucket := range int16(Buckets) {
		var site int32
		var n int64
		for _, err := range s.scan(ctx, []any{&site, &n}, query, bucket, until) {
			if err != nil {
				return nil, fmt.Errorf("count due pages: %w", err)
			}
			counts[site] += n
		}
	}
	return counts, nil
}

// DueByStep counts the pages due in each of n steps of time from a moment on; what is due before counts in the first.
// It passes over the index pages_due of each bucket; for one site it reads the rows of pages that are due too.
func (s *Store) DueByStep(ctx context.Context, site int32, from Instant, step time.Duration, n int) ([]int64, error) {
	const steps = "SELECT (CASE WHEN p.due_at < $2 THEN 0 ELSE (p.due_at - $2) / $3 END) AS step, COUNT(*)"
	due := s.dueOfBucket() + " AND p.due_at < $4"
	query := steps + due + " GROUP BY step" // without the site the index has all that is asked for
	if site != 0 {
		query = steps + due + " AND p.site_id = $5 GROUP BY step"
	}
	counts := make([]int64, n)
	until := from.Add(time.Duration(n) * step)
	for bucket := range int16(Buckets) {
		args := []any{bucket, from, step.Milliseconds(), until}
		if site != 0 {
			args = append(args, site)
		}
		var at int
		var pages int64
		for _, err := range s.scan(ctx, []any{&at, &pages}, query, args...) {
			if err != nil {
				return nil, fmt.Errorf("count due pages: %w", err)
			}
			counts[at] += pages
		}
	}
	return counts, nil
}
