package scheduler

import (
	"context"
	"time"

	"recrawld/models"
)

// Store is the queue and the memory of the worker. Implementations are safe for concurrent use and pass
// storetest.Run. Times are arguments: a store never asks the clock.
type Store interface {
	Learning

	// Claim leases ready hosts of the given buckets, the longest ready first within a bucket, each with its due
	// pages. It may return fewer than asked for; none means that nothing is ready.
	Claim(ctx context.Context, c models.ClaimRequest) ([]models.Lease, error)

	// Further returns the pages of leased hosts that are due at now behind those that are handed out, at most limit of each
	// host, in the order of a claim: one entry for each of the hosts, none of which is named twice. It writes nothing.
	Further(ctx context.Context, now time.Time, limit int, hosts []models.Handed) ([][]models.LeasedPage, error)

	// Commit writes the results, each fenced by its lease's token, in one transaction a bucket or fewer. The
	// returned slice has one entry a result: nil, or models.ErrLeaseLost where the result was discarded. An error
	// says that nothing is known to be written; committing the same results again is harmless.
	Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error)

	// AddPages adds pages, due when they say, and leaves those that are known as they are; of a host at most so many are
	// known then, 0: without bound. It needs no lease.
	AddPages(ctx context.Context, now time.Time, found []models.Discovery, maxPerHost int) (models.Added, error)

	// CountRequisites counts again how many requisites the sites have. Commit and AddPages add no new ones to a site that has as many as
	// it may gather (models.MostRequisites), by the last count and what they added since.
	CountRequisites(ctx context.Context) error

	// Ready lists the buckets that have a host and when the earliest host of each is ready, the earliest first.
	Ready(ctx context.Context) ([]models.BucketReady, error)

	// Contents returns the first records of those of the digests that were seen before, by digest.
	Contents(ctx context.Context, digests []models.Digest) (map[models.Digest]models.Content, error)

	// Whereabouts returns where those of some pages are that are known.
	Whereabouts(ctx context.Context, pages []models.PageKey) (map[models.PageKey]models.Whereabouts, error)

	// Twins returns the pages that are filed under keys (models.Result.Filed), by key, at most models.TwinsPerKey of each:
	// the first by bucket and ID.
	Twins(ctx context.Context, keys []int64) (map[int64][]models.Twin, error)

	Learning
}

// Learning is the part of a Store that the adaptive policy needs.
type Learning interface {
	// Knowledge returns what was last written of a host (Result.Knowledge) and the host's Learned; nil where nothing was.
	Knowledge(ctx context.Context, bucket int16, host int64) (body []byte, learned int32, err error)

	// HostPages calls yield for each page of a host that is due at some time, in no particular order, until it returns
	// false. What it yields is only valid during the call, and yield must not call the store.
	HostPages(ctx context.Context, bucket int16, host int64, yield func(*models.Page) bool) error

	// Reschedule writes new due times and sets the ReadyAt of the hosts by them. A page that is gone, was visited since
	// (its Visits differ), was moved since (its DueAt differs), or is due by another rule than those of Rule.Movable or
	// never is left as it is: what somebody asked for is not lost.
	Reschedule(ctx context.Context, due []models.Due) error

	// Merge replaces the note of a name by what merge makes of it (nil where there is none yet), in one transaction
	// that no other Merge of the name runs beside. It calls merge again where the transaction must be tried again. A nil
	// result leaves the note as it is.
	Merge(ctx context.Context, name string, merge func(old []byte) []byte) error

	// Ahead lists at most limit of the buckets that have a host whose pages may be visited early at now (see
	// ClaimRequest.Ahead), and when the first page of it is due, the earliest first. Who has a visit to spare while
	// nothing is due claims from one of these buckets, with a later ClaimRequest.Ahead: then the page that is due next is
	// visited next, or, where that is a list, one behind it.
	Ahead(ctx context.Context, now time.Time, limit int) ([]models.BucketReady, error)

	// PagesBySite counts the pages of each site that a budget pays for (models.PageState.Paid).
	PagesBySite(ctx context.Context) (map[int32]int64, error)

	// LinksFrom lists at most limit links whose parents lie in the bucket, in the order of their keys, from the one
	// behind after on; the zero Link is before all.
	LinksFrom(ctx context.Context, bucket int16, after models.Link, limit int) ([]models.Link, error)

	// SetImportance writes the importance of pages; those that do not exist are left out. Commit never writes it, so
	// that a visit under way does not bring the old one back.
	SetImportance(ctx context.Context, worths []models.Worth) error
}

// Visitor makes a visit. It always returns an Outcome: what cannot be fetched is an Outcome too. It is safe for
// concurrent use and returns soon after its context ends.
type Visitor interface {
	Visit(ctx context.Context, t models.Turn) models.Outcome
}

// Archive keeps the bodies of versions. It is safe for concurrent use.
type Archive interface {
	// Append writes a record and says where it lies. Where Capture.Seen is set, a reference to that record is
	// written in place of the body.
	Append(c models.Capture) (models.Record, error)

	// Sync makes everything appended so far durable. After an error nothing may be acknowledged.
	Sync() error
}
