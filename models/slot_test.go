package models

import (
	"fmt"
	"testing"
	"time"
)

// TestBookedRequestsHaveTheirTurn: while somebody who holds no lease asks a host, no worker does, and the other way round.
func TestBookedRequestsHaveTheirTurn(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		const host, delay, takes = "a.example", 10 * time.Second, 2 * time.Minute
		f := newFinder(t, dsn)
		page, err := f.s.Page(t.Context(), BucketOf(host), PageID("https://a.example/"))
		if err != nil {
			t.Fatal(err)
		}
		f.run(`UPDATE pages SET due_at = 1`)
		book := func(now time.Time, booked bool, at time.Time) Slot {
			t.Helper()
			slot, err := f.s.Book(t.Context(), host, now, takes)
			if err != nil || slot.Booked != booked || !slot.At.Equal(at) {
				t.Fatalf("Book at %v = %+v, %v, want booked %v for %v", now, slot, err, booked, at)
			}
			return slot
		}
		end := func(slot Slot, opens, rests, ready time.Time) {
			t.Helper()
			if err := f.s.EndSlot(t.Context(), slot, opens, rests); err != nil {
				t.Fatal(err)
			}
			h, err := f.s.Host(t.Context(), page.Bucket, page.HostID)
			if err != nil || h.ReadyAt != At(ready) {
				t.Fatalf("after the request the host is ready at %v (%v), want %v", h.ReadyAt, err, At(ready))
			}
		}
		claim := func(now time.Time, want int) []Lease {
			t.Helper()
			leases, err := f.s.Claim(t.Context(), ClaimRequest{Now: now, Lease: time.Minute, Owner: "w", Hosts: 1, Pages: 1, Delay: delay,
				Buckets: []int16{page.Bucket}})
			if err != nil || len(leases) != want {
				t.Fatalf("Claim at %v = %v, %v, want %d leases", now, leases, err, want)
			}
			return leases
		}

		claim(f.now, 1)
		book(f.now, false, f.now) // a worker holds it
		if _, err := f.s.Recover(t.Context(), f.now, ""); err != nil {
			t.Fatal(err)
		}
		open := f.now.Add(delay)
		first := book(f.now, true, open)
		second := book(f.now, true, open.Add(takes+delay)) // of another command
		claim(open.Add(takes+delay), 0)
		end(first, open.Add(time.Second+delay), time.Time{}, second.At.Add(takes+delay))
		end(second, time.Time{}, time.Time{}, second.At) // it asked nothing
		claim(second.At.Add(-time.Millisecond), 0)

		rest := second.At.Add(time.Hour)
		third := book(second.At, true, second.At)
		end(third, second.At.Add(delay), rest, rest)
		book(rest.Add(-time.Minute), false, rest)
		claim(rest, 1)
	})
}

// Of a host that is not known nobody else asks anything.
func TestUnknownHostsNeedNoBooking(t *testing.T) {
	t.Parallel()
	f := newFinder(t, liteFile(t))
	slot, err := f.s.Book(t.Context(), "new.example", f.now, time.Minute)
	if err != nil || !slot.Booked || !slot.At.Equal(f.now) {
		t.Errorf("Book = %+v, %v, want a request now", slot, err)
	}
	if err := f.s.EndSlot(t.Context(), slot, f.now, f.now.Add(time.Hour)); err != nil {
		t.Error(err)
	}
}

// TestAHostThatWasAskedOpensNoSoonerThanItsDelay, though the database keeps no more of a moment than its milliseconds: whether the request ends as
// it was booked, or says when it ended.
func TestAHostThatWasAskedOpensNoSoonerThanItsDelay(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		const host, delay, takes = "a.example", 10 * time.Second, 2 * time.Minute
		f := newFinder(t, dsn)
		f.run(fmt.Sprintf(`UPDATE hosts SET delay = %d`, delay))
		now := f.now.Add(300 * time.Microsecond)
		opens := func(after time.Time) {
			t.Helper()
			h, err := f.s.Host(t.Context(), BucketOf(host), HostID(host))
			if early := after.Sub(h.OpenAt.Time()); err != nil || early > 0 || early < -time.Millisecond {
				t.Errorf("the host opens %v too early (%v)", early, err)
			}
		}
		slot, err := f.s.Book(t.Context(), host, now, takes)
		if err != nil || !slot.Booked {
			t.Fatalf("Book = %+v, %v", slot, err)
		}
		opens(now.Add(takes + delay))
		if err := f.s.EndSlot(t.Context(), slot, now.Add(delay), time.Time{}); err != nil {
			t.Fatal(err)
		}
		opens(now.Add(delay))
	})
}
