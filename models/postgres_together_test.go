package models

import (
	"errors"
	"testing"
)

func TestWhatIsPutOffGoesWithTheNextStatement(t *testing.T) {
	t.Parallel()
	s := planStore(t, migrated.DSN(t))
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	const insert, count = `INSERT INTO meta (key, value) VALUES ($1, $2)`, `SELECT COUNT(*) FROM meta WHERE key = $1`
	read := func(into *int64) func(answer) error {
		return func(rows answer) error { return rows.Scan(into) }
	}
	for name, then := range map[string]func(x *tx) error{
		"a query": func(x *tx) error {
			var one int64
			rows, err := x.rows(t.Context(), `SELECT 1::bigint`)
			return eachRow(rows, err, read(&one))
		},
		"a statement":  func(x *tx) error { _, err := x.exec(t.Context(), insert, "other", "v"); return err },
		"the end":      func(*tx) error { return nil },
		"what is sent": func(x *tx) error { return x.catchUp(t.Context()) },
	} {
		var counted int64
		err := s.inShard(t.Context(), 0, func(x *tx) error {
			x.putOff(insert, []any{name, "v"}, nil)
			x.putOff(count, []any{name}, read(&counted))
			if counted != 0 {
				t.Errorf("before %s: it was sent at once", name)
			}
			return then(x)
		})
		if err != nil || counted != 1 {
			t.Errorf("with %s: %d rows and %v, want 1, nil", name, counted, err)
		}
	}
}

func TestWhatIsPutOffAndFailsEndsTheTransaction(t *testing.T) {
	t.Parallel()
	s := planStore(t, migrated.DSN(t))
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	const insert = `INSERT INTO meta (key, value) VALUES ($1, $2)`
	failed := errors.New("not read")
	for name, put := range map[string]func(x *tx){
		"on the server": func(x *tx) { x.putOff(`SELECT 1 / $1::bigint`, []any{int64(0)}, nil) },
		"when read":     func(x *tx) { x.putOff(`SELECT 1`, nil, func(answer) error { return failed }) },
	} {
		err := s.inShard(t.Context(), 0, func(x *tx) error {
			if _, err := x.exec(t.Context(), insert, name, "v"); err != nil {
				return err
			}
			put(x)
			return nil
		})
		if err == nil {
			t.Errorf("failed %s: the transaction ended well", name)
		}
		var left int64
		rows, err := s.rows(t.Context(), `SELECT COUNT(*) FROM meta WHERE key = $1`, name)
		if err := eachRow(rows, err, func(rows answer) error { return rows.Scan(&left) }); err != nil || left != 0 {
			t.Errorf("failed %s: %d rows are left, %v, want 0, nil", name, left, err)
		}
	}
}
