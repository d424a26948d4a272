package models

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// shardMap is the shard of each bucket. What lies on one shard lies on one server, and a statement for buckets of one shard is
// one server's: so a batch of visits of many buckets takes a statement of each kind a shard and not one a bucket.
type shardMap [Buckets]int64

// pretended is how many shards a PostgreSQL of one node is taken for that shall be sharded (Options.Sharded).
const pretended = 8

// PretendedShard is the shard of a bucket where Options.Sharded is set and the server has none.
func PretendedShard(bucket int16) int64 { return int64(bucket % pretended) }

// shard is where a bucket lies. Where it is not known each bucket is taken for a shard of its own, which is always right;
// without any shards all is one.
func (s *Store) shard(bucket int16) int64 {
	if !s.sharded {
		return 0
	}
	known := s.shards.Load()
	if known == nil || bucket < 0 || bucket >= Buckets {
		return int64(bucket)
	}
	return known[bucket]
}

// learnShards asks a sharded server where the buckets lie. Moving a shard to another server changes nothing of it; who splits
// one makes statements for its buckets fail once (resharded), and then this is called again.
func (s *Store) learnShards(ctx context.Context) error {
	if !s.sharded {
		return nil
	}
	var citus, distributed bool
	err := s.writer.QueryRowContext(ctx, `SELECT to_regclass('pg_dist_partition') IS NOT NULL`).Scan(&citus)
	if err == nil && citus {
		err = s.writer.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('hosts'))`).
			Scan(&distributed)
	}
	if err != nil {
		return fmt.Errorf("find shards: %w", err)
	}
	shards := new(shardMap)
	switch {
	case distributed:
		err := s.askShards(ctx, shards)
		if err == nil {
			err = s.learnPlacements(ctx)
		}
		if err != nil {
			return fmt.Errorf("find shards: %w", err)
		}
	case citus: // the tables are not distributed yet, and may be at any time
		s.shards.Store(nil)
		return nil
	default:
		for bucket := range shards {
			shards[bucket] = PretendedShard(int16(bucket))
		}
	}
	s.shards.Store(shards)
	return nil
}

func (s *Store) askShards(ctx context.Context, shards *shardMap) error {
	rows, err := s.writer.QueryContext(ctx, `SELECT b, get_shard_id_for_distribution_column('hosts', b::smallint)
		FROM generate_series(0, $1::int - 1) b`, Buckets)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var bucket int
		var shard int64
		if err := rows.Scan(&bucket, &shard); err != nil {
			return err
		}
		shards[bucket] = shard
	}
	return rows.Err()
}

// resharded tells whether a transaction failed because what was taken for one shard is several, and asks where the buckets
// lie now: then it is tried again.
func (s *Store) resharded(ctx context.Context, err error) bool {
	var pg *pgconn.PgError
	moved := errors.Is(err, errMoved) || errors.As(err, &pg) && (pg.Code == notSupported || pg.Code == undefinedTable || pg.Code == unknownShard)
	return s.sharded && moved && s.learnShards(ctx) == nil
}
