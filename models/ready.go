package models

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// earliestHosts is when the first host of each bucket is ready. Index: hosts_ready, once a bucket.
const earliestHosts = `SELECT b.bucket, COALESCE((SELECT h.ready_at FROM hosts h
	WHERE h.bucket = b.bucket AND h.ready_at > 0 ORDER BY h.ready_at LIMIT 1), 0) FROM buckets b`

// Ready lists the buckets that have a host with a due time, and when the earliest host of each is ready, the earliest
// first.
func (s *Store) Ready(ctx context.Context) ([]BucketReady, error) {
	ready, err := s.bucketTimes(ctx, earliestHosts)
	if err != nil {
		return nil, fmt.Errorf("find ready hosts: %w", err)
	}
	return ready, nil
}

// Contents returns the first records of those of the digests that were seen before, by digest.
func (s *Store) Contents(ctx context.Context, digests []Digest) (map[Digest]Content, error) {
	seen := make(map[Digest]Content, len(digests))
	byShard := make(map[int64][]Digest)
	for _, d := range digests {
		shard := s.shard(int16(d[0]))
		byShard[shard] = append(byShard[shard], d)
	}
	for _, some := range byShard {
		found, err := s.contentsIn(ctx, some)
		if err != nil {
			return nil, fmt.Errorf("look up contents: %w", err)
		}
		for _, row := range found {
			seen[row.Digest] = row.Content
		}
	}
	return seen, nil
}

// readContents reads contents by their digests on PostgreSQL, each by itself (see keyed). Index: the primary key. Only a
// sharded server is told the buckets of all: another one would look for each digest in each of them, a hundred times the
// work.
func readContents(sharded bool) string {
	within := ""
	if sharded {
		within = " AND t.bucket = ANY($1)"
	}
	return `SELECT ` + contentTable.prefixed("k.") + ` FROM unnest($1::smallint[], $2::bytea[]) u (b, d) CROSS JOIN LATERAL (
		SELECT * FROM contents t WHERE t.bucket = u.b AND t.digest = u.d` + within + ` OFFSET 0) k`
}

// contentsIn reads contents of one shard, on its server where that is known.
func (s *Store) contentsIn(ctx context.Context, digests []Digest) (found []contentRow, err error) {
	if s.dialect == sqliteDialect {
		return s.contentsLite(ctx, digests)
	}
	bucket := int16(digests[0][0])
	if at := s.placement(bucket); at != nil {
		if found, err = s.contentsOf(ctx, at.asker(), digests); err == nil {
			return found, nil
		}
	}
	return s.contentsOf(ctx, s.asker(), digests)
}

// contentsOf is contentsIn on a PostgreSQL, for that asker.
func (s *Store) contentsOf(ctx context.Context, ask asker, digests []Digest) ([]contentRow, error) {
	buckets, list := make([]int16, len(digests)), make([][]byte, len(digests))
	for i := range digests {
		buckets[i], list[i] = int16(digests[i][0]), digests[i][:]
	}
	return contentTable.scan(ask.rows(ctx, readContents(ask.sharded), buckets, list))
}

// contentsLite is contentsIn on SQLite. Digests in a row lie in the same piece of the table.
func (s *Store) contentsLite(ctx context.Context, digests []Digest) (found []contentRow, err error) {
	digests = slices.SortedFunc(slices.Values(digests), func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
	// Index: the primary key.
	query := `SELECT ` + contentTable.list() + ` FROM contents WHERE bucket = $1 AND digest = $2`
	var row contentRow
	read := contentTable.reader(&row)
	err = s.lookUp(ctx, func(c *liteConn) error {
		t := &tx{store: s, lite: c}
		for _, d := range digests {
			rows, err := t.rows(ctx, query, int16(d[0]), d[:])
			err = eachRow(rows, err, func(rows answer) error {
				err := read(rows)
				found = append(found, row)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}
