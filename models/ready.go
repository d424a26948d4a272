package models

import (
	"context"
	"fmt"
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
	byBucket := make(map[int16][][]byte)
	for _, d := range digests {
		byBucket[int16(d[0])] = append(byBucket[int16(d[0])], d[:])
	}
	for bucket, list := range byBucket {
		found, err := s.contentsOf(ctx, bucket, list)
		if err != nil {
			return nil, fmt.Errorf("look up contents: %w", err)
		}
		for _, row := range found {
			seen[row.Digest] = row.Content
		}
	}
	return seen, nil
}

func (s *Store) contentsOf(ctx context.Context, bucket int16, digests [][]byte) ([]contentRow, error) {
	query := `SELECT ` + contentTable.list() + ` FROM contents WHERE bucket = $1 AND digest = ` // Index: the primary key.
	if s.dialect == postgresDialect {
		return contentTable.scan(s.rows(ctx, query+`ANY($2)`, bucket, digests))
	}
	var all []contentRow
	for _, d := range digests {
		found, err := contentTable.scan(s.rows(ctx, query+`$2`, bucket, d))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
