package models

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// parcel is what a commit in one bucket found out for hosts of another: its target. It is written with the commit and
// delivered in a transaction of the target's bucket; then it is removed. Who dies in between leaves it to Deliver, and
// delivering it twice is harmless: a page that exists stays as it is, and a child that was visited since is not brought
// forward again; one that is filed under what it said once is looked at in vain.
type parcel struct {
	bucket, target int16
	id             int64 // random
	at             Instant
	body           []byte // a parcelBody
}

var parcelTable = table[parcel]{"outbox", "bucket id target at body", 2, func(p *parcel) []any {
	return []any{&p.bucket, &p.id, &p.target, &p.at, &p.body}
}}

type parcelBody struct {
	Found   []packed     `json:",omitempty"`
	Forward []forwarding `json:",omitempty"`
	Filed   []Filing     `json:",omitempty"`
	Unfiled []Filing     `json:",omitempty"`
}

// forwarding brings pages of one bucket forward: children (Result.Forward and ForwardOf), or duplicates (Result.Duplicates).
type forwarding struct {
	Children   []int64
	To, Of     Instant
	Duplicates bool `json:",omitempty"` // the pages are these
	Led        bool `json:",omitempty"` // see Duplicate
}

// packed is a discovery that goes through JSON by the columns of its page that are not zero.
type packed struct{ Discovery }

// MarshalJSON implements json.Marshaler.
func (d packed) MarshalJSON() ([]byte, error) {
	columns := map[string]any{"host": d.Host}
	if d.Anew {
		columns["anew"] = true
	}
	for i, field := range pageTable.fields(&d.Page) {
		if !isZero(field) {
			columns["page."+strings.Fields(pageTable.columns)[i]] = field
		}
	}
	return json.Marshal(columns)
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *packed) UnmarshalJSON(b []byte) error {
	columns := make(map[string]json.RawMessage)
	if err := json.Unmarshal(b, &columns); err != nil {
		return err
	}
	fields := map[string]any{"host": &d.Host, "anew": &d.Anew}
	for i, field := range pageTable.fields(&d.Page) {
		fields["page."+strings.Fields(pageTable.columns)[i]] = field
	}
	for name, value := range columns {
		field, known := fields[name]
		if !known {
			return fmt.Errorf("parcel with an unknown column %q", name)
		}
		if err := json.Unmarshal(value, field); err != nil {
			return fmt.Errorf("column %s of a parcel: %w", name, err)
		}
	}
	return nil
}

// pack writes what the results found out for other buckets than the transaction's into the outbox.
func (c *commit) pack(ctx context.Context) error {
	bodies := make(bodies)
	for _, r := range c.fresh {
		for i := range r.Discovered {
			page, host := r.Discovered[i].keys()
			if c.holds(page.bucket) {
				continue // discover adds it
			}
			row := r.Discovered[i].row(c.now, page, host)
			row.Clean()
			b := bodies.of(row.Bucket)
			b.Found = append(b.Found, packed{Discovery{Host: Clean(r.Discovered[i].Host), Page: row, Anew: r.Discovered[i].Anew}})
		}
		forward, err := c.forwardings(ctx, r)
		if err != nil {
			return err
		}
		for bucket, pages := range forward {
			b := bodies.of(bucket)
			b.Forward = append(b.Forward, pages...)
		}
	}
	for f, stays := range filingsOf(c.fresh) {
		if body := bodies.of(f.Bucket()); stays {
			body.Filed = append(body.Filed, f)
		} else {
			body.Unfiled = append(body.Unfiled, f)
		}
	}
	for _, target := range slices.Sorted(maps.Keys(bodies)) {
		if c.holds(target) {
			continue // this transaction writes it itself
		}
		text, err := json.Marshal(bodies[target])
		if err != nil {
			return fmt.Errorf("pack a parcel: %w", err)
		}
		c.parcels = append(c.parcels, parcel{bucket: c.results[0].Lease.Bucket, id: drawn(), target: target, at: At(c.now), body: text})
	}
	return parcelTable.insert(ctx, c.tx, c.parcels)
}

// drawn is 63 random bits: two parcels of a bucket that are under way at once share them never in practice, nor do two marks of a number.
func drawn() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return int64(binary.BigEndian.Uint64(b[:]) >> 1)
}

// bodies are those of parcels, by target.
type bodies map[int16]*parcelBody

func (b bodies) of(target int16) *parcelBody {
	if b[target] == nil {
		b[target] = new(parcelBody)
	}
	return b[target]
}

