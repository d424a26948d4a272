package models

import (
	"context"
	"fmt"
	"time"
)

// Recover voids the leases of an owner, or all of them where owner is empty, and returns how many there were. It is for
// a worker that begins, after a crash: what it held under its name belongs to nobody, and where it has the database to
// itself all leases do. Politeness holds as if each host had been asked until its lease's end, at the latest now.
func (s *Store) Recover(ctx context.Context, now time.Time, owner string) (int, error) {
	total := 0
	for bucket := range int16(Buckets) {
		n := 0
		err := s.inShard(ctx, bucket, func(t *tx) error {
			var err error
			n, err = t.voidLeases(ctx, bucket, now, owner)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("void leases: %w", err)
		}
		total += n
	}
	return total, nil
}

// voidLeases ends an owner's leases of a bucket, or all of them, and returns how many there were.
func (t *tx) voidLeases(ctx context.Context, bucket int16, now time.Time, owner string) (int, error) {
	q := newQueue(t)
	// Index: the primary key; it runs once a start and reads all hosts.
	err := q.load(ctx, `SELECT `+hostTable.list()+` FROM hosts WHERE bucket = $1 AND lease_until > 0
		AND ($2 = '' OR lease_owner = $2) ORDER BY id `+q.forUpdate(), bucket, Clean(owner))
	if err != nil || len(q.hosts) == 0 {
		return 0, err
	}
	keys := make([]rowKey, 0, len(q.hosts))
	for key := range q.hosts {
		keys = append(keys, key)
	}
	void := func(h *Host, due Instant) { h.Void(NotBefore(now), due) }
	if err := q.settle(ctx, keys, void); err != nil {
		return 0, err
	}
	return len(keys), q.flush(ctx)
}

// RecountHosts sets each host's numbers of pages to what they are. It is not needed unless rows were changed by hand.
func (s *Store) RecountHosts(ctx context.Context) error {
	for bucket := range int16(Buckets) {
		err := s.inTx(ctx, func(t *tx) error {
			_, err := t.exec(ctx, `UPDATE hosts SET pages = (SELECT COUNT(*) FROM pages p
				WHERE p.bucket = hosts.bucket AND p.host_id = hosts.id), requisites = (SELECT COUNT(*) FROM pages p
				WHERE p.bucket = hosts.bucket AND p.host_id = hosts.id AND p.requisite) WHERE bucket = $1`, bucket)
			return err
		})
		if err != nil {
			return fmt.Errorf("count pages of hosts: %w", err)
		}
	}
	return nil
}
