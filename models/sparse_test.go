package models

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/internal/pgtest"
)

// zerosOnPostgres counts the values of pages that are zero and not NULL, in columns that are sparse.
func zerosOnPostgres(t *testing.T, s *Store) (zeros, nulls int) {
	t.Helper()
	for name := range sparse["pages"] {
		var z, n int
		err := s.reader.QueryRowContext(t.Context(), `SELECT COUNT(*) FILTER (WHERE `+name+`::text IN ('0', '', 'false')),
			COUNT(*) FILTER (WHERE `+name+` IS NULL) FROM pages`).Scan(&z, &n)
		if err != nil {
			t.Fatal(err)
		}
		zeros, nulls = zeros+z, nulls+n
	}
	return zeros, nulls
}

// TestZerosAreNullOnPostgres: whoever writes pages writes NULL for zero where the schema has that.
func TestZerosAreNullOnPostgres(t *testing.T) {
	t.Parallel()
	s := planStore(t, migrated.DSN(t))
	fill(t, s) // with COPY
	few := []Discovery{{Host: "few.example", Page: Page{SiteID: 1, URL: "https://few.example/"}}}
	if _, err := s.AddPages(t.Context(), planStart, few, 0); err != nil { // with INSERT
		t.Fatal(err)
	}
	hotPath(t, s)
	if err := s.SetImportance(t.Context(), []Worth{{Bucket: few[0].Row(planStart).Bucket, PageID: few[0].Row(planStart).ID}}); err != nil {
		t.Fatal(err)
	}
	if zeros, nulls := zerosOnPostgres(t, s); zeros > 0 || nulls == 0 {
		t.Errorf("of the values of pages %d are zero and %d NULL, want none and many", zeros, nulls)
	}
	raw, _ := takeBackup(t, s)
	restored := planStore(t, migrated.DSN(t))
	if err := restored.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	if _, err := restored.Restore(t.Context(), bytes.NewReader(raw), planStart); err != nil {
		t.Fatal(err)
	}
	if zeros, nulls := zerosOnPostgres(t, restored); zeros > 0 || nulls == 0 {
		t.Errorf("after a restore %d are zero and %d NULL, want none and many", zeros, nulls)
	}
}

func TestSQLiteReadsZerosAsTheyAre(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"SELECT COALESCE(p.note,''), COALESCE(changes,0), COALESCE(no_archive,false)": "SELECT p.note, changes, no_archive",
		"SELECT COALESCE(v.at, 0), COALESCE(MAX(due_at),0)":                           "SELECT COALESCE(v.at, 0), COALESCE(MAX(due_at),0)",
	} {
		if got := sqliteDialect.statement(query); got != want {
			t.Errorf("statement(%q) = %q, want %q", query, got, want)
		}
	}
	if got := sqliteDialect.statement("SELECT " + pageTable.coalesced("p.")); strings.Contains(got, "COALESCE") {
		t.Errorf("a page is read on SQLite by %s", got)
	}
}

// migrateTo brings a database up to a step.
func migrateTo(t *testing.T, s *Store, version int) {
	t.Helper()
	steps, err := s.dialect.steps()
	if err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		err := s.inTx(t.Context(), func(x *tx) (err error) {
			done, err = x.migrateOnce(t.Context(), steps[:version], planStart)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestZerosOfAnEarlierStepAreMadeNull: the pages of a database of step 8 are the same after the steps that follow, on one
// server and on several.
func TestZerosOfAnEarlierStepAreMadeNull(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"one node": pgtest.DSN, "citus": pgtest.Citus} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := planStore(t, dsn(t))
			migrateTo(t, s, 8)
			if name == "citus" {
				if _, err := s.Distribute(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			want := oldPages(t, s)
			if step, err := s.Behind(t.Context()); step != 8 || err != nil {
				t.Errorf("Behind before = %d, %v, want 8", step, err)
			}
			if err := s.Migrate(t.Context(), planStart); err != nil {
				t.Fatal(err)
			}
			if step, err := s.Behind(t.Context()); step != 0 || err != nil {
				t.Errorf("Behind after = %d, %v, want 0", step, err)
			}
			got, err := pageTable.scan(s.rows(t.Context(), "SELECT "+pageTable.prefixed("")+" FROM pages ORDER BY id"))
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Errorf("pages before and after (-want +got), %v:\n%s", err, d)
			}
			later := len(strings.Fields(pageTable.columns)) - len(columnsOfStep8()) // NULL in the other page too
			if zeros, nulls := zerosOnPostgres(t, s); zeros > 0 || nulls != len(sparse["pages"])+later {
				t.Errorf("%d values are zero and %d NULL, want 0 and %d", zeros, nulls, len(sparse["pages"])+later)
			}
			fill(t, s)
			hotPath(t, s)
		})
	}
}

