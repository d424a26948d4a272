package models

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrNoCitus says that a database cannot be distributed over several servers, and what is missing.
var ErrNoCitus = errors.New("the database has no Citus: on every server install Citus 12 or newer, name it in " +
	"shared_preload_libraries and run CREATE EXTENSION citus in this database; then run SELECT citus_add_node(host, port) for each " +
	"worker on the coordinator")

// everywhere is the tables that each server has a copy of: small, and read or written together with any bucket.
var everywhere = []string{"sites", "notes", "meta", "workers", "schema_migrations"}

// Distribution is what Distribute did.
type Distribution struct {
	Version     string   `json:"citus"`       // its version
	Servers     []string `json:"servers"`     // that hold shards
	Shards      int      `json:"shards"`      // that the buckets are spread over
	Distributed []string `json:"distributed"` // tables that are now split by bucket
	Copied      []string `json:"copied"`      // tables that each server now has
	Before      []string `json:"before"`      // tables that were distributed already
}

// Distribute spreads the tables of a PostgreSQL with Citus over its servers: those that have a bucket are split by it and
// lie together, bucket by bucket, so that each transaction of a bucket is one server's; the small ones are copied to
// all. It may be called again, after servers or tables were added: what is distributed stays as it is. Workers may run
// meanwhile; they wait for each table. It returns ErrNoCitus where the extension is missing.
func (s *Store) Distribute(ctx context.Context) (Distribution, error) {
	var d Distribution
	if s.dialect != postgresDialect {
		return d, fmt.Errorf("distribute: only a PostgreSQL can be, and this is SQLite: %w", ErrNoCitus)
	}
	if err := s.findCitus(ctx, &d); err != nil {
		return d, fmt.Errorf("distribute: %w", err)
	}
	err := s.inTx(ctx, func(t *tx) error {
		d.Distributed, d.Copied, d.Before = nil, nil, nil
		return t.distribute(ctx, &d)
	})
	if err == nil {
		err = s.writer.QueryRowContext(ctx, `SELECT COUNT(*) FROM pg_dist_shard WHERE logicalrelid = 'hosts'::regclass`).Scan(&d.Shards)
	}
	if err == nil {
		err = s.learnShards(ctx)
	}
	if err != nil {
		return d, fmt.Errorf("distribute: %w", err)
	}
	return d, nil
}

// Servers lists the servers with shards that the tables are spread over, each as HOST:PORT; none where the database has one
// server.
func (s *Store) Servers(ctx context.Context) ([]string, error) {
	var d Distribution
	if !s.sharded || s.options.Sharded {
		return nil, nil
	}
	if err := s.findCitus(ctx, &d); err != nil {
		return nil, fmt.Errorf("list servers: %w", err)
	}
	return d.Servers, nil
}

// findCitus reads the version and the servers.
func (s *Store) findCitus(ctx context.Context, d *Distribution) error {
	rows, err := s.rows(ctx, `SELECT extversion FROM pg_extension WHERE extname = 'citus'`)
	versions, err := scanTexts(rows, err)
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		return ErrNoCitus
	}
	d.Version = versions[0]
	rows, err = s.rows(ctx, `SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE isactive AND shouldhaveshards ORDER BY 1`)
	d.Servers, err = scanTexts(rows, err)
	return err
}

// distribute distributes the tables that are not yet. Foreign keys are taken away meanwhile: Citus does not split a table
// that one which is not split yet refers to.
func (t *tx) distribute(ctx context.Context, d *Distribution) error {
	if err := t.unhurried(ctx); err != nil {
		return err
	}
	if _, err := t.exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
		return err
	}
	if err := t.script(ctx, "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"); err != nil {
		return err
	}
	rows, err := t.rows(ctx, `SELECT logicalrelid::regclass::text FROM pg_dist_partition ORDER BY 1`)
	if d.Before, err = scanTexts(rows, err); err != nil {
		return err
	}
	split, err := t.splitTables(ctx)
	if err != nil {
		return err
	}
	if err := t.countShards(ctx, len(d.Servers)); err != nil {
		return err
	}
	keys, err := t.dropForeignKeys(ctx, d.Before)
	if err != nil {
		return err
	}
	for _, name := range split {
		if slices.Contains(d.Before, name) {
			continue
		}
		with := "hosts"
		if name == "hosts" {
			with = "none"
		}
		if _, err := t.exec(ctx, `SELECT create_distributed_table($1::regclass, 'bucket', colocate_with => $2)`, name, with); err != nil {
			return fmt.Errorf("split %s: %w", name, err)
		}
		d.Distributed = append(d.Distributed, name)
	}
	for _, name := range everywhere {
		if slices.Contains(d.Before, name) {
			continue
		}
		if _, err := t.exec(ctx, `SELECT create_reference_table($1::regclass)`, name); err != nil {
			return fmt.Errorf("copy %s to all servers: %w", name, err)
		}
		d.Copied = append(d.Copied, name)
	}
	for _, statement := range keys { // one at a time: Citus passes each on as it is
		if err := t.script(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// undistributed tells whether the tables are distributed, but for some.
func (s *Store) undistributed(ctx context.Context) (bool, error) {
	if !s.sharded || s.options.Sharded {
		return false, nil
	}
	var citus, left bool
	err := s.writer.QueryRowContext(ctx, `SELECT to_regclass('pg_dist_partition') IS NOT NULL`).Scan(&citus)
	if err != nil || !citus {
		return false, err
	}
	err = s.writer.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('hosts'))
		AND EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
		AND oid NOT IN (SELECT logicalrelid FROM pg_dist_partition))`).Scan(&left)
	return left, err
}

// shardsPerServer is how many shards each server gets, so that they can be spread over so many times as many servers. More
// would divide each batch of visits into more transactions.
const shardsPerServer = 4

// countShards says into how many shards tables are split, unless somebody said so for the database or the role.
func (t *tx) countShards(ctx context.Context, servers int) error {
	_, err := t.exec(ctx, `SELECT set_config(name, $1, true) FROM pg_settings WHERE name = 'citus.shard_count' AND source = 'default'`,
		strconv.Itoa(shardsPerServer*max(servers, 1)))
	return err
}

// splitTables is the tables that have a bucket, hosts first.
func (t *tx) splitTables(ctx context.Context) ([]string, error) {
	rows, err := t.rows(ctx, `SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attname = 'bucket' AND NOT a.attisdropped
		ORDER BY c.relname <> 'hosts', c.relname`)
	return scanTexts(rows, err)
}

// dropForeignKeys drops the foreign keys of tables that are not distributed yet, and returns the statements that add them
// again.
func (t *tx) dropForeignKeys(ctx context.Context, distributed []string) ([]string, error) {
	rows, err := t.rows(ctx, `SELECT conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
		WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY conname`)
	keys, err := scanTexts(rows, err)
	if err != nil {
		return nil, err
	}
	var add []string
	for _, key := range keys {
		words := strings.SplitN(key, " ", 3)
		if slices.Contains(distributed, words[0]) {
			continue
		}
		if err := t.script(ctx, "ALTER TABLE "+words[0]+" DROP CONSTRAINT "+words[1]); err != nil {
			return nil, err
		}
		add = append(add, "ALTER TABLE "+words[0]+" ADD CONSTRAINT "+words[1]+" "+words[2])
	}
	return add, nil
}
