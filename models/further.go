package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Handed is how far the due pages of a leased host are handed out: up to that of this ID, due at DueAt.
type Handed struct {
	Bucket int16
	HostID int64
	DueAt  Instant
	PageID int64
}

// HandedOut is how far the pages of a lease are handed out of which this is the last.
func HandedOut(p *Page) Handed {
	return Handed{Bucket: p.Bucket, HostID: p.HostID, DueAt: p.DueAt, PageID: p.ID}
}

// Further reads the pages of leased hosts that are due at now behind those that are handed out, at most limit of each host,
// in the order in which a claim has them: so a lease goes on while the results of its first pages are still on their way.
// The answer has one entry for each of the hosts, of which none is named twice. Nothing is written: it is the lease that
// keeps others from the host, and whoever asks must hold it.
func (s *Store) Further(ctx context.Context, now time.Time, limit int, hosts []Handed) ([][]LeasedPage, error) {
	f := further{store: s, by: At(now), limit: limit, pages: make(map[rowKey][]LeasedPage, len(hosts))}
	for _, group := range f.transactions(hosts) {
		if err := f.read(ctx, group); err != nil {
			return nil, fmt.Errorf("read further due pages: %w", err)
		}
	}
	out := make([][]LeasedPage, len(hosts))
	for i, h := range hosts {
		out[i] = f.pages[rowKey{h.Bucket, h.HostID}]
		slices.SortStableFunc(out[i], func(a, b LeasedPage) int {
			return cmp.Or(cmp.Compare(a.DueAt, b.DueAt), cmp.Compare(a.ID, b.ID))
		})
	}
	return out, nil
}

// further is a reading of due pages.
type further struct {
	store *Store
	by    Instant
	limit int
	pages map[rowKey][]LeasedPage
}

// transactions groups hosts by shard where that is a server's own matter, and else by bucket.
func (f *further) transactions(hosts []Handed) [][]Handed {
	if len(hosts) == 0 {
		return nil
	}
	if !f.store.sharded {
		return [][]Handed{hosts}
	}
	groups := make(map[int64][]Handed)
	for _, h := range hosts {
		group := f.store.shard(h.Bucket)
		if f.store.placement(h.Bucket) == nil {
			group = int64(h.Bucket)
		}
		groups[group] = append(groups[group], h)
	}
	return byKey(groups)
}

// read reads the pages of some hosts. On PostgreSQL it takes a transaction, for the plans that one keeps to; SQLite's
// readers need none, and have no wait for the writer.
func (f *further) read(ctx context.Context, hosts []Handed) error {
	if f.store.dialect != postgresDialect {
		return f.ask(ctx, f.store.asker(), hosts)
	}
	err := f.store.inShard(ctx, hosts[0].Bucket, func(t *tx) error {
		for _, h := range hosts {
			delete(f.pages, rowKey{h.Bucket, h.HostID}) // of an earlier attempt
		}
		return f.ask(ctx, t.asker(), hosts)
	})
	if err == nil {
		f.store.sharesFar(ctx, f.leases(hosts))
	}
	return err
}

func (f *further) ask(ctx context.Context, ask asker, hosts []Handed) error {
	if err := f.due(ctx, ask, hosts); err != nil {
		return err
	}
	return f.store.shares(ctx, ask, f.leases(hosts))
}

// leases is the pages as if they had been leased.
func (f *further) leases(hosts []Handed) []Lease {
	leases := make([]Lease, len(hosts))
	for i, h := range hosts {
		leases[i].Pages = f.pages[rowKey{h.Bucket, h.HostID}]
	}
	return leases
}

// furtherOfMany is the due pages of many hosts on a PostgreSQL of one node (see source.pages). Index: pages_due, once a host.
var furtherOfMany = `SELECT ` + pageTable.prefixed("p.") + ` FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) u (h, d, i)
	CROSS JOIN LATERAL (SELECT * FROM pages p WHERE p.host_id = u.h AND p.due_at > 0
	AND (p.due_at, p.id) > (u.d, u.i) AND p.due_at <= $4 ORDER BY p.due_at, p.id LIMIT $5) p`

// furtherOfOne is the due pages of one host. Index: pages_due.
var furtherOfOne = `SELECT ` + pageTable.prefixed("") + ` FROM pages WHERE bucket = $1 AND host_id = $2 AND due_at > 0
	AND (due_at, id) > ($3, $4) AND due_at <= $5 ORDER BY due_at, id LIMIT $6`

func (f *further) due(ctx context.Context, ask asker, hosts []Handed) error {
	read := readPages(f.pages)
	if ask.wide() {
		ids, due, last := make([]int64, len(hosts)), make([]int64, len(hosts)), make([]int64, len(hosts))
		for i, h := range hosts {
			ids[i], due[i], last[i] = h.HostID, int64(h.DueAt), h.PageID
		}
		rows, err := ask.rows(ctx, furtherOfMany, ids, due, last, int64(f.by), f.limit)
		return eachRow(rows, err, read)
	}
	for _, h := range hosts {
		rows, err := ask.rows(ctx, furtherOfOne, h.Bucket, h.HostID, int64(h.DueAt), h.PageID, int64(f.by), f.limit)
		if err := eachRow(rows, err, read); err != nil {
			return err
		}
	}
	return nil
}
