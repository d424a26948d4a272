package models

import "time"

// ClaimRequest asks a store for leases.
type ClaimRequest struct {
	Buckets []int16
	Now     time.Time
	Lease   time.Duration // from Now to Lease.Until
	Owner   string        // the worker's name, for a person
	Hosts   int           // at most so many leases in all
	Pages   int           // at most so many pages a host

	// Ahead, where it is later than Now, also leases hosts whose Ahead is set and that may be asked at Now (OpenAt and
	// BackoffUntil have passed), for their pages due until then.
	Ahead time.Time

	// Delay is the politeness delay of a host until its first visit is written.
	Delay time.Duration

	// Patient is the politeness delay from which on a host is leased for one page at a time, so that nobody holds a
	// lease only to wait.
	Patient time.Duration
}

// BucketReady says when a bucket's earliest host is ready.
type BucketReady struct {
	Bucket int16
	At     time.Time
}

// Turn is a page whose turn has come: what a visitor is asked to look at. The lease's robots rules come with it.
type Turn struct {
	Host   Host
	Robots []Robots
	Page   LeasedPage
	Now    time.Time
}

// Capture is an answer whose body shall be kept in the archive.
type Capture struct {
	URL     string
	Outcome Outcome
	Seen    *Content // an earlier record of the same body, or nil
}
