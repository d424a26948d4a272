package models

import (
	"context"
	"fmt"
	"time"
)

// Slot is the right of somebody who holds no lease of a host, as a command that looks at a site, to one request there, in turn
// with the workers.
type Slot struct {
	Booked bool
	At     time.Time // when the request may be made; where none is booked, when to ask for a slot again, at the earliest

	host          rowKey
	before, until Instant // what the host's OpenAt was, and is; both 0: the host is not known
}

// Book gives out the next slot of a host, for a request that takes so long at most: it is not leased until then and its
// politeness delay more, or until EndSlot. None is booked while the host is leased, or is to be left alone beyond its delay. Of a
// host that is not known no worker asks anything: that needs no booking.
func (s *Store) Book(ctx context.Context, host string, now time.Time, takes time.Duration) (Slot, error) {
	slot := Slot{At: now, host: rowKey{BucketOf(host), HostID(host)}}
	err := s.onHost(ctx, slot.host, func(h *Host) {
		switch {
		case h == nil:
			slot.Booked = true
		case h.LeaseUntil != 0:
		case h.BackoffUntil > At(now):
			slot.At = h.BackoffUntil.Time()
		default:
			slot.At = max(NotBefore(now), h.OpenAt).Time()
			slot.Booked, slot.before, slot.until = true, h.OpenAt, NotBefore(slot.At.Add(takes))+delayOf(h)
			h.OpenAt = slot.until
		}
	})
	if err != nil {
		return Slot{}, fmt.Errorf("book a request to %s: %w", host, err)
	}
	return slot, nil
}

// EndSlot says when the host of a slot opens after the request: a zero time where none was made. rests is until when the host
// asked to be left alone, or the zero time.
func (s *Store) EndSlot(ctx context.Context, slot Slot, opens, rests time.Time) error {
	err := s.onHost(ctx, slot.host, func(h *Host) {
		if h == nil {
			return
		}
		if slot.until != 0 && h.OpenAt == slot.until { // else the request took longer, or somebody booked the next one
			h.OpenAt = slot.before
		}
		if h.BackoffUntil = max(h.BackoffUntil, NotBefore(rests)); !opens.IsZero() {
			h.OpenAt = max(h.OpenAt, NotBefore(opens))
		}
	})
	if err != nil {
		return fmt.Errorf("end a request that was booked: %w", err)
	}
	return nil
}

// onHost lets f change a host, nil where it is not known, and puts it into its place in the queue.
func (s *Store) onHost(ctx context.Context, key rowKey, f func(*Host)) error {
	return s.inShard(ctx, key.bucket, func(t *tx) error {
		q := newQueue(t)
		if err := q.lock(ctx, []rowKey{key}); err != nil {
			return err
		}
		h := q.get(key.bucket, key.id)
		if f(h); h == nil {
			return nil
		}
		if h.LeaseUntil == 0 {
			if err := q.settle(ctx, []rowKey{key}, (*Host).Free); err != nil {
				return err
			}
		}
		return q.flush(ctx)
	})
}
