package models

import (
	"database/sql"
	"errors"
	"net/url"
	"os"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	_ "modernc.org/sqlite" // registers the driver "sqlite", which needs no C compiler
)

// openSQLite opens one connection that writes and a pool that reads. With one writer in the process, its transactions
// wait for each other in Go and not on the file's lock; BEGIN IMMEDIATE makes those of other processes wait in line
// as well, where a deferred one would fail half-way.
func (s *Store) openSQLite(path string) error {
	if path == "" {
		return errors.New("no path to a SQLite file")
	}
	if !s.options.ReadOnly {
		// SQLite gives its -wal and -shm files the mode of the database.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		if s.write, s.writer, err = dialSQLite(path, "immediate", false); err != nil {
			return err
		}
		s.writer.SetMaxOpenConns(1)
		s.writer.SetMaxIdleConns(1)
	}
	var err error
	if s.read, s.reader, err = dialSQLite(path, "deferred", true); err != nil {
		return err
	}
	s.reader.SetMaxOpenConns(s.options.Conns)
	s.reader.SetMaxIdleConns(s.options.Conns)
	return nil
}

func dialSQLite(path, lock string, queryOnly bool) (*gorm.DB, *sql.DB, error) {
	q := url.Values{"mode": {"rw"}, "_txlock": {lock}, "_pragma": {
		"busy_timeout(30000)", // first: the others may have to wait
		"journal_mode(WAL)",
		"synchronous(FULL)", // NORMAL may lose the newest commits on power loss
		"foreign_keys(1)",
		"cache_size(-65536)",
		"temp_store(MEMORY)",
	}}
	if queryOnly {
		q.Add("_pragma", "query_only(1)")
	}
	dsn := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
	db, err := gorm.Open(sqlite.New(sqlite.Config{DriverName: "sqlite", DSN: dsn}), quiet())
	if err != nil {
		return nil, nil, err
	}
	pool, err := db.DB()
	return db, pool, err
}
