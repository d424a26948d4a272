package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Recent is the newest of the events that a query asks for, and how far the log was looked through for them: LookOn goes on from there. The
// zero value is before the first look. It is of one query, but for its Since. It is not safe for concurrent use; a copy is a Recent of
// its own.
//
// No index leads to the events of a site or a kind: it would cost each commit a third of what the event itself costs, for what is
// seldom asked. So what was looked through is remembered, and only what came since is read.
type Recent struct {
	at     FeedCursor       // behind the newest that were looked at
	behind [Buckets]int64   // those up to these were not yet
	read   [Buckets]Instant // the newest time in what was read last on the way back; 0: nothing was read
	back   Instant          // all that is not older was looked at; 0: before the first look
	found  []RecentEvent    // the newest first
}

// RecentEvent is an event, or the one that stands for those of a site that was removed.
type RecentEvent struct {
	Event
	Pages int64 // of the site that was removed, as far as was looked; else 1
}

// ID is the event's own, or that of the removal; also where more of that is found.
func (e RecentEvent) ID(log string) string {
	if e.Kind == EventRemoved {
		return fmt.Sprintf("%s-removed-%d-%d", log, e.SiteID, e.At)
	}
	return e.Event.ID(log)
}

// lookChunk is how many events are looked at once on the way back, to begin with.
const lookChunk int64 = 500

// firstLook is how far back is looked at once, at the least: then as far again as was looked by then, so that few events are looked at in
// vain where much happens, and no bucket is asked often where little does.
const firstLook = time.Hour

// LookOn looks at what came since the last look, and then further back until there are q.Limit events or q.Since is reached, at no more
// than most events: another call goes on. Where more came since, it begins anew. After an error, too, another call goes on.
func (s *Store) LookOn(ctx context.Context, now time.Time, q ChangesQuery, r *Recent, most int64) error {
	here, heads, err := s.unread(ctx)
	if err == nil {
		if r.back == 0 || r.at.hold(here.epoch, heads) != nil || r.since(heads) > most {
			r.begin(here.epoch, heads, At(now))
		}
		if err = s.lookForward(ctx, heads, q, r, &most); errors.Is(err, ErrCursorLost) {
			r.begin(here.epoch, heads, At(now))
			err = nil
		}
	}
	for err == nil && most > 0 && !r.done(q) {
		err = s.lookBack(ctx, max(q.Since, At(now.Add(-max(2*now.Sub(r.back.Time()), firstLook)))), q, r, &most)
	}
	if err != nil {
		return fmt.Errorf("look for the newest events: %w", err)
	}
	return nil
}

// Events are the newest events that were found, the newest first, at most q.Limit of those not older than q.Since. Back is how far back
// was looked for them; 0: far enough that none is missing.
func (r *Recent) Events(q ChangesQuery) (events []RecentEvent, back Instant) {
	for _, e := range r.found {
		if e.At >= max(r.back, q.Since) {
			events = append(events, e)
		}
	}
	if !r.done(q) {
		back = r.back
	}
	return events, back
}

// done tells whether no older events are asked for.
func (r *Recent) done(q ChangesQuery) bool {
	return r.back <= q.Since || len(r.found) == q.Limit && r.found[q.Limit-1].At >= r.back
}

// begin forgets all that was found.
func (r *Recent) begin(epoch uint32, heads map[int16]EventRef, now Instant) {
	*r = Recent{at: FeedCursor{epoch: epoch}, back: now + 1}
	for bucket, head := range heads {
		r.at.move(bucket, head)
		r.behind[bucket] = head.Seq
	}
}

// since is how many events came since the last look.
func (r *Recent) since(heads map[int16]EventRef) (n int64) {
	for bucket, seq := range r.at.seqs {
		n += heads[int16(bucket)].Seq - seq
	}
	return n
}

// lookForward looks at what came since the last look. It returns ErrCursorLost where that was behind an event that is another one now.
func (s *Store) lookForward(ctx context.Context, heads map[int16]EventRef, q ChangesQuery, r *Recent, most *int64) error {
	for bucket := range int16(Buckets) {
		for last := r.at.seqs[bucket]; last < heads[bucket].Seq; last = r.at.seqs[bucket] {
			upTo := EventRef{Seq: min(heads[bucket].Seq, last+lastChunk)}
			events, err := s.eventsWithin(ctx, bucket, last-1, upTo.Seq, q)
			if err != nil {
				return err
			}
			if n := len(events) - 1; n >= 0 && events[n].Seq == last { // else it was pruned
				if !r.at.fits(events[n].Ref(), bucket) {
					return ErrCursorLost
				}
				events = events[:n]
			}
			if len(events) > 0 && events[0].Seq == upTo.Seq { // else all were pruned
				upTo = events[0].Ref()
			}
			r.add(events, q)
			*most -= upTo.Seq - last
			r.at.move(bucket, upTo)
		}
	}
	return nil
}

