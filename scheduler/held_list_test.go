package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// shut is a store whose commits wait for a door.
type shut struct {
	*simulate.Memory
	door chan struct{}
}

func (s shut) Commit(ctx context.Context, now time.Time, r []models.Result) ([]error, error) {
	select {
	case <-s.door:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.Memory.Commit(ctx, now, r)
}

// A list that came packed holds what it names until that is written: meanwhile nobody is claimed whose body would come on top.
func TestAListCountsByWhatItNames(t *testing.T) {
	t.Parallel()
	for _, named := range []int{1, 1900} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1, 1, time.Now())
			later := scheduler.NewPage("http://h9.test/", "h9.test", 1, 0, 4)
			later.DueAt = models.At(time.Now().Add(10 * time.Second))
			if _, err := s.store.AddPages(t.Context(), time.Now(), []models.Discovery{{Page: later, Host: "h9.test"}}, 0); err != nil {
				t.Fatal(err)
			}
			s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
				out := takes(time.Second)(ctx, turn)
				if turn.Page.URL == "http://h0.test/0" {
					out.Kind, out.Body, out.Listing = models.First, []byte("packed"), &models.Listing{Entries: int32(named)}
					for n := range named {
						url := fmt.Sprintf("http://h0.test/%s%d", strings.Repeat("long/", 100), n)
						out.Links = append(out.Links, models.FoundLink{URL: url, Host: "h0.test"})
					}
				}
				return out
			}
			door := make(chan struct{})
			w := s.worker("w", clock.System{}, func(c *scheduler.Config) { c.Store = shut{s.store, door} })
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- w.Run(ctx) }()
			_ = clock.System{}.SleepUntil(t.Context(), time.Now().Add(time.Minute))
			s.mu.Lock()
			before := s.visits["http://h9.test/"]
			s.mu.Unlock()
			if want := map[int]int{1: 1, 1900: 0}[named]; before != want {
				t.Errorf("while a list of %d waits to be written another host is visited %d times, want %d", named, before, want)
			}
			close(door)
			_ = clock.System{}.SleepUntil(t.Context(), time.Now().Add(time.Minute))
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if s.visits["http://h9.test/"] == 0 {
				t.Errorf("after a list of %d is written the other host is not visited", named)
			}
		})
	}
}
