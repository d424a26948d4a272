package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"recrawld/models/migrations"
)

// migrationLock is the key of the advisory lock under which a PostgreSQL schema is changed.
const migrationLock = 0x7265637261776c64 // "recrawld"

// step is one migration.
type step struct {
	version  int
	name     string
	sql      string
	checksum string
}

// Migrate brings the schema up to the binary's, one transaction a step. It returns ErrNewerSchema for a database of a
// newer binary, and an error for one whose steps are not those of this binary; then nothing is written. Processes that
// start at once wait for each other. Where the tables are spread over servers (Distribute), so are those that a step makes.
func (s *Store) Migrate(ctx context.Context, now time.Time) error {
	steps, err := s.dialect.steps()
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	for done := false; !done; {
		err := s.inTx(ctx, func(t *tx) error {
			var err error
			done, err = t.migrateOnce(ctx, steps, now)
			return err
		})
		if err != nil {
			return fmt.Errorf("migrate database: %w", err)
		}
	}
	left, err := s.undistributed(ctx)
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	if left {
		_, err = s.Distribute(ctx)
	}
	return err
}

// Behind is the step that the schema is at where Migrate has something to do for a database that was in use before, and 0
// where it has not: the schema is the binary's own, or there is none yet.
func (s *Store) Behind(ctx context.Context) (step int, err error) {
	steps, err := s.dialect.steps()
	if err != nil {
		return 0, err
	}
	exists := `SELECT COUNT(*) FROM sqlite_schema WHERE name = 'schema_migrations'`
	if s.dialect == postgresDialect {
		exists = `SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass('schema_migrations')`
	}
	var tables int
	if err := s.writer.QueryRowContext(ctx, exists).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	err = s.writer.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_migrations`).Scan(&step)
	if err != nil || step >= len(steps) {
		return 0, err
	}
	return step, nil
}

// migrateOnce runs the next step, if there is one.
func (t *tx) migrateOnce(ctx context.Context, steps []step, now time.Time) (done bool, err error) {
	if err := t.unhurried(ctx); err != nil {
		return false, err
	}
	if t.store.dialect == postgresDialect {
		if _, err := t.exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return false, err
		}
	}
	if err := t.script(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (
		version integer NOT NULL PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at bigint NOT NULL)`); err != nil {
		return false, err
	}
	rows, err := t.rows(ctx, appliedSteps)
	if err != nil {
		return false, err
	}
	applied, err := compareSteps(rows, steps)
	if err != nil || applied == len(steps) {
		return true, err
	}
	next := steps[applied]
	for statement := range strings.SplitSeq(next.sql, ";\n") { // one at a time: Citus passes some of them on as they are
		if err := t.script(ctx, statement); err != nil {
			return false, fmt.Errorf("step %d (%s): %w", next.version, next.name, err)
		}
	}
	_, err = t.exec(ctx, `INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)`,
		next.version, next.name, next.checksum, int64(At(now)))
	return false, err
}

// unhurried lifts the time-outs that a role or a database has for visits from a transaction that reads or writes whole tables:
// one that they cut off would be cut off at each further try. On SQLite there are none.
func (t *tx) unhurried(ctx context.Context) error {
	if t.store.dialect != postgresDialect {
		return nil
	}
	return t.script(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
}

const appliedSteps = `SELECT version, name, checksum FROM schema_migrations ORDER BY version`

// script runs several statements.
func (t *tx) script(ctx context.Context, statements string) error {
	if t.lite != nil {
		return t.lite.script(statements)
	}
	var args []any
	if t.store.dialect == postgresDialect {
		args = []any{pgx.QueryExecModeSimpleProtocol} // the other modes take one statement at a time
	}
	if t.conn != nil {
		_, err := t.conn.Exec(ctx, statements, args...)
		return err
	}
	_, err := t.sql.ExecContext(ctx, statements, args...)
	return err
}

// CheckSchema returns an error where the schema is not the binary's own: ErrNoSchema where there is none yet, ErrOlderSchema where it is to be
// brought up to date (Migrate), ErrNewerSchema where a newer binary has done that.
func (s *Store) CheckSchema(ctx context.Context) error {
	steps, err := s.dialect.steps()
	if err != nil {
		return err
	}
	rows, err := s.rows(ctx, appliedSteps)
	if isMissingTable(err) {
		return ErrNoSchema
	}
	if err != nil {
		return fmt.Errorf("read the schema's steps: %w", err)
	}
	applied, err := compareSteps(rows, steps)
	if err != nil {
		return err
	}
	if applied < len(steps) {
		return fmt.Errorf("%w: its tables are at step %d, this binary's at %d", ErrOlderSchema, applied, len(steps))
	}
	return nil
}

// compareSteps returns how many of the steps a database has, and an error if it has others.
func compareSteps(rows answer, steps []step) (int, error) {
	defer rows.Close()
	n := 0
	for rows.Next() {
		var had step
		if err := rows.Scan(&had.version, &had.name, &had.checksum); err != nil {
			return 0, err
		}
		if newest := steps[len(steps)-1].version; had.version > newest {
			return 0, fmt.Errorf("%w: it has step %d (%s), this binary knows %d", ErrNewerSchema, had.version, had.name, newest)
		}
		want := steps[n]
		if n++; had.version != want.version {
			return 0, fmt.Errorf("schema step %d is missing", want.version)
		}
		if had.checksum != want.checksum {
			return 0, fmt.Errorf("schema step %d (%s) differs from this binary's (%s)", want.version, had.name, want.name)
		}
	}
	return n, rows.Err()
}

// steps are the embedded migrations of an engine, in order, numbered from 1 without gaps.
func (d dialect) steps() ([]step, error) {
	names, err := fs.Glob(migrations.Files, path.Join(string(d), "*.sql"))
	if err != nil {
		return nil, err
	}
	steps := make([]step, 0, len(names))
	for i, name := range names { // Glob sorts
		b, err := migrations.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		number, rest, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".sql"), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("%s: want number %d", name, i+1)
		}
		sum := sha256.Sum256(b)
		steps = append(steps, step{version: version, name: rest, sql: string(b), checksum: hex.EncodeToString(sum[:])})
	}
	return steps, nil
}