// lookBack looks through each bucket from where it was left, until a whole chunk is older than a moment: times grow with the numbers
// but for what batches of visits that ended together may differ.
func (s *Store) lookBack(ctx context.Context, until Instant, q ChangesQuery, r *Recent, most *int64) error {
	for bucket := range int16(Buckets) {
		rest, read := &r.behind[bucket], &r.read[bucket]
		for size := min(lookChunk, *most); *rest > 0 && (*read == 0 || *read >= until); size = min(2*size, lastChunk) {
			if *most <= 0 {
				return nil
			}
			above := max(0, *rest-size)
			events, err := s.eventsWithin(ctx, bucket, above, *rest, q)
			if err != nil {
				return err
			}
			r.add(events, q)
			*most, *rest = *most-(*rest-above), above
			if len(events) == 0 { // what there is before was pruned
				*rest = 0
				break
			}
			*read = slices.MaxFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) }).At
		}
	}
	if r.back = until; r.behind == [Buckets]int64{} {
		r.back = 1 // there is nothing older
	}
	return nil
}

// eventsWithin reads what a query may ask for of a bucket's log above one number up to another, the newest first; the newest and the
// oldest of all these in any case, for their times. To read events there and to leave them takes a seventh of what it takes to have
// them here.
func (s *Store) eventsWithin(ctx context.Context, bucket int16, above, upTo int64, q ChangesQuery) ([]Event, error) {
	query, args := q.within(bucket, above, upTo)
	return eventTable.scan(s.rows(ctx, query+` DESC`, args...))
}

// within selects what a query may ask for of a bucket's log above one number up to another, the first two and the last of all these in any
// case, in order.
func (q ChangesQuery) within(bucket int16, above, upTo int64) (query string, args []any) {
	asked, args := q.condition(bucket, above, upTo)
	// Index: the primary key.
	return "SELECT " + eventTable.list() + ` FROM events WHERE bucket = $1 AND seq > $2 AND seq <= $3
		AND (seq <= $2 + 2 OR seq = $3 OR ` + asked + `) ORDER BY seq`, args
}

// condition is of all events that match, and of others only for their times and their order; with its arguments after some others.
func (q ChangesQuery) condition(args ...any) (string, []any) {
	asked := "TRUE"
	if !q.Requisites {
		asked = "NOT requisite"
	}
	arg := func(value any) string {
		args = append(args, value)
		return fmt.Sprintf("$%d", len(args))
	}
	if len(q.Sites) > 0 {
		asked += " AND site_id = ANY(" + arg(q.Sites) + ")"
	}
	if len(q.Kinds) > 0 {
		kinds := make([]int16, len(q.Kinds))
		for i, k := range q.Kinds {
			kinds[i] = int16(k)
		}
		asked += " AND kind = ANY(" + arg(kinds) + ")"
	}
	if q.Weight > 0 {
		asked += fmt.Sprintf(" AND (significance >= %s OR significance = 0 AND reasons = 0 OR kind NOT IN (%d, %d))", arg(q.Weight),
			EventChanged, EventRefreshed)
	}
	return asked, args
}

// add keeps of some events the newest that a query asks for.
func (r *Recent) add(events []Event, q ChangesQuery) {
	r.found = slices.Clone(r.found) // a copy has its own
	for _, e := range events {
		if q.Matches(e) && !r.gather(e) {
			r.found = append(r.found, RecentEvent{e, 1})
		}
	}
	slices.SortFunc(r.found, func(a, b RecentEvent) int { return newestFirst(a.Event, b.Event) })
	r.found = r.found[:min(len(r.found), q.Limit)]
}

// gather counts the removal of a page with the others of its site, of which one tells: those that were removed together have one time.
func (r *Recent) gather(e Event) bool {
	if e.Kind != EventRemoved {
		return false
	}
	i := slices.IndexFunc(r.found, func(f RecentEvent) bool { return f.Kind == e.Kind && f.SiteID == e.SiteID && f.At == e.At })
	if i >= 0 {
		r.found[i].Pages++
	}
	return i >= 0
}
