package models

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// waiting is a statement of a transaction on PostgreSQL that goes with the next one, in the same message: nobody needs its answer
// before. Each message has to wait for its turn on processors that have much else to do, on our side and the server's, which
// takes longer than most statements do.
type waiting struct {
	query string
	args  []any
	read  func(answer) error // called with each row; nil: there are none
}

// putOff has a statement go with the next one. Where it fails that one does.
func (t *tx) putOff(query string, args []any, read func(answer) error) {
	t.waits = append(t.waits, waiting{t.text(query), t.store.dialect.arguments(args), read})
}

// message runs statements by keys on one server, in one message, which is their transaction: on that of a shard, or on the only one.
// An error in reading what they gave says nothing of whether it was carried out.
func (s *Store) message(ctx context.Context, at *placement, statements ...waiting) error {
	conn, err := s.connection(ctx, at, true)
	if err != nil {
		return err
	}
	defer conn.Release()
	if at != nil {
		for i := range statements {
			statements[i].query = at.statement(statements[i].query)
		}
		statements = append(at.enter(), statements...)
	}
	batch := new(pgx.Batch)
	for _, w := range statements {
		s.traced(ctx, conn.Conn(), w.query, w.args...)
		batch.Queue(w.query, w.args...)
	}
	results := conn.SendBatch(ctx, batch)
	for _, w := range statements {
		if err := w.take(results); err != nil {
			_ = results.Close() // which says the same, or nothing
			return err
		}
	}
	return results.Close()
}

// together sends what waits and one statement more, and reads the answers of what waited.
func (t *tx) together(ctx context.Context, query string, args []any) (pgx.BatchResults, error) {
	batch := new(pgx.Batch)
	waits := append(t.waits, waiting{query: query, args: args})
	t.waits = nil
	for _, w := range waits {
		t.store.traced(ctx, t.conn, w.query, w.args...)
		batch.Queue(w.query, w.args...)
	}
	results := t.conn.SendBatch(ctx, batch)
	for _, w := range waits[:len(waits)-1] {
		if err := w.take(results); err != nil {
			_ = results.Close() // which says the same
			return nil, err
		}
	}
	return results, nil
}

// take reads the answer of a statement.
func (w *waiting) take(results pgx.BatchResults) error {
	if w.read == nil {
		_, err := results.Exec()
		return err
	}
	rows, err := answerOf(results.Query())
	return eachRow(rows, err, w.read)
}

// run runs a statement without rows on PostgreSQL.
func (t *tx) run(ctx context.Context, query string, args []any) (pgconn.CommandTag, error) {
	if len(t.waits) == 0 {
		return t.conn.Exec(ctx, query, args...)
	}
	results, err := t.together(ctx, query, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer results.Close() // an error is the statement's
	return results.Exec()
}

// query runs a query on PostgreSQL.
func (t *tx) query(ctx context.Context, query string, args []any) (answer, error) {
	if len(t.waits) == 0 {
		return answerOf(t.conn.Query(ctx, query, args...))
	}
	results, err := t.together(ctx, query, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return &postgresRows{Rows: rows, results: results}, nil
}

// catchUp sends what waits.
func (t *tx) catchUp(ctx context.Context) error {
	if len(t.waits) == 0 {
		return nil
	}
	last := t.waits[len(t.waits)-1]
	t.waits = t.waits[:len(t.waits)-1]
	if last.read != nil {
		rows, err := t.query(ctx, last.query, last.args)
		return eachRow(rows, err, last.read)
	}
	_, err := t.run(ctx, last.query, last.args)
	return err
}
