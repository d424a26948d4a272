package models

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAPlaceComesBackFromItsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := FeedCursor{epoch: rapid.Uint32().Draw(t, "epoch"), first: rapid.Int16Range(0, Buckets-1).Draw(t, "first")}
		for range rapid.IntRange(0, Buckets).Draw(t, "buckets") {
			bucket := rapid.IntRange(0, Buckets-1).Draw(t, "bucket")
			p.seqs[bucket], p.marks[bucket] = rapid.Int64Min(1).Draw(t, "seq"), rapid.Uint16().Draw(t, "mark")
		}
		if rapid.Bool().Draw(t, "pages") {
			p.pages = feedPages{told: true, bucket: rapid.Int16Range(0, Buckets-1).Draw(t, "among"),
				after: rapid.Int64Min(-1).Filter(func(id int64) bool { return id < 1<<63-1 }).Draw(t, "after"), events: rapid.Int16Range(0, 2).Draw(t, "events")}
		}
		text := p.String()
		if got, err := ParseFeedCursor(text); got != p || err != nil {
			t.Fatalf("ParseFeedCursor(%q) = %v, %v, want %v", text, got, err, p)
		}
		i := rapid.IntRange(0, len(text)-1).Draw(t, "cut")
		for _, damaged := range []string{text[:i], text[:i] + "A" + text[i+1:]} {
			if _, err := ParseFeedCursor(damaged); damaged != text && !errors.Is(err, ErrNoCursor) {
				t.Fatalf("ParseFeedCursor(%q) of a damaged %q: %v, want ErrNoCursor", damaged, text, err)
			}
		}
	})
}

// What a release from before there were marks wrote is read, and written with what is known of them.
func TestAPlaceFromBeforeThereWereMarks(t *testing.T) {
	t.Parallel()
	want := FeedCursor{epoch: 7, first: 3}
	want.seqs[5], want.seqs[9] = 2, 300
	among := want
	among.pages = feedPages{told: true, bucket: 2, after: 41, events: 1}
	for text, want := range map[string]FeedCursor{"AQAAAAcDBgIErAInxiUy": want, "AgAAAAcDAioBBgIErALHzC_i": among} {
		if p, err := ParseFeedCursor(text); p != want || err != nil {
			t.Errorf("ParseFeedCursor(%q) = %v, %v, want %v", text, p, err, want)
		}
		if p, err := ParseFeedCursor(want.String()); p != want || err != nil {
			t.Errorf("ParseFeedCursor(%q) = %v, %v, want %v", want, p, err, want)
		}
	}
}

func FuzzParseFeedCursor(f *testing.F) {
	f.Add("")
	f.Add(FeedCursor{}.String())
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := ParseFeedCursor(text); err == nil && p.String() != text {
			if again, err := ParseFeedCursor(p.String()); again != p || err != nil {
				t.Errorf("ParseFeedCursor(%q) = %v, which comes back as %v, %v", text, p, again, err)
			}
		}
	})
}

// feedStore opens a store of an engine with some hosts.
func feedStore(t *testing.T, dsn string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{Conns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	fill(t, s)
	return s
}

// TestAFeedReadsEachEventOnce has four workers commit at once, in several buckets each, while two readers follow from cursor to cursor,
// a few events at a time.
func TestAFeedReadsEachEventOnce(t *testing.T) {
	t.Parallel()
	for name, dsn := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := feedStore(t, dsn(t))
			begin, err := s.Oldest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			working, done := context.WithCancel(t.Context())
			var readers, writers sync.WaitGroup
			got := make([][]Event, 2)
			for i := range got {
				readers.Go(func() { got[i] = follow(t, s, begin, 3+20*i, working.Done()) })
			}
			const workers, each = 4, 20
			c := ClaimRequest{Now: planStart.Add(time.Hour), Lease: time.Minute, Owner: "w", Hosts: workers * each, Pages: 1}
			for b := range int16(32) {
				c.Buckets = append(c.Buckets, b)
			}
			for round := range 8 {
				leases, err := s.Claim(t.Context(), c)
				if err != nil || len(leases) != workers*each {
					t.Fatalf("Claim = %d leases, %v, want %d", len(leases), err, workers*each)
				}
				for w := range workers {
					writers.Go(func() {
						for i := w; i < len(leases); i += 2 * workers {
							results := []Result{sharingResult(leases[i], c.Now, round)}
							if i+workers < len(leases) {
								results = append(results, sharingResult(leases[i+workers], c.Now, round))
							}
							if _, err := s.Commit(t.Context(), c.Now, results); err != nil {
								t.Error(err)
							}
						}
					})
				}
				writers.Wait()
				c.Now = c.Now.Add(2 * time.Hour)
			}
			done()
			readers.Wait()
			for i := range got {
				allInOrder(t, s, got[i])
			}
		})
	}
}

