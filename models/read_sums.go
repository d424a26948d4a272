package models

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
)

// The queries here pass over whole tables, a bucket at a time: each statement names its bucket (so that a sharded
// PostgreSQL routes it), holds no snapshot for long (so that SQLite's log can be checkpointed meanwhile) and is
// streamed. Memory is that of one bucket's sums.

// Summaries passes over all pages, or those of one site (0: all), in no particular order. It reads the table, no index:
// about a second for 300,000 pages. An error ends the sequence.
func (s *Store) Summaries(ctx context.Context, site int32) iter.Seq2[PageSummary, error] {
	const query = `SELECT site_id, url, state, content_type, fr_max, visits, records, changes, first_at, visited_at
		FROM pages WHERE bucket = $1 AND ($2 = 0 OR site_id = $2)`
	return func(yield func(PageSummary, error) bool) {
		for bucket := range int16(Buckets) {
			var p PageSummary
			into := []any{&p.SiteID, &p.URL, &p.State, &p.ContentType, &p.FRMax, &p.Visits, &p.Records, &p.Changes,
				&p.FirstAt, &p.VisitedAt}
			for _, err := range s.scan(ctx, into, query, bucket, site) {
				if err != nil {
					yield(PageSummary{}, fmt.Errorf("read pages: %w", err))
					return
				}
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// SiteStates counts the pages of each site by state, with those due at now. It reads the table, no index.
func (s *Store) SiteStates(ctx context.Context, now Instant) ([]SiteState, error) {
	const query = `SELECT site_id, state, COUNT(*), SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END),
		SUM(CASE WHEN due_at > 0 AND due_at <= $2 THEN 1 ELSE 0 END), COALESCE(MIN(NULLIF(due_at, 0)), 0),
		CAST(SUM(CASE WHEN due_at > 0 AND wanted > 0 THEN 86400000000000.0 / wanted ELSE 0 END) AS double precision)
		FROM pages WHERE bucket = $1 GROUP BY site_id, state`
	type key struct {
		site  int32
		state PageState
	}
	sums := map[key]SiteState{}
	for bucket := range int16(Buckets) {
		var r SiteState
		into := []any{&r.SiteID, &r.State, &r.Pages, &r.Failing, &r.Due, &r.NextAt, &r.PerDay}
		for _, err := range s.scan(ctx, into, query, bucket, now) {
			if err != nil {
				return nil, fmt.Errorf("count pages: %w", err)
			}
			k := key{r.SiteID, r.State}
			sum := sums[k]
			sum.SiteID, sum.State = r.SiteID, r.State
			sum.Pages += r.Pages
			sum.Failing += r.Failing
			sum.Due += r.Due
			sum.PerDay += r.PerDay
			sum.NextAt = earlier(sum.NextAt, r.NextAt)
			sums[k] = sum
		}
	}
	out := make([]SiteState, 0, len(sums))
	for _, sum := range sums {
		out = append(out, sum)
	}
	slices.SortFunc(out, func(a, b SiteState) int {
		return cmp.Or(cmp.Compare(a.SiteID, b.SiteID), cmp.Compare(a.State, b.State))
	})
	return out, nil
}

// earlier is the earlier of two moments, where 0 is none.
func earlier(a, b Instant) Instant {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// FRMaxCounts counts pages by fr_max and site (0: all sites together are asked for, each is counted apart). It reads the
// table, no index.
func (s *Store) FRMaxCounts(ctx context.Context, site int32) (map[int32]map[int32]int64, error) {
	const query = `SELECT site_id, fr_max, COUNT(*) FROM pages WHERE bucket = $1 AND ($2 = 0 OR site_id = $2)
		GROUP BY site_id, fr_max`
	counts := map[int32]map[int32]int64{}
	for bucket := range int16(Buckets) {
		var id, frMax int32
		var n int64
		for _, err := range s.scan(ctx, []any{&id, &frMax, &n}, query, bucket, site) {
			if err != nil {
				return nil, fmt.Errorf("count fr_max: %w", err)
			}
			if counts[id] == nil {
				counts[id] = map[int32]int64{}
			}
			counts[id][frMax] += n
		}
	}
	return counts, nil
}

// DailySums returns the sums of the days from first to last, both included (see Daily.Day), by day and site with all
// buckets added up, the newest day first; site 0 is all sites. It reads the key (bucket, site_id, day).
func (s *Store) DailySums(ctx context.Context, site, first, last int32) ([]Daily, error) {
	const query = `SELECT site_id, day, asked, not_modified, same, changed, first, moved, gone, failed, robots, skipped,
		bytes, bytes_saved FROM daily WHERE bucket = $1 AND day BETWEEN $2 AND $3 AND ($4 = 0 OR site_id = $4)`
	sums := map[[2]int32]Daily{}
	for bucket := range int16(Buckets) {
		var d Daily
		into := []any{&d.SiteID, &d.Day, &d.Asked, &d.NotModified, &d.Same, &d.Changed, &d.First, &d.Moved, &d.Gone,
			&d.Failed, &d.Robots, &d.Skipped, &d.Bytes, &d.BytesSaved}
		for _, err := range s.scan(ctx, into, query, bucket, first, last, site) {
			if err != nil {
				return nil, fmt.Errorf("read daily sums: %w", err)
			}
			key := [2]int32{d.Day, d.SiteID}
			sums[key] = sums[key].Plus(d)
		}
	}
	out := make([]Daily, 0, len(sums))
	for _, sum := range sums {
		out = append(out, sum)
	}
	slices.SortFunc(out, func(a, b Daily) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.SiteID, b.SiteID))
	})
	return out, nil
}

// Responses adds up the history since a moment by outcome, class and status; site 0 is all sites. The history is kept
// by page, not by time: it reads the table, and for one site the pages too.
func (s *Store) Responses(ctx context.Context, site int32, since Instant) ([]Response, error) {
	query := `SELECT kind, class, status, COUNT(*), CAST(SUM(bytes) AS bigint), CAST(SUM(took) AS bigint), MAX(at) FROM visits
		WHERE bucket = $1 AND at >= $2 GROUP BY kind, class, status`
	if site != 0 {
		query = `SELECT v.kind, v.class, v.status, COUNT(*), CAST(SUM(v.bytes) AS bigint), CAST(SUM(v.took) AS bigint),
			MAX(v.at)
			FROM visits v JOIN pages p ON p.bucket = v.bucket AND p.id = v.page_id
			WHERE v.bucket = $1 AND v.at >= $2 AND p.site_id = $3 GROUP BY v.kind, v.class, v.status`
	}
	type key struct {
		kind   OutcomeKind
		class  ErrorClass
		status int16
	}
	sums := map[key]Response{}
	for bucket := range int16(Buckets) {
		args := []any{bucket, since}
		if site != 0 {
			args = append(args, site)
		}
		var r Response
		into := []any{&r.Kind, &r.Class, &r.Status, &r.Visits, &r.Bytes, &r.Took, &r.LastAt}
		for _, err := range s.scan(ctx, into, query, args...) {
			if err != nil {
				return nil, fmt.Errorf("read responses: %w", err)
			}
			k := key{r.Kind, r.Class, r.Status}
			sum := sums[k]
			r.Visits += sum.Visits
			r.Bytes += sum.Bytes
			r.Took += sum.Took
			r.LastAt = max(r.LastAt, sum.LastAt)
			sums[k] = r
		}
	}
	out := make([]Response, 0, len(sums))
	for _, sum := range sums {
		out = append(out, sum)
	}
	slices.SortFunc(out, func(a, b Response) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Status, b.Status))
	})
	return out, nil
}
