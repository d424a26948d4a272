package models

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// PastVisit is a row of the history, with the host of its page.
type PastVisit struct {
	HostID int64
	At     Instant
	Took   time.Duration
	Bytes  int64
	Kind   OutcomeKind
	Class  ErrorClass
	Status int16
}

// Reached tells whether the visit sent a request to its host, or tried to: one that found no address to ask, or was not allowed to, did not. Of
// one that was broken off it is told by the time that it took.
func (v PastVisit) Reached() bool {
	switch v.Class {
	case DNSNotFound, DNSTemporary, BlockedAddress, RobotsUnreachable, OwnLimit, OwnNetwork, OwnRules:
		return false
	}
	switch v.Kind {
	case Failed, Interrupted, RobotsFetched:
		return v.Took > 0 || v.Status > 0
	case Probed:
		return true
	}
	return v.Kind.Asked()
}

// bucketHistory goes by the primary keys: the pages of the bucket in their order, and of each its visits, which lie side by side. No index has
// the pages of a host that are never due, so those of the bucket, a 256th of all, are passed over for one host as well. CROSS JOIN has SQLite
// begin with the pages: the other way around it looks for the page of each visit anew.
const bucketHistory = `SELECT p.host_id, v.at, v.took, v.bytes, v.kind, v.class, v.status FROM pages p CROSS JOIN visits v
	WHERE p.bucket = $1 AND (p.host_id = $2 OR $2 = 0) AND v.bucket = $1 AND v.page_id = p.id ORDER BY p.id, v.number`

// BucketHistory yields the visits that are kept of the pages of a bucket, page after page, each page's oldest first; those of one host, or of
// all (0). An error ends the sequence. Memory does not grow with the history.
func (s *Store) BucketHistory(ctx context.Context, bucket int16, host int64) iter.Seq2[PastVisit, error] {
	return func(yield func(PastVisit, error) bool) {
		var v PastVisit
		for _, err := range s.scan(ctx, []any{&v.HostID, &v.At, &v.Took, &v.Bytes, &v.Kind, &v.Class, &v.Status}, bucketHistory, bucket, host) {
			if err != nil {
				yield(PastVisit{}, fmt.Errorf("read the history of a bucket: %w", err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}
