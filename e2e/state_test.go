package e2e

import (
	"database/sql"
	"encoding/hex"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"

	"recrawld/models"
)

// state is what a database says, read by plain SQL and not by the daemon's own code.
type state struct {
	pages    map[int64]pageRow
	byURL    map[string]int64
	visits   map[int64][]visitRow           // by page, in order
	versions map[int64]map[int32]versionRow // by page and number
}

type pageRow struct {
	url      string
	state    models.PageState
	frMax    int32
	version  int32
	visits   int32
	digest   string
	due      models.Instant
	children int32
}

type visitRow struct {
	number  int32
	at      models.Instant
	kind    models.OutcomeKind
	class   models.ErrorClass
	status  int
	frMax   int32
	version int32
	rule    models.Rule // by which the next visit is due
}

type versionRow struct {
	number      int32
	at          models.Instant
	digest      string
	bytes       int64
	significant bool
	record      models.Record
}

// openDatabase opens the database for reading, also while a daemon writes to it.
func openDatabase(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if dsn[0] == '/' {
		driver, dsn = "sqlite", "file:"+dsn+"?mode=ro&_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// readState reads everything, in one transaction.
func readState(t *testing.T, db *sql.DB) state {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	s := state{pages: map[int64]pageRow{}, byURL: map[string]int64{}, visits: map[int64][]visitRow{},
		versions: map[int64]map[int32]versionRow{}}
	each(t, tx, "SELECT id, url, state, fr_max, version, visits, digest, due_at, COALESCE(children, 0) FROM pages", func(scan func(...any) error) error {
		var id int64
		var p pageRow
		var digest []byte
		err := scan(&id, &p.url, &p.state, &p.frMax, &p.version, &p.visits, &digest, &p.due, &p.children)
		p.digest = hex.EncodeToString(digest)
		s.pages[id], s.byURL[p.url] = p, id
		return err
	})
	each(t, tx, "SELECT page_id, number, at, kind, class, status, fr_max, version, rule FROM visits ORDER BY page_id, number",
		func(scan func(...any) error) error {
			var id int64
			var v visitRow
			err := scan(&id, &v.number, &v.at, &v.kind, &v.class, &v.status, &v.frMax, &v.version, &v.rule)
			s.visits[id] = append(s.visits[id], v)
			return err
		})
	each(t, tx, "SELECT page_id, number, at, digest, bytes, significant, record_file, record_offset, record_length FROM versions",
		func(scan func(...any) error) error {
			var id int64
			var v versionRow
			var digest []byte
			err := scan(&id, &v.number, &v.at, &digest, &v.bytes, &v.significant, &v.record.File, &v.record.Offset, &v.record.Length)
			v.digest = hex.EncodeToString(digest)
			if s.versions[id] == nil {
				s.versions[id] = map[int32]versionRow{}
			}
			s.versions[id][v.number] = v
			return err
		})
	return s
}

func each(t *testing.T, tx *sql.Tx, query string, read func(scan func(...any) error) error) {
	t.Helper()
	rows, err := tx.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// count adds up the versions.
func (s state) count() (versions int) {
	for _, list := range s.versions {
		versions += len(list)
	}
	return versions
}
