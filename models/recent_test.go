package models

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/clock"
)

// logged appends events to the log.
func logged(t testing.TB, s *Store, events ...Event) {
	t.Helper()
	byBucket := map[int16][]Event{}
	for _, e := range events {
		byBucket[e.Bucket] = append(byBucket[e.Bucket], e)
	}
	ctx := context.WithoutCancel(t.Context())
	err := s.inTx(ctx, func(x *tx) error {
		all, err := x.number(ctx, byBucket)
		return errors.Join(err, eventTable.insert(ctx, x, all))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// looked is what a look finds.
func looked(t testing.TB, s *Store, now time.Time, q ChangesQuery, r *Recent, most int64) ([]RecentEvent, Instant) {
	t.Helper()
	if err := s.LookOn(t.Context(), now, q, r, most); err != nil {
		t.Fatal(err)
	}
	return r.Events(q)
}

// Whatever happens between the looks, and however little each may look at: what they find is what one look through all of the log finds, as
// far as was looked.
func TestLooksFindWhatOneLookThroughAllFinds(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		now := planStart
		rapid.Check(t, func(rt *rapid.T) {
			q := ChangesQuery{Limit: rapid.IntRange(1, 8).Draw(rt, "limit"), Weight: rapid.SampledFrom([]float32{0, 0.25, 0.5}).Draw(rt, "weight")}
			q.Sites = rapid.SampledFrom([][]int32{nil, {1}, {2, 3}}).Draw(rt, "sites")
			q.Kinds = rapid.SampledFrom([][]EventKind{nil, {EventGone}, {EventChanged, EventNew}}).Draw(rt, "kinds")
			q.Requisites = rapid.Bool().Draw(rt, "with requisites")
			most := rapid.Int64Range(20, 400).Draw(rt, "most")
			var r Recent
			for range rapid.IntRange(1, 4).Draw(rt, "looks") {
				var events []Event
				for range rapid.IntRange(0, 40).Draw(rt, "events") {
					now = now.Add(time.Duration(rapid.IntRange(0, 200).Draw(rt, "minutes")) * time.Minute)
					events = append(events, Event{Bucket: rapid.SampledFrom([]int16{3, 200}).Draw(rt, "bucket"), At: At(now), URL: "https://a.example/",
						SiteID: int32(rapid.IntRange(1, 3).Draw(rt, "site")), Requisite: rapid.Bool().Draw(rt, "requisite"), Kind: rapid.SampledFrom([]EventKind{EventNew, EventChanged, EventRefreshed,
							EventGone}).Draw(rt, "kind"), Significance: rapid.SampledFrom([]float32{0, 0.3, 0.7}).Draw(rt, "significance"),
						Reasons: Reasons(rapid.IntRange(0, 1).Draw(rt, "reasons"))})
				}
				logged(t, s, events...)
				q.Since = At(now.Add(-20 * 24 * time.Hour))
				found, back := looked(t, s, now, q, &r, most)
				all := q
				all.Since = max(q.Since, back)
				want, err := s.Changes(t.Context(), all)
				if err != nil {
					rt.Fatal(err)
				}
				var got []Event
				for _, e := range found {
					got = append(got, e.Event)
				}
				if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
					rt.Fatalf("looked back to %v (-one look +looks):\n%s", back.Time(), diff)
				}
			}
		})
	})
}

// What is asked for and seldom happens is found in the end, a bounded part of the log at a time, and each look says how far it went; then
// only what came since is read.
func TestALookIsBounded(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		var events []Event
		for i := range 3000 {
			events = append(events, Event{Bucket: int16(i % 2), Kind: EventRefreshed, At: At(planStart.Add(time.Duration(i) * time.Minute)), URL: "https://a.example/"})
		}
		events[5].Kind = EventGone
		logged(t, s, events...)
		now := planStart.Add(3000 * time.Minute)
		q := ChangesQuery{Since: 1, Kinds: []EventKind{EventGone}, Limit: 3}
		var r Recent
		looks := 0
		for back := At(now); back != 0; looks++ {
			before := r
			found, at := looked(t, s, now, q, &r, 1000)
			if at != 0 && (len(found) > 0 || at >= back && looks > 0) {
				t.Errorf("look %d goes back to %v after %v and finds %d", looks, at.Time(), back.Time(), len(found))
			}
			if read := before.left() - r.left(); looks > 0 && read > 1000+lookChunk {
				t.Errorf("look %d looks at %d events", looks, read)
			}
			back = at
		}
		if found, _ := r.Events(q); len(found) != 1 || looks < 2 {
			t.Errorf("%d looks find %+v, want the page that is gone after more than one", looks, found)
		}
		logged(t, s, Event{Bucket: 1, Kind: EventGone, At: At(now), URL: "https://b.example/"})
		s.mustRun(t, `UPDATE events SET kind = 1 WHERE seq < 1400`) // a second look at these would not find it
		if found, back := looked(t, s, now, q, &r, 1000); len(found) != 2 || found[0].URL != "https://b.example/" || back != 0 {
			t.Errorf("a look later goes back to %v and finds %+v, want what came and what was found", back.Time(), found)
		}
	})
}

