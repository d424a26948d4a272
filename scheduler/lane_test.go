package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// testLane is a committer of a running worker.
func testLane(store Store, s Archive) *committer {
	return &committer{store: store, archive: s, clock: clock.System{}, log: slog.New(slog.DiscardHandler), metrics: newMetrics(nil),
		done: func(*finished) {}, wake: func() {}, firsts: new(firsts), arrivals: make(chan *finished, 1)}
}

// A body that one committer is about to write is not stored again by the other.
func TestABodyOnItsWayIsStoredOnce(t *testing.T) {
	t.Parallel()
	store, s := &ledger{}, &shelf{} // which never learns of a body
	one, other := testLane(store, s), testLane(store, s)
	other.firsts = one.firsts
	first, again, later := brought(t, "/a", "one", nil), brought(t, "/b", "one", nil), brought(t, "/c", "one", nil)
	if err := errors.Join(one.keep(t.Context(), []*finished{&first}), other.keep(t.Context(), []*finished{&again})); err != nil {
		t.Fatal(err)
	}
	if seen := s.captures[1].Seen; seen == nil || seen.URL != first.result.Page.URL || again.result.Content != nil || s.synced != 2 {
		t.Errorf("the second capture = seen %+v, a first one %+v, %d synced, want seen at %s, none, 2", seen, again.result.Content,
			s.synced, first.result.Page.URL)
	}
	if err := errors.Join(one.put(t.Context(), []*finished{&first}), other.put(t.Context(), []*finished{&again})); err != nil {
		t.Fatal(err)
	}
	if err := one.keep(t.Context(), []*finished{&later}); err != nil || s.captures[2].Seen != nil {
		t.Errorf("keep once it is written = %v, seen %+v, want what the database says alone", err, s.captures[2].Seen)
	}
}

// slowLedger takes five milliseconds for a batch.
type slowLedger struct{ ledger }

func (l *slowLedger) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	_ = clock.System{}.SleepUntil(ctx, clock.System{}.Now().Add(5*time.Millisecond))
	return l.ledger.Commit(ctx, now, results)
}

// A lone result is written at once. What arrives meanwhile is written together, a pace after the first where it is much and more keeps
// coming, and as soon as nothing more comes otherwise.
func TestPaceOfACommitter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		arrive int
		every  time.Duration // between further results that arrive one by one
		want   time.Duration
		slack  time.Duration // what has just arrived is seen that much later
	}{
		{1, 0, 10 * time.Millisecond, 0},
		{busyBatch - 1, 0, 10 * time.Millisecond, 0},
		{busyBatch, 0, 15 * time.Millisecond, look},
		{busyBatch, lull / 2, 25 * time.Millisecond, 0},
		{heavyBatch - 1, 0, 15 * time.Millisecond, look},
		{heavyBatch, 0, 15 * time.Millisecond, look},
		{heavyBatch, 3 * lull, 15 * time.Millisecond, look},
		{heavyBatch, lull / 2, 105 * time.Millisecond, 0},
		{maxBatch - 100, lull / 2, 105 * time.Millisecond, 0},
		{maxBatch, lull / 2, 10 * time.Millisecond, 0}, // a full batch waits for nothing
	} {
		synctest.Test(t, func(t *testing.T) {
			lane := testLane(&slowLedger{}, &shelf{})
			lane.arrivals = make(chan *finished, maxBatch)
			began := time.Now()
			var after []time.Duration // from the beginning until each result was written
			lane.done = func(*finished) { after = append(after, time.Since(began)) }
			ended := make(chan error)
			go func() { ended <- lane.run(t.Context()) }()
			arrive := func() {
				f := brought(t, "/a", "", func(o *models.Outcome) { *o = models.Outcome{Kind: models.Interrupted, At: noon} })
				lane.arrivals <- &f
			}
			arrive()
			synctest.Wait()
			for range c.arrive {
				arrive()
			}
			more := 0
			for at := c.every; c.every > 0 && at < 200*time.Millisecond; at += c.every {
				_ = clock.System{}.SleepUntil(t.Context(), began.Add(at))
				arrive()
				more++
			}
			_ = clock.System{}.SleepUntil(t.Context(), began.Add(time.Second))
			synctest.Wait()
			if len(after) != c.arrive+more+1 {
				t.Fatalf("%d results were written of %d", len(after), c.arrive+more+1)
			}
			if second := after[1]; after[0] != 5*time.Millisecond || after[c.arrive] != second || second < c.want || second > c.want+c.slack {
				t.Errorf("one result, then %d, then one each %v: written after %v and %v to %v, want 5ms and %v (+%v)",
					c.arrive, c.every, after[0], second, after[c.arrive], c.want, c.slack)
			}
			close(lane.arrivals)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// A body that cannot be made durable ends the committer, whatever arrives.
func TestACommitterEndsWithItsArchive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := testLane(&ledger{contents: make(map[models.Digest]models.Content)}, lostDisk{})
		f := brought(t, "/a", "one", nil)
		c.arrivals <- &f
		if err := c.run(t.Context()); !errors.Is(err, errLostDisk) {
			t.Errorf("run = %v, want %v", err, errLostDisk)
		}
	})
}

var errLostDisk = errors.New("input/output error")

type lostDisk struct{}

func (lostDisk) Append(models.Capture) (models.Record, error) { return models.Record{File: "a"}, nil }
func (lostDisk) Sync() error                                  { return errLostDisk }
