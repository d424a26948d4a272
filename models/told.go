package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// ListLevel is the level of a list that a robots.txt names.
const ListLevel = 1

// Listing is what a list of pages, a sitemap or a feed, says that its copy before did not say.
type Listing struct {
	Index   bool    // of sitemaps
	Entries int32   // pages that it names and its site keeps
	Told    []Told  // pages of its host that it says to have changed
	Gone    []Told  // likewise where those count alone that are known: those that are gone
	Named   []int64 // IDs of pages of its host that it names, where those count alone that are known; nil: new ones are added
}

// Told is a page that a list of its host says to have changed.
type Told struct {
	PageID int64
	Since  Instant // a visit before then has not seen the change: who was visited last then is marked. Later visits may have
	At     Instant // a visit from then on has seen the change
	Came   bool    // the copy of the list before did not name it
}

// Telling says what becomes of the pages that a reading of a list tells of: of those that were last visited before the change,
// some are brought forward, drawn by lot, and further ones are marked (Page.ToldAt).
type Telling struct {
	At      Instant // the reading; who is brought forward is due then
	Forward int     // most pages to bring forward
	Marked  int     // most pages that are marked and not brought forward
}

// toldMoves are the rules that a list may move a page from. The others wait for something else than a change: their time
// stays as it is, and so does that of what the budget has paid for.
var toldMoves = []Rule{RulePolicy, RuleHint, RuleWindow, RuleParent, RuleList}

// Tells chooses, among the pages that the result's list tells of as they are now, those to bring forward and those to mark,
// by their IDs. A page of which a visit may have seen the change is brought forward after all others, and not marked: it
// proves nothing if it has not changed. Only live pages of the list's own host and site that were visited, but not since the change, are
// chosen; none that fails or is a duplicate is. It is pure.
func (r *Result) Tells(pages []Page) (forward, marked []int64) {
	of := make(map[int64]Told, len(r.Told))
	for _, t := range r.Told {
		t.Since, t.At = max(t.Since, of[t.PageID].Since), max(t.At, of[t.PageID].At)
		of[t.PageID] = t
	}
	chosen := slices.DeleteFunc(slices.Clone(pages), func(p Page) bool {
		seen := p.Stats.VisitedAt
		return p.ID == r.Page.ID || p.HostID != r.Lease.HostID || p.SiteID != r.Page.SiteID || p.State != StateLive ||
			p.Failures > 0 || p.Rule.OfDuplicate() || p.DueAt == 0 || seen == 0 || seen >= of[p.ID].At
	})
	slices.SortFunc(chosen, func(a, b Page) int {
		sureA, sureB := a.Stats.unseen(of[a.ID].Since), b.Stats.unseen(of[b.ID].Since)
		if sureA != sureB {
			return map[bool]int{true: -1, false: 1}[sureA]
		}
		return cmp.Or(cmp.Compare(lot(a.ID, r.Telling.At), lot(b.ID, r.Telling.At)), cmp.Compare(a.ID, b.ID))
	})
	chosen = slices.CompactFunc(chosen, func(a, b Page) bool { return a.ID == b.ID })
	alone := 0 // marked and not brought forward
	for i := range chosen {
		p := &chosen[i]
		sure := p.Stats.unseen(of[p.ID].Since)
		if p.DueAt > r.Telling.At && slices.Contains(toldMoves, p.Rule) && len(forward) < r.Telling.Forward {
			forward = append(forward, p.ID)
		} else if alone++; alone > r.Telling.Marked {
			continue
		}
		if sure {
			marked = append(marked, p.ID)
		}
	}
	return forward, marked
}

// unseen tells whether no visit has seen a change that came after a moment: none was made since, or those that were found the copy of
// before. Of a list that gives days alone each page was visited since the day began where it is visited daily.
func (s *ChangeStats) unseen(since Instant) bool {
	return s.VisitedAt < since || s.FirstAt > 0 && max(s.FirstAt, s.ChangedAt) < since
}

// lot spreads what is chosen over a host's pages, another choice at each reading (the finaliser of SplitMix64).
func lot(page int64, reading Instant) uint64 {
	x := uint64(page) ^ uint64(reading)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tell marks the pages that lists tell of, and brings some of them forward. They are pages of the leased hosts.
func (c *commit) tell(ctx context.Context) error {
	for _, r := range c.fresh {
		if len(r.Told) == 0 {
			continue
		}
		ids := make([]int64, len(r.Told))
		for i, t := range r.Told {
			ids[i] = t.PageID
		}
		pages, err := c.tx.toldPages(ctx, r.Lease.Bucket, ids)
		if err != nil {
			return fmt.Errorf("read pages that a list tells of: %w", err)
		}
		forward, marked := r.Tells(pages)
		at := int64(r.Telling.At)
		err = c.tx.mark(ctx, r.Lease.Bucket, marked, `told_at = $3`, at)
		if err == nil {
			err = c.tx.mark(ctx, r.Lease.Bucket, forward, `due_at = $3, rule = $4`, at, int16(RuleSitemap))
		}
		if err != nil {
			return fmt.Errorf("bring forward what a list tells of: %w", err)
		}
		h := c.queue.get(r.Lease.Bucket, r.Lease.HostID)
		if h == nil {
			continue
		}
		if len(forward) > 0 {
			h.Hasten(r.Telling.At)
		}
		if err := c.queue.lookAgain(ctx, r.Telling.At, r.Names(pages, !h.Trials.By[HintSitemap].Doubted())); err != nil {
			return err
		}
	}
	return nil
}

// toldPages reads, of pages of a bucket that somebody says something of and that exist, the columns that decide what becomes of them.
func (t *tx) toldPages(ctx context.Context, bucket int16, ids []int64) ([]Page, error) {
	var pages []Page
	for chunk := range slices.Chunk(distinct(ids), bulkRows) {
		// Index: the primary key.
		rows, err := t.rows(ctx, `SELECT id, host_id, site_id, state, COALESCE(failures,0), rule, due_at, visited_at, COALESCE(first_at,0), COALESCE(changed_at,0),
			COALESCE(tried_at,0), COALESCE(missing_since,0), COALESCE(named_at,0) FROM pages
			WHERE bucket = $1 AND id = ANY($2)`, bucket, chunk)
		err = eachRow(rows, err, func(rows answer) error {
			p := Page{Bucket: bucket}
			err := rows.Scan(&p.ID, &p.HostID, &p.SiteID, &p.State, &p.Failures, &p.Rule, &p.DueAt, &p.Stats.VisitedAt, &p.Stats.FirstAt, &p.Stats.ChangedAt,
				&p.TriedAt, &p.MissingSince, &p.NamedAt)
			pages = append(pages, p)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// mark sets columns of pages of a bucket, to values from $3 on.
func (t *tx) mark(ctx context.Context, bucket int16, ids []int64, sets string, values ...any) error {
	for chunk := range slices.Chunk(distinct(ids), bulkRows) {
		// Index: the primary key.
		_, err := t.exec(ctx, `UPDATE pages SET `+sets+` WHERE bucket = $1 AND id = ANY($2)`, append([]any{bucket, chunk}, values...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// distinct is each ID once, in order.
func distinct(ids []int64) []int64 {
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}
