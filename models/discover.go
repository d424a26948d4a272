package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// keys are those of the discovered page and of its host, which follow from its URL and its host's name. Where the page has
// them already, as it has from a visit, they are not computed once more.
func (d *Discovery) keys() (page, host rowKey) {
	name := Clean(d.Host)
	if p := &d.Page; p.ID != 0 && p.HostID != 0 && name == d.Host && Clean(p.URL) == p.URL {
		return rowKey{p.Bucket, p.ID}, rowKey{p.Bucket, p.HostID}
	}
	bucket := BucketOf(name)
	return rowKey{bucket, PageID(Clean(d.Page.URL))}, rowKey{bucket, HostID(name)}
}

// Row is the discovered page as a store writes it: with its keys, which it may have already if they are right, with text fit
// for every engine, and due at now where neither a due time nor a rule is set.
func (d *Discovery) Row(now time.Time) Page {
	page, host := d.keys()
	return d.row(now, page, host)
}

func (d *Discovery) row(now time.Time, page, host rowKey) Page {
	p := d.Page
	p.URL = Clean(p.URL)
	p.Bucket, p.HostID, p.ID = page.bucket, host.id, page.id
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
	Dropped int // beyond the limit of pages a host or of requisites a site, or with the ID of another URL
}

// discover adds the results' discovered pages that the transaction may write: those of a result's own bucket first, as
// where the others come later. Which of them are known is remembered from commit to commit.
func (c *commit) discover(ctx context.Context) error {
	links := 0
	for _, r := range c.fresh {
		links += len(r.Discovered)
	}
	near, far := make([]placed, 0, links), []placed(nil)
	for _, r := range c.fresh {
		for i := range r.Discovered {
			r.Discovered[i].New = false // where this is another try
			switch p := placeOf(&r.Discovered[i]); {
			case p.page.bucket == r.Lease.Bucket:
				near = append(near, p)
			case c.holds(p.page.bucket):
				far = append(far, p)
			}
		}
	}
	a := addition{queue: c.queue, now: c.now, limit: c.tx.store.options.PagesPerHost, familiar: &c.tx.store.familiar}
	_, err := a.run(ctx, append(near, far...))
	c.met, c.grown = a.met, a.grown
	for _, p := range a.added {
		p.New = true
	}
	return err
}

// placed is a discovery with its keys.
type placed struct {
	*Discovery
	page, host rowKey
	print      uint64 // see familiar
}

func placeOf(d *Discovery) placed {
	page, host := d.keys()
	return placed{Discovery: d, page: page, host: host}
}

// place finds the keys of discoveries.
func place(found []Discovery) []placed {
	order := make([]placed, len(found))
	for i := range found {
		order[i] = placeOf(&found[i])
	}
	return order
}

// addition inserts pages that do not exist and the hosts that they need. A page that exists is left as it is, but that it is named again,
// or anew where it is gone.
type addition struct {
	queue    *queue
	now      time.Time
	limit    int              // of pages a host; 0: none
	familiar *familiar        // pages that need not be looked up; nil: all must be, and those with the ID of another URL are told apart
	met      []uint64         // pages that are to become familiar when the transaction has ended well
	grown    map[rowKey]int32 // how many pages the hosts have then that got some
	again    []Page           // that are known, and were unnamed until now
	added    []placed
}

