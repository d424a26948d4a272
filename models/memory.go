package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// readMemory is what is remembered under a key. Index: the primary key.
const readMemory = `SELECT body FROM memories WHERE bucket = $1 AND host_id = $2 AND page_id = $3`

// Memory returns what is remembered of a page of a host (Result.Memory), or of the host itself (HostMemoryID, OrdersID);
// nil where that is nothing.
func (s *Store) Memory(ctx context.Context, bucket int16, host, page int64) ([]byte, error) {
	var body []byte
	err := s.onShard(ctx, bucket, readMemory, []any{bucket, host, page}, func() { body = nil }, func(rows answer) error { return rows.Scan(&body) })
	if err != nil {
		return nil, fmt.Errorf("read memory of page %d: %w", page, err)
	}
	return body, nil
}

// forgetPages removes what is remembered of pages that are removed: no foreign key does, because hosts have memories too.
func (q *queue) forgetPages(ctx context.Context, bucket int16, pages []pageRef) error {
	byHost := make(map[int64][]int64)
	for _, p := range pages {
		byHost[p.host] = append(byHost[p.host], p.id)
	}
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		// Index: the primary key.
		_, err := q.tx.exec(ctx, `DELETE FROM memories WHERE bucket = $1 AND host_id = $2 AND page_id = ANY($3)`, bucket, host,
			byHost[host])
		if err != nil {
			return fmt.Errorf("forget pages of host %d: %w", host, err)
		}
	}
	return nil
}

// SetOrders replaces what a person decided of a host's noise (OrdersID); empty: nothing was. Visits under way learn of it
// with the next lease. It returns ErrNotFound for an unknown host.
func (s *Store) SetOrders(ctx context.Context, bucket int16, host int64, body []byte) error {
	err := s.inTx(ctx, func(t *tx) error {
		q := newQueue(t) // locks the host: it cannot go meanwhile, and a visit's commit waits
		if err := q.lock(ctx, []rowKey{{bucket, host}}); err != nil {
			return err
		}
		if q.get(bucket, host) == nil {
			return ErrNotFound
		}
		if len(body) == 0 {
			_, err := t.exec(ctx, `DELETE FROM memories WHERE bucket = $1 AND host_id = $2 AND page_id = $3`, bucket, host, OrdersID)
			return err
		}
		return memoryTable.upsert(ctx, t, []Memory{{Bucket: bucket, HostID: host, PageID: OrdersID, Body: body}})
	})
	if err != nil {
		return fmt.Errorf("write orders of host %d: %w", host, err)
	}
	return nil
}
