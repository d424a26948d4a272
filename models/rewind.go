package models

import (
	"context"
	"fmt"
	"time"
)

// Rewinding is what Rewind is told of what the store does not look into. Each function gets a moment's way back, which leaves a
// moment alone that has passed.
type Rewinding struct {
	Now      time.Time                         // by a clock that is right
	RetryMax time.Duration                     // the longest that a server can have asked us to stay away
	Interval func(*Page) time.Duration         // from one visit of a page to the next
	Known    func([]byte, Back) []byte         // what is known of a host
	Noise    func([]byte, Back) []byte         // what is remembered of a host's noise
	Note     func(string, []byte, Back) []byte // of a name; an empty one is removed
}

// Back is the way back from a clock that was ahead. By is how far, as far as the database tells: where the clock ran on at its
// pace, what lay apart lies apart as much afterwards.
type Back struct{ Now, By Instant }

// Moment is when it was by the right clock: never after Now. What has passed by it stays as it is.
func (b Back) Moment(at Instant) Instant {
	if at <= b.Now {
		return at
	}
	return min(at-b.By, b.Now)
}

// Time is Moment for a time.
func (b Back) Time(at time.Time) time.Time {
	if !at.After(b.Now.Time()) {
		return at
	}
	return b.Moment(At(at)).Time()
}

// Rewound is how many rows of each table Rewind changed or, of workers, removed.
type Rewound map[string]int64

// Rewind brings back what was written by a clock that was ahead, so that no moment in the database which has to have passed lies
// after now: in rows, in what is known of hosts, and in notes. Pages that were visited then, or are due later than their
// interval allows, become due within it, each at a moment of its own. Leases end, robots.txt files that were fetched then are
// asked for again, and the rows of workers from then go. It works in slices, and once more changes nothing. No worker may be
// alive.
func (s *Store) Rewind(ctx context.Context, r Rewinding) (Rewound, error) {
	newest, err := s.NewestInstant(ctx)
	if err != nil {
		return nil, err
	}
	w := rewinder{store: s, Rewinding: r, back: Back{Now: At(r.Now)}, done: make(Rewound)}
	w.back.By = max(newest-w.back.Now, 0)
	if _, err := s.Deliver(ctx, max(newest, w.back.Now).Time().AddDate(100, 0, 0)); err != nil {
		return nil, fmt.Errorf("rewind: %w", err)
	}
	for bucket := range int16(Buckets) {
		if err := w.bucket(ctx, bucket); err != nil {
			return w.done, fmt.Errorf("rewind bucket %d: %w", bucket, err)
		}
	}
	// The workers last: their beats say how far the clock was ahead, should this be cut off.
	for _, step := range []func(context.Context) error{w.notes, w.days, w.everywhere} {
		if err := step(ctx); err != nil {
			return w.done, fmt.Errorf("rewind: %w", err)
		}
	}
	return w.done, nil
}

// rewinder is a Rewind under way.
type rewinder struct {
	Rewinding
	store *Store
	back  Back
	done  Rewound
}

func (w *rewinder) bucket(ctx context.Context, bucket int16) error {
	for _, step := range []func(context.Context, int16) error{w.history, w.events, w.pages, w.known, w.noise, w.hosts} {
		if err := step(ctx, bucket); err != nil {
			return err
		}
	}
	return nil
}

// moment is the expression that brings a column back; $2 is now and $3 how far the clock was ahead.
func moment(column string) string {
	return column + " = CASE WHEN " + column + " <= $2 THEN " + column + " WHEN " + column + " - $3 < $2 THEN " + column + " - $3 ELSE $2 END"
}

