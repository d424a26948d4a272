package models

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

func (s *Store) openPostgres(ctx context.Context, dsn string) error {
	pool, err := s.pool(dsn, s.options.Conns, "")
	if err != nil {
		return err
	}
	s.writer, s.reader, s.dsn = pool, pool, dsn
	db, err := gorm.Open(postgres.New(postgres.Config{Conn: pool}), quiet())
	if err != nil {
		return err
	}
	s.read = db
	err = pool.QueryRowContext(ctx, "SELECT $1 OR to_regclass('pg_dist_partition') IS NOT NULL", s.options.Sharded).Scan(&s.sharded)
	if err != nil {
		return err
	}
	return s.learnShards(ctx)
}

// pool opens at most so many connections to a server, each of which begins with further settings.
func (s *Store) pool(dsn string, width int, settings string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.Tracer = tracer{s}
	// Not as a parameter of the start: a pooler between us and the server refuses those that it does not know.
	patience := "SET idle_in_transaction_session_timeout = " + strconv.FormatInt(s.options.Idle.Milliseconds(), 10)
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.PgConn().Exec(ctx, patience+settings).ReadAll()
		return err
	}))
	pool.SetMaxOpenConns(width)
	pool.SetMaxIdleConns(width)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return pool, nil
}