// left is how much was not looked at on the way back.
func (r *Recent) left() (n int64) {
	for _, rest := range r.behind {
		n += rest
	}
	return n
}

func (s *Store) mustRun(t *testing.T, statement string) {
	t.Helper()
	err := s.inTx(t.Context(), func(x *tx) error {
		_, err := x.exec(t.Context(), statement)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A look begins anew in another log, and where so much came that it would have to look at more than it may.
func TestALookBeginsAnew(t *testing.T) {
	t.Parallel()
	s := openBackup(t, liteFile(t))
	gone := func(n int) (events []Event) {
		for i := range n {
			events = append(events, Event{Bucket: 7, Kind: EventGone, At: At(planStart), URL: fmt.Sprintf("https://a.example/%d", i)})
		}
		return events
	}
	q := ChangesQuery{Since: 1, Limit: 100}
	var r Recent
	logged(t, s, gone(3)...)
	if found, _ := looked(t, s, planStart, q, &r, 60); len(found) != 3 {
		t.Fatalf("%d events, want 3", len(found))
	}
	logged(t, s, gone(61)...)
	if found, back := looked(t, s, planStart, q, &r, 60); len(found) != 0 || back == 0 {
		t.Errorf("%d events back to %v, want none of an hour that was not looked through", len(found), back.Time())
	}
	if found, back := looked(t, s, planStart, q, &r, 60); len(found) != 64 || found[0].Seq != 64 || back != 0 {
		t.Errorf("%d events back to %v, want all 64", len(found), back.Time())
	}
	if err := s.NoteRestored(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	s.mustRun(t, `DELETE FROM events WHERE seq <= 60`)
	if found, _ := looked(t, s, planStart, q, &r, 1000); len(found) != 4 {
		t.Errorf("%d events of a log that went back, want the 4 that it has", len(found))
	}
}

// The pages of a site that was removed are told as one, with their number, however many: once more where more of them go later.
func TestARemovedSiteIsFoundOnce(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		events := []Event{{Bucket: 1, Kind: EventGone, At: At(planStart.Add(-time.Hour)), URL: "https://a.example/"}}
		for i := range 500 {
			events = append(events, Event{Bucket: int16(i % 7), Kind: EventRemoved, SiteID: int32(1 + i%2), At: At(planStart) - Instant(i%2), URL: "https://a.example/"})
		}
		logged(t, s, events...)
		q := ChangesQuery{Since: 1, Limit: 4}
		var r Recent
		sites := func(now time.Time, want ...int64) {
			t.Helper()
			found, back := looked(t, s, now, q, &r, 10_000)
			var got []int64
			for _, e := range found {
				got = append(got, int64(e.SiteID), e.Pages)
			}
			if diff := cmp.Diff(want, got); diff != "" || back != 0 {
				t.Errorf("sites with their pages, back to %v (-want +got):\n%s", back.Time(), diff)
			}
		}
		sites(planStart, 1, 250, 2, 250, 0, 1)
		logged(t, s, events[2]) // the removal goes on
		sites(planStart, 1, 250, 2, 251, 0, 1)
		events[2].At += 2
		logged(t, s, events[2])
		sites(planStart.Add(time.Second), 2, 1, 1, 250, 2, 251, 0, 1)
	})
}

// BenchmarkLookOn looks for what never happens in a log of RECRAWLD_EVENTS (default 100,000), for the first time and the second.
func BenchmarkLookOn(b *testing.B) {
	n := sized(b, "RECRAWLD_EVENTS", 100_000)
	for name, dsn := range engines() {
		s := openBackup(b, dsn(b))
		for from := 0; from < n; from += 10_000 {
			var events []Event
			for i := from; i < min(n, from+10_000); i++ {
				events = append(events, Event{Bucket: int16(i % Buckets), Kind: EventRefreshed, SiteID: int32(i % 50), PageID: int64(i), Status: 200,
					URL: fmt.Sprintf("https://www.example.org/some/path/of/usual/length/%d.html", i), Version: 3, Previous: 2, Bytes: 12345,
					At: At(planStart.Add(time.Duration(i) * time.Second)), ContentType: "text/html; charset=utf-8", Significance: 0.1, Reasons: 4,
					LastModified: "Mon, 23 Nov 2026 16:08:13 GMT", Digest: Digest{1, byte(i)}, Record: Record{File: "recrawld-20261123T080000Z.warc.gz"}})
			}
			logged(b, s, events...)
		}
		q := ChangesQuery{Since: 1, Kinds: []EventKind{EventGone}, Limit: 30}
		now := planStart.Add(time.Duration(n) * time.Second)
		b.Run(name, func(b *testing.B) {
			var machine clock.System
			var later time.Duration
			for b.Loop() {
				var r Recent
				looked(b, s, now, q, &r, int64(n)+1)
				first := machine.Now()
				looked(b, s, now, q, &r, int64(n)+1)
				later += machine.Now().Sub(first)
			}
			b.ReportMetric(float64(later.Microseconds())/float64(b.N), "µs/later-look")
		})
	}
}
