package models

import "context"

// claimRiding claims on SQLite without the writer: hosts and pages are read as they are at one moment, beside the transaction
// under way, and the leases are written with that one (rider). It tells whether it could: where a host has no due page after all
// or its last lease ran out, a transaction of its own has to look (tx.claim).
//
// That is as safe as a claim that reads what it writes: a host whose row changed in between, by another claim or by anything
// else, is not leased. What may happen to its pages without changing its row (they are rescheduled, removed, put off) may also
// happen while it is leased, a moment later, and is met in the same way. And nobody hears of a lease before it is on the disk.
func (s *Store) claimRiding(ctx context.Context, c ClaimRequest, buckets []int16, limit int) (leases []Lease, looked int, done bool, err error) {
	r := &rider{done: make(chan struct{})}
	done, err = s.prepareClaim(ctx, c, buckets, limit, r)
	if err != nil || !done || len(r.hosts) == 0 {
		return nil, 0, done, err
	}
	if err := s.ride(ctx, r); err != nil {
		return nil, 0, false, err
	}
	for i, leased := range r.leased {
		if leased {
			leases = append(leases, r.leases[i])
		}
	}
	return leases, len(r.hosts), true, nil
}

// prepareClaim reads what a claim leases.
func (s *Store) prepareClaim(ctx context.Context, c ClaimRequest, buckets []int16, limit int, r *rider) (done bool, err error) {
	err = s.liteReader.moment(ctx, func(conn *liteConn) error {
		done, err = r.prepare(ctx, &tx{store: s, lite: conn}, c, buckets, limit)
		return err
	})
	return done, err
}

// prepare is prepareClaim in a transaction.
func (r *rider) prepare(ctx context.Context, t *tx, c ClaimRequest, buckets []int16, limit int) (done bool, err error) {
	if r.hosts, err = t.readyHosts(ctx, c, buckets, limit); err != nil {
		return false, err
	}
	r.hosts = c.few(r.hosts, pagesPerLiteClaim)
	robots, pages, err := t.read(ctx, c, r.hosts)
	if err != nil {
		return false, err
	}
	for _, h := range r.hosts {
		key := rowKey{h.Bucket, h.ID}
		due := pages[key]
		if len(due) == 0 || h.LeaseUntil != 0 {
			return false, nil
		}
		h.Take(&c)
		r.leases = append(r.leases, Lease{Host: h, Until: h.LeaseUntil.Time(), Pages: due, Robots: robots[key]})
	}
	return true, t.leaseShares(ctx, r.leases)
}
