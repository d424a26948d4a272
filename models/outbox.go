package models

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// parcel is what a commit in one bucket found out for hosts of another: its target. It is written with the commit and
// delivered in a transaction of the target's bucket; then it is removed. Who dies in between leaves it to Deliver, and
// delivering it twice is harmless: a page that exists stays as it is, and a child that was visited since is not brought
// forward again.
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
}

// forwarding brings children of one bucket forward (Result.Forward and ForwardOf).
type forwarding struct {
	Children []int64
	To, Of   Instant
}

// packed is a discovery that goes through JSON by the columns of its page that are not zero.
type packed struct{ Discovery }

// MarshalJSON implements json.Marshaler.
func (d packed) MarshalJSON() ([]byte, error) {
	columns := map[string]any{"host": d.Host}
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
	fields := map[string]any{"host": &d.Host}
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
	bodies := make(map[int16]*parcelBody)
	body := func(target int16) *parcelBody {
		if bodies[target] == nil {
			bodies[target] = new(parcelBody)
		}
		return bodies[target]
	}
	for _, r := range c.fresh {
		for i := range r.Discovered {
			if row := r.Discovered[i].Row(c.now); !c.holds(row.Bucket) {
				row.Clean()
				b := body(row.Bucket)
				b.Found = append(b.Found, packed{Discovery{Host: Clean(r.Discovered[i].Host), Page: row}})
			}
		}
		children, err := c.children(ctx, []*Result{r})
		if err != nil {
			return err
		}
		for bucket, ids := range children {
			if !c.holds(bucket) {
				b := body(bucket)
				b.Forward = append(b.Forward, forwarding{Children: ids, To: r.Forward, Of: r.ForwardOf})
			}
		}
	}
	for _, target := range slices.Sorted(maps.Keys(bodies)) {
		text, err := json.Marshal(bodies[target])
		if err != nil {
			return fmt.Errorf("pack a parcel: %w", err)
		}
		c.parcels = append(c.parcels, parcel{bucket: c.results[0].Lease.Bucket, id: rand.Int64(), target: target, at: At(c.now), body: text})
	}
	return parcelTable.insert(ctx, c.tx, c.parcels)
}

// deliveries is how many targets are delivered to at a time: each is a transaction with its own connection.
const deliveries = 4

// deliver brings parcels to their targets, and notes contents in their buckets, each target in a transaction of its own,
// and removes what was delivered. It returns the first error; what is not delivered stays in the outbox.
func (s *Store) deliver(ctx context.Context, parcels []parcel, contents []contentRow) error {
	byTarget, noted := make(map[int16][]parcel), make(map[int16][]contentRow)
	targets := make(map[int16]bool)
	for _, p := range parcels {
		byTarget[p.target], targets[p.target] = append(byTarget[p.target], p), true
	}
	for _, c := range contents {
		noted[c.bucket], targets[c.bucket] = append(noted[c.bucket], c), true
	}
	var mu sync.Mutex
	var delivered []parcel
	var first error
	todo := slices.Sorted(maps.Keys(targets))
	one := func(target int16) {
		err := s.inTx(ctx, func(t *tx) error {
			if err := t.deliver(ctx, byTarget[target]); err != nil {
				return err
			}
			return contentTable.insert(ctx, t, noted[target])
		})
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			delivered = append(delivered, byTarget[target]...)
		case first == nil:
			first = fmt.Errorf("deliver to bucket %d: %w", target, err)
		}
	}
	var group sync.WaitGroup
	for n := range min(deliveries, len(todo)) {
		group.Go(func() {
			for i := n; i < len(todo); i += deliveries {
				one(todo[i])
			}
		})
	}
	group.Wait()
	if err := s.removeParcels(ctx, delivered); err != nil {
		return err
	}
	return first
}

// deliver carries out parcels of one target: discoveries first, because a parcel may bring forward what it found.
func (t *tx) deliver(ctx context.Context, parcels []parcel) error {
	bodies := make([]parcelBody, len(parcels))
	for i := range parcels {
		if err := json.Unmarshal(parcels[i].body, &bodies[i]); err != nil {
			return fmt.Errorf("unpack a parcel: %w", err)
		}
	}
	q := newQueue(t)
	var hosts []rowKey
	for i := range bodies {
		for _, d := range bodies[i].Found {
			hosts = append(hosts, rowKey{d.Page.Bucket, d.Page.HostID})
		}
		for _, f := range bodies[i].Forward {
			more, err := t.hostsOf(ctx, parcels[i].target, f.Children)
			if err != nil {
				return err
			}
			hosts = append(hosts, more...)
		}
	}
	if err := q.lock(ctx, hosts); err != nil {
		return err
	}
	for i := range bodies {
		found := make([]Discovery, len(bodies[i].Found))
		for j, d := range bodies[i].Found {
			found[j] = d.Discovery
		}
		if _, err := q.discover(ctx, parcels[i].at.Time(), found, t.store.options.PagesPerHost); err != nil {
			return err
		}
	}
	for i := range bodies {
		for _, f := range bodies[i].Forward {
			if err := q.hasten(ctx, parcels[i].target, f); err != nil {
				return fmt.Errorf("bring children forward: %w", err)
			}
		}
	}
	return q.flush(ctx)
}

// removeParcels removes parcels that were delivered, each bucket's in a transaction of its own.
func (s *Store) removeParcels(ctx context.Context, parcels []parcel) error {
	byBucket := make(map[int16][]int64)
	for _, p := range parcels {
		byBucket[p.bucket] = append(byBucket[p.bucket], p.id)
	}
	for _, bucket := range slices.Sorted(maps.Keys(byBucket)) {
		err := s.inTx(ctx, func(t *tx) error {
			// Index: the primary key.
			_, err := t.exec(ctx, `DELETE FROM outbox WHERE bucket = $1 AND id = ANY($2)`, bucket, byBucket[bucket])
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
