package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
	for _, p := range found {
		names[rowKey{p.row.Bucket, p.row.HostID}] = p.host
	}
	if err := q.create(ctx, names); err != nil {
		return sum, fmt.Errorf("add hosts: %w", err)
	}
	slices.SortStableFunc(found, func(a, b *placed) int { return cmp.Compare(a.row.Bucket, b.row.Bucket) })
	fresh, err := q.unknown(ctx, found, limit, &sum)
	if err != nil {
		return sum, fmt.Errorf("look up pages: %w", err)
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

// unknown is those of the pages that are to be added. Every insertion holds the lock of the page's host, so none of them
// can appear meanwhile.
func (q *queue) unknown(ctx context.Context, pages []*placed, limit int, sum *Added) ([]Page, error) {
	known, err := q.known(ctx, pages)
	if err != nil {
		return nil, err
	}
	fresh := make([]Page, 0, len(pages)-min(len(known), len(pages)))
	room := make(map[rowKey]int32)
	for _, p := range pages {
		host, key := rowKey{p.row.Bucket, p.row.HostID}, rowKey{p.row.Bucket, p.row.ID}
		if _, ok := room[host]; !ok {
			room[host] = int32(limit) - q.get(host.bucket, host.id).Pages
		}
		url, exists := known[key]
		switch {
		case exists && url == p.row.URL:
			sum.Known++
		case exists, limit > 0 && room[host] <= 0:
			sum.Dropped++
		default:
			known[key] = p.row.URL
			room[host]--
			fresh = append(fresh, p.row)
		}
	}
	return fresh, nil
}

// known reads the URLs of those of the pages that exist.
func (q *queue) known(ctx context.Context, pages []*placed) (map[rowKey]string, error) {
	keys := make([]rowKey, len(pages))
	for i, p := range pages {
		keys[i] = rowKey{p.row.Bucket, p.row.ID}
	}
	known := make(map[rowKey]string, len(pages))
	// Index: the primary key.
	err := q.tx.byKeys(ctx, keys, keyed{table: "pages", column: "id", statement: func(from source) string {
		return `SELECT k.bucket, k.id, k.url FROM ` + from.from
	}}, func(rows answer) error {
		var key rowKey
		var url string
		err := rows.Scan(&key.bucket, &key.id, &url)
		known[key] = url
		return err
	})
	return known, err
}
