package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// addRows is how many pages a transaction of an import takes.
const addRows = 10000

// AddPages adds pages, with at most maxPerHost on a host (0: no limit), and the hosts that they need. Known pages are
// left as they are, and of requisites no more are added than Options.Requisites allows. Where neither DueAt nor Rule is set, a page is due at now. It is meant for many pages at a time, some
// ten thousand, and is fastest where they are of few buckets: then the indexes are written in few places. After an error
// some of them may have been added; adding them again is harmless.
func (s *Store) AddPages(ctx context.Context, now time.Time, found []Discovery, maxPerHost int) (Added, error) {
	var sum Added
	rows := place(found)
	// Shard by shard and bucket by bucket, for the sake of the indexes, and the pages of a host side by side: they are claimed
	// and visited together. Repetitions in the order of the list.
	slices.SortStableFunc(rows, func(a, b placed) int {
		return cmp.Or(cmp.Compare(s.shard(a.page.bucket), s.shard(b.page.bucket)), compareKeys(a.host, b.host), compareKeys(a.page, b.page))
	})
	for len(rows) > 0 {
		batch := rows[:s.addable(rows)]
		var added Added
		err := s.inShard(ctx, batch[0].page.bucket, func(t *tx) error {
			for i := range batch {
				if err := t.covers(batch[0].page.bucket, batch[i].page.bucket); err != nil {
					return err
				}
			}
			q := newQueue(t)
			a := addition{queue: q, now: now, limit: maxPerHost}
			var err error
			if added, err = a.run(ctx, batch); err != nil {
				return err
			}
			return q.end(ctx)
		})
		if errors.Is(err, errSplit) {
			continue
		}
		if err != nil {
			return sum, fmt.Errorf("add pages: %w", err)
		}
		rows = rows[len(batch):]
		sum.Added += added.Added
		sum.Known += added.Known
		sum.Dropped += added.Dropped
	}
	return sum, nil
}

// addable is how many of the pages, at least one, are for one transaction.
func (s *Store) addable(rows []placed) int {
	n := min(len(rows), addRows)
	shard := s.shard(rows[0].page.bucket)
	if other := slices.IndexFunc(rows[:n], func(p placed) bool { return s.shard(p.page.bucket) != shard }); other > 0 {
		return other
	}
	return n
}