// write runs a statement on a table in a transaction of its own, with now and the distance as $2 and $3.
func (w *rewinder) write(ctx context.Context, table string, bucket int16, query string, args ...any) error {
	var n int64
	err := w.store.inTx(ctx, func(t *tx) (err error) {
		n, err = t.exec(ctx, query, append([]any{bucket, int64(w.back.Now), int64(w.back.By)}, args...)...)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	w.done[table] += n
	return nil
}

// history brings back visits and versions, page by page, and what else is written once of a bucket.
func (w *rewinder) history(ctx context.Context, bucket int16) error {
	for _, table := range []string{"visits", "versions"} {
		for after := beforeAll; after < afterAll; {
			upTo, err := w.store.sliceEnd(ctx, table, bucket, after, sliceRows)
			if err == nil { // Index: the primary key.
				err = w.write(ctx, table, bucket, "UPDATE "+table+" SET "+moment("at")+
					" WHERE bucket = $1 AND page_id > $4 AND page_id <= $5 AND at > $2", after, upTo)
			}
			if err != nil {
				return err
			}
			after = upTo
		}
	}
	if err := w.write(ctx, "contents", bucket, "UPDATE contents SET "+moment("at")+" WHERE bucket = $1 AND at > $2"); err != nil {
		return err
	}
	// A file that was fetched then is asked for again.
	return w.write(ctx, "robots", bucket, "UPDATE robots SET expires_at = CASE WHEN expires_at > $2 THEN $2 ELSE expires_at END, "+
		moment("fetched_at")+", "+moment("good_at")+" WHERE bucket = $1 AND (fetched_at > $2 OR good_at > $2)")
}

// events brings back the events of a bucket, slice by slice of their numbers.
func (w *rewinder) events(ctx context.Context, bucket int16) error {
	rows, err := w.store.rows(ctx, `SELECT COALESCE(MIN(seq), 1) FROM events WHERE bucket = $1 UNION ALL
		SELECT next_seq FROM buckets WHERE bucket = $1`, bucket)
	if err != nil {
		return err
	}
	ends, err := scanIDs(rows)
	if err != nil || len(ends) < 2 {
		return err
	}
	for from := min(ends[0], ends[1]); err == nil && from < max(ends[0], ends[1]); from += sliceRows { // Index: the primary key.
		err = w.write(ctx, "events", bucket, "UPDATE events SET "+moment("at")+", "+moment("not_before")+", "+moment("not_after")+
			" WHERE bucket = $1 AND seq >= $4 AND seq < $5 AND (at > $2 OR not_before > $2 OR not_after > $2)", from, from+sliceRows)
	}
	return err
}

// pages brings back the pages of a bucket.
func (w *rewinder) pages(ctx context.Context, bucket int16) error {
	for after, more := int64(-1), true; more; {
		next, n := after, 0
		err := w.store.inTx(ctx, func(t *tx) error {
			read := func() ([]Page, error) { // Index: the primary key.
				return pageTable.scan(t.rows(ctx, "SELECT "+pageTable.prefixed("")+
					" FROM pages WHERE bucket = $1 AND id > $2 ORDER BY id LIMIT $3", bucket, after, sliceRows))
			}
			pages, err := read()
			if more = len(pages) == sliceRows; err != nil || len(pages) == 0 {
				return err
			}
			next = pages[len(pages)-1].ID
			var hosts []rowKey
			for _, p := range w.wrong(pages) {
				hosts = append(hosts, rowKey{bucket, p.HostID})
			}
			q := newQueue(t)
			if err := q.lock(ctx, hosts); err != nil || len(hosts) == 0 {
				return err
			}
			if pages, err = read(); err != nil { // as they are now that nobody writes them
				return err
			}
			var wrong []Page
			for _, p := range w.wrong(pages) {
				if q.get(bucket, p.HostID) != nil && p.ID <= next {
					wrong = append(wrong, p)
				}
			}
			n = len(wrong)
			return pageTable.update(ctx, t, wrong)
		})
		if err != nil {
			return fmt.Errorf("pages: %w", err)
		}
		after, w.done["pages"] = next, w.done["pages"]+int64(n)
	}
	return nil
}

// wrong are those of the pages that a clock that was ahead wrote, as they shall be.
func (w *rewinder) wrong(pages []Page) []Page {
	var wrong []Page
	for _, p := range pages {
		if w.page(&p) {
			wrong = append(wrong, p)
		}
	}
	return wrong
}

// hosts ends all leases of a bucket and brings its hosts back: when they are ready follows from their pages.
func (w *rewinder) hosts(ctx context.Context, bucket int16) error {
	for after, more := int64(-1), true; more; {
		next, changed := after, 0
		err := w.store.inTx(ctx, func(t *tx) error {
			q := newQueue(t)
			err := q.load(ctx, `SELECT `+hostTable.list()+` FROM hosts WHERE bucket = $1 AND id > $2 ORDER BY id LIMIT $3 `+q.forUpdate(),
				bucket, after, sliceRows) // Index: the primary key.
			if more = len(q.hosts) == sliceRows; err != nil || len(q.hosts) == 0 {
				return err
			}
			keys := make([]rowKey, 0, len(q.hosts))
			for key := range q.hosts {
				keys, next = append(keys, key), max(next, key.id)
			}
			if err := q.settle(ctx, keys, w.host); err != nil {
				return err
			}
			changed = 0
			for _, h := range q.hosts {
				if h.Host != h.read {
					changed++
				}
			}
			return q.flush(ctx)
		})
		if err != nil {
			return fmt.Errorf("hosts: %w", err)
		}
		after, w.done["hosts"] = next, w.done["hosts"]+int64(changed)
	}
	return nil
}
