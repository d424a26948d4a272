package models

import (
	"context"
	"iter"
	"time"
)

// What reports and commands read. The rows are narrower than the tables: a report passes over all pages.

// PageSummary is the part of a page that reports add up.
type PageSummary struct {
	SiteID      int32
	URL         string
	State       PageState
	ContentType string
	FRMax       int32
	Visits      int32
	Records     int32
	Changes     int32 // of the content
	ByteChanges int32 // of the bytes
	DuplicateOf bool  // its content is visited under another URL
	FirstAt     Instant
	VisitedAt   Instant
}

// SiteState counts the pages of a site in one state.
type SiteState struct {
	SiteID     int32
	State      PageState
	Pages      int64
	Failing    int64   // with failures in a row
	Requisites int64   // that pages need to be shown
	Due        int64   // due at the moment asked for
	NextAt     Instant // the earliest due time; 0: none
	PerDay     float64 // visits a day at the present intervals
	PutOff     int64   // put off for the sake of a budget (RuleBudget)
	NoPlan     int64   // to be visited, and have no interval yet: PerDay is without them
}

// Response counts the visits of one kind.
type Response struct {
	Kind   OutcomeKind
	Class  ErrorClass
	Status int16
	Visits int64
	Bytes  int64 // received, heads included
	Took   int64 // nanoseconds, all together
	LastAt Instant
}

// HostSummary is a host with what its robots.txt answered last.
type HostSummary struct {
	Host
	RobotsStatus int16         // of the newest answer of its origins; 0: none yet
	RobotsClass  ErrorClass    // why it could not be had
	RobotsDelay  time.Duration // Crawl-delay for us, clamped; 0: none
}

// EventCursor is the place of an event in the order newest first: by At, then Bucket, then Seq. The zero EventCursor
// is before the newest.
type EventCursor struct {
	At     Instant
	Bucket int16
	Seq    int64
}

// scan runs a query and yields once for each row, after its columns were written through the pointers in into. An error
// ends the sequence.
func (s *Store) scan(ctx context.Context, into []any, query string, args ...any) iter.Seq2[struct{}, error] {
	return func(yield func(struct{}, error) bool) {
		rows, err := s.rows(ctx, query, args...)
		if err != nil {
			yield(struct{}{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				yield(struct{}{}, err)
				return
			}
			if !yield(struct{}{}, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(struct{}{}, err)
		}
	}
}

// Plus adds the sums of two days; the site and the day are those of o.
func (d Daily) Plus(o Daily) Daily {
	o.Asked += d.Asked
	o.NotModified += d.NotModified
	o.Same += d.Same
	o.Changed += d.Changed
	o.First += d.First
	o.Moved += d.Moved
	o.Gone += d.Gone
	o.Failed += d.Failed
	o.Robots += d.Robots
	o.Skipped += d.Skipped
	o.Bytes += d.Bytes
	o.BytesSaved += d.BytesSaved
	o.Found += d.Found
	o.Lost += d.Lost
	o.FoundDays += d.FoundDays
	o.LostDays += d.LostDays
	return o
}