// follow reads from a cursor on until nothing is left after the end.
func follow(t *testing.T, s *Store, at FeedCursor, limit int, end <-chan struct{}) (all []Event) {
	for {
		var ended bool
		select {
		case <-end:
			ended = true
		default:
		}
		events, next, err := s.Feed(t.Context(), at, ChangesQuery{Limit: limit})
		if err != nil {
			t.Errorf("Feed: %v", err)
			return all
		}
		all = append(all, events...)
		if at, err = ParseFeedCursor(next.String()); err != nil {
			t.Error(err)
		}
		if ended && len(events) < limit {
			return all
		}
	}
}

// allInOrder holds what a reader got against the log.
func allInOrder(t *testing.T, s *Store, got []Event) {
	t.Helper()
	byBucket := map[int16][]Event{}
	for _, e := range got {
		byBucket[e.Bucket] = append(byBucket[e.Bucket], e)
	}
	total := 0
	for bucket := range int16(Buckets) {
		want, err := s.Events(t.Context(), bucket, 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, byBucket[bucket]); diff != "" && len(want)+len(byBucket[bucket]) > 0 {
			t.Errorf("events of bucket %d differ (-want +got):\n%s", bucket, diff)
		}
		total += len(want)
	}
	if total < 600 {
		t.Errorf("only %d events", total)
	}
}

