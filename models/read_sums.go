package models

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// The queries here pass over a whole table in one statement without a bucket: the engine reads it in the order in which
// it lies on the disk, which is several times as fast as going by key, and a sharded PostgreSQL adds up on every node.
// SQLite sorts what it groups, in memory, so it groups a part of the table after the other. They are for people and hold a
// snapshot while they run; nothing that visits pages waits for them. Memory does not grow with the table.

// Summaries passes over all pages, or those of one site (0: all), in no particular order. An error ends the sequence.
func (s *Store) Summaries(ctx context.Context, site int32) iter.Seq2[PageSummary, error] {
	const query = `SELECT site_id, url, state, content_type, fr_max, visits, records, COALESCE(changes,0),
		COALESCE(byte_changes,0), COALESCE(duplicate_of,'') <> '', COALESCE(first_at,0), visited_at FROM pages WHERE $1 = 0 OR site_id = $1`
	return func(yield func(PageSummary, error) bool) {
		var p PageSummary
		into := []any{&p.SiteID, &p.URL, &p.State, &p.ContentType, &p.FRMax, &p.Visits, &p.Records, &p.Changes, &p.ByteChanges,
			&p.DuplicateOf, &p.FirstAt, &p.VisitedAt}
		for _, err := range s.scan(ctx, into, query, site) {
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

// SiteStates counts the pages of each site by state, with those due at now, by site and state. Between, if any, is called between
// the parts of a large table, so that the caller rests there or ends the counting; pages that move meanwhile may then be counted
// twice or not at all. PostgreSQL reads everything in one statement where between is nil.
func (s *Store) SiteStates(ctx context.Context, now Instant, between func(context.Context) error) ([]SiteState, error) {
	parts, err := s.partsOfPages(ctx, between != nil)
	if err != nil {
		return nil, fmt.Errorf("count pages: %w", err)
	}
	return s.siteStates(ctx, now, parts, between)
}

// pageParts is how the table of the pages is counted: a part of size rows (SQLite) or blocks (PostgreSQL) after the other, up to
// end; with no size all at once.
type pageParts struct {
	where     string // what is between $3 and, not included, $4
	size, end int64
}

// SQLite sorts the pages that it groups, in memory: of ten million at once that took 600 MB. PostgreSQL takes all processors that
// it may for them: where a part of 8 MB is read in some hundredths of a second, ten million took two processors for seconds.
var (
	rowParts   = pageParts{where: ` WHERE rowid >= $3 AND rowid < $4`, size: 100_000}
	blockParts = pageParts{where: ` WHERE ctid >= CAST('(' || CAST($3 AS bigint) || ',0)' AS tid)
		AND ctid < CAST('(' || CAST($4 AS bigint) || ',0)' AS tid)`, size: 1024}  // Tid Range Scan, with a generic plan as well
)

// partsOfPages chooses the parts: several, or all at once where that is no matter, where there are no pages, and with Citus, where the
// pages lie on other servers and each counts its own.
func (s *Store) partsOfPages(ctx context.Context, several bool) (parts pageParts, err error) {
	var end string
	switch {
	case s.dialect == sqliteDialect:
		parts, end = rowParts, `SELECT COALESCE(MAX(rowid), -1) + 1 FROM pages`
	case several:
		parts, end = blockParts, `SELECT CASE WHEN to_regclass('pg_dist_partition') IS NULL
			THEN pg_relation_size('pages') / CAST(current_setting('block_size') AS bigint) ELSE 0 END`
	default:
		return pageParts{}, nil
	}
	for _, err = range s.scan(ctx, []any{&parts.end}, end) {
		if err != nil {
			return pageParts{}, err
		}
	}
	if parts.end == 0 {
		return pageParts{}, nil
	}
	return parts, nil
}

// countStates counts pages by their states. What is gone is not visited at its interval, but after a time of its own,
// a cycle at least unless somebody asks for it.
const countStates = `SELECT site_id, state, COUNT(*), SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END), SUM(CASE WHEN requisite THEN 1 ELSE 0 END),
		SUM(CASE WHEN due_at > 0 AND due_at <= $1 THEN 1 ELSE 0 END), COALESCE(MIN(NULLIF(due_at, 0)), 0),
		CAST(SUM(CASE WHEN state = %d THEN CASE WHEN due_at - COALESCE(tried_at, 0) >= 60000 THEN 86400000.0 / (due_at - COALESCE(tried_at, 0)) ELSE 0 END
			WHEN due_at > 0 AND wanted > 0 THEN 86400000000000.0 / wanted ELSE 0 END) AS double precision),
		SUM(CASE WHEN rule = $2 THEN 1 ELSE 0 END), SUM(CASE WHEN due_at > 0 AND COALESCE(wanted, 0) = 0 THEN 1 ELSE 0 END)
		FROM pages`

// siteStates counts by these parts.
func (s *Store) siteStates(ctx context.Context, now Instant, parts pageParts, between func(context.Context) error) ([]SiteState, error) {
	query := fmt.Sprintf(countStates, StateGone)
	const by = ` GROUP BY site_id, state`
	sums := make(map[[2]int32]SiteState)
	var r SiteState
	into := []any{&r.SiteID, &r.State, &r.Pages, &r.Failing, &r.Requisites, &r.Due, &r.NextAt, &r.PerDay, &r.PutOff, &r.NoPlan}
	for first := int64(0); ; first += parts.size {
		args := []any{now, RuleBudget}
		if parts.size > 0 {
			args = append(args, first, first+parts.size)
		}
		for _, err := range s.scan(ctx, into, query+parts.where+by, args...) {
			if err != nil {
				return nil, fmt.Errorf("count pages: %w", err)
			}
			key := [2]int32{r.SiteID, int32(r.State)}
			sums[key] = sums[key].plus(r)
		}
		if parts.size == 0 || first+parts.size >= parts.end {
			return ordered(sums), nil
		}
		if between != nil {
			if err := between(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// plus adds what was counted of other pages.
func (s SiteState) plus(o SiteState) SiteState {
	next := min(s.NextAt, o.NextAt)
	if next == 0 {
		next = max(s.NextAt, o.NextAt)
	}
	return SiteState{SiteID: o.SiteID, State: o.State, Pages: s.Pages + o.Pages, Failing: s.Failing + o.Failing,
		Requisites: s.Requisites + o.Requisites, Due: s.Due + o.Due, NextAt: next, PerDay: s.PerDay + o.PerDay, PutOff: s.PutOff + o.PutOff, NoPlan: s.NoPlan + o.NoPlan}
}

// ordered is by site and state.
func ordered(sums map[[2]int32]SiteState) []SiteState {
	return slices.SortedFunc(maps.Values(sums), func(a, b SiteState) int {
		return cmp.Or(cmp.Compare(a.SiteID, b.SiteID), cmp.Compare(a.State, b.State))
	})
}

// DailySums returns the sums of the days from first to last, both included (see Daily.Day), by day and site with all
// buckets added up, the newest day first; site 0 is all sites.
func (s *Store) DailySums(ctx context.Context, site, first, last int32) ([]Daily, error) {
	const query = `SELECT site_id, day, asked, not_modified, same, changed, first, moved, gone, failed, robots, skipped,
		bytes, bytes_saved, found, lost, found_days, lost_days FROM daily WHERE day BETWEEN $1 AND $2 AND ($3 = 0 OR site_id = $3)`
	sums := map[[2]int32]Daily{}
	var d Daily
	into := []any{&d.SiteID, &d.Day, &d.Asked, &d.NotModified, &d.Same, &d.Changed, &d.First, &d.Moved, &d.Gone, &d.Failed,
		&d.Robots, &d.Skipped, &d.Bytes, &d.BytesSaved, &d.Found, &d.Lost, &d.FoundDays, &d.LostDays}
	for _, err := range s.scan(ctx, into, query, first, last, site) {
		if err != nil {
			return nil, fmt.Errorf("read daily sums: %w", err)
		}
		key := [2]int32{d.Day, d.SiteID}
		sums[key] = sums[key].Plus(d)
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b Daily) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.SiteID, b.SiteID))
	}), nil
}

// SiteDays yields the sums of the days from first to last, both included, one site after the other: of those days on which there was
// one, the oldest first, Asked, Changed, First, Gone, Failed and what was found and lost with all buckets added up. An error ends the sequence.
func (s *Store) SiteDays(ctx context.Context, first, last int32) iter.Seq2[[]Daily, error] {
	const query = `SELECT site_id, day, CAST(SUM(asked) AS bigint), CAST(SUM(changed) AS bigint), CAST(SUM(first) AS bigint),
		CAST(SUM(gone) AS bigint), CAST(SUM(failed) AS bigint),
		CAST(SUM(found) AS bigint), CAST(SUM(lost) AS bigint), CAST(SUM(found_days) AS bigint), CAST(SUM(lost_days) AS bigint) FROM daily WHERE day BETWEEN $1 AND $2 GROUP BY site_id, day ORDER BY site_id, day`
	return func(yield func([]Daily, error) bool) {
		var days []Daily
		var d Daily
		for _, err := range s.scan(ctx, []any{&d.SiteID, &d.Day, &d.Asked, &d.Changed, &d.First, &d.Gone, &d.Failed, &d.Found, &d.Lost, &d.FoundDays, &d.LostDays}, query, first, last) {
			if err != nil {
				yield(nil, fmt.Errorf("read daily sums by site: %w", err))
				return
			}
			if len(days) > 0 && days[0].SiteID != d.SiteID {
				if !yield(days, nil) {
					return
				}
				days = nil
			}
			days = append(days, d)
		}
		if len(days) > 0 {
			yield(days, nil)
		}
	}
}

// Responses adds up the history since a moment by outcome, class and status, in that order; site 0 is all sites. The
// history is kept by page and not by time, so it reads all of it, and for one site the pages too; on SQLite bucket after bucket.
func (s *Store) Responses(ctx context.Context, site int32, since Instant) ([]Response, error) {
	query := `SELECT v.kind, v.class, v.status, COUNT(*), CAST(SUM(v.bytes) AS bigint), CAST(SUM(v.took) AS bigint), MAX(v.at) FROM visits v`
	where, args := ` WHERE v.at >= $1`, []any{since}
	if site != 0 {
		query += ` JOIN pages p ON p.bucket = v.bucket AND p.id = v.page_id`
		where, args = where+` AND p.site_id = $2`, append(args, site)
	}
	const by = ` GROUP BY v.kind, v.class, v.status`
	sums := make(map[[3]int16]Response)
	var r Response
	into := []any{&r.Kind, &r.Class, &r.Status, &r.Visits, &r.Bytes, &r.Took, &r.LastAt}
	add := func(query string, args ...any) error {
		for _, err := range s.scan(ctx, into, query, args...) {
			if err != nil {
				return fmt.Errorf("read responses: %w", err)
			}
			key := [3]int16{int16(r.Kind), int16(r.Class), r.Status}
			o := sums[key]
			r.Visits, r.Bytes, r.Took, r.LastAt = r.Visits+o.Visits, r.Bytes+o.Bytes, r.Took+o.Took, max(r.LastAt, o.LastAt)
			sums[key] = r
		}
		return nil
	}
	if s.dialect != sqliteDialect {
		if err := add(query+where+by, args...); err != nil {
			return nil, err
		}
	} else {
		where += fmt.Sprintf(" AND v.bucket = $%d", len(args)+1)
		for bucket := range int16(Buckets) {
			if err := add(query+where+by, append(args, bucket)...); err != nil {
				return nil, err
			}
		}
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b Response) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Status, b.Status))
	}), nil
}

// FailingClass is the class that most of the pages of a site that fail have; ClassNone where none fails. It looks at every page of the database.
func (s *Store) FailingClass(ctx context.Context, site int32) (ErrorClass, error) {
	pages := make([]int64, len(errorClasses))
	for bucket := range int16(Buckets) { // Index: the primary key, for the pages of a bucket.
		var class ErrorClass
		var n int64
		for _, err := range s.scan(ctx, []any{&class, &n}, `SELECT class, COUNT(*) FROM pages WHERE bucket = $1 AND site_id = $2 AND failures > 0
			GROUP BY class`, bucket, site) {
			if err != nil {
				return ClassNone, fmt.Errorf("read why pages fail: %w", err)
			}
			if int(class) < len(pages) { // else a newer release wrote it
				pages[class] += n
			}
		}
	}
	most := ClassNone
	for class := range pages {
		if class > 0 && pages[class] > 0 && (most == ClassNone || pages[class] > pages[most]) {
			most = ErrorClass(class)
		}
	}
	return most, nil
}
