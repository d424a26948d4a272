package pgtest

import (
	"context"
	"database/sql"
	"fmt"
)

// Server is a private PostgreSQL for measuring: unlike that of the tests it syncs what it commits, and has memory for
// ten million pages.
type Server struct {
	server server
	dsn    string
	made   int
}

// Start starts a server. The caller stops it; should the process die before, the kernel does.
func Start() (*Server, error) {
	s := &Server{server: server{durable: true, settings: []string{"shared_buffers=1GB", "max_wal_size=8GB", "wal_compression=on",
		"checkpoint_timeout=15min"}}}
	var err error
	s.dsn, err = s.server.start()
	if err != nil {
		s.server.stop()
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return s, nil
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() { s.server.stop() }

// Fresh returns the address of a new, empty database, and drops the one before.
func (s *Server) Fresh(ctx context.Context) (dsn string, err error) {
	db, err := sql.Open("pgx", s.dsn)
	if err != nil {
		return "", fmt.Errorf("make a database: %w", err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, fmt.Sprintf("DROP DATABASE IF EXISTS bench_%d WITH (FORCE)", s.made)); err != nil {
		return "", fmt.Errorf("drop a database: %w", err)
	}
	s.made++
	name := fmt.Sprintf("bench_%d", s.made)
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		return "", fmt.Errorf("make a database: %w", err)
	}
	return withDatabase(s.dsn, name)
}

// Rows is how many rows a table of a database has.
func Rows(ctx context.Context, dsn, table string) (n int64, err error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", table, err)
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
		return 0, fmt.Errorf("count %s: %w", table, err)
	}
	return n, nil
}

// Size is how many bytes the newest database takes on the disk.
func (s *Server) Size(ctx context.Context) (bytes int64, err error) {
	db, err := sql.Open("pgx", s.dsn)
	if err != nil {
		return 0, fmt.Errorf("measure a database: %w", err)
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT pg_database_size($1)", fmt.Sprintf("bench_%d", s.made)).Scan(&bytes)
	if err != nil {
		return 0, fmt.Errorf("measure a database: %w", err)
	}
	return bytes, nil
}
