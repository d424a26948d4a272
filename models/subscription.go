package models

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Hub is where a feed says that it tells of its changes (WebSub, W3C Recommendation of 23 January 2018). The zero Hub is none.
type Hub struct {
	URL    string // canonical, of the hub
	Topic  string // what the feed calls itself, by which the hub knows it
	Inside bool   // it is on the feed's host, which has an address that the operator allows: it may be asked there, too
}

// Subscription is how it stands with the hub of a feed. Its row is found by its path, so that any worker can tell what a hub speaks of.
type Subscription struct {
	Path  string `json:"-"`     // the last part of its callback, which nobody guesses
	Stamp string `json:"stamp"` // another one each time it is written: of two that write the same one has to notice

	SiteID   int32  `json:"site"`
	Bucket   int16  `json:"bucket"`
	PageID   int64  `json:"page"`
	URL      string `json:"url"` // of the feed
	Hub      string `json:"hub"`
	Topic    string `json:"topic"`
	Inside   bool   `json:"inside,omitempty"` // as in Hub
	Callback string `json:"callback"`         // what Path stands behind

	FoundAt  Instant `json:"found_at"`            // the feed named the hub, as far as it did not before
	Left     bool    `json:"left,omitempty"`      // the feed went, or names another hub or none
	PausedAt Instant `json:"paused_at,omitempty"` // its site was found to be paused, and is since

	Mode     string  `json:"mode,omitempty"`     // what the hub was asked for last: Subscribing or Unsubscribing
	AskedAt  Instant `json:"asked_at,omitempty"` // it was
	Asked    int     `json:"asked,omitempty"`    // times in a row without what was asked for
	NextAt   Instant `json:"next_at,omitempty"`  // it is asked again, for whatever is wanted then
	Until    Instant `json:"until,omitempty"`    // the hub tells; 0: it has never said that it would, or does no more
	Error    string  `json:"error,omitempty"`    // what went wrong last, since the hub last did what was asked for
	DeniedAt Instant `json:"denied_at,omitempty"`

	PushedAt Instant  `json:"pushed_at,omitempty"` // it told last, signed
	Pushes   int64    `json:"pushes,omitempty"`    // times that it did
	Forged   int64    `json:"forged,omitempty"`    // times that somebody did without its signature
	Said     []uint64 `json:"said,omitempty"`      // hashes of what was told last, the newest last
}

// What a hub is asked for, in the words of WebSub.
const (
	Subscribing   = "subscribe"
	Unsubscribing = "unsubscribe"
)

// Verified tells whether the hub has said that it tells, and for so long.
func (s *Subscription) Verified(now Instant) bool { return s.Until > now && s.DeniedAt == 0 }

const subscriptionPrefix = "websub:"

// Subscriptions are all there are, by the URLs of their feeds. A row of another release is left out.
func (s *Store) Subscriptions(ctx context.Context) ([]Subscription, error) {
	values, err := s.Metas(ctx, subscriptionPrefix)
	if err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", err)
	}
	all := make([]Subscription, 0, len(values))
	for key, value := range values {
		if one, err := readSubscription(strings.TrimPrefix(key, subscriptionPrefix), value); err == nil {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Subscription) int { return strings.Compare(a.URL+" "+a.Path, b.URL+" "+b.Path) })
	return all, nil
}

// Subscription is that of a path. It returns ErrNotFound where there is none.
func (s *Store) Subscription(ctx context.Context, path string) (Subscription, error) {
	value, err := s.Meta(ctx, subscriptionPrefix+path)
	if err == nil && value == "" {
		err = ErrNotFound
	}
	if err != nil {
		return Subscription{}, fmt.Errorf("read a subscription: %w", err)
	}
	return readSubscription(path, value)
}

func readSubscription(path, value string) (Subscription, error) {
	one := Subscription{Path: path}
	if err := json.Unmarshal([]byte(value), &one); err != nil {
		return one, fmt.Errorf("read a subscription: %w", err)
	}
	return one, nil
}

// errCrowded is what happens when others write a row again and again.
var errCrowded = errors.New("others change it all the time")

// ChangeSubscription changes that of a path by what a pure function makes of it, which is called anew where somebody else was faster and
// returns false for nothing. It begins with the zero Subscription where there is none. changed: it is written, and is what is returned.
func (s *Store) ChangeSubscription(ctx context.Context, path string, change func(*Subscription) bool) (one Subscription, changed bool, err error) {
	key := subscriptionPrefix + path
	for range 20 {
		old, err := s.Meta(ctx, key)
		if err != nil {
			return one, false, fmt.Errorf("change a subscription: %w", err)
		}
		one = Subscription{Path: path}
		if old != "" {
			if one, err = readSubscription(path, old); err != nil {
				return one, false, err
			}
		}
		if !change(&one) {
			return one, false, nil
		}
		next, err := json.Marshal(one)
		if err != nil {
			return one, false, fmt.Errorf("change a subscription: %w", err)
		}
		if string(next) == old {
			return one, false, nil
		}
		one.Stamp = rand.Text()
		if next, err = json.Marshal(one); err != nil {
			return one, false, fmt.Errorf("change a subscription: %w", err)
		}
		now, err := s.SetMeta(ctx, key, old, string(next))
		if err != nil {
			return one, false, fmt.Errorf("change a subscription: %w", err)
		}
		if now == Clean(string(next)) {
			return one, true, nil
		}
	}
	return one, false, fmt.Errorf("change a subscription: %w", errCrowded)
}

// ForgetSubscription removes one, unless it has changed since it was read.
func (s *Store) ForgetSubscription(ctx context.Context, one *Subscription) error {
	value, err := s.Meta(ctx, subscriptionPrefix+one.Path)
	if err != nil || value == "" {
		return err
	}
	if body, err := json.Marshal(one); err != nil || string(body) != value {
		return err
	}
	return s.ForgetMeta(ctx, subscriptionPrefix+one.Path, value)
}
