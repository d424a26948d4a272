package models

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Statement is one statement as it was sent to PostgreSQL, "commit" and "rollback" among them, and "begin;" with what is set for
// the transaction.
type Statement struct {
	Conn uint32 // the connection, by its process on the server: transactions of one connection follow each other
	SQL  string
	Args []any
}

// tracer counts the statements of a store and shows them to whoever asked for that.
type tracer struct{ store *Store }

// TraceQueryStart implements pgx.QueryTracer.
func (t tracer) TraceQueryStart(ctx context.Context, conn *pgx.Conn, start pgx.TraceQueryStartData) context.Context {
	t.store.statements.Add(1)
	if show := t.store.options.Trace; show != nil {
		args := start.Args
		if len(args) > 0 {
			switch args[0].(type) {
			case pgx.QueryResultFormats, pgx.QueryResultFormatsByOID, pgx.QueryExecMode: // how to ask, not what
				args = args[1:]
			}
		}
		show(ctx, Statement{Conn: conn.PgConn().PID(), SQL: start.SQL, Args: args})
	}
	return ctx
}

// traced counts and shows what is sent past pgx, or in one message with others.
func (s *Store) traced(ctx context.Context, conn *pgx.Conn, query string, args ...any) {
	tracer{s}.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{SQL: query, Args: args})
}

// TraceQueryEnd implements pgx.QueryTracer.
func (tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Statements is how many statements were sent to PostgreSQL so far; 0 with SQLite, which answers within the process.
func (s *Store) Statements() int64 { return s.statements.Load() }
