package models

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

func (s *Store) openPostgres(ctx context.Context, dsn string) error {
	pool, err := s.connections(ctx, dsn, max(4, s.options.Conns/4), "")
	if err != nil {
		return err
	}
	plain := stdlib.OpenDBFromPool(pool)
	s.pool, s.writer, s.reader, s.dsn = pool, plain, plain, dsn
	if s.read, err = small(plain); err != nil {
		return err
	}
	err = pool.QueryRow(ctx, "SELECT $1 OR to_regclass('pg_dist_partition') IS NOT NULL", s.options.Sharded).Scan(&s.sharded)
	if err != nil {
		return err
	}
	plans := keyedPlans
	if s.sharded { // a coordinator plans by the keys
		plans = ""
	}
	if s.keyed, err = s.connections(ctx, dsn, s.options.Conns, plans); err != nil {
		return err
	}
	return s.learnShards(ctx)
}

// connections opens at most so many connections to a server, each of which begins with further settings.
func (s *Store) connections(ctx context.Context, dsn string, width int, settings string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = tracer{s}
	config.MaxConns, config.MinConns, config.MinIdleConns = int32(width), 0, 0
	config.MaxConnIdleTime = 5 * time.Minute
	// Not as a parameter of the start: a pooler between us and the server refuses those that it does not know.
	patience := "SET idle_in_transaction_session_timeout = " + strconv.FormatInt(s.options.Idle.Milliseconds(), 10)
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		learnArrays(conn.TypeMap())
		_, err := conn.PgConn().Exec(ctx, patience+settings).ReadAll()
		return err
	}
	if s.options.ReadOnly {
		return pgxpool.NewWithConfig(ctx, config)
	}
	// Of several servers the one that takes what is written, also where another one was that until now.
	config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	var pool *pgxpool.Pool
	usable := config.ConnConfig.OnPgError
	config.ConnConfig.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		if err.Code == readOnlyTransaction {
			pool.Reset()
			return false
		}
		return usable(conn, err)
	}
	pool, err = pgxpool.NewWithConfig(ctx, config)
	return pool, err
}

// readOnlyTransaction is what a server says that follows another one, or has handed over to one.
const readOnlyTransaction = "25006"
