package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// attempts is how often a transaction is tried that others made fail.
const attempts = 6

// tx is a transaction. It is not safe for concurrent use.
type tx struct {
	store *Store
	lite  *liteConn  // of SQLite; nil elsewhere, and while a backup is read or written
	sql   *sql.Tx    // nil where lite is set
	conn  *sql.Conn  // that of the transaction; nil on SQLite
	at    *placement // where the transaction's shard lies; nil: on the one server, or behind the coordinator
}

// inTx runs f in a transaction, again where the engine says that it only met another one. f must not keep anything from
// an earlier run.
func (s *Store) inTx(ctx context.Context, f func(*tx) error) error {
	return s.try(ctx, func() error { return s.once(ctx, nil, f) })
}

func (s *Store) try(ctx context.Context, once func() error) error {
	if s.options.ReadOnly {
		return errReadOnly
	}
	var err error
	for range attempts {
		if err = once(); err == nil || !transient(err) && !s.resharded(ctx, err) || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("gave up after %d attempts: %w", attempts, err)
}

// once runs f in a transaction: where a shard lies, if it is told that.
func (s *Store) once(ctx context.Context, at *placement, f func(*tx) error) error {
	if s.dialect == sqliteDialect {
		return s.onceLite(ctx, f)
	}
	conn, err := s.connection(ctx, at)
	if err != nil {
		return err
	}
	defer conn.Close() // back to the pool
	begun, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer begun.Rollback() // after Commit it does nothing
	t := &tx{store: s, sql: begun, conn: conn, at: at}
	if err := t.steady(ctx); err != nil {
		return err
	}
	if err := f(t); err != nil {
		return err
	}
	return begun.Commit()
}

// connection takes one of those to PostgreSQL.
func (s *Store) connection(ctx context.Context, at *placement) (*sql.Conn, error) {
	if at == nil {
		return s.writer.Conn(ctx)
	}
	conn, err := at.server.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, errMoved) // its server may have been replaced
	}
	return conn, nil
}

// steadyPlans keeps PostgreSQL, for a transaction, from plans that read whole tables. It keeps plans, and one made while a
// table was small would do that until the table is analysed, however large it is by then. What that does to the cost of a
// plan says nothing of how long it takes, so none is compiled.
const steadyPlans = `SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off`

// steady sets what is kept to for the transaction. A coordinator hands on what SET LOCAL says, where it is told to, with its own
// beginning of the transaction on another server.
func (t *tx) steady(ctx context.Context) error {
	switch {
	case t.store.dialect != postgresDialect:
		return nil
	case t.at != nil:
		return t.at.enter(ctx, t)
	case t.store.sharded:
		return t.script(ctx, "SET LOCAL citus.propagate_set_commands = 'local'; "+steadyPlans)
	}
	return t.script(ctx, steadyPlans)
}

// sharded tells whether each statement must say the buckets that it is for: a coordinator routes by them.
func (t *tx) sharded() bool { return t.store.sharded && t.at == nil }

func (t *tx) wide() bool { return t.asker().wide() }

// text is a statement as it is sent to PostgreSQL.
func (t *tx) text(query string) string {
	query = t.store.dialect.statement(query)
	if t.at == nil {
		return query
	}
	return t.at.statement(query)
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
	result, err := t.sql.ExecContext(ctx, t.text(query), args...)
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
	return t.sql.QueryContext(ctx, t.text(query), args...)
}
