package models

import (
	"context"
	"fmt"
	"time"
)

// Row is the discovered page as a store writes it: with the keys that follow from its host and its URL, with text fit
// for every engine, and due at now where neither a due time nor a rule is set.
func (d *Discovery) Row(now time.Time) Page {
	p := d.Page
	p.URL = Clean(p.URL)
	host := Clean(d.Host)
	p.Bucket, p.HostID, p.ID = BucketOf(host), HostID(host), PageID(p.URL)
	if p.State == 0 {
		p.State = StateNew
	}
	if p.Rule == 0 {
		p.Rule = RuleStart
		if p.DueAt == 0 {
			p.DueAt = At(now)
		}
	}
	p.FRMax = max(p.FRMax, 1)
	return p
}

// Added counts what became of discoveries.
type Added struct {
	Added   int // new pages
	Known   int // pages that were there already, and repetitions
	Dropped int // beyond the limit of pages a host, or with the ID of another URL
}

// discover adds the results' discovered pages that the transaction may write: those of a result's own bucket first, as
// where the others come later.
func (c *commit) discover(ctx context.Context) error {
	var near, far []Discovery
	for _, r := range c.fresh {
		for _, d := range r.Discovered {
			switch bucket := BucketOf(Clean(d.Host)); {
			case bucket == r.Lease.Bucket:
				near = append(near, d)
			case c.holds(bucket):
				far = append(far, d)
			}
		}
	}
	_, err := c.queue.discover(ctx, c.now, append(near, far...), c.tx.store.options.PagesPerHost)
	return err
}

// placed is a discovery with its row.
type placed struct {
	row  Page
	host string
}

// place makes the rows of discoveries.
func place(now time.Time, found []Discovery) []*placed {
	rows := make([]placed, len(found))
	order := make([]*placed, len(found))
	for i := range found {
		rows[i] = placed{found[i].Row(now), Clean(found[i].Host)}
		order[i] = &rows[i]
	}
	return order
}

// discover inserts pages that do not exist and the hosts that they need. A page that exists is left as it is.
func (q *queue) discover(ctx context.Context, now time.Time, found []Discovery, limit int) (Added, error) {
	return q.add(ctx, place(now, found), limit)
}

func (q *queue) add(ctx context.Context, found []*placed, limit int) (Added, error) {
	var sum Added
	names := make(map[rowKey]string)
	pages := make(map[int16][]*placed)
	for _, p := range found {
		names[rowKey{p.row.Bucket, p.row.HostID}] = p.host
		pages[p.row.Bucket] = append(pages[p.row.Bucket], p)
	}
	if err := q.create(ctx, names); err != nil {
		return sum, fmt.Errorf("add hosts: %w", err)
	}
	var fresh []Page
	for _, rows := range byKey(pages) {
		more, err := q.unknown(ctx, rows, limit, &sum)
		if err != nil {
			return sum, fmt.Errorf("look up pages: %w", err)
		}
		if fresh == nil {
			fresh = make([]Page, 0, len(found))
		}
		for _, p := range more {
			fresh = append(fresh, p.row)
		}
	}
	for i := range fresh {
		h := q.get(fresh[i].Bucket, fresh[i].HostID)
		h.Pages++
		h.Hasten(fresh[i].DueAt)
		q.counts.page(fresh[i].Bucket, classOf(&fresh[i]), 1)
	}
	sum.Added = len(fresh)
	return sum, pageTable.insertNew(ctx, q.tx, fresh)
}

// unknown is those of the pages of one bucket that are to be added. Every insertion holds the lock of the page's host,
// so none of them can appear meanwhile.
func (q *queue) unknown(ctx context.Context, pages []*placed, limit int, sum *Added) ([]*placed, error) {
	known, err := q.known(ctx, pages)
	if err != nil {
		return nil, err
	}
	var fresh []*placed
	room := make(map[int64]int32)
	for _, p := range pages {
		if _, ok := room[p.row.HostID]; !ok {
			room[p.row.HostID] = int32(limit) - q.get(p.row.Bucket, p.row.HostID).Pages
		}
		url, exists := known[p.row.ID]
		switch {
		case exists && url == p.row.URL:
			sum.Known++
		case exists, limit > 0 && room[p.row.HostID] <= 0:
			sum.Dropped++
		default:
			known[p.row.ID] = p.row.URL
			room[p.row.HostID]--
			fresh = append(fresh, p)
		}
	}
	return fresh, nil
}

// known reads the URLs of those of the pages of one bucket that exist.
func (q *queue) known(ctx context.Context, pages []*placed) (map[int64]string, error) {
	ids := make([]int64, len(pages))
	for i, p := range pages {
		ids[i] = p.row.ID
	}
	// Index: the primary key.
	rows, err := q.tx.rows(ctx, `SELECT id, url FROM pages WHERE bucket = $1 AND id = ANY($2)`, pages[0].row.Bucket, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := make(map[int64]string, len(pages))
	for rows.Next() {
		var id int64
		var url string
		if err := rows.Scan(&id, &url); err != nil {
			return nil, err
		}
		known[id] = url
	}
	return known, rows.Err()
}