func (a *addition) run(ctx context.Context, found []placed) (Added, error) {
	var sum Added
	names, anew := make(map[rowKey]string), make(map[rowKey]bool)
	for i := range found {
		p := &found[i]
		if i == 0 || p.host != found[i-1].host {
			names[p.host] = Clean(p.Host)
		}
		if p.Anew {
			anew[p.page] = true
		}
	}
	if err := a.queue.create(ctx, a.now, names); err != nil {
		return sum, fmt.Errorf("add hosts: %w", err)
	}
	if a.familiar != nil {
		n := len(found)
		found = a.familiar.others(a.queue, found)
		sum.Known = n - len(found)
	}
	slices.SortStableFunc(found, func(a, b placed) int { return cmp.Compare(a.page.bucket, b.page.bucket) })
	fresh, err := a.unknown(ctx, found, &sum)
	if err != nil {
		return sum, fmt.Errorf("look up pages: %w", err)
	}
	if err := a.queue.nameAgain(ctx, At(a.now), a.again); err != nil {
		return sum, fmt.Errorf("take note of named pages: %w", err)
	}
	a.grown = make(map[rowKey]int32)
	for i := range fresh {
		h := a.queue.get(fresh[i].Bucket, fresh[i].HostID)
		h.Pages++
		if fresh[i].Requisite {
			h.Requisites++
		}
		a.grown[rowKey{h.Bucket, h.ID}] = h.Pages
		h.Hasten(fresh[i].DueAt)
		a.queue.counts.page(fresh[i].Bucket, classOf(&fresh[i]), 1)
	}
	sum.Added = len(fresh)
	if err := pageTable.insertNew(ctx, a.queue.tx, fresh); err != nil {
		return sum, err
	}
	return sum, a.lookAgain(ctx, anew)
}

// unknown is those of the pages that are to be added. Every insertion holds the lock of the page's host, so none of them
// can appear meanwhile.
func (a *addition) unknown(ctx context.Context, pages []placed, sum *Added) ([]Page, error) {
	known, err := a.known(ctx, pages)
	if err != nil {
		return nil, err
	}
	added := make([]placed, 0, max(len(pages)-len(known), 0))
	room := make(map[rowKey]int32)
	for _, p := range pages {
		if _, ok := room[p.host]; !ok {
			room[p.host] = int32(a.limit) - a.queue.get(p.host.bucket, p.host.id).Pages
		}
		had, exists := known[p.page]
		switch {
		case exists && (a.familiar != nil || had.URL == Clean(p.Page.URL)):
			sum.Known++
			a.met = append(a.met, p.print)
			if had.UnnamedAt > 0 {
				had.Bucket, had.ID, had.HostID = p.page.bucket, p.page.id, p.host.id
				a.again = append(a.again, had)
			}
		case exists, a.limit > 0 && room[p.host] <= 0, !a.queue.tx.gathering.Add(&p.Page):
			sum.Dropped++
		default:
			added = append(added, p)
			known[p.page] = Page{URL: Clean(p.Page.URL)}
			room[p.host]--
			a.met = append(a.met, p.print)
		}
	}
	a.added = added
	return a.rows(added), nil
}

// rows are the pages as they are written: in the order in which they are claimed if all are due at one time, so that the rows of
// pages that are visited together lie together.
func (a *addition) rows(added []placed) []Page {
	slices.SortFunc(added, func(a, b placed) int { return cmp.Or(compareKeys(a.host, b.host), compareKeys(a.page, b.page)) })
	fresh := make([]Page, len(added))
	for i := range added {
		fresh[i] = added[i].row(a.now, added[i].page, added[i].host)
	}
	return fresh
}

// known reads those of the pages that exist: their URLs, and on hosts with requisites what tells whether they were unnamed; only that they
// do where pages with the ID of another URL are not told apart and the host has no requisite, which the index alone answers.
func (a *addition) known(ctx context.Context, pages []placed) (map[rowKey]Page, error) {
	keys, requisites := make([]rowKey, len(pages)), false
	for i := range pages {
		keys[i] = pages[i].page
		requisites = requisites || a.queue.get(pages[i].host.bucket, pages[i].host.id).Requisites > 0
	}
	url, named := "k.url", "0, 0, ''"
	if a.familiar != nil {
		url = "''"
	}
	if requisites {
		named = "COALESCE(k.unnamed_at,0), k.rule, k.content_type"
	}
	known := make(map[rowKey]Page)
	// Index: the primary key.
	err := a.queue.tx.byKeys(ctx, keys, keyed{table: "pages", column: "id", statement: func(from source) string {
		return `SELECT k.bucket, k.id, ` + url + `, ` + named + ` FROM ` + from.from
	}}, func(rows answer) error {
		var key rowKey
		var p Page
		err := rows.Scan(&key.bucket, &key.id, &p.URL, &p.UnnamedAt, &p.Rule, &p.ContentType)
		known[key] = p
		return err
	})
	return known, err
}
