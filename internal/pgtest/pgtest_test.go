package pgtest

import (
	"database/sql"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	for range 2 {
		db, err := sql.Open("pgx", DSN(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE once (n integer)"); err != nil {
			t.Fatalf("create a table in a fresh database: %v", err)
		}
	}
}

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	got, err := withDatabase("postgres://me@/postgres?host=/tmp/x", "fresh")
	if want := "postgres://me@/fresh?host=/tmp/x"; got != want || err != nil {
		t.Errorf("withDatabase = %q, %v, want %q", got, err, want)
	}
	if _, err := withDatabase("host=/tmp dbname=x", "fresh"); err == nil {
		t.Error("withDatabase of a keyword DSN: no error")
	}
}
