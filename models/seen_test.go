package models

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// seenFrom lists the changes that SeenChanges passes over.
func seenFrom(t *testing.T, s *Store, after FeedCursor, since Instant, between func(context.Context) error) ([]SeenChange, FeedCursor) {
	t.Helper()
	var all []SeenChange
	at, err := s.SeenChanges(t.Context(), after, since, between, func(c SeenChange) { all = append(all, c) })
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b SeenChange) int { return cmp.Compare(a.At, b.At) })
	return all, at
}

// logChanges writes events to some buckets, each a second after the one before from a moment on: changes, those of
// bucket 7 of a page that there is, and after each a refreshed copy.
func logChanges(t *testing.T, s *Store, from Instant, buckets []int16, n int) (changes []SeenChange) {
	t.Helper()
	page := examplePage(1, 1)
	page.Bucket, page.ID = 7, 77
	page.Stats = ChangeStats{Records: 9, Changes: 4, FirstAt: 100, VisitedAt: 900}
	byBucket := make(map[int16][]Event)
	for i := range n {
		for _, bucket := range buckets {
			at := from + Instant(len(changes))*1000
			e := Event{Bucket: bucket, At: at, Kind: EventChanged, SiteID: int32(1 + i%2), NotBefore: at - 500, NotAfter: at - 100}
			changes = append(changes, SeenChange{SiteID: e.SiteID, At: at, NotBefore: e.NotBefore, NotAfter: e.NotAfter})
			if bucket == page.Bucket {
				c := &changes[len(changes)-1]
				e.PageID = page.ID
				c.Records, c.Changes, c.FirstAt, c.VisitedAt = 9, 4, 100, 900
			}
			other := e
			other.Kind = EventRefreshed
			byBucket[bucket] = append(byBucket[bucket], e, other)
		}
	}
	err := s.inTx(t.Context(), func(x *tx) error {
		if from == At(planStart) {
			if err := pageTable.insert(t.Context(), x, []Page{page}); err != nil {
				return err
			}
		}
		events, err := x.number(t.Context(), byBucket)
		if err != nil {
			return err
		}
		return eventTable.insert(t.Context(), x, events)
	})
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// Each change is passed over once, from cursor to cursor, those before a moment and other events never.
func TestSeenChanges(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s, from := feedStore(t, dsn), At(planStart)
		want := logChanges(t, s, from, []int16{0, 7, 255}, 100)
		breaks := 0
		got, at := seenFrom(t, s, FeedCursor{}, 0, func(context.Context) error { breaks++; return nil })
		if diff := gocmp.Diff(want, got); diff != "" || breaks != 6 { // in chunks of 50 and 100 events of 200
			t.Errorf("with %d breaks (-want +got):\n%s", breaks, diff)
		}
		late, _ := seenFrom(t, s, FeedCursor{}, from+200_000, nil)
		if diff := gocmp.Diff(want[200:], late); diff != "" {
			t.Errorf("since later (-want +got):\n%s", diff)
		}
		more := logChanges(t, s, from+Instant(time.Hour/time.Millisecond), []int16{3, 7}, 20)
		news, at := seenFrom(t, s, at, 0, nil)
		if diff := gocmp.Diff(more, news); diff != "" {
			t.Errorf("after the cursor (-want +got):\n%s", diff)
		}
		if none, _ := seenFrom(t, s, at, 0, nil); len(none) > 0 {
			t.Errorf("%d changes come twice", len(none))
		}
		stop := errors.New("no more")
		if _, err := s.SeenChanges(t.Context(), FeedCursor{}, 0, func(context.Context) error { return stop }, func(SeenChange) {}); !errors.Is(err, stop) {
			t.Errorf("reading goes on after %v", err)
		}
	})
}

// A cursor of what was there before a checkpoint was restored, or of another database, is told from one that holds.
func TestSeenChangesOfALostCursor(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := feedStore(t, dsn)
		logChanges(t, s, At(planStart), []int16{1}, 3)
		_, at := seenFrom(t, s, FeedCursor{}, 0, nil)
		ahead := at
		ahead.seqs[1]++
		if err := s.NoteRestored(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		for name, cursor := range map[string]FeedCursor{"restored": at, "ahead": ahead} {
			if _, err := s.SeenChanges(t.Context(), cursor, 0, nil, func(SeenChange) {}); !errors.Is(err, ErrCursorLost) {
				t.Errorf("%s: %v, want ErrCursorLost", name, err)
			}
		}
		if all, _ := seenFrom(t, s, FeedCursor{}, 0, nil); len(all) != 3 {
			t.Errorf("%d changes anew, want 3", len(all))
		}
	})
}
