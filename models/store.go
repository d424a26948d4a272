package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Options say how a database is opened. The zero value is for a daemon.
type Options struct {
	// ReadOnly is for commands that only look: nothing is created, migrated or written, and Open refuses a schema that
	// is not the binary's own.
	ReadOnly bool

	// PagesPerHost is how many pages of one host are kept at most; what Commit discovers beyond is dropped. 0: no limit.
	PagesPerHost int

	// Requisites is how many requisites a site may gather at least (MostRequisites); new ones that Commit discovers or AddPages is given
	// beyond are dropped, but for those to which known ones lead. 0: no limit.
	Requisites int64

	// Conns is the number of connections to PostgreSQL for what the worker does, beside which there are a quarter as many for
	// all else, 4 or more, and of those for reading SQLite beside its one writer. 0: 8.
	Conns int

	// Sharded says that each transaction and each hot statement shall be for the buckets of one shard alone, as several
	// nodes want it (PretendedShard). It is found out by itself where the database has Citus.
	Sharded bool

	// Coordinated says that every statement shall go to the server that the address names, the coordinator of a cluster, also
	// where the servers behind it answer.
	Coordinated bool

	// Idle is for how long a transaction on PostgreSQL may stand still before the server ends it and gives its locks to
	// others: that of a process that is frozen or cut off. 0: 30 seconds.
	Idle time.Duration

	// Trace is shown every statement before it is sent to PostgreSQL, by the goroutine that sends it; nil: nobody looks.
	Trace func(context.Context, Statement)
}

// Store keeps the nouns in SQLite or PostgreSQL. It is safe for concurrent use by many goroutines, and by many
// processes on one database.
type Store struct {
	dialect dialect
	sharded bool // a PostgreSQL of several nodes (Citus): each statement is for one shard
	options Options
	read    *gorm.DB // for small tables; hot statements go to the pools below
	writer  *sql.DB  // SQLite: one connection, for a restore
	reader  *sql.DB  // PostgreSQL: the same as writer, both by pool

	liteWriter *liteWriter // nil on PostgreSQL, and where nothing is written
	liteReader *litePool   // nil on PostgreSQL

	pool       *pgxpool.Pool                        // of PostgreSQL, for statements of any kind; nil on SQLite
	keyed      *pgxpool.Pool                        // of PostgreSQL, for those by keys (keyedPlans); nil on SQLite
	dsn        string                               // of PostgreSQL
	shards     atomic.Pointer[shardMap]             // of a sharded server; nil: not known
	places     atomic.Pointer[map[int64]*placement] // of the shards that need no coordinator
	nodes      nodes
	familiar   familiar     // pages that exist
	gathered   Gathered     // how many requisites
	statements atomic.Int64 // sent to PostgreSQL
}

// Open opens a database: "postgres://…" (or "postgresql://…"), "sqlite:PATH", or a path, which means SQLite. Unless
// Options.ReadOnly is set, a missing SQLite file is created for the owner's eyes only; call Migrate before anything else.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	if o.Conns <= 0 {
		o.Conns = 8
	}
	if o.Idle <= 0 {
		o.Idle = 30 * time.Second
	}
	s := &Store{options: o, gathered: Gathered{Least: o.Requisites}, nodes: nodes{answer: make(map[node]bool), pools: make(map[string]*pgxpool.Pool)}}
	if err := s.connect(ctx, dsn); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), s.Close())
	}
	if o.ReadOnly {
		if err := s.CheckSchema(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("open database: %w", err), s.Close())
		}
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context, dsn string) error {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		s.dialect = postgresDialect
		return s.openPostgres(ctx, dsn)
	}
	s.dialect = sqliteDialect
	return s.openSQLite(strings.TrimPrefix(dsn, "sqlite:"))
}

// Dialect is "sqlite" or "postgres".
func (s *Store) Dialect() string { return string(s.dialect) }

// Close closes all connections. It is safe to call on a store that was only half opened.
func (s *Store) Close() error {
	s.nodes.close()
	var errs []error
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	for _, pool := range []*pgxpool.Pool{s.pool, s.keyed} {
		if pool != nil {
			pool.Close()
		}
	}
	if s.liteReader != nil {
		errs = append(errs, s.liteReader.close())
	}
	if s.liteWriter != nil {
		errs = append(errs, s.liteWriter.checkpoints.close(), s.liteWriter.close())
	}
	return errors.Join(errs...)
}

// errReadOnly is what writing through a store for reading gives.
var errReadOnly = errors.New("database is open for reading only")

// small is gorm over a pool of either engine, for tables that are read whole: silent, no transaction of its own. On SQLite it
// speaks the words of PostgreSQL too, which SQLite knows ("name", $1): gorm's own driver for it brings a second SQLite, in C,
// for whose compiling whoever has a C compiler would wait.
func small(pool *sql.DB) (*gorm.DB, error) {
	return gorm.Open(postgres.New(postgres.Config{Conn: pool}), &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true})
}

// rows runs a query outside any transaction.
func (s *Store) rows(ctx context.Context, query string, args ...any) (answer, error) {
	args = s.dialect.arguments(args)
	if s.dialect == postgresDialect {
		return answerOf(s.pool.Query(ctx, query, args...))
	}
	return s.liteReader.rows(ctx, query, args)
}

// rowsByKeys is rows for a query by keys, or buckets.
func (s *Store) rowsByKeys(ctx context.Context, query string, args ...any) (answer, error) {
	if s.dialect == postgresDialect {
		return answerOf(s.keyed.Query(ctx, query, args...))
	}
	return s.rows(ctx, query, args...)
}
