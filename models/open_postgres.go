package models

import (
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

func (s *Store) openPostgres(dsn string) error {
	db, err := gorm.Open(postgres.New(postgres.Config{DSN: dsn}), quiet())
	if err != nil {
		return err
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(s.options.Conns)
	pool.SetMaxIdleConns(s.options.Conns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	s.write, s.read, s.writer, s.reader = db, db, pool, pool
	return nil
}
