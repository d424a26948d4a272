package models

import (
	"errors"
	"sync"
	"testing"
)

// TestOfManyWhoChangeASubscriptionNoneIsLost: on each engine, and one that has changed is not forgotten.
func TestOfManyWhoChangeASubscriptionNoneIsLost(t *testing.T) {
	t.Parallel()
	for engine, dsn := range engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := openBackup(t, dsn(t))
			if _, err := s.Subscription(t.Context(), "P"); !errors.Is(err, ErrNotFound) {
				t.Errorf("one that there is not: %v", err)
			}
			if _, err := s.SetMeta(t.Context(), "websub-key", "", "no subscription"); err != nil {
				t.Fatal(err)
			}
			before, changed, err := s.ChangeSubscription(t.Context(), "P", func(s *Subscription) bool { s.URL = "http://a/\x00f"; return true })
			if err != nil || !changed {
				t.Fatal(changed, err)
			}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range 3 {
						if _, _, err := s.ChangeSubscription(t.Context(), "P", func(s *Subscription) bool { s.Pushes++; return true }); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			if err := s.ForgetSubscription(t.Context(), &before); err != nil {
				t.Error(err)
			}
			subscriptions, err := s.Subscriptions(t.Context())
			if err != nil || len(subscriptions) != 1 || subscriptions[0].Pushes != 12 || subscriptions[0].Path != "P" {
				t.Fatalf("%+v, %v, want the one that was told of 12 times", subscriptions, err)
			}
			if _, changed, err := s.ChangeSubscription(t.Context(), "P", func(*Subscription) bool { return true }); changed || err != nil {
				t.Errorf("nothing is changed: %v, %v", changed, err)
			}
			if err := s.ForgetSubscription(t.Context(), &subscriptions[0]); err != nil {
				t.Error(err)
			}
			if _, err := s.Subscription(t.Context(), "P"); !errors.Is(err, ErrNotFound) {
				t.Errorf("one that was forgotten: %v", err)
			}
		})
	}
}
