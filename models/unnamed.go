package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// A requisite that no page names any more, as the assets of the release before, is visited no more. Whether one is named only a pass over all
// copies tells, and visits go on beside it. So a pass first unnames it, and from then on whoever finds it named takes that back, in the
// transaction that says so. What stayed unnamed until a later pass did not find it either, is given up: nothing that was learned meanwhile can be.

// GivenUp tells whether the page is a requisite that is visited no more, or whose turn to be that comes next.
func (p *Page) GivenUp() bool { return p.Rule == RuleUnnamed }

// Unname is what becomes of a page that no copy was found to name, at a moment; false: nothing, it is no requisite or was unnamed before.
func (p *Page) Unname(now Instant) bool {
	if !p.Requisite || p.UnnamedAt > 0 {
		return false
	}
	p.UnnamedAt = now
	return true
}

// GiveUp is what becomes of a page that was still not named, where it has been unnamed since before then; false: nothing.
func (p *Page) GiveUp(now, before Instant) bool {
	if p.UnnamedAt == 0 || p.UnnamedAt > before || p.GivenUp() {
		return false
	}
	p.DueAt, p.Rule = now, RuleUnnamed
	return true
}

// NameAgain is what becomes of a page that is found to be named, where it was not (unnamed). What was given up is due, and so is what may name
// others: these were unnamed with it. Of an image that was not given up yet nothing need be asked.
func (p *Page) NameAgain(now Instant) (unnamed, due bool) {
	unnamed = p.UnnamedAt > 0 // as all are that were given up
	if due = unnamed && (p.GivenUp() || MayName(p.ContentType)); due {
		p.DueAt, p.Rule = now, RuleNamed
	}
	p.UnnamedAt = 0
	return unnamed, due
}

// MayName tells the media types of pages that name what they need. What came without one may be such a page.
func MayName(media string) bool {
	switch media {
	case "", "text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml":
		return true
	}
	return NamesAsRequisite(media)
}

// NamesAsRequisite tells the media types of requisites that name what they need: styles and scripts. Of a page in the place of one it is nobody's.
func NamesAsRequisite(media string) bool {
	switch media {
	case "text/css", "text/javascript", "application/javascript", "application/x-javascript":
		return true
	}
	return false
}

// Unname notes that no copy names these requisites of a bucket (Page.Unname), by their IDs, and returns how many were named until then. Those
// that do not exist are left out, as by GiveUp and NameAgain.
func (s *Store) Unname(ctx context.Context, now Instant, bucket int16, ids []int64) (int, error) {
	return s.naming(ctx, bucket, ids, func(p *Page) bool { return p.Unname(now) }, func(q *queue, pages []Page) error {
		for i := range pages {
			q.get(bucket, pages[i].HostID).Removals++ // what is familiar of it is looked up again, and found to be unnamed
		}
		return q.tx.mark(ctx, bucket, idsOf(pages), `unnamed_at = $3`, int64(now))
	})
}

// GiveUp has those of the pages of a bucket visited no more that are unnamed since before then (Page.GiveUp): they are due now, for a turn that
// asks nothing. It returns how many.
func (s *Store) GiveUp(ctx context.Context, now, before Instant, bucket int16, ids []int64) (int, error) {
	return s.naming(ctx, bucket, ids, func(p *Page) bool { return p.GiveUp(now, before) }, func(q *queue, pages []Page) error {
		for i := range pages {
			q.get(bucket, pages[i].HostID).Hasten(now)
		}
		return q.tx.mark(ctx, bucket, idsOf(pages), `due_at = $3, rule = $4`, int64(now), int16(RuleUnnamed))
	})
}

// NameAgain notes that pages of a bucket are named (Page.NameAgain), and returns how many were not. AddPages and Commit do so for all that
// they are given or discover.
func (s *Store) NameAgain(ctx context.Context, now Instant, bucket int16, ids []int64) (int, error) {
	unnamed := func(p *Page) bool { is, _ := p.NameAgain(now); return is }
	return s.naming(ctx, bucket, ids, unnamed, func(q *queue, pages []Page) error { return q.nameAgain(ctx, now, pages) })
}

// naming writes those of the pages of a bucket that change, in slices of lostRows, with their hosts locked.
func (s *Store) naming(ctx context.Context, bucket int16, ids []int64, changes func(*Page) bool, write func(*queue, []Page) error) (sum int, err error) {
	for some := range slices.Chunk(distinct(ids), lostRows) {
		n := 0
		err := s.inShard(ctx, bucket, func(t *tx) error {
			refs, err := t.refs(ctx, `SELECT id, host_id FROM pages WHERE bucket = $1 AND id = ANY($2)`, bucket, some) // Index: the primary key.
			if err != nil {
				return err
			}
			hosts := make([]rowKey, len(refs))
			for i, p := range refs {
				hosts[i] = rowKey{bucket, p.host}
			}
			q := newQueue(t)
			if err := q.lock(ctx, hosts); err != nil {
				return err
			}
			pages, err := t.nameable(ctx, bucket, some)
			if err != nil {
				return err
			}
			pages = slices.DeleteFunc(pages, func(p Page) bool { return q.get(bucket, p.HostID) == nil || !changes(&p) })
			if n = len(pages); n == 0 {
				return nil
			}
			if err := write(q, pages); err != nil {
				return err
			}
			return q.flush(ctx)
		})
		if err != nil {
			return sum, fmt.Errorf("note which pages are named: %w", err)
		}
		sum += n
	}
	return sum, nil
}

// nameable reads, of pages of a bucket, the columns by which they are named or not.
func (t *tx) nameable(ctx context.Context, bucket int16, ids []int64) (pages []Page, err error) {
	// Index: the primary key.
	rows, err := t.rows(ctx, `SELECT id, host_id, rule, content_type, COALESCE(requisite,false), COALESCE(unnamed_at,0) FROM pages
		WHERE bucket = $1 AND id = ANY($2)`, bucket, ids)
	err = eachRow(rows, err, func(rows answer) error {
		p := Page{Bucket: bucket}
		err := rows.Scan(&p.ID, &p.HostID, &p.Rule, &p.ContentType, &p.Requisite, &p.UnnamedAt)
		pages = append(pages, p)
		return err
	})
	return pages, err
}

// nameAgain writes that pages of locked hosts, as they were, are named.
func (q *queue) nameAgain(ctx context.Context, now Instant, pages []Page) error {
	known, due := make(map[int16][]int64), make(map[int16][]int64)
	for _, p := range pages {
		if _, at := p.NameAgain(now); !at {
			known[p.Bucket] = append(known[p.Bucket], p.ID)
			continue
		}
		due[p.Bucket] = append(due[p.Bucket], p.ID)
		if h := q.get(p.Bucket, p.HostID); h != nil {
			h.Hasten(now)
			h.Ask(now)
		}
	}
	for _, bucket := range slices.Sorted(maps.Keys(known)) {
		if err := q.tx.mark(ctx, bucket, known[bucket], `unnamed_at = $3`, int64(0)); err != nil {
			return err
		}
	}
	for _, bucket := range slices.Sorted(maps.Keys(due)) {
		err := q.tx.mark(ctx, bucket, due[bucket], `unnamed_at = $3, due_at = $4, rule = $5`, int64(0), int64(now), int16(RuleNamed))
		if err != nil {
			return err
		}
	}
	return nil
}

func idsOf(pages []Page) []int64 {
	ids := make([]int64, len(pages))
	for i := range pages {
		ids[i] = pages[i].ID
	}
	return ids
}
