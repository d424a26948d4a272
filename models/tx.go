package models

import (
	"context"
	"database/sql"
	"fmt"

	"gorm.io/gorm"
)

// attempts is how often a transaction is tried that others made fail.
const attempts = 6

// maxPrepared is the most statements that are kept; there are about fifty, and some for pages with odd columns.
const maxPrepared = 300

// tx is a transaction. It is not safe for concurrent use.
type tx struct {
	store *Store
	sql   *sql.Tx
	conn  *sql.Conn             // that of the transaction; nil on SQLite
	stmts map[string]*statement // this transaction's, by text
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
	if err := s.keepStatements(ctx); err != nil {
		return err
	}
	t := &tx{store: s, stmts: make(map[string]*statement)}
	begin := s.writer.BeginTx
	if s.dialect == postgresDialect {
		conn, err := s.writer.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close() // back to the pool
		t.conn, begin = conn, conn.BeginTx
	}
	begun, err := begin(ctx, nil)
	if err != nil {
		return err
	}
	defer begun.Rollback() // after Commit it does nothing
	t.sql = begun
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
	stmt, err := t.prepare(ctx, query)
	if err != nil {
		return 0, err
	}
	args = t.store.dialect.arguments(args)
	var result sql.Result
	if stmt != nil {
		result, err = stmt.exec(ctx, args)
	} else {
		result, err = t.sql.ExecContext(ctx, query, args...)
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// rows runs a query.
func (t *tx) rows(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	args = t.store.dialect.arguments(args)
	if stmt != nil {
		return stmt.rows(ctx, args)
	}
	return t.sql.QueryContext(ctx, query, args...)
}

// gorm is the transaction for small statements off the hot path.
func (t *tx) gorm(ctx context.Context) *gorm.DB {
	db := t.store.write.Session(&gorm.Session{NewDB: true, Context: ctx})
	db.Statement.ConnPool = t.sql
	return db
}

// prepare returns the prepared form of a statement on SQLite. On PostgreSQL it returns nil: pgx prepares and keeps by
// text itself.
func (t *tx) prepare(ctx context.Context, query string) (*statement, error) {
	s := t.store
	if s.dialect == postgresDialect {
		return nil, nil
	}
	if stmt := t.stmts[query]; stmt != nil {
		return stmt, nil
	}
	s.mu.Lock()
	kept, known := s.prepared[query]
	if !known && len(s.prepared) < maxPrepared {
		s.prepared[query] = nil // to be kept from the next transaction on: this one has the only connection
		s.wanted = append(s.wanted, query)
	}
	s.mu.Unlock()
	if kept != nil {
		t.stmts[query] = &statement{t.sql.StmtContext(ctx, kept.Stmt), kept.order}
		return t.stmts[query], nil
	}
	text, order := positional(s.dialect.statement(query))
	stmt, err := t.sql.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	t.stmts[query] = &statement{stmt, order}
	return t.stmts[query], nil
}

// keepStatements prepares on the free writer what earlier transactions had to prepare for themselves. It waits for the
// writer without holding mu, which the transaction that has the writer needs.
func (s *Store) keepStatements(ctx context.Context) error {
	s.mu.Lock()
	wanted := s.wanted
	s.wanted = nil
	s.mu.Unlock()
	for i, query := range wanted {
		text, order := positional(s.dialect.statement(query))
		stmt, err := s.writer.PrepareContext(ctx, text)
		if err != nil {
			s.forget(wanted[i:])
			return err
		}
		s.mu.Lock()
		s.prepared[query] = &statement{stmt, order}
		s.mu.Unlock()
	}
	return nil
}

// forget lets statements be wanted again by the next transaction that has a use for them.
func (s *Store) forget(queries []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, query := range queries {
		delete(s.prepared, query)
	}
}
