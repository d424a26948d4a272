package models

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

func (s *Store) openPostgres(dsn string) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	config.Tracer = tracer{s}
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(s.options.Conns)
	pool.SetMaxIdleConns(s.options.Conns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	s.writer, s.reader = pool, pool
	db, err := gorm.Open(postgres.New(postgres.Config{Conn: pool}), quiet())
	s.write, s.read = db, db
	return err
}
