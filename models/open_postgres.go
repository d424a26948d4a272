package models

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

func (s *Store) openPostgres(ctx context.Context, dsn string) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	config.Tracer = tracer{s}
	// Not as a parameter of the start: a pooler between us and the server refuses those that it does not know.
	patience := "SET idle_in_transaction_session_timeout = " + strconv.FormatInt(s.options.Idle.Milliseconds(), 10)
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, patience)
		return err
	}))
	pool.SetMaxOpenConns(s.options.Conns)
	pool.SetMaxIdleConns(s.options.Conns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	s.writer, s.reader = pool, pool
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