// deliver brings parcels to their targets, and notes contents in their buckets, each shard in a transaction of its own, and
// removes what was delivered. It returns the first error; what is not delivered stays in the outbox.
func (s *Store) deliver(ctx context.Context, parcels []parcel, contents []contentRow) error {
	bound, noted := make(map[int64][]parcel), make(map[int64][]contentRow)
	homes := make(map[int64]int16) // a bucket of each shard
	for _, p := range parcels {
		shard := s.shard(p.target)
		bound[shard], homes[shard] = append(bound[shard], p), p.target
	}
	for _, c := range contents {
		shard := s.shard(c.bucket)
		noted[shard], homes[shard] = append(noted[shard], c), c.bucket
	}
	todo := slices.Sorted(maps.Keys(homes))
	errs := make([]error, len(todo))
	s.atOnce(len(todo), func(i int) {
		home, parcels, contents := homes[todo[i]], bound[todo[i]], noted[todo[i]]
		errs[i] = s.inShard(ctx, home, func(t *tx) error {
			for _, p := range parcels {
				if err := t.covers(home, p.target); err != nil {
					return err
				}
			}
			for _, c := range contents {
				if err := t.covers(home, c.bucket); err != nil {
					return err
				}
			}
			return t.deliver(ctx, parcels, contents)
		})
	})
	var delivered []parcel
	var first error
	for i, shard := range todo {
		if errs[i] == nil {
			delivered = append(delivered, bound[shard]...)
		} else if first == nil {
			first = fmt.Errorf("deliver to shard %d: %w", shard, errs[i])
		}
	}
	return cmp.Or(s.removeParcels(ctx, delivered), first)
}

// deliver carries out parcels for one shard: discoveries first, because a parcel may bring forward what it found; and notes
// contents.
func (t *tx) deliver(ctx context.Context, parcels []parcel, contents []contentRow) error {
	bodies := make([]parcelBody, len(parcels))
	for i := range parcels {
		if err := json.Unmarshal(parcels[i].body, &bodies[i]); err != nil {
			return fmt.Errorf("unpack a parcel: %w", err)
		}
	}
	q := newQueue(t)
	if err := q.lockTouched(ctx, bodies, parcels); err != nil {
		return err
	}
	for i := range bodies {
		found := make([]Discovery, len(bodies[i].Found))
		for j, d := range bodies[i].Found {
			found[j] = d.Discovery
		}
		a := addition{queue: q, now: parcels[i].at.Time(), limit: t.store.options.PagesPerHost}
		if _, err := a.run(ctx, place(found)); err != nil {
			return err
		}
	}
	for i := range bodies {
		for _, f := range bodies[i].Forward {
			if err := q.hasten(ctx, parcels[i].target, f); err != nil {
				return fmt.Errorf("bring pages forward: %w", err)
			}
		}
	}
	filed := make(map[Filing]bool)
	for i := range bodies {
		note(filed, bodies[i].Filed, bodies[i].Unfiled)
	}
	if err := t.file(ctx, filed); err != nil {
		return err
	}
	if err := q.flush(ctx); err != nil {
		return err
	}
	if err := contentTable.insert(ctx, t, contents); err != nil {
		return err
	}
	return q.writeCounts(ctx)
}

// lockTouched locks the hosts of what was found and of what is brought forward.
func (q *queue) lockTouched(ctx context.Context, bodies []parcelBody, parcels []parcel) error {
	var hosts []rowKey
	for i := range bodies {
		for _, d := range bodies[i].Found {
			hosts = append(hosts, rowKey{d.Page.Bucket, d.Page.HostID})
		}
		for _, f := range bodies[i].Forward {
			more, err := q.tx.hostsOf(ctx, parcels[i].target, f.Children)
			if err != nil {
				return err
			}
			hosts = append(hosts, more...)
		}
	}
	return q.lock(ctx, hosts)
}

// removeParcels removes parcels that were delivered, each shard's in a transaction of its own.
func (s *Store) removeParcels(ctx context.Context, parcels []parcel) error {
	keys := make([]rowKey, len(parcels))
	for i, p := range parcels {
		keys[i] = rowKey{p.bucket, p.id}
	}
	for _, some := range s.byShard(keys) {
		buckets, ids := columnsOf(some)
		err := s.inShard(ctx, buckets[0], func(t *tx) error {
			// Index: the primary key. An ID is random, so no other bucket has it.
			_, err := t.exec(ctx, `DELETE FROM outbox WHERE bucket = ANY($1) AND id = ANY($2)`, slices.Compact(buckets), ids)
			return err
		})
		if err != nil {
			return fmt.Errorf("remove delivered parcels: %w", err)
		}
	}
	return nil
}

// deliverSlice is how many parcels Deliver takes at a time.
const deliverSlice = 500

// Deliver delivers what commits before a moment left in the outbox, because their process died or the database was away, and
// returns how many parcels there were. Several may do so at once. Where the database has one node there are none but those
// that came with a backup of one that has several.
func (s *Store) Deliver(ctx context.Context, before time.Time) (int, error) {
	total := 0
	for {
		// The table is empty but for what is under way, so no index is needed.
		parcels, err := parcelTable.scan(s.rows(ctx, `SELECT `+parcelTable.list()+` FROM outbox WHERE at < $1
			ORDER BY bucket, id LIMIT $2`, int64(At(before)), deliverSlice))
		if err == nil && len(parcels) > 0 {
			err = s.deliver(ctx, parcels, nil)
		}
		if err != nil {
			return total, fmt.Errorf("deliver what is left in the outbox: %w", err)
		}
		if total += len(parcels); len(parcels) < deliverSlice {
			return total, nil
		}
	}
}