// columnsOfStep8 is how many of the columns that pages have now they had then: the ones behind came later.
func columnsOfStep8() []string {
	return slices.DeleteFunc(strings.Fields(pageTable.columns), func(name string) bool {
		return name == "entries" || name == "told_at" || name == "lost" || name == "announced_at" || name == "requisite" || name == "unnamed_at" || name == "named_at"
	})
}

// oldPages writes two pages as earlier releases did, one all zeros and one with none, and returns them.
func oldPages(t *testing.T, s *Store) []Page {
	t.Helper()
	full := examplePage(1, 1)
	for _, field := range pageTable.fields(&full) {
		fillField(field)
	}
	full.ID, full.Bucket, full.State, full.Entries, full.ToldAt, full.Lost, full.AnnouncedAt, full.Requisite, full.UnnamedAt, full.NamedAt = 2, 7, StateLive, 0, 0, false, 0, false, 0, 0
	none := Page{ID: 1, Bucket: 7, HostID: 3, SiteID: 1, URL: "https://h.example/none", State: StateNew, FRMax: 1}
	for _, p := range []Page{none, full} {
		var args []any
		columns := columnsOfStep8()
		for i, name := range strings.Fields(pageTable.columns) {
			if slices.Contains(columns, name) {
				args = append(args, valueOf(pageTable.fields(&p)[i]))
			}
		}
		query := "INSERT INTO pages (" + strings.Join(columns, ", ") + ") VALUES (" + marks(strings.Join(columns, " ")) + ")"
		if _, err := s.writer.ExecContext(context.WithoutCancel(t.Context()), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	return []Page{none, full}
}

// fillField makes a field other than zero.
func fillField(field any) {
	switch f := field.(type) {
	case *int16:
		*f = 5
	case *int32:
		*f = 5
	case *int64:
		*f = 5
	case *Instant:
		*f = 5
	case *ErrorClass:
		*f = 5
	case *float32:
		*f = 0.5
	case *bool:
		*f = true
	case *string:
		*f = "text"
	case *chainField:
		*f = chainField{5}
	}
}

// TestFieldsAreReadAsTheyAreWritten: each kind of field, at its bounds, and as zero.
func TestFieldsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	s := planStore(t, migrated.DSN(t))
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	want := []Page{{ID: 1, URL: "a", State: StateNew, FRMax: 1}, {ID: 2, URL: "b", State: StateLive, FRMax: math.MaxInt32,
		HostID: math.MinInt64, DueAt: math.MaxInt64, Wanted: math.MinInt64, Level: math.MaxInt16, Threshold: math.MinInt16,
		Class: OwnPanic, Rule: RuleBudget, LinkPrint: math.MinInt64, Importance: math.MaxFloat32, NoArchive: true, Note: "ü",
		Stats: ChangeStats{Bits: math.MaxUint64}, Evidence: Evidence{Changes: -0.25}, Chain: []int64{1, math.MinInt64}}}
	if err := s.inTx(t.Context(), func(x *tx) error { return pageTable.insert(t.Context(), x, want) }); err != nil {
		t.Fatal(err)
	}
	got, err := pageTable.scan(s.rows(t.Context(), "SELECT "+pageTable.prefixed("")+" FROM pages ORDER BY id"))
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("pages written and read (-want +got), %v:\n%s", err, d)
	}
	tb := table[struct{ n int16 }]{"t", "n", 1, func(r *struct{ n int16 }) []any { return []any{&r.n} }}
	for _, query := range []string{"SELECT 32768", "SELECT 'text'"} {
		if rows, err := tb.scan(s.rows(t.Context(), query)); err == nil {
			t.Errorf("%s was read as %v into 16 bits", query, rows)
		}
	}
}
