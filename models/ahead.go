package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// early tells whether the request is also for pages that are not due yet.
func (c *ClaimRequest) early() bool { return c.Ahead.After(c.Now) }

// DueBy is until when pages of the host are due that the request is for: Now, or Ahead where they may be visited early.
func (c *ClaimRequest) DueBy(h *Host) Instant {
	now := At(c.Now)
	if !c.early() || !h.Ahead || h.OpenAt > now || h.BackoffUntil > now {
		return now
	}
	return At(c.Ahead)
}

// PagesOf is how many pages of the host are leased at most: one of a patient host.
func (c *ClaimRequest) PagesOf(h *Host) int {
	if c.Patient > 0 && h.Delay >= c.Patient {
		return 1
	}
	return max(c.Pages, 1)
}

// Of so many pages a claim has no further host. On a PostgreSQL of one node a page takes the server and us some ten microseconds
// each, on SQLite two or three, and whoever waits for the first host waits for the last. There a claim also waits for the writer,
// however small it is.
const (
	pagesPerClaim     = 400
	pagesPerLiteClaim = 1000
)

// few is the first of the hosts, as many as may have so many pages together.
func (c *ClaimRequest) few(hosts []Host, most int) []Host {
	pages := 0
	for i := range hosts {
		if pages += min(c.PagesOf(&hosts[i]), int(hosts[i].Pages)); pages >= most {
			return hosts[:i+1]
		}
	}
	return hosts
}

// Waits tells whether the host waits for a page to become due and for nothing else: neither for the end of a lease nor
// longer for politeness or its error clock than for the page. Then ReadyAt is when that page is due.
func (h *Host) Waits() bool {
	return h.LeaseUntil == 0 && h.ReadyAt > h.OpenAt && h.ReadyAt > h.BackoffUntil
}

// mayBeEarly is which hosts h can have pages visited early at $1. Its first four terms are those of the index
// hosts_ahead, so the hosts that are leased, that may not be visited early, or that politeness holds back longer than
// their pages (a saturated host always has a page due by the time it opens) are not even looked at. What is read from
// the index in vain are hosts asked so recently that they are not open again, though their next page is due later: at
// most the visits of one politeness delay, spread over all buckets; and hosts in error whose pages are due later still.
const mayBeEarly = `h.ahead AND h.lease_until = 0 AND h.ready_at > h.open_at AND h.ready_at > h.backoff_until
	AND h.ready_at > $1 AND h.open_at <= $1 AND h.backoff_until <= $1`

// bucketsReadyOrAhead is bucketsReady with the buckets that have a host for an early visit until $3. Indexes:
// hosts_ready and hosts_ahead, once a bucket.
const bucketsReadyOrAhead = bucketsReady + ` OR b.bucket = ANY($2) AND EXISTS
	(SELECT 1 FROM hosts h WHERE h.bucket = b.bucket AND ` + mayBeEarly + ` AND h.ready_at <= $3)`

// claimAhead locks hosts for early visits. Index: hosts_ahead.
var claimAhead = `SELECT ` + hostTable.prefixed("h.") + ` FROM hosts h WHERE h.bucket = $2 AND ` + mayBeEarly + `
	AND h.ready_at <= $3 ORDER BY h.ready_at, h.id LIMIT $4 FOR UPDATE SKIP LOCKED`

// nextAhead is when the first page of each bucket is due that may be visited early. Index: hosts_ahead, once a bucket.
const nextAhead = `SELECT b.bucket, COALESCE((SELECT h.ready_at FROM hosts h
	WHERE h.bucket = b.bucket AND ` + mayBeEarly + ` ORDER BY h.ready_at LIMIT 1), 0) FROM buckets b`

// Ahead lists at most limit of the buckets that have a host whose pages may be visited early at now, and when the first
// page of it is due, the earliest first.
func (s *Store) Ahead(ctx context.Context, now time.Time, limit int) ([]BucketReady, error) {
	ready, err := s.bucketTimes(ctx, nextAhead, int64(At(now)))
	if err != nil {
		return nil, fmt.Errorf("find hosts for early visits: %w", err)
	}
	return ready[:min(limit, len(ready))], nil
}

// bucketTimes runs a query for a moment of each bucket and sorts the answers, without those that are never.
func (s *Store) bucketTimes(ctx context.Context, query string, args ...any) ([]BucketReady, error) {
	var ready []BucketReady
	err := s.allShards(ctx, query, args, func() { ready = nil }, func(rows answer) error {
		var r BucketReady
		var at Instant
		err := rows.Scan(&r.Bucket, &at)
		if at != 0 {
			r.At = at.Time()
			ready = append(ready, r)
		}
		return err
	})
	slices.SortFunc(ready, func(a, b BucketReady) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Bucket, b.Bucket))
	})
	return ready, err
}
