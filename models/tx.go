package models

import (
	"context"
	"database/sql"
	"fmt"
)

// attempts is how often a transaction is tried that others made fail.
const attempts = 6

// tx is a transaction. It is not safe for concurrent use.
type tx struct {
	store *Store
	lite  *liteConn // of SQLite; nil elsewhere, and while a backup is read or written
	sql   *sql.Tx   // nil where lite is set
	conn  *sql.Conn // that of the transaction; nil on SQLite
}

// inTx runs f in a transaction, again where the engine says that it only met another one. f must not keep anything from
// an earlier run.
func (s *Store) inTx(ctx context.Context, f func(*tx) error) error {
	if s.options.ReadOnly {
		return errReadOnly
	}
	var err error
	for range attempts {
		if err = s.once(ctx, f); err == nil || !transient(err) && !s.resharded(ctx, err) || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("gave up after %d attempts: %w", attempts, err)
}

func (s *Store) once(ctx context.Context, f func(*tx) error) error {
	if s.dialect == sqliteDialect {
		return s.onceLite(ctx, f)
	}
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // back to the pool
	begun, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer begun.Rollback() // after Commit it does nothing
	t := &tx{store: s, sql: begun, conn: conn}
	if err := t.steady(ctx); err != nil {
		return err
	}
	if err := f(t); err != nil {
		return err
	}
	return begun.Commit()
}

// steady keeps PostgreSQL, for this transaction, from plans that read whole tables. It keeps plans, and one made while a
// table was small would do that until the table is analysed, however large it is by then.
func (t *tx) steady(ctx context.Context) error {
	if t.store.dialect != postgresDialect {
		return nil
	}
	_, err := t.exec(ctx, `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
		set_config('enable_mergejoin', 'off', true)`)
	return err
}

// exec runs a statement and returns how many rows it wrote.
func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	args = t.store.dialect.arguments(args)
	if t.lite != nil {
		return t.lite.exec(query, args)
	}
	result, err := t.sql.ExecContext(ctx, t.store.dialect.statement(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// rows runs a query.
func (t *tx) rows(ctx context.Context, query string, args ...any) (answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	args = t.store.dialect.arguments(args)
	if t.lite != nil {
		return t.lite.rows(query, args)
	}
	return t.sql.QueryContext(ctx, t.store.dialect.statement(query), args...)
}
