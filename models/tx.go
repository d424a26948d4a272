package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// attempts is how often a transaction is tried that others made fail.
const attempts = 6

// tx is a transaction. It is not safe for concurrent use.
type tx struct {
	store *Store
	lite  *liteConn // of SQLite; nil elsewhere, and while a backup is read or written
	conn  *pgx.Conn // of PostgreSQL; nil elsewhere, and while a backup is read or written
	sql   *sql.Tx   // of the two while a backup is read or written; nil elsewhere
	// joins says that it is by keys on one server: the connection keeps to keyedPlans, and statements may be put off.
	joins     bool
	waits     []waiting  // those that are put off
	at        *placement // where the transaction's shard lies; nil: on the one server, or behind the coordinator
	gathering *Gathering // how many requisites it may add
}

// inTx runs f in a transaction, again where the engine says that it only met another one. f must not keep anything from
// an earlier run.
func (s *Store) inTx(ctx context.Context, f func(*tx) error) error {
	return s.try(ctx, func() error { return s.once(ctx, nil, false, f) })
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

// once runs f in a transaction: where a shard lies, if it is told that. Its statements may all be by keys.
func (s *Store) once(ctx context.Context, at *placement, byKeys bool, f func(*tx) error) error {
	written, gathering := false, s.gathered.Begin()
	defer func() { gathering.End(written) }()
	err := s.onceIn(ctx, at, byKeys, func(t *tx) error {
		t.gathering = gathering
		return f(t)
	})
	written = err == nil
	return err
}

// onceIn is once but for what the transaction gathers.
func (s *Store) onceIn(ctx context.Context, at *placement, byKeys bool, f func(*tx) error) error {
	if s.dialect == sqliteDialect {
		return s.onceLite(ctx, f)
	}
	conn, err := s.connection(ctx, at, byKeys)
	if err != nil {
		return err
	}
	defer conn.Release() // which closes it where it is still in the transaction
	t := &tx{store: s, conn: conn.Conn(), at: at, joins: byKeys && (at != nil || !s.sharded)}
	err = t.begin(ctx)
	if err == nil {
		err = f(t)
	}
	if err != nil {
		_, _ = t.conn.Exec(ctx, "rollback") // where that fails the connection is closed
		return err
	}
	return t.commit(ctx)
}

// commit ends a transaction on PostgreSQL, which says so where it could only be rolled back.
func (t *tx) commit(ctx context.Context) error {
	if slices.ContainsFunc(t.waits, func(w waiting) bool { return w.read != nil }) { // whose answer may still end it otherwise
		if err := t.catchUp(ctx); err != nil {
			return err
		}
	}
	done, err := t.run(ctx, "commit", nil)
	if err == nil && done.String() != "COMMIT" {
		return fmt.Errorf("commit: the server answered %s", done)
	}
	return err
}

// connection takes one of those to PostgreSQL.
func (s *Store) connection(ctx context.Context, at *placement, byKeys bool) (*pgxpool.Conn, error) {
	switch {
	case at == nil && byKeys:
		return s.keyed.Acquire(ctx)
	case at == nil:
		return s.pool.Acquire(ctx)
	}
	conn, err := at.server.Acquire(ctx)
	if err != nil {
		return nil, errors.Join(err, errMoved) // its server may have been replaced
	}
	return conn, nil
}

// steadyPlans keeps PostgreSQL, for a transaction, from plans that read whole tables. It keeps plans, and one made while a
// table was small would do that until the table is analysed, however large it is by then. What that does to the cost of a
// plan says nothing of how long it takes, so none is compiled.
const steadyPlans = `SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off`

// begin begins a transaction on PostgreSQL and sets what is kept to for it, with one message, which may be that of its first
// statement. A coordinator hands on what SET LOCAL says, where it is told to, with its own beginning of the transaction on another
// server: for each of them all of the text that it came in, so they come one by one.
func (t *tx) begin(ctx context.Context) error {
	switch {
	case t.joins:
		t.putOff("begin", nil, nil)
		if t.at != nil {
			t.waits = append(t.waits, t.at.enter()...)
		}
		return nil
	case t.store.sharded:
		for statement := range strings.SplitSeq("begin; SET LOCAL citus.propagate_set_commands = 'local'; "+steadyPlans, "; ") {
			t.putOff(statement, nil, nil)
		}
		return t.catchUp(ctx)
	}
	return t.script(ctx, "begin; "+steadyPlans)
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
	if t.conn != nil {
		result, err := t.run(ctx, t.text(query), args)
		return result.RowsAffected(), err
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
	if t.conn != nil {
		return t.query(ctx, t.text(query), args)
	}
	return t.sql.QueryContext(ctx, t.text(query), args...)
}
