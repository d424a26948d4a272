package models

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// liteStore is a migrated store in a file of its own.
func liteStore(t *testing.T) *Store {
	t.Helper()
	s := planStore(t, liteFile(t))
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestValuesOnSQLite: what is bound is read again, in fields of every kind that a table has.
func TestValuesOnSQLite(t *testing.T) {
	t.Parallel()
	type row struct {
		Long   int64
		Middle int32
		Short  int16
		At     Instant
		State  PageState
		Yes    bool
		Text   string
		Real   float64
		Narrow float32
		Blob   []byte
		Digest Digest
		Print  Print
		Chain  chainField
		Trials Trials
	}
	fields := func(r *row) []any {
		return []any{&r.Long, &r.Middle, &r.Short, &r.At, &r.State, &r.Yes, &r.Text, &r.Real, &r.Narrow, &r.Blob, &r.Digest, &r.Print,
			&r.Chain, &r.Trials}
	}
	full := row{-1 << 62, 1 << 30, -1 << 14, 1 << 40, StateGone, true, "ü\t☃", 0.1, 0.5, []byte{0, 1, 255}, DigestOf([]byte("x")),
		Print{1, 15: 2}, chainField{1, -2}, Trials{}}
	s := liteStore(t)
	for _, want := range []row{{}, full} {
		var got row
		values := fields(&want)
		for i := range values {
			if _, real := values[i].(*float64); real {
				values[i] = want.Real
			} else {
				values[i] = valueOf(values[i])
			}
		}
		rows, err := s.rows(t.Context(), `SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14`, values...)
		if err := eachRow(rows, err, func(rows answer) error { return rows.Scan(fields(&got)...) }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("values (-bound +read):\n%s", diff)
		}
	}
}

func TestValuesThatNoFieldTakes(t *testing.T) {
	t.Parallel()
	s := liteStore(t)
	for query, field := range map[string]any{
		`SELECT NULL`:    new(int64),
		`SELECT NULL, 1`: new(string), // one field for two columns
		`SELECT 40000`:   new(int16),
		`SELECT 1 << 40`: new(int32),
		`SELECT 70000`:   new(PageState),
		`SELECT x'00'`:   new(Digest),
		`SELECT 'x'`:     new(struct{}),
	} {
		rows, err := s.rows(t.Context(), query)
		if err := eachRow(rows, err, func(rows answer) error { return rows.Scan(field) }); err == nil {
			t.Errorf("%s into %T = %v, want an error", query, field, field)
		}
	}
	if _, err := s.rows(t.Context(), `SELECT $2`, 1); err == nil {
		t.Error("a statement ran without its argument")
	}
	if _, err := s.rows(t.Context(), `SELECT $1`, struct{}{}); err == nil {
		t.Error("a statement took a struct")
	}
}

// TestAStatementWithinItsOwnAnswer: the rows of the outer one stay what they were.
func TestAStatementWithinItsOwnAnswer(t *testing.T) {
	t.Parallel()
	s := liteStore(t)
	const query = `SELECT value FROM json_each($1)`
	var got []int64
	err := s.inTx(t.Context(), func(x *tx) error {
		rows, err := x.rows(t.Context(), query, []int64{1, 2})
		return eachRow(rows, err, func(rows answer) error {
			var n int64
			if err := rows.Scan(&n); err != nil {
				return err
			}
			inner, err := x.rows(t.Context(), query, []int64{10 * n})
			if err != nil {
				return err
			}
			more, err := scanIDs(inner)
			got = append(append(got, n), more...)
			return err
		})
	})
	if want := []int64{1, 10, 2, 20}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
}

// TestTransactionsThatFailLeaveNothing: neither rows nor the write lock.
func TestTransactionsThatFailLeaveNothing(t *testing.T) {
	t.Parallel()
	s := liteStore(t)
	ended, end := context.WithCancel(t.Context())
	put := func(x *tx) error {
		_, err := x.exec(t.Context(), `INSERT INTO meta (key, value) VALUES ('k', 'v')`)
		return err
	}
	for name, f := range map[string]func(*tx) error{
		"error":      func(x *tx) error { return errors.Join(put(x), ErrNotFound) },
		"constraint": func(x *tx) error { return errors.Join(put(x), put(x)) },
		"cancelled":  func(x *tx) error { end(); return put(x) },
	} {
		if err := s.inTx(ended, f); err == nil {
			t.Errorf("%s: the transaction did not fail", name)
		}
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.inTx(t.Context(), func(x *tx) error { panic(put(x)) })
	}()
	value, err := s.SetMeta(t.Context(), "k", "", "new")
	if err != nil || value != "new" {
		t.Errorf("SetMeta = %q, %v, want the first value", value, err)
	}
}

// TestReadersWaitForEachOther: more of them than there are connections all get their answer, and one that need not wait any
// more does not.
func TestReadersWaitForEachOther(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), liteFile(t), Options{Conns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if ids, err := countTo(t.Context(), s, 100); err != nil || len(ids) != 100 {
				t.Errorf("read %d rows, %v, want 100", len(ids), err)
			}
		})
	}
	group.Wait()
	var open []answer
	for range 2 {
		rows, err := s.rows(t.Context(), `SELECT 1`)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, rows)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := countTo(ended, s, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a reader that waits ends with %v, want %v", err, context.Canceled)
	}
	for _, rows := range open {
		if err := errors.Join(rows.Close(), rows.Close()); err != nil {
			t.Error(err)
		}
	}
	if _, err := countTo(t.Context(), s, 1); err != nil {
		t.Errorf("after the others: %v", err)
	}
}

// TestAReaderIsInterrupted: a query that takes for ever ends with its context.
func TestAReaderIsInterrupted(t *testing.T) {
	t.Parallel()
	s := liteStore(t)
	ctx, end := context.WithCancel(t.Context())
	rows, err := s.rows(ctx, `WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i = 1 OR i < 0`)
	if err != nil || !rows.Next() {
		t.Fatalf("no first row: %v", err)
	}
	end()
	for rows.Next() {
		t.Error("another row")
	}
	if rows.Err() == nil {
		t.Error("the query ended by itself")
	}
	if _, err := countTo(t.Context(), s, 3); err != nil {
		t.Errorf("the next query: %v", err)
	}
}

func TestClosedStore(t *testing.T) {
	t.Parallel()
	s := liteStore(t)
	rows, err := s.rows(t.Context(), `SELECT 1`)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !rows.Next() || rows.Close() != nil {
		t.Error("a query that was under way is cut off")
	}
	if _, err := countTo(t.Context(), s, 1); !errors.Is(err, errClosed) {
		t.Errorf("a query afterwards: %v, want %v", err, errClosed)
	}
	if err := s.inTx(t.Context(), func(*tx) error { return nil }); !errors.Is(err, errClosed) {
		t.Errorf("a transaction afterwards: %v, want %v", err, errClosed)
	}
}

func countTo(ctx context.Context, s *Store, n int) ([]int64, error) {
	rows, err := s.rows(ctx, `WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT i FROM n`, n)
	if err != nil {
		return nil, err
	}
	return scanIDs(rows)
}
