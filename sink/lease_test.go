package sink

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// slowKeeper is a recorder whose deliveries take several leases, and which does something in the midst of them.
type slowKeeper struct {
	recorder
	renew func(context.Context) error
	amid  func()
}

func (s *slowKeeper) Keep(renew func(context.Context) error) { s.renew = renew }

func (s *slowKeeper) Deliver(ctx context.Context, events []models.Event) error {
	for range 5 {
		if err := s.renew(ctx); err != nil {
			return err
		}
		if err := (clock.System{}).SleepUntil(ctx, clock.System{}.Now().Add(lease*3/4)); err != nil {
			return err
		}
		s.amid()
	}
	return s.recorder.Deliver(ctx, events)
}

// A delivery that takes several leases keeps the sink for all of its time, where it renews them, and hears of it where others took it over all the same.
func TestADeliveryThatRenewsItsLeaseKeepsTheSink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, s := newMemory(), &slowKeeper{}
		log.add(1, named("a", 2)...)
		one, two := drainOf(log, s, "one", 10), drainOf(log, &recorder{}, "two", 10)
		tries := 0
		s.amid = func() {
			tries++
			if n, err := two.Once(t.Context()); n != 0 || !errors.Is(err, ErrBusy) {
				t.Errorf("%v into the delivery another process has %d events (%v), want %v", time.Duration(tries)*lease*3/4, n, err, ErrBusy)
			}
		}
		if n, err := one.Once(t.Context()); n != 2 || err != nil || tries != 5 {
			t.Errorf("Once = %d, %v after %d tries of another process, want 2 after 5", n, err, tries)
		}
		log.add(1, named("b", 1)...)
		s.amid = func() { log.meta[one.leaseKey()] = "99999999999999 two" }
		if n, err := one.Once(t.Context()); n != 0 || !errors.Is(err, ErrBusy) || len(s.seen()) != 2 {
			t.Errorf("Once that others took the sink from = %d, %v, with %d events delivered, want %v and 2", n, err, len(s.seen()), ErrBusy)
		}
	})
}
