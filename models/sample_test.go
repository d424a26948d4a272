package models

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A sample of a bucket is its first pages by their IDs, read by the primary key and no further than it goes, on both engines.
func TestSample(t *testing.T) {
	t.Parallel()
	for name, dsn := range engines() {
		s := openFilledAt(t, dsn(t), fillPages(3000, 1))
		bucket := BucketOf("h0.example")
		pages, err := s.PagesFrom(t.Context(), bucket, -1, 7)
		if err != nil {
			t.Fatal(err)
		}
		var want []Sampled
		var ids []int64
		byID := make(map[int64]Sampled)
		for _, p := range pages {
			some := Sampled{Bucket: p.Bucket, ID: p.ID, SiteID: p.SiteID, URL: p.URL, State: p.State, Requisite: p.Requisite, Visits: p.Visits,
				Records: p.Stats.Records, Changes: p.Stats.Changes, RedirectTo: p.RedirectTo, DuplicateOf: p.DuplicateOf}
			want, ids, byID[p.ID] = append(want, some), append(ids, p.ID), some
		}
		got, err := s.Sample(t.Context(), bucket, 7)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || len(got) != 7 {
			t.Errorf("%s: %d pages, %v (-want +got):\n%s", name, len(got), err, diff)
		}
		known, err := s.SampledByID(t.Context(), bucket, append(ids, 5)) // which no page has
		if diff := cmp.Diff(byID, known); err != nil || diff != "" {
			t.Errorf("%s by ID: %v (-want +got):\n%s", name, err, diff)
		}
		if plan := samplePlan(t, s, bucket); !strings.Contains(plan, "pages_pkey") && !strings.Contains(plan, "sqlite_autoindex_pages_1 (bucket=?)") ||
			strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s answers\n%s\nby\n%s", name, sampleQuery(), plan)
		}
	}
}

// samplePlan is how the engine reads a sample.
func samplePlan(t *testing.T, s *Store, bucket int16) string {
	t.Helper()
	if s.dialect == sqliteDialect {
		return strings.Join(sqlitePlan(t, s, sampleQuery()), "\n")
	}
	if _, err := s.writer.ExecContext(t.Context(), "ANALYZE pages"); err != nil {
		t.Fatal(err)
	}
	rows, err := s.writer.QueryContext(t.Context(), "EXPLAIN "+sampleQuery(), bucket, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var step string
		if err := rows.Scan(&step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, "\n")
}
