package models

import (
	"context"
	"fmt"
)

// readMemory is what is remembered under a key. Index: the primary key.
const readMemory = `SELECT body FROM memories WHERE bucket = $1 AND host_id = $2 AND page_id = $3`

// Memory returns what is remembered of a page of a host (Result.Memory), or of the host itself (HostMemoryID, OrdersID);
// nil where that is nothing.
func (s *Store) Memory(ctx context.Context, bucket int16, host, page int64) ([]byte, error) {
	rows, err := s.rows(ctx, readMemory, bucket, host, page)
	if err != nil {
		return nil, fmt.Errorf("read memory of page %d: %w", page, err)
	}
	defer rows.Close()
	var body []byte
	if rows.Next() {
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("read memory of page %d: %w", page, err)
		}
	}
	return body, rows.Err()
}

// SetOrders replaces what a person decided of a host's noise (OrdersID). Visits under way learn of it with the next lease.
func (s *Store) SetOrders(ctx context.Context, bucket int16, host int64, body []byte) error {
	err := s.inTx(ctx, func(t *tx) error {
		return memoryTable.upsert(ctx, t, []Memory{{Bucket: bucket, HostID: host, PageID: OrdersID, Body: body}})
	})
	if err != nil {
		return fmt.Errorf("write orders of host %d: %w", host, err)
	}
	return nil
}
