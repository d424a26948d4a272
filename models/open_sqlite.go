package models

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // registers the driver "sqlite", which needs no C compiler
)

// openSQLite opens one connection that writes and a pool that reads, and both for what goes through database/sql. With one
// writer in the process, its transactions wait for each other in Go and not on the file's lock; BEGIN IMMEDIATE makes those
// of other processes wait in line as well, where a deferred one would fail half-way.
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
		if s.writer, err = dialSQLite(path, "immediate", false); err != nil {
			return err
		}
		s.liteWriter = &liteWriter{
			litePool:    newLitePool(1, func() (*liteConn, error) { return openLite(path, "wal_autocheckpoint(0)") }),
			checkpoints: newLitePool(1, func() (*liteConn, error) { return openLite(path, checkpointWait) }),
			logFrames:   checkpointFrames,
		}
		s.writer.SetMaxOpenConns(1)
		s.writer.SetMaxIdleConns(1)
	}
	var err error
	if s.reader, err = dialSQLite(path, "deferred", true); err != nil {
		return err
	}
	if s.read, err = small(s.reader); err != nil {
		return err
	}
	s.reader.SetMaxOpenConns(s.options.Conns)
	s.reader.SetMaxIdleConns(s.options.Conns)
	s.liteReader = newLitePool(s.options.Conns, func() (*liteConn, error) { return openLite(path, "query_only(1)") })
	return nil
}

func dialSQLite(path, lock string, queryOnly bool) (*sql.DB, error) {
	q := url.Values{"mode": {"rw"}, "_txlock": {lock}}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", sqliteWait.Milliseconds())) // first: the others may have to wait
	for _, setting := range sqliteSettings {
		q.Add("_pragma", setting)
	}
	if queryOnly {
		q.Add("_pragma", "query_only(1)")
	}
	dsn := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
	return sql.Open("sqlite", dsn)
}