func TestAFeedTellsWhenItWouldMissEvents(t *testing.T) {
	t.Parallel()
	s := feedStore(t, liteFile(t))
	add := func(n int) {
		t.Helper()
		err := s.inTx(t.Context(), func(x *tx) error {
			c := &commit{tx: x}
			var r Result
			r.Lease.Bucket = 5
			for range n {
				r.Events = append(r.Events, Event{Kind: EventChanged, URL: "http://a.org/", At: At(planStart), SiteID: int32(n)})
			}
			c.fresh = []*Result{&r}
			return c.writeEvents(t.Context())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	feed := func(at FeedCursor, q ChangesQuery) ([]Event, FeedCursor, error) {
		t.Helper()
		q.Limit = 10
		return s.Feed(t.Context(), at, q)
	}
	zero, err := s.Oldest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add(3)
	events, behind, err := feed(zero, ChangesQuery{Sites: []int32{77}})
	if newest, _ := s.Newest(t.Context()); len(events) != 0 || err != nil || behind.seqs != newest.seqs {
		t.Errorf("a feed of another site = %d events, %v, at %v, want none and to be behind all", len(events), err, behind.seqs[5])
	}
	add(2)
	if _, err := s.PruneEvents(t.Context(), planStart.Add(time.Hour), nil, 100); err != nil {
		t.Fatal(err)
	}
	add(1)
	if _, _, err := feed(behind, ChangesQuery{}); !errors.Is(err, ErrCursorLost) {
		t.Errorf("a feed after which events were removed: %v, want ErrCursorLost", err)
	}
	oldest, err := s.Oldest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	events, at, err := feed(oldest, ChangesQuery{})
	if seqs := []int64{6}; len(events) != 1 || err != nil || !slices.Equal(seqs, []int64{events[0].Seq}) {
		t.Errorf("a feed from the oldest event: %+v, %v, want event 6", events, err)
	}
	ahead := at
	ahead.seqs[5]++
	if _, _, err := feed(ahead, ChangesQuery{}); !errors.Is(err, ErrCursorLost) {
		t.Errorf("a feed after more than there is: %v, want ErrCursorLost", err)
	}
	if err := s.NoteRestored(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	if _, _, err := feed(at, ChangesQuery{}); !errors.Is(err, ErrCursorLost) {
		t.Errorf("a feed of before a restore: %v, want ErrCursorLost", err)
	}
}

// Whoever follows the log with requisites or without, a few events at a time, and changes that in between, gets each event that they ask for
// once and in order; and finds out that some are gone whichever these were.
func TestAFeedWithAndWithoutRequisites(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		begin, err := s.Oldest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var events []Event
		for i := range 3 * feedEvents {
			bucket := int16(i % 3)
			events = append(events, Event{Bucket: bucket, Kind: EventKind(1 + i%4), At: At(planStart), SiteID: 1, PageID: int64(i), URL: "https://a.example/",
				Requisite: bucket == 0 || bucket == 1 && i%30 > 1})
		}
		logged(t, s, events...)
		all, _ := walk(t, s, begin, ChangesQuery{Limit: 70, Requisites: true})
		texts := slices.DeleteFunc(slices.Clone(all), func(e Event) bool { return e.Requisite })
		if len(all) != len(events) || len(texts) < feedEvents || len(texts) > len(all)/2 {
			t.Fatalf("%d events, %d of them of no requisites, want %d and fewer than half", len(all), len(texts), len(events))
		}
		for _, limit := range []int{1, 7, 10_000} {
			got, end := walk(t, s, begin, ChangesQuery{Limit: limit})
			if newest, err := s.Newest(t.Context()); err != nil || end.seqs != newest.seqs || !sameEvents(got, texts) {
				t.Errorf("%d at a time: %d events up to %v, %v, want %d up to %v", limit, len(got), end.seqs[:3], err, len(texts), newest.seqs[:3])
			}
		}
		var got, want []Event
		seen := make(map[int64]bool)
		for at, i := begin, 0; ; i++ {
			q := ChangesQuery{Limit: 50, Requisites: i%2 == 1}
			found, next, err := s.Feed(t.Context(), at, q)
			if err != nil {
				t.Fatal(err)
			}
			for bucket := range int16(3) {
				between, err := s.Events(t.Context(), bucket, at.seqs[bucket], int(next.seqs[bucket]-at.seqs[bucket]))
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, slices.DeleteFunc(between, func(e Event) bool { return e.Requisite && !q.Requisites })...)
			}
			for _, e := range found {
				if seen[e.PageID] {
					t.Fatalf("event %d of bucket %d comes twice", e.Seq, e.Bucket)
				}
				seen[e.PageID] = true
			}
			if got, at = append(got, found...), next; len(found) < q.Limit {
				break
			}
		}
		if !sameEvents(got, want) || len(got) < len(texts) {
			t.Errorf("now with requisites and now without: %d events, want %d", len(got), len(want))
		}
		if _, err := s.PruneEvents(t.Context(), planStart.Add(time.Hour), nil, 500); err != nil {
			t.Fatal(err)
		}
		logged(t, s, events[:3]...)
		if _, _, err := s.Feed(t.Context(), begin, ChangesQuery{Limit: 5}); !errors.Is(err, ErrCursorLost) {
			t.Errorf("a feed after which requisites alone were removed, and others: %v, want ErrCursorLost", err)
		}
	})
}

// sameEvents tells whether events are the same, those of a bucket in one order.
func sameEvents(a, b []Event) bool {
	byBucket := func(a, b Event) int { return int(a.Bucket) - int(b.Bucket) }
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortStableFunc(a, byBucket)
	slices.SortStableFunc(b, byBucket)
	return slices.Equal(a, b)
}

// A database that went back behind a cursor and has other events by then tells that, whether its numbers have come as far again or
// further; not where all that a cursor is behind is there, and not a cursor of before there were marks, whose numbers alone are known.
func TestACursorIsLostWithTheEventsThatItIsBehind(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		event := Event{Bucket: 5, Kind: EventChanged, URL: "https://a.example/", At: At(planStart), SiteID: 1}
		q, recent := ChangesQuery{Since: At(planStart.Add(-time.Hour)), Limit: 10, Requisites: true}, Recent{}
		newest := func() FeedCursor {
			t.Helper()
			p, err := s.Newest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		logged(t, s, event, Event{Bucket: 9, Kind: EventNew, URL: "https://b.example/", At: At(planStart), SiteID: 1})
		common := newest()
		logged(t, s, event)
		behind := newest()
		old := behind
		old.marks = [Buckets]uint16{}
		looked(t, s, planStart, q, &recent, 100)
		s.mustRun(t, `DELETE FROM events WHERE bucket = 5 AND seq = 2`)
		s.mustRun(t, `UPDATE buckets SET next_seq = 2, mark = (SELECT mark FROM events WHERE bucket = 5) WHERE bucket = 5`)
		for further := range 3 {
			text := behind.String()
			if parsed, err := ParseFeedCursor(text); parsed != behind || err != nil {
				t.Fatalf("ParseFeedCursor(%q) = %v, %v", text, parsed, err)
			}
			if _, _, err := s.Feed(t.Context(), behind, q); !errors.Is(err, ErrCursorLost) {
				t.Errorf("with %d other events: Feed = %v, want ErrCursorLost", further, err)
			}
			if _, err := s.SeenChanges(t.Context(), behind, 0, nil, func(SeenChange) {}); !errors.Is(err, ErrCursorLost) {
				t.Errorf("with %d other events: SeenChanges = %v, want ErrCursorLost", further, err)
			}
			if events, at, err := s.Feed(t.Context(), common, q); len(events) != further || at != newest() || err != nil {
				t.Errorf("%d events came behind what is there still, %v, want %d", len(events), err, further)
			}
			again := recent
			found, _ := looked(t, s, planStart, q, &again, 100)
			if marks := marksOf(found); !slices.Equal(marks, s.marks(t)) {
				t.Errorf("with %d other events: marks %v are found, want those that there are, %v", further, marks, s.marks(t))
			}
			logged(t, s, event)
		}
		if events, _, err := s.Feed(t.Context(), old, q); len(events) != 2 || err != nil {
			t.Errorf("a cursor without marks: %d events, %v, want 2", len(events), err)
		}
	})
}

// marks is those of all events, in order.
func (s *Store) marks(t *testing.T) (marks []int64) {
	t.Helper()
	rows, err := s.rows(t.Context(), "SELECT mark FROM events ORDER BY mark")
	if err == nil {
		marks, err = scanIDs(rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return marks
}

func marksOf(events []RecentEvent) (marks []int64) {
	for _, e := range events {
		marks = append(marks, e.Mark)
	}
	slices.Sort(marks)
	return marks
}
